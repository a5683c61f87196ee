"""Travel between the ends of routes and tickets alone, for checks that must not pay for whole matrices.

Owns single legs in metres and seconds, unrounded, from the same sources as `compile/travel.py`, and the shortest ways
over other stops: in a table of travel a direct leg need not be one.
"""

from functools import lru_cache
from typing import Final

import numpy as np

from planner_mcp.vrp.day.model import Scenario
from planner_mcp.vrp.day.position import haversine_m, to_wgs84
from planner_mcp.vrp.day.tables import Floats, Tables
from planner_mcp.vrp.day.ways import last_legs, shortest_ways

MAX_STEPS: Final = 200_000_000
"""Legs of tables looked at for shortest ways, about a second; then the last leg alone is counted of longer ones."""
Leg = tuple[float, float]
"""(metres, seconds)."""


class Reach:
    """Legs of one scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self._travel = scenario.travel
        self._tables = scenario.tables
        self._quickest = min((1.0, *(rush.factor for rush in scenario.travel.rush_hours)))
        self._row = {name: index for index, name in enumerate(self._tables.locations if self._tables else ())}
        self._places = {place.id: place for place in scenario.locations}
        stops = {ticket.location for ticket in scenario.tickets}
        stops.update(place for agent in scenario.agents for place in agent.reload_locations)
        self._stops = np.array(sorted(self._row[name] for name in stops & self._row.keys()), dtype=np.intp)
        self._steps = 0
        self.leg = lru_cache(maxsize=100_000)(self._soonest)
        self._ways = lru_cache(maxsize=1000)(self._shortest)
        self._last_legs = lru_cache(maxsize=4)(self._least)

    @property
    def may_detour(self) -> bool:
        """Whether a way over other stops may be shorter than a direct leg; straight lines never are."""
        return self._tables is not None

    def way_to(self, stop: str, origin: str | None) -> Leg:
        """Return length and time of the shortest ways from an end of a route, or a depot, over any other stops."""
        return self._way(origin, stop, is_back=False)

    def way_from(self, stop: str, end: str | None) -> Leg:
        """Return the same from a stop to the end of a route."""
        return self._way(end, stop, is_back=True)

    def _way(self, end: str | None, stop: str, *, is_back: bool) -> Leg:
        if end is None or end == stop:
            return 0.0, 0.0
        if self._tables is None:
            return self.leg(stop, end) if is_back else self.leg(end, stop)
        ways = self._ways(end, is_back)
        metres, seconds = self._told({name: float(way[self._row[stop]]) for name, way in ways.items()})
        return metres, seconds * self._quickest

    def _shortest(self, end: str, is_back: bool) -> dict[str, Floats]:
        """Return what is least between an end and each stop, by table; a bound of it when much time was spent on it."""
        assert self._tables is not None  # noqa: S101 — only tables are asked
        given = {name: table.T if is_back else table for name, table in self._tables.given.items()}
        self._steps += len(given) * len(self._stops) * len(self._row)
        if self._steps > MAX_STEPS:
            return {
                name: np.minimum(table[self._row[end]], self._last_legs(name, is_back)) for name, table in given.items()
            }
        return {name: shortest_ways(table, self._row[end], self._stops) for name, table in given.items()}

    def _least(self, name: str, is_back: bool) -> Floats:
        """Return the least leg between each place and any other stop."""
        assert self._tables is not None  # noqa: S101 — as above
        table = self._tables.given[name].T if is_back else self._tables.given[name]
        return last_legs(table, self._stops)

    def _soonest(self, origin: str | None, target: str | None) -> Leg:
        """Return a leg at the best hour of the day."""
        metres, seconds = self._leg(origin, target)
        return metres, seconds * self._quickest

    def _leg(self, origin: str | None, target: str | None) -> Leg:
        """Return distance and time; nothing where the route has no such end."""
        if origin is None or target is None or origin == target:
            return 0.0, 0.0
        if self._tables is not None:
            return self._by_tables(self._tables, self._row[origin], self._row[target])
        a, b = self._places.get(origin), self._places.get(target)
        if a and b and a.lat is not None and a.lon is not None and b.lat is not None and b.lon is not None:
            crs = self._travel.crs
            metres = haversine_m(to_wgs84(a.lat, a.lon, crs), to_wgs84(b.lat, b.lon, crs)) * self._travel.detour
            return metres, metres / (self._travel.speed_kmh / 3.6)
        if a and b and a.x is not None and a.y is not None and b.x is not None and b.y is not None:
            units = ((a.x - b.x) ** 2 + (a.y - b.y) ** 2) ** 0.5 * self._travel.detour
            return units, units / self._travel.plane_speed
        return 1.0, 1.0

    def _by_tables(self, tables: Tables, origin: int, target: int) -> Leg:
        return self._told({name: float(table[origin, target]) for name, table in tables.given.items()})

    def _told(self, legs: dict[str, float]) -> Leg:
        """Return both of what tables say, of which one may be missing."""
        metres = legs["distances"] if "distances" in legs else legs["durations"]
        return metres, legs.get("durations", metres / (self._travel.speed_kmh / 3.6))
