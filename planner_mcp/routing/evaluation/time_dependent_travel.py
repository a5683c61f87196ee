"""Travel times that depend on the time of day.

Owns the speed function: how much of a leg is driven between two times, and when the vehicle arrives. A leg is an amount
of work; at factor 1400 an hour of driving does 1000 / 1400 of an hour's work. The speed changes at the edges of travel
periods, also on the way, so a later departure never arrives earlier (the FIFO property). All arithmetic is exact in
integers; an arrival is the first whole unit of time at which the work is done. Single vehicles use a unit of work of
which every speed does a whole number. Arrays of vehicles use `_SpeedIntervals`, whose numbers stay small. Also owns
bounds that hold at every time: the fastest and the slowest travel.

Source: the speed model with the FIFO property is that of Ichoua, Gendreau and Potvin, "Vehicle dispatching with
time-dependent travel times", 2003.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from math import lcm
from typing import Any, Final

from planner_mcp import arrays as np
from planner_mcp.arrays import Array
from planner_mcp.routing.problem import AgentSpec, Feature, Matrix, Problem, TravelPeriod

Moments = Array
"""Times in units, as 64-bit or Python integers."""
BASE_FACTOR: Final = 1000
"""The factor outside every travel period, in thousandths."""
_ENDLESS: Final = 2**62
MAX_IN_64_BITS: Final = 2**62
"""A bound on numbers such that the sum of two fits into 64 bits."""


class TravelSpeeds:
    """The speeds of a problem with travel periods.

    Args:
        travel_periods: Sorted, disjoint; at least one.
    """

    def __init__(self, travel_periods: Sequence[TravelPeriod]) -> None:
        common = lcm(BASE_FACTOR, *(period.factor for period in travel_periods))
        spans = list(_spans(travel_periods))
        self.per_unit = common // BASE_FACTOR
        """Work of one unit of travel at factor 1000."""
        self.edges = [end for _, end, _ in spans[:-1]]
        """When the speed changes."""
        self.slowest = max(factor for _, _, factor in spans)
        """The largest factor."""
        self._spans = [(start, end, common // factor) for start, end, factor in spans]
        self._factors = [factor for _, _, factor in spans]
        self._intervals: dict[Any, _SpeedIntervals] = {}

    def done(self, since: int, until: int) -> int:
        """Return the work done by driving from one time to another."""
        return sum(speed * (min(end, until) - max(start, since)) for start, end, speed in self._among(since, until))

    def arrival(self, leaving: int, work: int) -> int:
        """Return when the work is done for a departure."""
        now = leaving
        for _, end, speed in self._among(leaving, _ENDLESS):
            if work <= speed * (end - now):
                return now - (-work // speed)
            work -= speed * (end - now)
            now = end
        return now

    def departure(self, arriving: int, work: int) -> int:
        """Return the latest departure that completes the work by `arriving`."""
        now = arriving
        for start, _, speed in reversed(list(self._among(-_ENDLESS, arriving))):
            if work <= speed * (now - start):
                return now - (-(-work // speed))
            work -= speed * (now - start)
            now = start
        return now

    def is_small(self, latest: int) -> bool:
        """Return whether 64-bit integers suffice for times up to `latest` and legs up to that duration."""
        least = min(self._factors)
        most = self.slowest * (self.slowest * -(-BASE_FACTOR // least) + BASE_FACTOR) * (latest + self.edges[-1])
        return most < MAX_IN_64_BITS

    def arrivals(self, leaving: Moments, travel: int) -> Moments:
        """Return the arrivals (k,) of a leg of `travel` units, for departures (k,); as `arrival` does."""
        return self._in_intervals(leaving.dtype).arrivals(leaving, travel)

    def departures(self, arriving: Moments, travel: int) -> Moments:
        """Return the latest departures (k,) of a leg of `travel` units, for arrivals (k,); as `departure` does."""
        return self._in_intervals(arriving.dtype).departures(arriving, travel)

    def _in_intervals(self, dtype: Any) -> "_SpeedIntervals":
        if dtype not in self._intervals:
            done = [0, *accumulate(speed * (end - start) for start, end, speed in self._spans[1:-1])]
            self._intervals[dtype] = _SpeedIntervals(self.edges, self._factors, [0, *done], self.per_unit, dtype)
        return self._intervals[dtype]

    def _among(self, since: int, until: int) -> Iterator[tuple[int, int, int]]:
        return (span for span in self._spans if span[1] > since and span[0] < until)


class _SpeedIntervals:
    """The same speed function for arrays, without the common unit of work, which odd factors make very large.

    The work a vehicle has done since the start of its interval, times the factor of that interval, is an integer. It is
    therefore compared with the work between two edges times the same factor, rounded to integers.

    Args:
        edges: When the speed changes.
        factors: Of the interval before the first edge, and of the interval after each edge.
        done: Work from the first edge to the reference time of each interval: its start, the first edge twice.
        per_unit: Work of one unit of travel at factor 1000.
        dtype: Number type of the times.
    """

    def __init__(
        self, edges: Sequence[int], factors: Sequence[int], done: Sequence[int], per_unit: int, dtype: Any
    ) -> None:
        self._base = np.array([edges[0], *edges], dtype=dtype)
        self._factor = np.array(factors, dtype=dtype)
        works, by = np.array(done, dtype=object), np.array(factors, dtype=object)
        # (interval of the vehicle, another interval), flattened: work between the two, times the factor of the first …
        between = by[:, None] * (works[None, :] - works[:, None])
        beyond = np.full((len(by), 1), MAX_IN_64_BITS if dtype == np.int64 else MAX_IN_64_BITS**3, dtype=object)
        self._width = len(by) + 1
        self._work_to_pass = np.hstack([between // per_unit, beyond]).astype(dtype).ravel()
        self._work_to_stay = np.hstack([-beyond, -(-between[:, 1:] // per_unit), beyond]).astype(dtype).ravel()
        # … and times the factor of the other, rounded down and up
        self._at_least = np.hstack([between * by // per_unit, beyond]).astype(dtype).ravel()
        self._at_most = np.hstack([-(-between * by // per_unit), beyond]).astype(dtype).ravel()

    def arrivals(self, leaving: Moments, travel: int) -> Moments:
        """Return the arrivals: each in the last interval whose start the vehicle passes."""
        here, row, factor, begun = self._place(leaving)
        ahead, there = begun + travel * factor, here
        while (goes_on := ahead > self._work_to_pass.take(row + there + 1)).any():
            there = there + goes_on
        short = self._factor.take(there) * ahead - self._at_least.take(row + there)
        over: Moments = self._base.take(there) - -short // (BASE_FACTOR * factor)
        return over

    def departures(self, arriving: Moments, travel: int) -> Moments:
        """Return the departures: each in the first interval before whose end the vehicle must leave."""
        here, row, factor, begun = self._place(arriving)
        behind, there = begun - travel * factor, here
        while (goes_on := behind < self._work_to_stay.take(row + there)).any():
            there = there - goes_on
        left = self._factor.take(there) * behind - self._at_most.take(row + there)
        last: Moments = self._base.take(there) + left // (BASE_FACTOR * factor)
        return last

    def _place(self, times: Moments) -> tuple[Moments, Moments, Moments, Moments]:
        """Return, per time: its interval, the row of that, its factor, and the work done in it by then times that."""
        here = np.searchsorted(self._base[1:], times, side="right")
        return here, here * self._width, self._factor.take(here), BASE_FACTOR * (times - self._base.take(here))


def _spans(travel_periods: Sequence[TravelPeriod]) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, factor) without gaps, from long before the planning date to long after."""
    now = -_ENDLESS
    for period in travel_periods:
        if period.start > now:
            yield now, period.start, BASE_FACTOR
        yield period.start, period.end, period.factor
        now = period.end
    yield now, _ENDLESS, BASE_FACTOR


def speeds_of(problem: Problem) -> TravelSpeeds | None:
    """Return the speeds of a problem, None where travel times are constant."""
    return _speeds(problem.travel_periods) if problem.travel_periods else None


@lru_cache(maxsize=16)
def _speeds(travel_periods: tuple[TravelPeriod, ...]) -> TravelSpeeds:
    return TravelSpeeds(travel_periods)


def fastest_factor(problem: Problem) -> int:
    """Return the factor of the fastest travel of the day, in thousandths."""
    return min([BASE_FACTOR, *(period.factor for period in problem.travel_periods)])


def fastest_durations(problem: Problem) -> tuple[Matrix, ...]:
    """Return lower bounds of the travel times, per profile (L, L): those at the fastest speed of the day."""
    if (least := fastest_factor(problem)) == BASE_FACTOR:
        return problem.durations
    return tuple(matrix.astype(np.int64) * least // BASE_FACTOR for matrix in problem.durations)


def at_worst_case_speeds(problem: Problem) -> Problem:
    """Return the problem with constant travel times: each agent at the slowest speed of its shift.

    A plan that is feasible there is feasible in the original problem at the same times, because real legs are shorter.
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
    opens, closes = agent.shift[0], agent.latest_end
    spans = _spans(problem.travel_periods)
    return max(factor for start, end, factor in spans if start <= closes and end > opens)


def _slowed(matrix: Matrix, factor: int) -> Matrix:
    return np.asarray(-(-matrix.astype(np.int64) * factor // BASE_FACTOR), dtype=np.int64)
