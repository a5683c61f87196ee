"""Travel that takes longer at some hours of the day.

Owns the clock of a moving vehicle: how far it comes between two moments, and when it arrives. A leg is work to be
done; at a factor of 1.4 an hour does an hour's work divided by 1.4. The pace changes at the moments themselves, on the
way too, so whoever leaves later never arrives earlier. All arithmetic is exact in integers; an arrival is the first
whole unit of time at which the work is done. Also owns what can be said of a day without the clock: its quickest and
its slowest travel.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import lcm
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner_mcp.vrp.problem import AgentSpec, Feature, Matrix, Problem, Rush

Moments = NDArray[Any]
"""Time units, as 64-bit or Python integers."""
USUAL: Final = 1000
"""The factor outside every rush, in thousandths."""
_ENDLESS: Final = 2**62
_A_YEAR: Final = 2**35
"""In thousandths of a second."""
_WORK_IN_64_BITS: Final = 2**59
"""Work up to which whatever is driven past the last moment still fits."""


class Pace:
    """The clock of a day with rushes.

    Args:
        rushes: In order, not overlapping.
        latest: The last moment that many are reckoned for at once (`moments`).
    """

    def __init__(self, rushes: Sequence[Rush], latest: int = _A_YEAR) -> None:
        common = lcm(USUAL, *(rush.factor for rush in rushes))
        self.per_unit = common // USUAL
        """Work of one unit of undisturbed travel."""
        self._spans = [(start, end, common // factor) for start, end, factor in _spans(rushes)]
        self.edges = [end for _, end, _ in self._spans[:-1]]
        """When the pace changes."""
        most = max(speed for _, _, speed in self._spans) * (latest + max(self.edges, default=0))
        self._numbers = np.int64 if most < _WORK_IN_64_BITS else object
        self._stretches: tuple[Moments, Moments, Moments] | None = None

    def done(self, since: int, until: int) -> int:
        """Return the work done by driving from one moment to another."""
        return sum(speed * (min(end, until) - max(start, since)) for start, end, speed in self._among(since, until))

    def arrival(self, leaving: int, work: int) -> int:
        """Return when the work is done by whoever begins at a moment."""
        now = leaving
        for _, end, speed in self._among(leaving, _ENDLESS):
            if work <= speed * (end - now):
                return now - (-work // speed)
            work -= speed * (end - now)
            now = end
        return now

    def departure(self, arriving: int, work: int) -> int:
        """Return the last moment at which to begin work that must be done by another."""
        now = arriving
        for start, _, speed in reversed(list(self._among(-_ENDLESS, arriving))):
            if work <= speed * (now - start):
                return now - (-(-work // speed))
            work -= speed * (now - start)
            now = start
        return now

    def moments(self, times: Iterable[int]) -> Moments:
        """Return different moments in order, as numbers to reckon work in: of 64 bits where those suffice."""
        return np.array(sorted(set(times)), dtype=self._numbers)

    def arrivals(self, leaving: Moments, work: int) -> Moments:
        """Return `arrival` of many moments."""
        base, done, speed = self._lines(leaving.dtype)
        sought = self._done_by(leaving) + work
        at = np.searchsorted(done[1:], sought, side="left")
        over: Moments = base[at] - (done[at] - sought) // speed[at]
        return over

    def departures(self, arriving: Moments, work: int) -> Moments:
        """Return `departure` of many moments."""
        base, done, speed = self._lines(arriving.dtype)
        sought = self._done_by(arriving) - work
        at = np.searchsorted(done[1:], sought, side="right")
        last: Moments = base[at] + (sought - done[at]) // speed[at]
        return last

    def _done_by(self, times: Moments) -> Moments:
        """Return the work that could be done from the first edge up to each moment."""
        base, done, speed = self._lines(times.dtype)
        at = np.searchsorted(base[1:], times, side="right")
        work: Moments = done[at] + speed[at] * (times - base[at])
        return work

    def _lines(self, dtype: Any) -> tuple[Moments, Moments, Moments]:
        """Return by stretch of one pace: a moment from which it is reckoned, the work done by then, the speed."""
        if self._stretches is None:
            work, works = 0, [0, 0]
            for start, end, speed in self._spans[1:-1]:
                work += speed * (end - start)
                works.append(work)
            lists = ([self.edges[0], *self.edges], works, [speed for _, _, speed in self._spans])
            base, done, speeds = (np.array(values, dtype=dtype) for values in lists)
            self._stretches = base, done, speeds
        return self._stretches

    def _among(self, since: int, until: int) -> Iterator[tuple[int, int, int]]:
        return (span for span in self._spans if span[1] > since and span[0] < until)


def _spans(rushes: Sequence[Rush]) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, factor) without gaps, from long before the day to long after."""
    now = -_ENDLESS
    for rush in rushes:
        if rush.start > now:
            yield now, rush.start, USUAL
        yield rush.start, rush.end, rush.factor
        now = rush.end
    yield now, _ENDLESS, USUAL


def pace_of(problem: Problem) -> Pace | None:
    """Return the clock of a day, None where travel takes the same at every hour."""
    return Pace(problem.rushes) if problem.rushes else None


def quickest(problem: Problem) -> tuple[Matrix, ...]:
    """Return travel times that no hour of the day beats."""
    least = min(USUAL, *(rush.factor for rush in problem.rushes)) if problem.rushes else USUAL
    if least >= USUAL:
        return problem.durations
    return tuple(table * least // USUAL for table in problem.durations)


def at_worst(problem: Problem) -> Problem:
    """Return the day as it would be if each agent always drove at the slowest pace of its shift.

    What can be driven there can be driven on the day itself at the same times: on real legs there is time to spare.
    """
    if not problem.rushes:
        return problem
    kinds = [(agent.profile, _slowest(problem, agent)) for agent in problem.agents]
    profiles = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    agents = tuple(replace(agent, profile=profiles[kind]) for agent, kind in zip(problem.agents, kinds, strict=True))
    features = problem.features - {Feature.RUSH_HOURS, Feature.PROFILES}
    return replace(
        problem,
        agents=agents,
        distances=tuple(problem.distances[profile] for profile, _ in profiles),
        durations=tuple(_slowed(problem.durations[profile], factor) for profile, factor in profiles),
        rushes=(),
        features=features | ({Feature.PROFILES} if len(profiles) > 1 else set()),
    )


def _slowest(problem: Problem, agent: AgentSpec) -> int:
    opens, closes = agent.shift[0], agent.shift[1] + agent.overtime
    spans = _spans(problem.rushes)
    return max(factor for start, end, factor in spans if start <= closes and end > opens)


def _slowed(table: Matrix, factor: int) -> Matrix:
    return np.asarray(-(-table * factor // USUAL), dtype=np.int64)
