"""Where things of a scenario are. Owns the reading of positions for every picture."""

from planner_mcp.routing.scenario.coordinates import globe_positions
from planner_mcp.routing.scenario.shown_scenario import ShownScenario

Place = tuple[float, float]
Places = dict[str, Place]
"""(lat, lon), or (y, x) in units of a plane, by location id."""


def positions(scenario: ShownScenario) -> tuple[Places, bool]:
    """Return (lat, lon) in WGS-84 or (y, x) by location, and whether it is a plane."""
    known = scenario.get("locations") or []
    plane = {
        place["id"]: (y, x)
        for place in known
        if (x := place.get("x")) is not None and (y := place.get("y")) is not None
    }
    return (plane, True) if plane else (globe_positions(scenario), False)
