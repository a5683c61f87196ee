"""The scenario's JSON Schema, slim enough for a model's context and whole enough for a manifest."""

from typing import Any

from planner_mcp.vrp.model import Scenario


def scenario_schema() -> dict[str, Any]:
    """Return the schema of a scenario."""
    return Scenario.model_json_schema()
