"""Times one leg with its breaks, forwards from a departure or backwards from an arrival.

Owns when a break on the way is taken. At constant speed the earliest start is best. With travel periods the best start
is the one with the earliest arrival: often during rush hours, when driving is slow.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from planner_mcp.routing.evaluation.route_legs import Leg
from planner_mcp.routing.evaluation.time_dependent_travel import TravelSpeeds
from planner_mcp.routing.problem import BreakSpec

_MAX_JOINT_BREAKS: Final = 2
"""Breaks of one leg up to which their start times are tried in combination; with more, each starts at once."""
_MAX_BREAK_STARTS: Final = 8
"""Start times of a break that are tried. Of more, as dozens of travel periods give, every second or third is tried."""

DrivenLeg = tuple[list[tuple[int, int]], int, int]
"""(arrival, start) of each break, the arrival, and the time spent driving."""


def drive_leg(leg: Leg, now: int, speeds: TravelSpeeds | None) -> DrivenLeg:
    """Return the times of a leg with the given departure. Travel done before a break counts."""
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
    """Return the latest departure of a leg that must arrive by `arrival`, with its breaks as late as possible."""
    now, remaining = arrival, leg.travel if speeds is None else leg.travel * speeds.per_unit
    for break_spec in reversed(leg.breaks):
        end = min(now, break_spec.window[1] + break_spec.duration)
        remaining = max(0, remaining - (now - end if speeds is None else speeds.done(end, now)))
        now = end - break_spec.duration
    return now - remaining if speeds is None else speeds.departure(now, remaining)


def _earliest_arrival(
    breaks: Sequence[BreakSpec], now: int, work: int, speeds: TravelSpeeds
) -> tuple[int, list[tuple[int, int]], int]:
    """Return arrival, breaks and driving time with the earliest arrival; ties go to the earlier breaks."""
    drive_end = speeds.arrival(now, work)
    if not breaks:
        return drive_end, [], drive_end - now
    break_spec, later = breaks[0], breaks[1:]
    options = []
    for begun in (
        _break_starts(break_spec, now, drive_end, speeds)
        if len(breaks) <= _MAX_JOINT_BREAKS
        else [max(now, break_spec.window[0])]
    ):
        left = max(0, work - speeds.done(now, begun))
        arrival, break_times, driven = _earliest_arrival(later, begun + break_spec.duration, left, speeds)
        options.append((arrival, [(now, begun), *break_times], driven + min(begun, drive_end) - now))
    return min(options, key=lambda option: option[0])


def _break_starts(break_spec: BreakSpec, now: int, drive_end: int, speeds: TravelSpeeds) -> Iterator[int]:
    """Yield start times worth trying, in order: at once, at the edges of travel periods, when the travel is done."""
    first = max(now, break_spec.window[0])
    last = min(break_spec.window[1], drive_end)
    break_starts = {edge - before for edge in speeds.edges for before in (0, break_spec.duration)} | {last}
    options = sorted(start for start in break_starts if first < start <= last)
    yield first
    yield from options[:: 1 + len(options) // _MAX_BREAK_STARTS]
