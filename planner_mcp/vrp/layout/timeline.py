"""The clock of one route: when each stop of a given order happens.

Owns canonical timing: every service as early as its windows allow, then the departure as late as it can be without
ending later. Where hours are paid or limited a later departure still may be better, and the cheapest that keeps all
limits is taken: one that leads to other windows, one that makes a ticket later than agreed so that less time is waited,
in a day with rushes the best of all (`layout/departures.py`). A break that is not among the stops may call for leaving
after it. Loads, prices and the form of a plan are `layout/schedule.py`'s. Nothing here judges: a route that cannot keep
its windows is timed all the same.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from planner_mcp.vrp.layout.departures import best_departure
from planner_mcp.vrp.layout.driving import drive, mirror
from planner_mcp.vrp.layout.legs import Leg, Windows, first_release, legs_of
from planner_mcp.vrp.layout.pace import USUAL, Pace, pace_of
from planner_mcp.vrp.problem import AgentSpec, Break, Problem, Route, StopKind

_EVER: Final = 2**62
_MOST_CHOICES: Final = 200
"""Choices of windows weighed for one route. A tour of a day has a few dozen windows in all."""


@dataclass(slots=True)
class Times:
    """When a leg happens. `rests` holds (reached, begun) of each break."""

    rests: tuple[tuple[int, int], ...]
    arrival: int
    start: int
    departure: int
    driven: int
    """Time spent driving; more or less than the leg's own in a rush."""


@dataclass(slots=True)
class Timeline:
    """A timed route."""

    legs: list[Leg]
    times: list[Times]
    start: int

    @property
    def end(self) -> int:
        """When the route is over."""
        return self.times[-1].departure

    @property
    def duration(self) -> int:
        """From departure at the start to arrival at the end."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Span:
    """What the longest route pays, beside its own hours, for each unit of time that it is longer than the others."""

    cost: int = 0
    floor: int = 0
    """Duration up to which nothing is paid."""


_FREE: Final = Span()


def time_route(problem: Problem, route: Route, span: Span = _FREE) -> Timeline:
    """Return the canonical times of a route; `span`: what its length costs because no other is as long."""
    legs, agent = legs_of(problem, route), problem.agents[route.agent]
    soonest = max(agent.shift[0], first_release(problem, legs))
    taken = {stop.index for stop in route.stops if stop.kind is StopKind.BREAK}
    absent = [rest for index, rest in enumerate(agent.breaks) if index not in taken]
    lines = _weighed(problem, legs, agent, (soonest, absent), span)
    if any(_intrusion(rest, lines[0]) for rest in absent):
        for rest in absent:
            lines += _weighed(problem, legs, agent, (max(soonest, rest.window[0] + rest.duration), absent), span)
    return lines[0] if len(lines) == 1 else min(lines, key=lambda line: _burden(problem, agent, line, span, absent))


def _weighed(
    problem: Problem, legs: list[Leg], agent: AgentSpec, begin: tuple[int, list[Break]], span: Span
) -> list[Timeline]:
    """Return the times worth weighing, those that end first in front.

    `begin`: the first possible departure, and the breaks that are not on the route.
    """
    pace, soonest = pace_of(problem), begin[0]
    first = _timed(legs, soonest, pace)
    if agent.max_duration is None and agent.time_cost == problem.span_cost == 0:
        return [first]
    lines = [first]
    if pace is not None:
        lines += _off_the_rush(problem, agent, first, begin, span)
    elif any(len(leg.windows) > 1 for leg in legs):
        lines = list(_choices(legs, soonest, agent, pace))
    if any(leg.soft_close is not None for leg in legs):
        lines += [_shortened(problem, agent, line, span, pace) for line in lines]
    return lines


def _off_the_rush(
    problem: Problem, agent: AgentSpec, first: Timeline, begin: tuple[int, list[Break]], span: Span
) -> list[Timeline]:
    """Return the times of the departure that costs least, unless the first of all cannot be beaten."""
    pace, (soonest, absent) = Pace(problem.rushes), begin
    broken, cost, duration = _burden(problem, agent, first, span, absent)
    least = _least_duration(problem, first.legs)
    if duration <= least and broken == 0 and cost <= agent.time_cost * duration + span.cost * (duration - span.floor):
        return []
    times = _forward(first.legs, soonest, pace)
    lefts = [soonest, *(time.departure for time in times[:-1])]
    bounds = [(left, time.arrival) for left, time in zip(lefts, times, strict=True)]
    leaving = best_departure(problem, agent, first.legs, bounds, absent, agent.time_cost + span.cost)
    return [] if leaving == soonest else [_timed(first.legs, leaving, pace)]


def _least_duration(problem: Problem, legs: Iterable[Leg]) -> int:
    """Return a duration that no departure beats: nothing waited, all driven at the quickest pace of the day."""
    factor = min(USUAL, *(rush.factor for rush in problem.rushes))
    rests = sum(rest.duration for leg in legs for rest in leg.breaks)
    return rests + sum(leg.setup + leg.service - (-leg.travel * factor // USUAL) for leg in legs)


def _timed(legs: list[Leg], soonest: int, pace: Pace | None) -> Timeline:
    """Return the times that end first, and leave last for that."""
    first = _forward(legs, soonest, pace)
    departure = max(soonest, _latest_departure(legs, first, pace))
    times = _forward(legs, departure, pace) if departure > soonest else first
    if pace is not None and _is_undone(legs, first, times):
        return Timeline(legs, first, soonest)
    return Timeline(legs, times, departure)


def _is_undone(legs: Sequence[Leg], first: Sequence[Times], times: Sequence[Times]) -> bool:
    """Return whether leaving later ends later or misses a window: a break taken elsewhere in a rush may cost more."""
    return times[-1].departure > first[-1].departure or any(
        after.start > max(before.start, _deadline(leg, before.start))
        or any(
            begun > max(was, rest.window[1])
            for rest, (_, was), (_, begun) in zip(leg.breaks, before.rests, after.rests, strict=True)
        )
        for leg, before, after in zip(legs, first, times, strict=True)
    )


def _shortened(problem: Problem, agent: AgentSpec, line: Timeline, span: Span, pace: Pace | None) -> Timeline:
    """Return the times in the same windows that wait less, where that is worth the lateness it costs.

    Lateness grows the faster the later the departure, waiting shrinks evenly, so halving finds the least of both.
    """
    delays = _delays(agent, line, span)

    def leaving(at: int) -> Timeline:
        departure = line.start + delays[at]
        return Timeline(line.legs, _forward(line.legs, departure, pace), departure)

    def is_late_enough(at: int) -> bool:
        return _burden(problem, agent, leaving(at), span) <= _burden(problem, agent, leaving(at + 1), span)

    return leaving(bisect_left(range(len(delays) - 1), True, key=is_late_enough))


def _delays(agent: AgentSpec, line: Timeline, span: Span) -> list[int]:
    """Return by how much later to leave until another ticket gets late, a window closes or nobody waits any more."""
    work, waited, most, found = 0, 0, line.duration, {0}
    for leg, time in zip(line.legs, line.times, strict=True):
        for rest, (reached, begun) in zip(leg.breaks, time.rests, strict=True):
            found.add(waited + rest.window[1] - reached)
            most = min(most, waited + rest.window[1] - reached)
            waited += begun - reached
        work += time.driven + sum(rest.duration for rest in leg.breaks) + leg.setup
        waited = time.start - line.start - work
        most = min(most, waited + _closing(leg, time.start) - time.start)
        if leg.soft_close is not None:
            found.add(waited + max(0, leg.soft_close - time.start))
        work += leg.service
    most = max(0, min(most, line.duration - work))
    if agent.max_duration is not None:
        found.add(line.duration - agent.max_duration)
    if span.cost:
        found.add(line.duration - span.floor)
    return sorted({delay for delay in found if 0 <= delay <= most} | {most})


def _choices(legs: list[Leg], soonest: int, agent: AgentSpec, pace: Pace | None) -> Iterator[Timeline]:
    """Yield the times for each choice of windows that some departure leads to, those that end first in front.

    Between two of them nothing is gained: while the windows stay the same, whoever leaves later ends later by as much.
    """
    for _ in range(_MOST_CHOICES):
        line = _timed(legs, soonest, pace)
        yield line
        soonest = 1 + _last_departure(legs, line.times, pace)
        if soonest > agent.shift[1] + agent.overtime:
            return


def _intrusion(rest: Break, line: Timeline) -> int:
    """Return how much earlier a route would have to end, or later to begin, for a break to be rested outside it."""
    return max(0, min(line.end - rest.window[1], rest.window[0] + rest.duration - line.start))


def _burden(
    problem: Problem, agent: AgentSpec, line: Timeline, span: Span, absent: Iterable[Break] = ()
) -> tuple[int, ...]:
    """Return by how much a route breaks its limits, then what its hours cost, then how many they are."""
    late, broken = 0, sum(_intrusion(rest, line) for rest in absent)
    for leg, time in zip(line.legs, line.times, strict=True):
        if leg.windows:
            broken += max(0, time.start - leg.windows[-1][1])
        if leg.soft_close is not None and leg.stop is not None and leg.stop.kind is StopKind.TICKET:
            late += problem.tickets[leg.stop.index].lateness_cost * max(0, time.start - leg.soft_close)
        broken += sum(max(0, begun - rest.window[1]) for rest, (_, begun) in zip(leg.breaks, time.rests, strict=True))
    broken += max(0, line.end - agent.shift[1] - agent.overtime)
    broken += 0 if agent.max_duration is None else max(0, line.duration - agent.max_duration)
    hours = agent.time_cost * line.duration + span.cost * max(0, line.duration - span.floor)
    overtime = agent.overtime_cost * max(0, line.end - agent.shift[1])
    return broken, hours + overtime + late, line.duration


def _forward(legs: Sequence[Leg], departure: int, pace: Pace | None) -> list[Times]:
    """Return earliest times after leaving at `departure`. A break on the way lets travel done before it count."""
    times: list[Times] = []
    now = departure
    for leg in legs:
        rests, arrival, driven = drive(leg, now, pace)
        start = _opening(leg.windows, max(arrival + leg.setup, leg.earliest))
        now = start + leg.service
        times.append(Times(tuple(rests), arrival, start, now, driven))
    return times


def _opening(windows: Windows, ready: int) -> int:
    """Return the first moment from `ready` on that lies in a window; `ready` itself when none is left."""
    for opens, closes in windows:
        if ready <= closes:
            return max(ready, opens)
    return ready


def _latest_departure(legs: Sequence[Leg], times: Sequence[Times], pace: Pace | None) -> int:
    """Return the latest departure that ends at the same time, in the same windows and no later than promised."""
    leave = times[-1].departure
    for leg, time in zip(reversed(legs), reversed(times), strict=True):
        latest = max(time.start, min(leave - leg.service, _deadline(leg, time.start)))
        leave = mirror(leg, latest - leg.setup, pace)
    return leave


def _last_departure(legs: Sequence[Leg], times: Sequence[Times], pace: Pace | None) -> int:
    """Return the latest departure in the same windows, however late the route then ends."""
    leave = _EVER
    for leg, time in zip(reversed(legs), reversed(times), strict=True):
        leave = mirror(leg, max(time.start, min(leave - leg.service, _closing(leg, time.start))) - leg.setup, pace)
    return leave


def _deadline(leg: Leg, start: int) -> int:
    """Return how late the service may start without leaving its window or becoming later than agreed."""
    return min(_closing(leg, start), _EVER if leg.soft_close is None else max(leg.soft_close, start))


def _closing(leg: Leg, start: int) -> int:
    """Return when the window closes in which the service starts."""
    return next((closes for opens, closes in leg.windows if opens <= start <= closes), _EVER)
