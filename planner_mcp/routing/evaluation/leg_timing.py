"""One leg, driven from a moment on or backwards from an arrival, with the breaks taken on it.

Owns when a break is taken on the way. Where travel takes the same at every hour, the earliest moment is best. In a day
with rushes the best is the one at which the leg ends earliest: often during a rush, when the vehicle would crawl.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from planner_mcp.routing.evaluation.route_legs import Leg
from planner_mcp.routing.evaluation.time_dependent_travel import TravelSpeeds
from planner_mcp.routing.problem import Break

_MAX_JOINT_BREAKS: Final = 2
"""Breaks of one leg up to which the hours of each are tried with those of the others; more are taken at once."""
_MAX_BREAK_STARTS: Final = 8
"""Hours of a break that are tried; of more, as a day with dozens of rushes has, every second or third is."""

DrivenLeg = tuple[list[tuple[int, int]], int, int]
"""When each break is reached and begun, the arrival, and the time spent driving."""


def drive_leg(leg: Leg, now: int, speeds: TravelSpeeds | None) -> DrivenLeg:
    """Return how a leg goes that is left at a moment. Travel done before a break counts."""
    if speeds is not None:
        arrival, break_times, driven = _earliest_arrival(leg.breaks, now, leg.travel * speeds.per_unit, speeds)
        return break_times, arrival, driven
    remaining, break_times = leg.travel, []
    for break_spec in leg.breaks:
        begun = max(now, break_spec.window[0])
        remaining = max(0, remaining - (begun - now))
        break_times.append((now, begun))
        now = begun + break_spec.duration
    return break_times, now + remaining, leg.travel


def latest_departure(leg: Leg, arrival: int, speeds: TravelSpeeds | None) -> int:
    """Return the latest departure of a leg that must arrive by `arrival`, its breaks as late as they may be."""
    now, remaining = arrival, leg.travel if speeds is None else leg.travel * speeds.per_unit
    for break_spec in reversed(leg.breaks):
        end = min(now, break_spec.window[1] + break_spec.duration)
        remaining = max(0, remaining - (now - end if speeds is None else speeds.done(end, now)))
        now = end - break_spec.duration
    return now - remaining if speeds is None else speeds.departure(now, remaining)


def _earliest_arrival(
    breaks: Sequence[Break], now: int, work: int, speeds: TravelSpeeds
) -> tuple[int, list[tuple[int, int]], int]:
    """Return arrival, breaks and driving of the way that is over first; of several that with the earlier breaks."""
    over = speeds.arrival(now, work)
    if not breaks:
        return over, [], over - now
    break_spec, later = breaks[0], breaks[1:]
    found = []
    for begun in (
        _break_starts(break_spec, now, over, speeds)
        if len(breaks) <= _MAX_JOINT_BREAKS
        else [max(now, break_spec.window[0])]
    ):
        left = max(0, work - speeds.done(now, begun))
        arrival, break_times, driven = _earliest_arrival(later, begun + break_spec.duration, left, speeds)
        found.append((arrival, [(now, begun), *break_times], driven + min(begun, over) - now))
    return min(found, key=lambda way: way[0])


def _break_starts(break_spec: Break, now: int, over: int, speeds: TravelSpeeds) -> Iterator[int]:
    """Yield when a break is worth beginning, in order: at once, by the edge of a rush, when there is no way left."""
    first = max(now, break_spec.window[0])
    last = min(break_spec.window[1], over)
    break_starts = {edge - before for edge in speeds.edges for before in (0, break_spec.duration)} | {last}
    found = sorted(turn for turn in break_starts if first < turn <= last)
    yield first
    yield from found[:: 1 + len(found) // _MAX_BREAK_STARTS]
