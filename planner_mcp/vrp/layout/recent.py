"""The times of routes that were asked for lately.

Owns how long they are kept: as long as the day itself, and of each day those of its last candidates. One candidate is
priced and laid out several times before it is an answer (by the engines that share it, by whoever judges it), and the
next shares most of its routes. Where hours are paid, timing is nearly all of what each of these costs.
"""

from typing import Final
from weakref import WeakKeyDictionary

from planner_mcp.vrp.layout.departures import Span
from planner_mcp.vrp.layout.timeline import FREE, Timeline, time_route
from planner_mcp.vrp.problem import Problem, Route

CANDIDATES: Final = 2
"""Candidates whose routes, all different, are kept at least; up to twice as many are."""

_Lines = dict[tuple[Route, Span], Timeline]


class _Recent:
    """Times of routes of one day. What nobody asked for since the last time there were too many is let go."""

    def __init__(self, problem: Problem) -> None:
        self._room = CANDIDATES * len(problem.agents)
        self._lately: _Lines = {}
        self._before: _Lines = {}

    def find(self, key: tuple[Route, Span]) -> Timeline | None:
        return self._lately.get(key) or self._before.get(key)

    def keep(self, key: tuple[Route, Span], line: Timeline) -> None:
        if len(self._lately) >= self._room:
            self._lately, self._before = {}, self._lately
        self._lately[key] = line


_recent: WeakKeyDictionary[Problem, _Recent] = WeakKeyDictionary()


def timed_once(problem: Problem, route: Route, span: Span = FREE) -> Timeline:
    """Return `time_route` of the same; whoever asks leaves it unchanged."""
    recent = _recent.get(problem) or _recent.setdefault(problem, _Recent(problem))
    line = recent.find((route, span)) or time_route(problem, route, span)
    recent.keep((route, span), line)
    return line
