"""Plans of days without a search."""

from typing import Any

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario


def plan_of(day: dict[str, Any], *routes: list[int]) -> Plan:
    """Return the plan in which each agent in turn serves some tickets, by their index."""
    return build_plan(compile_scenario(parse_scenario(day)), Candidate.of_tickets(dict(enumerate(routes))))
