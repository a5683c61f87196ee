"""Where things of a scenario are. Owns the reading of positions for every picture."""

from planner_mcp.render.names import Names
from planner_mcp.render.svg_drawing import Places
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.coordinates import globe_positions
from planner_mcp.routing.scenario.shown_scenario import ShownScenario


def positions(scenario: ShownScenario) -> tuple[Places, bool]:
    """Return (lat, lon) in WGS-84 or (y, x) by location, and whether it is a plane."""
    known = scenario.get("locations") or []
    plane = {
        place["id"]: (y, x)
        for place in known
        if (x := place.get("x")) is not None and (y := place.get("y")) is not None
    }
    return (plane, True) if plane else (globe_positions(scenario), False)


def unassigned_places(scenario: ShownScenario, plan: Plan, names: Names) -> list[tuple[str, str]]:
    """Return location and reason of each ticket that is in no route."""
    where = {ticket["id"]: ticket["location"] for ticket in scenario["tickets"]}
    return [(where[entry.ticket_id], f"{names.ticket(entry.ticket_id)}: {entry.code}") for entry in plan.unassigned]
