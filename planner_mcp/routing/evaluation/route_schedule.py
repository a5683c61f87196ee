"""Schedules one route: computes when each of its stops happens.

Owns canonical timing: every service as early as its time windows allow, then the departure as late as possible without
a later end or a larger violation. Where duration is paid or limited, an even later departure may be better, because it
leads to other windows, or trades waiting for lateness. The cheapest departure that keeps all limits is then chosen
(`evaluation/departure_optimization.py`). A break that is not among the stops may have to end before the departure.
Loads belong to `evaluation/loads_on_board.py`, prices and the form of a plan to `evaluation/plan_builder.py`. Nothing
is checked here: an infeasible route is scheduled too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from planner_mcp.routing.evaluation.departure_optimization import (
    SpanPrice,
    Tour,
    best_departure,
    best_departure_time_dependent,
)
from planner_mcp.routing.evaluation.leg_timing import drive_leg, latest_departure
from planner_mcp.routing.evaluation.route_legs import Leg, Windows, first_release, legs_of
from planner_mcp.routing.evaluation.time_dependent_travel import BASE_FACTOR, TravelSpeeds, fastest_factor, speeds_of
from planner_mcp.routing.problem import AgentSpec, BreakSpec, Problem, Route, StopKind

_NO_LIMIT: Final = 2**62


@dataclass(slots=True)
class LegTimes:
    """The times of one leg. `breaks` has (arrival, start) of each break."""

    breaks: tuple[tuple[int, int], ...]
    arrival: int
    start: int
    departure: int
    driven: int
    """Time spent driving; in a travel period it differs from the leg's own duration."""


@dataclass(slots=True)
class RouteSchedule:
    """A route with the times of its legs."""

    legs: list[Leg]
    times: list[LegTimes]
    start: int

    @property
    def end(self) -> int:
        """When the route ends."""
        return self.times[-1].departure

    @property
    def duration(self) -> int:
        """From departure at the start to arrival at the end."""
        return self.end - self.start


FREE: Final = SpanPrice()
"""The span price of a route where being the longest costs nothing."""


def schedule_route(problem: Problem, route: Route, span: SpanPrice = FREE) -> RouteSchedule:
    """Return the canonical times of a route; `span` is the price of being the longest route, where it is one."""
    legs, agent = legs_of(problem, route), problem.agents[route.agent]
    soonest = max(agent.shift[0], first_release(problem, legs))
    taken = {stop.index for stop in route.stops if stop.kind is StopKind.BREAK}
    untaken_breaks = [break_spec for index, break_spec in enumerate(agent.breaks) if index not in taken]
    tour = Tour(problem, agent, legs, untaken_breaks, span)
    schedules = _choices(tour, soonest)
    if any(break_overlap(break_spec, schedules[0]) for break_spec in untaken_breaks):
        for break_spec in untaken_breaks:
            schedules += _choices(tour, max(soonest, break_spec.earliest_end))
    return schedules[0] if len(schedules) == 1 else min(schedules, key=lambda schedule: _sort_key(tour, schedule))


def _choices(tour: Tour, soonest: int) -> list[RouteSchedule]:
    """Return the schedules worth comparing, with departure at `soonest` or later; the earliest end comes first."""
    speeds, agent = speeds_of(tour.problem), tour.agent
    first = _timed(tour.legs, soonest, speeds)
    is_limited = agent.max_duration is not None or agent.time_cost > 0 or tour.problem.span_cost > 0
    if not is_limited or (
        speeds is None and not any(map(_has_choice, tour.legs)) and not _trades_window_for_duration(agent, first)
    ):
        return [first]
    violation, _, duration = _violation_and_cost(tour, first)
    if violation == 0 and duration <= _least_duration(tour):
        return [first]
    if speeds is None:
        leaving = best_departure(tour, soonest)
        return [first, RouteSchedule(tour.legs, _forward(tour.legs, leaving, speeds), leaving)]
    times = _forward(tour.legs, soonest, speeds)
    lefts = [soonest, *(time.departure for time in times[:-1])]
    bounds = [(left, time.arrival) for left, time in zip(lefts, times, strict=True)]
    leaving = best_departure_time_dependent(tour, bounds, speeds)
    return [first, _timed(tour.legs, leaving, speeds)]


def _has_choice(leg: Leg) -> bool:
    """Return whether more than one service start at the end of a leg may be worth comparing."""
    return leg.soft_close is not None or len(leg.windows) > 1


def _trades_window_for_duration(agent: AgentSpec, schedule: RouteSchedule) -> bool:
    """Return whether a route is too long and misses a window: a later departure may trade one for the other."""
    if agent.max_duration is None or schedule.duration <= agent.max_duration:
        return False
    return any(_is_missed(leg, time.start) for leg, time in zip(schedule.legs, schedule.times, strict=True))


def _is_missed(leg: Leg, start: int) -> bool:
    """Return whether a service starts after its last window."""
    return bool(leg.windows) and start > leg.windows[-1][1]


def _least_duration(tour: Tour) -> int:
    """Return a lower bound of the duration of the route: no waiting, all travel at the fastest speed.

    A route that reaches this bound is also nowhere later than one with a later departure.
    """
    factor = fastest_factor(tour.problem)
    breaks = sum(break_spec.duration for leg in tour.legs for break_spec in leg.breaks)
    return breaks + sum(leg.setup + leg.service - (-leg.travel * factor // BASE_FACTOR) for leg in tour.legs)


def _timed(legs: list[Leg], soonest: int, speeds: TravelSpeeds | None) -> RouteSchedule:
    """Return the schedule with the earliest end and, for that end, the latest departure."""
    first = _forward(legs, soonest, speeds)
    departure = max(soonest, _latest_departure(legs, first, speeds))
    times = _forward(legs, departure, speeds) if departure > soonest else first
    if speeds is not None and _is_worse(legs, first, times):
        return RouteSchedule(legs, first, soonest)
    return RouteSchedule(legs, times, departure)


def _is_worse(legs: Sequence[Leg], first: Sequence[LegTimes], times: Sequence[LegTimes]) -> bool:
    """Return whether a later departure ends later or misses a window, as breaks taken in other travel periods can."""
    return times[-1].departure > first[-1].departure or any(
        after.start > max(before.start, _deadline(leg, before.start))
        or any(
            begun > max(was, break_spec.window[1])
            for break_spec, (_, was), (_, begun) in zip(leg.breaks, before.breaks, after.breaks, strict=True)
        )
        for leg, before, after in zip(legs, first, times, strict=True)
    )


def break_overlap(break_spec: BreakSpec, schedule: RouteSchedule) -> int:
    """Return by how much a route must end earlier or start later for a break to fit outside it."""
    return max(0, min(schedule.end - break_spec.window[1], break_spec.earliest_end - schedule.start))


def _sort_key(tour: Tour, schedule: RouteSchedule) -> tuple[int, ...]:
    """Return violation, breaks that do not fit outside the route, cost and duration: lower is better."""
    violation, *others = _violation_and_cost(tour, schedule)
    return violation, sum(break_overlap(each, schedule) > 0 for each in tour.untaken_breaks), *others


def _violation_and_cost(tour: Tour, schedule: RouteSchedule) -> tuple[int, ...]:
    """Return the violation of limits, the cost of the hours, and the duration of a route."""
    agent, span = tour.agent, tour.span
    late, violation = 0, sum(break_overlap(break_spec, schedule) for break_spec in tour.untaken_breaks)
    for leg, time in zip(schedule.legs, schedule.times, strict=True):
        if leg.windows:
            violation += max(0, time.start - leg.windows[-1][1])
        if leg.soft_close is not None:
            late += leg.lateness_cost * max(0, time.start - leg.soft_close)
        violation += sum(
            max(0, begun - break_spec.window[1]) for break_spec, (_, begun) in zip(leg.breaks, time.breaks, strict=True)
        )
    violation += max(0, schedule.end - tour.agent.latest_end)
    violation += 0 if agent.max_duration is None else max(0, schedule.duration - agent.max_duration)
    hours = agent.time_cost * schedule.duration + span.cost * max(0, schedule.duration - span.floor)
    overtime = agent.overtime_cost * max(0, schedule.end - agent.shift[1])
    return violation, hours + overtime + late, schedule.duration


def _forward(legs: Sequence[Leg], departure: int, speeds: TravelSpeeds | None) -> list[LegTimes]:
    """Return the earliest times after a departure. Travel done before a break counts."""
    times: list[LegTimes] = []
    now = departure
    for leg in legs:
        breaks, arrival, driven = drive_leg(leg, now, speeds)
        start = _opening(leg.windows, max(arrival + leg.setup, leg.earliest))
        now = start + leg.service
        times.append(LegTimes(tuple(breaks), arrival, start, now, driven))
    return times


def _opening(windows: Windows, ready: int) -> int:
    """Return the first time at or after `ready` that lies in a window; `ready` itself when none is left."""
    for opens, closes in windows:
        if ready <= closes:
            return max(ready, opens)
    return ready


def _latest_departure(legs: Sequence[Leg], times: Sequence[LegTimes], speeds: TravelSpeeds | None) -> int:
    """Return the latest departure with the same end, the same windows and no additional lateness."""
    leave = times[-1].departure
    for leg, time in zip(reversed(legs), reversed(times), strict=True):
        latest = max(time.start, min(leave - leg.service, _deadline(leg, time.start)))
        leave = latest_departure(leg, latest - leg.setup, speeds)
    return leave


def _deadline(leg: Leg, start: int) -> int:
    """Return the latest start of a service in the same window and without additional lateness."""
    return min(_closing(leg, start), _NO_LIMIT if leg.soft_close is None else max(leg.soft_close, start))


def _closing(leg: Leg, start: int) -> int:
    """Return the close of the window in which the service starts; `start` itself after the last window."""
    if _is_missed(leg, start):
        return start
    return next((closes for opens, closes in leg.windows if opens <= start <= closes), _NO_LIMIT)
