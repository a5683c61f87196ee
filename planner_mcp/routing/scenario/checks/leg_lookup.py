"""Travel between the ends of routes and tickets alone, for checks that must not pay for whole matrices.

Owns single legs in metres and seconds, unrounded, from the same sources as `compile/travel.py`, and the shortest ways
over other stops: in a table of travel a direct leg need not be one.
"""

from functools import lru_cache
from typing import Final

import numpy as np

from planner_mcp.routing.scenario.coordinates import haversine_m, to_wgs84
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.scenario.shortest_paths import least_incoming_legs, shortest_paths
from planner_mcp.routing.scenario.travel_matrices import Floats, TravelMatrices

MAX_STEPS: Final = 200_000_000
"""Legs of tables looked at for shortest ways, about a second; then the last leg alone is counted of longer ones."""
Leg = tuple[float, float]
"""(metres, seconds)."""


class LegLookup:
    """Legs of one scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self._travel = scenario.travel
        self._travel_matrices = scenario.travel_matrices
        self._least_factor = min((1.0, *(period.factor for period in scenario.travel.rush_hours)))
        self._row = {
            name: index for index, name in enumerate(self._travel_matrices.locations if self._travel_matrices else ())
        }
        self._places = {place.id: place for place in scenario.locations}
        stops = {ticket.location for ticket in scenario.tickets}
        stops.update(place for agent in scenario.agents for place in agent.reload_locations)
        self._stops = np.array(sorted(self._row[name] for name in stops & self._row.keys()), dtype=np.intp)
        self._steps = 0
        self.leg = lru_cache(maxsize=100_000)(self._fastest)
        self._paths = lru_cache(maxsize=1000)(self._shortest)
        self._least_incoming_legs = lru_cache(maxsize=4)(self._least)

    @property
    def may_detour(self) -> bool:
        """Whether a way over other stops may be shorter than a direct leg; straight lines never are."""
        return self._travel_matrices is not None

    def path_to(self, stop: str, origin: str | None) -> Leg:
        """Return length and time of the shortest ways from an end of a route, or a depot, over any other stops."""
        return self._path(origin, stop, is_back=False)

    def path_from(self, stop: str, end: str | None) -> Leg:
        """Return the same from a stop to the end of a route."""
        return self._path(end, stop, is_back=True)

    def _path(self, end: str | None, stop: str, *, is_back: bool) -> Leg:
        if end is None or end == stop:
            return 0.0, 0.0
        if self._travel_matrices is None:
            return self.leg(stop, end) if is_back else self.leg(end, stop)
        paths = self._paths(end, is_back)
        metres, seconds = self._metres_and_seconds(
            {name: float(lengths[self._row[stop]]) for name, lengths in paths.items()}
        )
        return metres, seconds * self._least_factor

    def _shortest(self, end: str, is_back: bool) -> dict[str, Floats]:
        """Return what is least between an end and each stop, by table; a bound of it when much time was spent on it."""
        assert self._travel_matrices is not None  # noqa: S101 — only tables are asked
        given = {name: table.T if is_back else table for name, table in self._travel_matrices.given.items()}
        self._steps += len(given) * len(self._stops) * len(self._row)
        if self._steps > MAX_STEPS:
            return {
                name: np.minimum(table[self._row[end]], self._least_incoming_legs(name, is_back))
                for name, table in given.items()
            }
        return {name: shortest_paths(table, self._row[end], self._stops) for name, table in given.items()}

    def _least(self, name: str, is_back: bool) -> Floats:
        """Return the least leg between each place and any other stop."""
        assert self._travel_matrices is not None  # noqa: S101 — as above
        table = self._travel_matrices.given[name].T if is_back else self._travel_matrices.given[name]
        return least_incoming_legs(table, self._stops)

    def _fastest(self, origin: str | None, target: str | None) -> Leg:
        """Return a leg at the best hour of the day."""
        metres, seconds = self._leg(origin, target)
        return metres, seconds * self._least_factor

    def _leg(self, origin: str | None, target: str | None) -> Leg:
        """Return distance and time; nothing where the route has no such end."""
        if origin is None or target is None or origin == target:
            return 0.0, 0.0
        if self._travel_matrices is not None:
            return self._leg_from_matrices(self._travel_matrices, self._row[origin], self._row[target])
        a, b = self._places.get(origin), self._places.get(target)
        if a and b and a.lat is not None and a.lon is not None and b.lat is not None and b.lon is not None:
            crs = self._travel.crs
            metres = haversine_m(to_wgs84(a.lat, a.lon, crs), to_wgs84(b.lat, b.lon, crs)) * self._travel.globe_detour
            return metres, metres / (self._travel.speed_kmh / 3.6)
        if a and b and a.x is not None and a.y is not None and b.x is not None and b.y is not None:
            units = ((a.x - b.x) ** 2 + (a.y - b.y) ** 2) ** 0.5 * self._travel.plane_detour
            return units, units / self._travel.plane_speed
        return 1.0, 1.0

    def _leg_from_matrices(self, travel_matrices: TravelMatrices, origin: int, target: int) -> Leg:
        return self._metres_and_seconds(
            {name: float(table[origin, target]) for name, table in travel_matrices.given.items()}
        )

    def _metres_and_seconds(self, legs: dict[str, float]) -> Leg:
        """Return both of what tables say, of which one may be missing."""
        metres = legs["distances"] if "distances" in legs else legs["durations"]
        return metres, legs.get("durations", metres / (self._travel.speed_kmh / 3.6))
