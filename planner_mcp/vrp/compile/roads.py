"""What a road engine is asked about a day.

Owns the question alone: which places, under which names. Asking is `planner_mcp.roads`, keeping the answer the store's.
"""

from dataclasses import dataclass, field

from planner_mcp.vrp.checks.names import named_places
from planner_mcp.vrp.day.model import Scenario
from planner_mcp.vrp.day.position import to_wgs84


@dataclass(frozen=True, slots=True)
class RoadQuestion:
    """All legs between the places of a day. Equal questions have equal answers, whatever else the days say."""

    router: str
    ids: tuple[str, ...]
    positions: tuple[tuple[float, float], ...]
    """(lat, lon) in WGS-84, by place."""
    indexes: tuple[int, ...] = field(default=(), compare=False)
    """Where the places stand in `locations`, to tell what is wrong with them."""


def question_of(scenario: Scenario) -> RoadQuestion | None:
    """Return what a day needs to know of roads; None where its travel comes from elsewhere."""
    router = scenario.travel.router
    if router is None:
        return None
    index = {place.id: at for at, place in enumerate(scenario.locations)}
    ids = tuple(sorted(named_places(scenario)))
    places = [scenario.locations[index[name]] for name in ids]
    at = [to_wgs84(place.lat or 0.0, place.lon or 0.0, scenario.travel.crs) for place in places]
    positions = tuple((round(lat, 6), round(lon, 6)) for lat, lon in at)
    return RoadQuestion(router, ids, positions, tuple(index[name] for name in ids))
