"""Travel that takes longer at some hours of the day.

Owns the clock of a moving vehicle: how far it comes between two moments, and when it arrives. A leg is work to be
done; at a factor of 1.4 an hour does an hour's work divided by 1.4. The pace changes at the moments themselves, on the
way too, so whoever leaves later never arrives earlier. All arithmetic is exact in integers; an arrival is the first
whole unit of time at which the work is done. One vehicle is followed in a unit of work of which every pace does a whole
number; many at once by `_SpeedIntervals`, whose numbers stay small. Also owns what can be said of a day without the
clock: its quickest and its slowest travel.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from math import lcm
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner_mcp.routing.problem import AgentSpec, Feature, Matrix, Problem, TravelPeriod

Moments = NDArray[Any]
"""Time units, as 64-bit or Python integers."""
BASE_FACTOR: Final = 1000
"""The factor outside every rush, in thousandths."""
_ENDLESS: Final = 2**62
MAX_IN_64_BITS: Final = 2**62
"""Numbers up to which the sum of two still fits."""


class TravelSpeeds:
    """The clock of a day with rushes.

    Args:
        rushes: In order, not overlapping; at least one.
    """

    def __init__(self, travel_periods: Sequence[TravelPeriod]) -> None:
        common = lcm(BASE_FACTOR, *(period.factor for period in travel_periods))
        spans = list(_spans(travel_periods))
        self.per_unit = common // BASE_FACTOR
        """Work of one unit of undisturbed travel."""
        self.edges = [end for _, end, _ in spans[:-1]]
        """When the pace changes."""
        self.slowest = max(factor for _, _, factor in spans)
        """The largest factor."""
        self._spans = [(start, end, common // factor) for start, end, factor in spans]
        self._factors = [factor for _, _, factor in spans]
        self._intervals: dict[Any, _SpeedIntervals] = {}

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

    def is_small(self, latest: int) -> bool:
        """Return whether 64 bits suffice for many moments up to one and legs no longer than that."""
        least = min(self._factors)
        most = self.slowest * (self.slowest * -(-BASE_FACTOR // least) + BASE_FACTOR) * (latest + self.edges[-1])
        return most < MAX_IN_64_BITS

    def arrivals(self, leaving: Moments, travel: int) -> Moments:
        """Return when legs of so much undisturbed travel are over that are left at many moments, as `arrival` does."""
        return self._in_intervals(leaving.dtype).arrivals(leaving, travel)

    def departures(self, arriving: Moments, travel: int) -> Moments:
        """Return the last moments to leave for legs that must be over at many moments, as `departure` does."""
        return self._in_intervals(arriving.dtype).departures(arriving, travel)

    def _in_intervals(self, dtype: Any) -> "_SpeedIntervals":
        if dtype not in self._intervals:
            done = [0, *accumulate(speed * (end - start) for start, end, speed in self._spans[1:-1])]
            self._intervals[dtype] = _SpeedIntervals(self.edges, self._factors, [0, *done], self.per_unit, dtype)
        return self._intervals[dtype]

    def _among(self, since: int, until: int) -> Iterator[tuple[int, int, int]]:
        return (span for span in self._spans if span[1] > since and span[0] < until)


class _SpeedIntervals:
    """The same clock for many vehicles at once, without the unit of work that a day of odd factors makes immense.

    What a vehicle has done since the beginning of the stretch it is in, times the factor there, is a whole number; so
    it may be compared with what the stretches between two edges hold, times that factor, cut to whole numbers.

    Args:
        edges: When the pace changes.
        factors: Of the stretch before the first edge, and from each edge on.
        done: Work from the first edge up to the moment from which each stretch is reckoned: an edge, the first twice.
        per_unit: Work of one unit of undisturbed travel.
        dtype: Of the moments.
    """

    def __init__(
        self, edges: Sequence[int], factors: Sequence[int], done: Sequence[int], per_unit: int, dtype: Any
    ) -> None:
        self._base = np.array([edges[0], *edges], dtype=dtype)
        self._factor = np.array(factors, dtype=dtype)
        works, by = np.array(done, dtype=object), np.array(factors, dtype=object)
        # (stretch a vehicle is in, another), in one row each: the work between them, times the factor of the first …
        between = by[:, None] * (works[None, :] - works[:, None])
        beyond = np.full((len(by), 1), MAX_IN_64_BITS if dtype == np.int64 else MAX_IN_64_BITS**3, dtype=object)
        self._width = len(by) + 1
        self._work_to_pass = np.hstack([between // per_unit, beyond]).astype(dtype).ravel()
        self._work_to_stay = np.hstack([-beyond, -(-between[:, 1:] // per_unit), beyond]).astype(dtype).ravel()
        # … and times that of the other, rounded down and up
        self._at_least = np.hstack([between * by // per_unit, beyond]).astype(dtype).ravel()
        self._at_most = np.hstack([-(-between * by // per_unit), beyond]).astype(dtype).ravel()

    def arrivals(self, leaving: Moments, travel: int) -> Moments:
        """Return when legs are over: in the last stretch whose beginning they pass."""
        here, row, factor, begun = self._place(leaving)
        ahead, there = begun + travel * factor, here
        while (goes_on := ahead > self._work_to_pass.take(row + there + 1)).any():
            there = there + goes_on
        short = self._factor.take(there) * ahead - self._at_least.take(row + there)
        over: Moments = self._base.take(there) - -short // (BASE_FACTOR * factor)
        return over

    def departures(self, arriving: Moments, travel: int) -> Moments:
        """Return when to leave for legs: in the first stretch before whose end that must be."""
        here, row, factor, begun = self._place(arriving)
        behind, there = begun - travel * factor, here
        while (goes_on := behind < self._work_to_stay.take(row + there)).any():
            there = there - goes_on
        left = self._factor.take(there) * behind - self._at_most.take(row + there)
        last: Moments = self._base.take(there) + left // (BASE_FACTOR * factor)
        return last

    def _place(self, times: Moments) -> tuple[Moments, Moments, Moments, Moments]:
        """Return by moment: its stretch, the row of that, its factor, and what is done in it by then, times that."""
        here = np.searchsorted(self._base[1:], times, side="right")
        return here, here * self._width, self._factor.take(here), BASE_FACTOR * (times - self._base.take(here))


def _spans(travel_periods: Sequence[TravelPeriod]) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, factor) without gaps, from long before the day to long after."""
    now = -_ENDLESS
    for period in travel_periods:
        if period.start > now:
            yield now, period.start, BASE_FACTOR
        yield period.start, period.end, period.factor
        now = period.end
    yield now, _ENDLESS, BASE_FACTOR


def speeds_of(problem: Problem) -> TravelSpeeds | None:
    """Return the clock of a day, None where travel takes the same at every hour."""
    return _speeds(problem.travel_periods) if problem.travel_periods else None


@lru_cache(maxsize=16)
def _speeds(travel_periods: tuple[TravelPeriod, ...]) -> TravelSpeeds:
    return TravelSpeeds(travel_periods)


def fastest_durations(problem: Problem) -> tuple[Matrix, ...]:
    """Return travel times that no hour of the day beats."""
    least = (
        min(BASE_FACTOR, *(period.factor for period in problem.travel_periods))
        if problem.travel_periods
        else BASE_FACTOR
    )
    if least >= BASE_FACTOR:
        return problem.durations
    return tuple(table * least // BASE_FACTOR for table in problem.durations)


def at_worst_case_speeds(problem: Problem) -> Problem:
    """Return the day as it would be if each agent always drove at the slowest pace of its shift.

    What can be driven there can be driven on the day itself at the same times: on real legs there is time to spare.
    """
    if not problem.travel_periods:
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
        travel_periods=(),
        features=features | ({Feature.PROFILES} if len(profiles) > 1 else set()),
    )


def _slowest(problem: Problem, agent: AgentSpec) -> int:
    opens, closes = agent.shift[0], agent.shift[1] + agent.overtime
    spans = _spans(problem.travel_periods)
    return max(factor for start, end, factor in spans if start <= closes and end > opens)


def _slowed(table: Matrix, factor: int) -> Matrix:
    return np.asarray(-(-table * factor // BASE_FACTOR), dtype=np.int64)
