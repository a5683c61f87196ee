"""The least time and distance between two places: a lower bound that no route goes below.

Owns direct legs at the best hour of the day and, because in a table of travel a direct leg need not be the shortest
way, ways over other stops. The work to find these is bounded, because reasons are given with every better plan of a
search.
"""

from enum import IntEnum
from functools import cache
from typing import Final

from planner_mcp import arrays as np
from planner_mcp.arrays import Array, Floats, Indices
from planner_mcp.routing.evaluation.time_dependent_travel import fastest_durations
from planner_mcp.routing.problem import Problem

MAX_STEPS: Final = 20_000_000
"""Legs looked at for the ways of one plan, about a tenth of a second; then the last leg alone is counted of longer."""
_STRAIGHT: Final = frozenset({"haversine", "plane", "unit legs"})
"""Sources of travel in which no way round is shorter, save by rounding."""


class TravelMeasure(IntEnum):
    """What of a leg is asked for."""

    LENGTH = 0
    TIME = 1


class DirectLegs:
    """The legs of one problem."""

    def __init__(self, problem: Problem) -> None:
        self.tables = (problem.distances, fastest_durations(problem))
        """By kind and profile."""

    def out(self, kind: TravelMeasure, profile: int, origin: int | None, target: int | None) -> int:
        """Return the least from one place to another, in units; nothing where the route has no such end."""
        if origin is None or target is None:
            return 0
        return int(self.tables[kind][profile][origin, target])

    def back(self, kind: TravelMeasure, profile: int, origin: int | None, end: int | None) -> int:
        """Return the same to the end of a route, of which many ask."""
        return self.out(kind, profile, origin, end)


class ShortestPaths(DirectLegs):
    """The same over any other stops where that is less."""

    def __init__(self, problem: Problem, direct: DirectLegs) -> None:
        self.tables = direct.tables
        stops = {ticket.location for ticket in problem.tickets}
        stops.update(place for agent in problem.agents for place in agent.reload_depots)
        self._stops = np.array(sorted(stops), dtype=np.intp)
        self._steps = 0
        self._paths = cache(self._searched)
        self._last = cache(self._least)

    def out(self, kind: TravelMeasure, profile: int, origin: int | None, target: int | None) -> int:
        """Return the least from one place to another, in units; nothing where the route has no such end."""
        return 0 if origin is None or target is None else self._path((kind, profile, False), origin, target)

    def back(self, kind: TravelMeasure, profile: int, origin: int | None, end: int | None) -> int:
        """Return the same, looked for from the end of a route."""
        return 0 if origin is None or end is None else self._path((kind, profile, True), end, origin)

    def _path(self, table: tuple[TravelMeasure, int, bool], here: int, there: int) -> int:
        ways = self._paths(table, here)
        return int(min(self._table(table)[here, there], self._last(table)[there]) if ways is None else ways[there])

    def _table(self, table: tuple[TravelMeasure, int, bool]) -> Array:
        kind, profile, is_back = table
        return self.tables[kind][profile].T if is_back else self.tables[kind][profile]

    def _searched(self, table: tuple[TravelMeasure, int, bool], here: int) -> Array | None:
        """Return the shortest ways from a place to each other, None when much time was spent on such."""
        self._steps += len(self._stops) * len(self._table(table))
        return None if self._steps > MAX_STEPS else shortest_paths(self._table(table), here, self._stops)

    def _least(self, table: tuple[TravelMeasure, int, bool]) -> Floats:
        return least_incoming_legs(self._table(table), self._stops)


def least_legs(problem: Problem, direct: DirectLegs) -> DirectLegs:
    """Return the least legs over any other stops: the direct ones themselves where no way round is shorter."""
    return direct if problem.provenance.get("source") in _STRAIGHT else ShortestPaths(problem, direct)


def shortest_paths(table: Array, origin: int, stops: Indices) -> Array:
    """Return the (L,) shortest paths from a place to all others over stops.

    Takes s · L steps for s stops. Source: Dijkstra (1959).
    """
    lengths: Array = table[origin].copy()
    lengths[origin] = 0
    closed = np.full(len(table), np.inf)
    closed[stops] = 0.0
    for _ in range(len(stops)):
        nearest = int((lengths + closed).argmin())
        closed[nearest] = np.inf
        np.minimum(lengths, table[nearest] + lengths[nearest], out=lengths)
    return lengths


def least_incoming_legs(table: Array, stops: Indices) -> Floats:
    """Return the (L,) shortest legs to each place from any other stop; infinite where there is none."""
    least = np.full(len(table), np.inf)
    for stop in stops:
        here, least[stop] = least[stop], np.inf
        np.minimum(least, table[stop], out=least)
        least[stop] = here
    return least
