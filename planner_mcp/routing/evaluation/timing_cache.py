"""Caches the schedules of recently timed routes.

Owns the lifetime of the cache: it lives as long as the problem and keeps the routes of the last candidates. A candidate
is priced and built several times (by the engines that share it and by the verifier), and the next candidate shares
most of its routes. Where duration is paid, scheduling is nearly all of that work.
"""

from typing import Final
from weakref import WeakKeyDictionary

from planner_mcp.routing.evaluation.departure_optimization import SpanPrice
from planner_mcp.routing.evaluation.route_schedule import FREE, RouteSchedule, schedule_route
from planner_mcp.routing.problem import Problem, Route

CANDIDATES: Final = 2
"""Candidates whose routes are kept at least, assuming that all differ; up to twice as many are kept."""

_Schedules = dict[tuple[Route, SpanPrice], RouteSchedule]


class _RecentSchedules:
    """Schedules of one problem. When full, schedules not requested since the last time it was full are dropped."""

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
    """Return `schedule_route` of the same arguments. Callers must not change the result."""
    recent = _schedules_by_problem.get(problem) or _schedules_by_problem.setdefault(problem, _RecentSchedules(problem))
    schedule = recent.find((route, span)) or schedule_route(problem, route, span)
    recent.keep((route, span), schedule)
    return schedule
