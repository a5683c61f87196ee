"""The routes of all searches of one solve: the columns of the recombination.

Owns which routes are kept. Of routes of one agent type that serve the same tickets only the cheapest is kept. Routes
come from candidates of any engine, and from the buffers in which native searches log theirs (`route_log.hpp`).
"""

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np

from planner_mcp.routing.evaluation.plan_builder import route_cost
from planner_mcp.routing.evaluation.timing_cache import cached_schedule
from planner_mcp.routing.problem import Candidate, Problem, Route
from workers.engines.native import native_arrays
from workers.engines.native.native_arrays import Numbers

LOG_CELLS: Final = 1 << 18
"""Length of the buffer of one search: at ten stops a route it holds the 10,000 to 20,000 newest routes."""


def route_log() -> Numbers:
    """Return an empty buffer, shared with every process that is forked afterwards."""
    return np.frombuffer(mmap.mmap(-1, LOG_CELLS * np.dtype(np.int64).itemsize), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Column:
    """One route as the recombination sees it."""

    type: int
    """Number of the agents that may drive it: equal in everything but their ids."""
    tickets: tuple[int, ...]
    """Served tickets, in ascending order."""
    cost: int
    duration: int
    codes: tuple[int, ...]
    """The route as `native_arrays.encode` writes it."""

    def route(self, problem: Problem) -> Route:
        """Return the route."""
        return native_arrays.decode(problem, self.codes).routes[0]


class RoutePool:
    """Keeps the cheapest route of each agent type and set of tickets."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._columns: dict[tuple[int, tuple[int, ...]], Column] = {}
        self.types = native_arrays.agent_types(problem)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def columns(self) -> list[Column]:
        """All columns, those found last at the end."""
        return list(self._columns.values())

    def add_candidate(self, candidate: Candidate) -> list[Column]:
        """Add the routes of a plan; return their columns, or those of equal routes that cost no more."""
        columns = []
        for route in candidate.routes:
            if route.tickets:
                schedule = cached_schedule(self._problem, route)
                codes = native_arrays.encode(Candidate((route,))).tolist()
                columns.append(self._add(route_cost(self._problem, route, schedule), schedule.duration, codes))
        return columns

    def add_logged(self, log: Numbers) -> None:
        """Add the routes of a buffer, and empty it. The search that writes it must have ended."""
        for half in sorted(np.split(log, 2), key=lambda half: -half[0]):  # the one being filled holds the newest
            for cost, duration, codes in _logged(half[1 : 1 + half[0]].tolist()):
                self._add(cost, duration, codes)
            half[0] = 0

    def keep_newest(self, count: int) -> None:
        """Keep the routes that were found last, at most so many."""
        for key in list(islice(self._columns, max(0, len(self) - count))):
            del self._columns[key]

    def _add(self, cost: int, duration: int, codes: list[int]) -> Column:
        """Add a route, or renew the cheaper one that it equals; return the one that is kept."""
        key = (self.types[codes[0]], tuple(sorted(native_arrays.tickets_of(codes))))
        known = self._columns.pop(key, None)
        self._columns[key] = kept = (
            known if known is not None and known.cost <= cost else Column(*key, cost, duration, tuple(codes))
        )
        return kept


def _logged(cells: list[int]) -> Iterator[tuple[int, int, list[int]]]:
    """Yield cost, duration and codes of each route of a half of a buffer."""
    at = 0
    while at < len(cells):
        end = at + 4 + cells[at + 3]
        yield cells[at], cells[at + 1], cells[at + 2 : end]
        at = end
