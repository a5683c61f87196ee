"""Where things of a scenario are. Owns the reading of positions for every picture."""

from typing import Any

from planner_mcp.render.names import Names
from planner_mcp.render.svg_drawing import Places
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.coordinates import globe_positions


def positions(scenario: dict[str, Any]) -> tuple[Places, bool]:
    """Return (lat, lon) in WGS-84 or (y, x) by location, and whether it is a plane."""
    known = scenario.get("locations") or []
    if any(place.get("x") is not None for place in known):
        return {place["id"]: (place["y"], place["x"]) for place in known if place.get("x") is not None}, True
    return globe_positions(scenario), False


def unassigned_places(scenario: dict[str, Any], plan: Plan, names: Names) -> list[tuple[str, str]]:
    """Return location and reason of each ticket that is in no route."""
    where = {ticket["id"]: ticket["location"] for ticket in scenario["tickets"]}
    return [(where[entry.ticket_id], f"{names.ticket(entry.ticket_id)}: {entry.code}") for entry in plan.unassigned]
