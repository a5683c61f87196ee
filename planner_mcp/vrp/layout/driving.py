"""One leg, driven from a moment on or backwards from an arrival, with the breaks taken on it.

Owns when a break is taken on the way. Where travel takes the same at every hour, the earliest moment is best. In a day
with rushes the best is the one at which the leg ends earliest: often during a rush, when the vehicle would crawl.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from planner_mcp.vrp.layout.legs import Leg
from planner_mcp.vrp.layout.pace import Pace
from planner_mcp.vrp.problem import Break

_MAX_WEIGHED: Final = 2
"""Breaks of one leg up to which the hours of each are tried with those of the others; more are taken at once."""
_MAX_TURNS: Final = 8
"""Hours of a break that are tried; of more, as a day with dozens of rushes has, every second or third is."""

Driven = tuple[list[tuple[int, int]], int, int]
"""When each break is reached and begun, the arrival, and the time spent driving."""


def drive(leg: Leg, now: int, pace: Pace | None) -> Driven:
    """Return how a leg goes that is left at a moment. Travel done before a break counts."""
    if pace is not None:
        arrival, rests, driven = _soonest(leg.breaks, now, leg.travel * pace.per_unit, pace)
        return rests, arrival, driven
    remaining, rests = leg.travel, []
    for rest in leg.breaks:
        begun = max(now, rest.window[0])
        remaining = max(0, remaining - (begun - now))
        rests.append((now, begun))
        now = begun + rest.duration
    return rests, now + remaining, leg.travel


def mirror(leg: Leg, arrival: int, pace: Pace | None) -> int:
    """Return the latest departure of a leg that must arrive by `arrival`, its breaks as late as they may be."""
    now, remaining = arrival, leg.travel if pace is None else leg.travel * pace.per_unit
    for rest in reversed(leg.breaks):
        end = min(now, rest.window[1] + rest.duration)
        remaining = max(0, remaining - (now - end if pace is None else pace.done(end, now)))
        now = end - rest.duration
    return now - remaining if pace is None else pace.departure(now, remaining)


def _soonest(breaks: Sequence[Break], now: int, work: int, pace: Pace) -> tuple[int, list[tuple[int, int]], int]:
    """Return arrival, breaks and driving of the way that is over first; of several that with the earlier breaks."""
    over = pace.arrival(now, work)
    if not breaks:
        return over, [], over - now
    rest, later = breaks[0], breaks[1:]
    found = []
    for begun in _beginnings(rest, now, over, pace) if len(breaks) <= _MAX_WEIGHED else [max(now, rest.window[0])]:
        left = max(0, work - pace.done(now, begun))
        arrival, rests, driven = _soonest(later, begun + rest.duration, left, pace)
        found.append((arrival, [(now, begun), *rests], driven + min(begun, over) - now))
    return min(found, key=lambda way: way[0])


def _beginnings(rest: Break, now: int, over: int, pace: Pace) -> Iterator[int]:
    """Yield when a break is worth beginning, in order: at once, by the edge of a rush, when there is no way left."""
    first = max(now, rest.window[0])
    last = min(rest.window[1], over)
    turns = {edge - before for edge in pace.edges for before in (0, rest.duration)} | {last}
    found = sorted(turn for turn in turns if first < turn <= last)
    yield first
    yield from found[:: 1 + len(found) // _MAX_TURNS]
