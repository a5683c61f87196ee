"""Travel between the ends of routes and tickets alone, for checks that must not pay for whole matrices.

Owns single legs in metres and seconds, unrounded, from the same sources as `compile/travel.py`.
"""

from functools import lru_cache

from planner_mcp.vrp.day.model import Scenario
from planner_mcp.vrp.day.position import haversine_m, to_wgs84
from planner_mcp.vrp.day.tables import Tables

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
        self.leg = lru_cache(maxsize=100_000)(self._soonest)

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
        legs = {name: float(table[origin, target]) for name, table in tables.given.items()}
        metres = legs["distances"] if "distances" in legs else legs["durations"]
        return metres, legs.get("durations", metres / (self._travel.speed_kmh / 3.6))
