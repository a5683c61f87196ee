"""The least time and distance between two places: a lower bound that no route goes below.

Owns direct legs at the best hour of the day and, because in a table of travel a direct leg need not be the shortest
way, ways over other stops. The work to find these is bounded, because reasons are given with every better plan of a
search.
"""

from enum import IntEnum
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner_mcp.vrp.day.ways import Table, last_legs, shortest_ways
from planner_mcp.vrp.layout.pace import quickest
from planner_mcp.vrp.problem import Problem

MAX_STEPS: Final = 20_000_000
"""Legs looked at for the ways of one plan, about a tenth of a second; then the last leg alone is counted of longer."""
_STRAIGHT: Final = frozenset({"haversine", "plane", "unit legs"})
"""Sources of travel in which no way round is shorter, save by rounding."""


class Kind(IntEnum):
    """What of a leg is asked for."""

    LENGTH = 0
    TIME = 1


class DirectLegs:
    """The legs of one problem."""

    def __init__(self, problem: Problem) -> None:
        self.tables = (problem.distances, quickest(problem))
        """By kind and profile."""

    def out(self, kind: Kind, profile: int, origin: int | None, target: int | None) -> int:
        """Return the least from one place to another, in units; nothing where the route has no such end."""
        if origin is None or target is None:
            return 0
        return int(self.tables[kind][profile][origin, target])

    def back(self, kind: Kind, profile: int, origin: int | None, end: int | None) -> int:
        """Return the same to the end of a route, of which many ask."""
        return self.out(kind, profile, origin, end)


class Ways(DirectLegs):
    """The same over any other stops where that is less."""

    def __init__(self, problem: Problem, direct: DirectLegs) -> None:
        self.tables = direct.tables
        stops = {ticket.location for ticket in problem.tickets}
        stops.update(place for agent in problem.agents for place in agent.reload_depots)
        self._stops = np.array(sorted(stops), dtype=np.intp)
        self._steps = 0
        self._ways = cache(self._searched)
        self._last = cache(self._least)

    @staticmethod
    def may_differ(problem: Problem) -> bool:
        """Return whether some of them may be less than a direct leg."""
        return problem.provenance.get("source") not in _STRAIGHT

    def out(self, kind: Kind, profile: int, origin: int | None, target: int | None) -> int:
        """Return the least from one place to another, in units; nothing where the route has no such end."""
        return 0 if origin is None or target is None else self._way((kind, profile, False), origin, target)

    def back(self, kind: Kind, profile: int, origin: int | None, end: int | None) -> int:
        """Return the same, looked for from the end of a route."""
        return 0 if origin is None or end is None else self._way((kind, profile, True), end, origin)

    def _way(self, table: tuple[Kind, int, bool], here: int, there: int) -> int:
        ways = self._ways(table, here)
        return int(min(self._table(table)[here, there], self._last(table)[there]) if ways is None else ways[there])

    def _table(self, table: tuple[Kind, int, bool]) -> Table:
        kind, profile, is_back = table
        return self.tables[kind][profile].T if is_back else self.tables[kind][profile]

    def _searched(self, table: tuple[Kind, int, bool], here: int) -> NDArray[Any] | None:
        """Return the shortest ways from a place to each other, None when much time was spent on such."""
        self._steps += len(self._stops) * len(self._table(table))
        return None if self._steps > MAX_STEPS else shortest_ways(self._table(table), here, self._stops)

    def _least(self, table: tuple[Kind, int, bool]) -> NDArray[np.float64]:
        return last_legs(self._table(table), self._stops)
