"""Finds the best departure of a route where its duration is paid or limited.

Owns the breakpoints: departures at which the slope of the cost changes, because a service reaches the edge of a time
window or becomes late, a break must begin, the shift ends, or a leg reaches the edge of a travel period. Between two
breakpoints the cost is linear, so the best departure is one of them. At constant speed each breakpoint is found by
subtracting the work before it; with travel periods, by scheduling the route backwards. The cost of all breakpoints is
computed at once with arrays, so that many windows take little longer than few. The resulting times are computed by
`evaluation/route_schedule.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from planner_mcp import arrays as np
from planner_mcp.routing.evaluation.leg_timing import drive_leg, latest_departure
from planner_mcp.routing.evaluation.route_legs import Leg
from planner_mcp.routing.evaluation.time_dependent_travel import BASE_FACTOR, MAX_IN_64_BITS, Moments, TravelSpeeds
from planner_mcp.routing.problem import AgentSpec, BreakSpec, Problem

_MAX_AT_ONCE: Final = 1000
"""Breakpoints kept for one route. Of more, as dozens of travel periods give, every second or third is kept."""

LegBounds = Sequence[tuple[int, int]]
"""Per leg: the earliest departure and the earliest arrival."""
LegFollower = Callable[[Leg, Moments], tuple[Moments, Moments]]
"""Takes departures (k,) of a leg; returns its arrivals (k,) and by how much its breaks start too late (k,)."""


@dataclass(frozen=True, slots=True)
class SpanPrice:
    """Extra price per unit of time of the longest route beyond `floor`, the duration of the second longest."""

    cost: int = 0
    floor: int = 0


@dataclass(frozen=True, slots=True)
class Tour:
    """A route and everything its time-dependent cost depends on."""

    problem: Problem
    agent: AgentSpec
    legs: list[Leg]
    untaken_breaks: list[BreakSpec]
    """Breaks that are not stops of the route, so that they must be taken outside it."""
    span: SpanPrice


def best_departure(tour: Tour, soonest: int) -> int:
    """Return the departure with the least violation, then the least cost, then the least duration, then the earliest.

    Args:
        tour: A route of a problem without travel periods.
        soonest: The earliest feasible departure.
    """
    leaving: Moments = np.array(sorted(_breakpoints_constant_speed(tour, soonest)), dtype=_number_type(tour, soonest))
    return _best(tour, leaving, _follow_constant_speed)


def best_departure_time_dependent(tour: Tour, bounds: LegBounds, speeds: TravelSpeeds) -> int:
    """Return the best departure, by the same criteria, of a problem with travel periods.

    Args:
        tour: A route of such a problem.
        bounds: The earliest times of each leg, those of the earliest feasible departure.
        speeds: The speeds of the problem.
    """
    soonest = bounds[0][0]
    breakpoints = _breakpoints(tour, bounds, speeds, _number_type(tour, soonest, speeds))
    leaving = _sorted_unique(np.array([soonest], dtype=breakpoints.dtype), breakpoints)
    return _best(tour, leaving, partial(_arrivals, speeds=speeds))


def _best(tour: Tour, leaving: Moments, follow: LegFollower) -> int:
    """Return the best of the given departures and of those between them at which the route becomes short enough."""
    hours = _evaluated(tour, leaving, follow)
    if (more := _duration_crossings(tour, leaving, hours[-1])).size:
        leaving = _sorted_unique(leaving, more)
        hours = _evaluated(tour, leaving, follow)
    violation, cost, lasts = hours
    return int(leaving[np.lexsort((leaving, lasts, cost, violation))[0]])


def _evaluated(tour: Tour, leaving: Moments, follow: LegFollower) -> tuple[Moments, Moments, Moments]:
    """Return, per departure, the violation of limits, the cost of its hours, and the duration."""
    agent, now, violation, lateness = tour.agent, leaving, 0 * leaving, 0 * leaving
    for leg in tour.legs:
        arrival, too_late = follow(leg, now)
        start = _openings(leg, np.maximum(arrival + leg.setup, leg.earliest))
        if leg.windows:
            too_late = too_late + np.maximum(0, start - leg.windows[-1][1])
        if leg.soft_close is not None and leg.lateness_cost:
            lateness += leg.lateness_cost * np.maximum(0, start - leg.soft_close)
        violation, now = violation + too_late, start + leg.service
    lasts = now - leaving
    violation += np.maximum(0, now - tour.agent.latest_end)
    violation += 0 if agent.max_duration is None else np.maximum(0, lasts - agent.max_duration)
    for break_spec in tour.untaken_breaks:
        violation += np.maximum(0, np.minimum(now - break_spec.window[1], break_spec.earliest_end - leaving))
    longer = tour.span.cost * np.maximum(0, lasts - tour.span.floor)
    overtime = agent.overtime_cost * np.maximum(0, now - agent.shift[1])
    return violation, agent.time_cost * lasts + longer + overtime + lateness, lasts


def _breakpoints_constant_speed(tour: Tour, soonest: int) -> set[int]:
    """Return the departures at which the slope of the cost changes.

    A time on the route depends on the departure only if no waiting precedes it, so the difference is work alone.
    """
    found, work = {break_spec.earliest_end for break_spec in tour.untaken_breaks}, 0
    for leg in tour.legs:
        break_time = 0
        for break_spec in leg.breaks:
            found |= {edge - break_time - work for edge in (*break_spec.window, break_spec.window[0] - leg.travel)}
            break_time += break_spec.duration
        work += leg.travel + break_time + leg.setup
        found |= {edge - work for edge in _edges(leg)}
        found |= {closes + 1 - work for _, closes in leg.windows}
        work += leg.service
    found |= {edge - work for edge in _ends(tour)}
    latest_end = tour.agent.latest_end
    return {soonest} | {at for at in found if soonest < at <= latest_end}


def _duration_crossings(tour: Tour, leaving: Moments, lasts: Moments) -> Moments:
    """Return the departures between those given at which the duration, as waiting shrinks, meets a limit."""
    limits = [tour.span.floor] if tour.span.cost else []
    limits += [] if tour.agent.max_duration is None else [tour.agent.max_duration]
    found = [(leaving + lasts - limit)[:-1] for limit in limits]
    between = [at[(at > leaving[:-1]) & (at < leaving[1:])] for at in found]
    return np.concatenate([leaving[:0], *between])


def _number_type(tour: Tour, soonest: int, speeds: TravelSpeeds | None = None) -> type:
    """Return the number type for times and costs: 64-bit integers where they suffice, else Python integers."""
    slowest = BASE_FACTOR if speeds is None else speeds.slowest
    work = sum(leg.setup + leg.service + sum(break_spec.duration for break_spec in leg.breaks) for leg in tour.legs)
    work += sum(1 + leg.travel * slowest // BASE_FACTOR for leg in tour.legs)
    latest = max(soonest, tour.agent.latest_end, *(_last_edge(leg) for leg in tour.legs)) + work
    dear = (
        tour.agent.time_cost + tour.agent.overtime_cost + tour.span.cost + sum(leg.lateness_cost for leg in tour.legs)
    )
    is_small = latest * (1 + dear) < MAX_IN_64_BITS and (speeds is None or speeds.is_small(latest))
    return np.int64 if is_small else object


def _last_edge(leg: Leg) -> int:
    """Return the last time that matters to the end of a leg or to its breaks."""
    closes = leg.windows[-1][1] if leg.windows else 0
    return max(closes, leg.earliest, leg.soft_close or 0, *(break_spec.window[1] for break_spec in leg.breaks))


def _follow_constant_speed(leg: Leg, leaving: Moments) -> tuple[Moments, Moments]:
    """Drive a leg at constant speed. Travel done before a break counts."""
    too_late, break_time, waits_until = 0 * leaving, 0, None
    for break_spec in leg.breaks:
        opens = break_spec.window[0] - break_time
        waits_until = opens if waits_until is None else max(waits_until, opens)
        too_late += np.maximum(0, np.maximum(leaving, waits_until) + break_time - break_spec.window[1])
        break_time += break_spec.duration
    arrival = leaving + leg.travel
    return (arrival if waits_until is None else np.maximum(arrival, waits_until) + break_time), too_late


def _edges(leg: Leg) -> set[int]:
    """Return the times at which the cost of the service at the end of a leg changes its slope."""
    return {edge for window in leg.windows for edge in window} | {leg.earliest, leg.soft_close or 0}


def _ends(tour: Tour) -> set[int]:
    """Return the times at which the cost of the end of the route changes its slope."""
    return {tour.agent.shift[1], tour.agent.latest_end, *(break_spec.window[1] for break_spec in tour.untaken_breaks)}


def _breakpoints(tour: Tour, bounds: LegBounds, speeds: TravelSpeeds, number_type: type) -> Moments:
    """Return the departures at which the slope of the cost changes with travel periods, and the times after them."""
    latest_end, ends = tour.agent.latest_end, _ends(tour)
    edges: Moments = np.array(speeds.edges, dtype=number_type)
    leave = edges[:0]
    for leg, (left, reached) in zip(reversed(tour.legs), reversed(bounds), strict=True):
        last = leg.windows[-1][1] if leg.windows else latest_end
        start = leave - leg.service
        marks = {edge - leg.setup for edge in _edges(leg)} | set(speeds.edges) | (ends if leg.stop is None else set())
        arrive = _sorted_unique(start[start <= last] - leg.setup, np.array([*marks], dtype=number_type))
        arrive = arrive[(arrive >= reached) & (arrive <= latest_end)]
        leave = _sorted_unique(_departures(leg, arrive, speeds), *_departures_for_breaks(leg, edges, speeds), edges)
        leave = leave[(leave >= left) & (leave <= latest_end)]
        leave = leave[:: 1 + len(leave) // _MAX_AT_ONCE]
    out: Moments = np.array([break_spec.earliest_end for break_spec in tour.untaken_breaks], dtype=number_type)
    leave = np.concatenate([leave, leave + 1, out])
    return leave[(leave > bounds[0][0]) & (leave <= latest_end)]


def _sorted_unique(*times: Moments) -> Moments:
    """Return all times, sorted and without duplicates."""
    found = np.sort(np.concatenate(times))
    is_new = np.ones(len(found), dtype=bool)
    is_new[1:] = found[1:] != found[:-1]
    return found[is_new]


def _departures_for_breaks(leg: Leg, edges: Moments, speeds: TravelSpeeds) -> list[Moments]:
    """Return the departures at which a break of a leg starts at the edge of its window or of a travel period."""
    if not leg.breaks:
        return []
    windows = [edge for break_spec in leg.breaks for edge in break_spec.window]
    marks = np.concatenate([np.array(windows, dtype=edges.dtype), edges])
    return [marks, speeds.departures(marks, leg.travel)]


def _departures(leg: Leg, arrive: Moments, speeds: TravelSpeeds) -> Moments:
    if not leg.breaks:
        return speeds.departures(arrive, leg.travel)
    return np.array([latest_departure(leg, int(at), speeds) for at in arrive], dtype=arrive.dtype)


def _arrivals(leg: Leg, leaving: Moments, speeds: TravelSpeeds) -> tuple[Moments, Moments]:
    """Return the arrivals of a leg, and by how much its breaks start too late."""
    if not leg.breaks:
        return speeds.arrivals(leaving, leg.travel), 0 * leaving
    driven_legs = [drive_leg(leg, int(at), speeds) for at in leaving]
    too_late = [
        sum(
            max(0, begun - break_spec.window[1]) for break_spec, (_, begun) in zip(leg.breaks, break_times, strict=True)
        )
        for break_times, _, _ in driven_legs
    ]
    return np.array([arrival for _, arrival, _ in driven_legs], leaving.dtype), np.array(too_late, leaving.dtype)


def _openings(leg: Leg, ready: Moments) -> Moments:
    """Return the first times at or after `ready` that lie in a window; `ready` itself when none is left."""
    if not leg.windows:
        return ready
    # a last window without end, open at every time, catches the times after all others
    opens, closes = np.array([*leg.windows, (-MAX_IN_64_BITS, 0)], dtype=ready.dtype).T
    start: Moments = np.maximum(ready, opens.take(np.searchsorted(closes[:-1], ready)))
    return start
