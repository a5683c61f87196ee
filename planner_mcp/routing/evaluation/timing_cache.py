"""The times of routes that were asked for lately.

Owns how long they are kept: as long as the day itself, and of each day those of its last candidates. One candidate is
priced and laid out several times before it is an answer (by the engines that share it, by whoever judges it), and the
next shares most of its routes. Where hours are paid, timing is nearly all of what each of these costs.
"""

from typing import Final
from weakref import WeakKeyDictionary

from planner_mcp.routing.evaluation.departure_optimization import SpanPrice
from planner_mcp.routing.evaluation.route_schedule import FREE, RouteSchedule, schedule_route
from planner_mcp.routing.problem import Problem, Route

CANDIDATES: Final = 2
"""Candidates whose routes, all different, are kept at least; up to twice as many are."""

_Schedules = dict[tuple[Route, SpanPrice], RouteSchedule]


class _RecentSchedules:
    """Times of routes of one day. What nobody asked for since the last time there were too many is let go."""

    def __init__(self, problem: Problem) -> None:
        self._capacity = CANDIDATES * len(problem.agents)
        self._current: _Schedules = {}
        self._previous: _Schedules = {}

    def find(self, key: tuple[Route, SpanPrice]) -> RouteSchedule | None:
        return self._current.get(key) or self._previous.get(key)

    def keep(self, key: tuple[Route, SpanPrice], schedule: RouteSchedule) -> None:
        if len(self._current) >= self._capacity:
            self._current, self._previous = {}, self._current
        self._current[key] = schedule


_schedules_by_problem: WeakKeyDictionary[Problem, _RecentSchedules] = WeakKeyDictionary()


def cached_schedule(problem: Problem, route: Route, span: SpanPrice = FREE) -> RouteSchedule:
    """Return `schedule_route` of the same; whoever asks leaves it unchanged."""
    recent = _schedules_by_problem.get(problem) or _schedules_by_problem.setdefault(problem, _RecentSchedules(problem))
    schedule = recent.find((route, span)) or schedule_route(problem, route, span)
    recent.keep((route, span), schedule)
    return schedule
