"""A validated scenario as the store keeps it."""

from planner_mcp.jobs.job_model import WrittenScenario
from planner_mcp.jobs.masking.field_masking import has_sensitive_values
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.scenario_parsing import input_hash
from planner_mcp.text import compact


def written_scenario(body: ScenarioBody) -> WrittenScenario:
    """Return the body of a scenario written out, with what is stored beside it."""
    name, date = (str(body.get(each, "")) for each in ("name", "planning_date"))
    return WrittenScenario(name, date, compact(body), input_hash(body), has_sensitive_values(body))
