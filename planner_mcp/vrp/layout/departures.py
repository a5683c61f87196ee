"""The departure that is best where travel depends on the hour.

Owns the moments at which leaving later begins to gain or to lose otherwise than before: some way begins or is over at
the edge of a rush, some service starts at the edge of a window or gets late, a break must begin, the shift is over.
Between two of them every later unit makes the same difference, so the best of them is the best there is. They are found
by running the route backwards from each, and weighed by running it forwards, many at once as arrays. The times of the
chosen one are laid out, and judged, by `layout/timeline.py`.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from planner_mcp.vrp.layout.driving import drive, mirror
from planner_mcp.vrp.layout.legs import Leg
from planner_mcp.vrp.layout.pace import Moments, Pace
from planner_mcp.vrp.problem import AgentSpec, Break, Problem, StopKind

_MOST_AT_ONCE: Final = 1000
"""Moments followed through one route; of more, as a day with dozens of rushes has, every second or third is."""

Bounds = Sequence[tuple[int, int]]
"""By leg: the first moment at which it can be left, and at which it can be over."""


def best_departure(
    problem: Problem, agent: AgentSpec, legs: Sequence[Leg], bounds: Bounds, absent: Sequence[Break], hourly: int
) -> int:
    """Return the departure that keeps most of the limits, then costs least, not before the first that is possible.

    Args:
        problem: The day.
        agent: Whose route it is.
        legs: Of the route.
        bounds: As the first possible departure leads to them.
        absent: Breaks rested outside the route.
        hourly: What a unit of its duration costs.
    """
    pace = Pace(problem.rushes, agent.shift[1] + agent.overtime + sum(leg.travel for leg in legs))
    leaving = pace.moments({bounds[0][0]} | {int(at) for at in _turns(agent, legs, bounds, absent, pace)})
    now, broken, late = leaving, 0 * leaving, 0 * leaving
    for leg in legs:
        arrival, missed = _arrivals(leg, now, pace)
        start = _openings(leg, np.maximum(arrival + leg.setup, leg.earliest))
        if leg.windows:
            missed += np.maximum(0, start - leg.windows[-1][1])
        if leg.soft_close is not None and leg.stop is not None and leg.stop.kind is StopKind.TICKET:
            late += problem.tickets[leg.stop.index].lateness_cost * np.maximum(0, start - leg.soft_close)
        broken, now = broken + missed, start + leg.service
    lasts = now - leaving
    broken += np.maximum(0, now - agent.shift[1] - agent.overtime)
    broken += 0 if agent.max_duration is None else np.maximum(0, lasts - agent.max_duration)
    for rest in absent:
        broken += np.maximum(0, np.minimum(now - rest.window[1], rest.window[0] + rest.duration - leaving))
    cost = hourly * lasts + agent.overtime_cost * np.maximum(0, now - agent.shift[1]) + late
    return int(leaving[np.lexsort((leaving, lasts, cost, broken))[0]])


def _turns(agent: AgentSpec, legs: Sequence[Leg], bounds: Bounds, absent: Sequence[Break], pace: Pace) -> Moments:
    """Return the departures at which something changes on the way, and the moments after them."""
    over = agent.shift[1] + agent.overtime
    ends = {agent.shift[1], over, *(rest.window[1] for rest in absent)}
    leave = pace.moments(())
    for leg, (left, reached) in zip(reversed(legs), reversed(bounds), strict=True):
        last = leg.windows[-1][1] if leg.windows else over
        start = leave - leg.service
        edges = {edge for window in leg.windows for edge in window} | {leg.earliest, leg.soft_close or 0}
        marks = {edge - leg.setup for edge in edges} | set(pace.edges) | (ends if leg.stop is None else set())
        arrive = np.unique(np.concatenate([start[start <= last] - leg.setup, pace.moments(marks)]))
        arrive = arrive[(arrive >= reached) & (arrive <= over)]
        leave = np.concatenate([_departures(leg, arrive, pace), *_ways_into_rests(leg, pace), pace.moments(pace.edges)])
        leave = np.unique(leave)
        leave = leave[(leave >= left) & (leave <= over)]
        leave = leave[:: 1 + len(leave) // _MOST_AT_ONCE]
    out = {rest.window[0] + rest.duration for rest in absent}
    leave = np.concatenate([leave, leave + 1, pace.moments(out)])
    return leave[(leave > bounds[0][0]) & (leave <= over)]


def _ways_into_rests(leg: Leg, pace: Pace) -> list[Moments]:
    """Return when to leave for a leg on which a break should begin by the edge of its window or of a rush."""
    if not leg.breaks:
        return []
    marks = pace.moments({edge for rest in leg.breaks for edge in rest.window} | set(pace.edges))
    return [marks, pace.departures(marks, leg.travel * pace.per_unit)]


def _departures(leg: Leg, arrive: Moments, pace: Pace) -> Moments:
    if not leg.breaks:
        return pace.departures(arrive, leg.travel * pace.per_unit)
    return pace.moments(mirror(leg, int(at), pace) for at in arrive)


def _arrivals(leg: Leg, leaving: Moments, pace: Pace) -> tuple[Moments, Moments]:
    """Return when a leg is over, and by how much its breaks begin too late."""
    if not leg.breaks:
        return pace.arrivals(leaving, leg.travel * pace.per_unit), 0 * leaving
    ways = [drive(leg, int(at), pace) for at in leaving]
    missed = [
        sum(max(0, begun - rest.window[1]) for rest, (_, begun) in zip(leg.breaks, rests, strict=True))
        for rests, _, _ in ways
    ]
    return np.array([arrival for _, arrival, _ in ways], leaving.dtype), np.array(missed, leaving.dtype)


def _openings(leg: Leg, ready: Moments) -> Moments:
    """Return the first moments from `ready` on that lie in a window; `ready` itself when none is left."""
    start = ready
    for opens, closes in reversed(leg.windows):
        start = np.where(ready <= closes, np.maximum(ready, opens), start)
    return start
