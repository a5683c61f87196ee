"""Contradictions inside a well-formed scenario."""

from planner_mcp.errors import Fault
from planner_mcp.vrp.model import Scenario


def check(scenario: Scenario) -> list[Fault]:
    """Return the logic faults."""
    return []


def warnings(scenario: Scenario) -> list[str]:
    """Return what looks wrong and yet can be planned."""
    return []
