"""The departure that is best where hours are paid or limited.

Owns the list of departures at which the cost of leaving later changes its slope: a service meets the edge of a window
or becomes late, a break must begin, the shift ends, or a leg meets the edge of a rush. Between two of them cost is
linear, so the best is among them. Without rushes each is found by subtracting the work before it; with rushes, by
running the route backwards. Candidates are costed by running the route forwards, all at once as arrays, so that many
windows take no longer than few. The times of the one chosen are laid out by `layout/timeline.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from planner_mcp.routing.evaluation.leg_timing import drive_leg, latest_departure
from planner_mcp.routing.evaluation.route_legs import Leg
from planner_mcp.routing.evaluation.time_dependent_travel import BASE_FACTOR, MAX_IN_64_BITS, Moments, TravelSpeeds
from planner_mcp.routing.problem import AgentSpec, Break, Problem, StopKind

_MAX_AT_ONCE: Final = 1000
"""Moments followed through one route; of more, as a day with dozens of rushes has, every second or third is."""

LegBounds = Sequence[tuple[int, int]]
"""By leg: the earliest moments at which the agent can set out on it, and can be at its end."""
LegFollower = Callable[[Leg, Moments], tuple[Moments, Moments]]
"""Takes many moments of setting out on a leg; gives when each arrives, and by how much its breaks begin too late."""


@dataclass(frozen=True, slots=True)
class SpanPrice:
    """Extra price per unit of time of the longest route above `floor`, the duration of the second longest."""

    cost: int = 0
    floor: int = 0


@dataclass(frozen=True, slots=True)
class Tour:
    """A route with all that the price of its hours depends on."""

    problem: Problem
    agent: AgentSpec
    legs: list[Leg]
    untaken_breaks: list[Break]
    """Breaks that are not on the route: to be rested outside it."""
    span: SpanPrice

    @property
    def over(self) -> int:
        """When the shift ends, overtime included."""
        return self.agent.shift[1] + self.agent.overtime

    def lateness_cost(self, leg: Leg) -> int:
        """Return what each unit costs by which the service at the end of a leg is late."""
        is_ticket = leg.soft_close is not None and leg.stop is not None and leg.stop.kind is StopKind.TICKET
        return self.problem.tickets[leg.stop.index].lateness_cost if is_ticket and leg.stop is not None else 0


def best_departure(tour: Tour, soonest: int) -> int:
    """Return the departure that breaks the limits least, then costs least, then takes least time; the first of several.

    Args:
        tour: On a day whose travel takes the same at every hour.
        soonest: The first departure that is possible.
    """
    leaving: Moments = np.array(sorted(_breakpoints_constant_speed(tour, soonest)), dtype=_number_type(tour, soonest))
    return _best(tour, leaving, _follow_constant_speed)


def best_departure_time_dependent(tour: Tour, bounds: LegBounds, speeds: TravelSpeeds) -> int:
    """Return the same on a day with rushes.

    Args:
        tour: On such a day.
        bounds: As the first departure that is possible leads to them.
        pace: The clock of the day.
    """
    soonest = bounds[0][0]
    breakpoints = _breakpoints(tour, bounds, speeds, _number_type(tour, soonest, speeds))
    leaving = _in_order(np.array([soonest], dtype=breakpoints.dtype), breakpoints)
    return _best(tour, leaving, partial(_arrivals, speeds=speeds))


def _best(tour: Tour, leaving: Moments, follow: LegFollower) -> int:
    """Return the best of some departures and of those between them from which on the route is short enough."""
    hours = _evaluated(tour, leaving, follow)
    if (more := _duration_crossings(tour, leaving, hours[-1])).size:
        leaving = _in_order(leaving, more)
        hours = _evaluated(tour, leaving, follow)
    broken, cost, lasts = hours
    return int(leaving[np.lexsort((leaving, lasts, cost, broken))[0]])


def _evaluated(tour: Tour, leaving: Moments, follow: LegFollower) -> tuple[Moments, Moments, Moments]:
    """Return by how much each departure breaks the limits, then what its hours cost, then how many they are."""
    agent, now, broken, late = tour.agent, leaving, 0 * leaving, 0 * leaving
    for leg in tour.legs:
        arrival, missed = follow(leg, now)
        start = _openings(leg, np.maximum(arrival + leg.setup, leg.earliest))
        if leg.windows:
            missed = missed + np.maximum(0, start - leg.windows[-1][1])
        if leg.soft_close is not None and (dear := tour.lateness_cost(leg)):
            late += dear * np.maximum(0, start - leg.soft_close)
        broken, now = broken + missed, start + leg.service
    lasts = now - leaving
    broken += np.maximum(0, now - tour.over)
    broken += 0 if agent.max_duration is None else np.maximum(0, lasts - agent.max_duration)
    for break_spec in tour.untaken_breaks:
        broken += np.maximum(
            0, np.minimum(now - break_spec.window[1], break_spec.window[0] + break_spec.duration - leaving)
        )
    longer = tour.span.cost * np.maximum(0, lasts - tour.span.floor)
    overtime = agent.overtime_cost * np.maximum(0, now - agent.shift[1])
    return broken, agent.time_cost * lasts + longer + overtime + late, lasts


def _breakpoints_constant_speed(tour: Tour, soonest: int) -> set[int]:
    """Return the departures at which something changes on the way.

    A moment on the way depends on the departure only while nobody waits before it, so what lies between is work alone.
    """
    found, work = {break_spec.window[0] + break_spec.duration for break_spec in tour.untaken_breaks}, 0
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
    over = tour.over
    return {soonest} | {at for at in found if soonest < at <= over}


def _duration_crossings(tour: Tour, leaving: Moments, lasts: Moments) -> Moments:
    """Return departures between those given from which on, as waiting shrinks, the route is short enough or free."""
    limits = [tour.span.floor] if tour.span.cost else []
    limits += [] if tour.agent.max_duration is None else [tour.agent.max_duration]
    found = [(leaving + lasts - limit)[:-1] for limit in limits]
    between = [at[(at > leaving[:-1]) & (at < leaving[1:])] for at in found]
    return np.concatenate([leaving[:0], *between])


def _number_type(tour: Tour, soonest: int, speeds: TravelSpeeds | None = None) -> type:
    """Return what to reckon time and money in: numbers of 64 bits where those suffice."""
    slowest = BASE_FACTOR if speeds is None else speeds.slowest
    work = sum(leg.setup + leg.service + sum(break_spec.duration for break_spec in leg.breaks) for leg in tour.legs)
    work += sum(1 + leg.travel * slowest // BASE_FACTOR for leg in tour.legs)
    latest = max(soonest, tour.over, *(_last_edge(leg) for leg in tour.legs)) + work
    dear = tour.agent.time_cost + tour.agent.overtime_cost + tour.span.cost + sum(map(tour.lateness_cost, tour.legs))
    is_small = latest * (1 + dear) < MAX_IN_64_BITS and (speeds is None or speeds.is_small(latest))
    return np.int64 if is_small else object


def _last_edge(leg: Leg) -> int:
    """Return after when nothing waits for a moment any more at the end of a leg or in its breaks."""
    closes = leg.windows[-1][1] if leg.windows else 0
    return max(closes, leg.earliest, leg.soft_close or 0, *(break_spec.window[1] for break_spec in leg.breaks))


def _follow_constant_speed(leg: Leg, leaving: Moments) -> tuple[Moments, Moments]:
    """Follow a leg that takes the same at every hour; travel done before a break counts."""
    missed, break_time, waits_until = 0 * leaving, 0, None
    for break_spec in leg.breaks:
        opens = break_spec.window[0] - break_time
        waits_until = opens if waits_until is None else max(waits_until, opens)
        missed += np.maximum(0, np.maximum(leaving, waits_until) + break_time - break_spec.window[1])
        break_time += break_spec.duration
    arrival = leaving + leg.travel
    return (arrival if waits_until is None else np.maximum(arrival, waits_until) + break_time), missed


def _edges(leg: Leg) -> set[int]:
    """Return when something begins to change for the service at the end of a leg."""
    return {edge for window in leg.windows for edge in window} | {leg.earliest, leg.soft_close or 0}


def _ends(tour: Tour) -> set[int]:
    """Return when something begins to change for the end of the route."""
    return {tour.agent.shift[1], tour.over, *(break_spec.window[1] for break_spec in tour.untaken_breaks)}


def _breakpoints(tour: Tour, bounds: LegBounds, speeds: TravelSpeeds, numbers: type) -> Moments:
    """Return the departures at which something changes on the way through rushes, and the moments after them."""
    over, ends = tour.over, _ends(tour)
    edges: Moments = np.array(speeds.edges, dtype=numbers)
    leave = edges[:0]
    for leg, (left, reached) in zip(reversed(tour.legs), reversed(bounds), strict=True):
        last = leg.windows[-1][1] if leg.windows else over
        start = leave - leg.service
        marks = {edge - leg.setup for edge in _edges(leg)} | set(speeds.edges) | (ends if leg.stop is None else set())
        arrive = _in_order(start[start <= last] - leg.setup, np.array([*marks], dtype=numbers))
        arrive = arrive[(arrive >= reached) & (arrive <= over)]
        leave = _in_order(_departures(leg, arrive, speeds), *_departures_for_breaks(leg, edges, speeds), edges)
        leave = leave[(leave >= left) & (leave <= over)]
        leave = leave[:: 1 + len(leave) // _MAX_AT_ONCE]
    out: Moments = np.array(
        [break_spec.window[0] + break_spec.duration for break_spec in tour.untaken_breaks], dtype=numbers
    )
    leave = np.concatenate([leave, leave + 1, out])
    return leave[(leave > bounds[0][0]) & (leave <= over)]


def _in_order(*times: Moments) -> Moments:
    """Return the moments of all, each once."""
    found = np.sort(np.concatenate(times))
    is_new = np.ones(len(found), dtype=bool)
    is_new[1:] = found[1:] != found[:-1]
    return found[is_new]


def _departures_for_breaks(leg: Leg, edges: Moments, speeds: TravelSpeeds) -> list[Moments]:
    """Return when to leave for a leg on which a break should begin by the edge of its window or of a rush."""
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
    """Return when a leg is over, and by how much its breaks begin too late."""
    if not leg.breaks:
        return speeds.arrivals(leaving, leg.travel), 0 * leaving
    ways = [drive_leg(leg, int(at), speeds) for at in leaving]
    missed = [
        sum(
            max(0, begun - break_spec.window[1]) for break_spec, (_, begun) in zip(leg.breaks, break_times, strict=True)
        )
        for break_times, _, _ in ways
    ]
    return np.array([arrival for _, arrival, _ in ways], leaving.dtype), np.array(missed, leaving.dtype)


def _openings(leg: Leg, ready: Moments) -> Moments:
    """Return the first moments from `ready` on that lie in a window; `ready` itself when none is left."""
    if not leg.windows:
        return ready
    # behind the last window is one that has always been open, and has no end to look for
    opens, closes = np.array([*leg.windows, (-MAX_IN_64_BITS, 0)], dtype=ready.dtype).T
    start: Moments = np.maximum(ready, opens.take(np.searchsorted(closes[:-1], ready)))
    return start
