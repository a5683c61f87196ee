"""The matrix a scenario requests from a road engine.

Owns the request alone: which places, under which ids. `planner_mcp.travel` sends it; the store keeps the response.
"""

from dataclasses import dataclass, field

from planner_mcp.routing.scenario.checks.reference_checks import named_places, places_of_agents
from planner_mcp.routing.scenario.coordinates import to_wgs84
from planner_mcp.routing.scenario.scenario_model import Scenario


@dataclass(frozen=True, slots=True)
class MatrixRequest:
    """All legs between the places of a scenario. Equal requests have equal responses, whatever else differs."""

    router: str
    ids: tuple[str, ...]
    positions: tuple[tuple[float, float], ...]
    """(lat, lon) in WGS-84, by place."""
    depots: tuple[int, ...] = field(default=(), compare=False)
    """Indexes of the places where agents start, end or reload."""


def matrix_request_of(scenario: Scenario) -> MatrixRequest | None:
    """Return the matrix request of a scenario; None where its travel data come from elsewhere."""
    router = scenario.travel.router
    if router is None:
        return None
    index = {place.id: at for at, place in enumerate(scenario.locations)}
    ids = tuple(sorted(named_places(scenario)))
    places = [scenario.locations[index[name]] for name in ids]
    at = [to_wgs84(place.lat or 0.0, place.lon or 0.0, scenario.travel.crs) for place in places]
    positions = tuple((round(lat, 6), round(lon, 6)) for lat, lon in at)
    depots = places_of_agents(scenario)
    return MatrixRequest(router, ids, positions, tuple(at for at, name in enumerate(ids) if name in depots))
