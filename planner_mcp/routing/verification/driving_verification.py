"""Verifies driving times with travel periods. Part of the independent verifier: it shares no code with evaluation.

Owns the sum of fractions over intervals of constant speed, as the definition in `problem.py` states it.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from planner_mcp.routing.problem import TravelPeriod


def driving_time(travel_periods: Sequence[TravelPeriod], stretches: Iterable[tuple[int, int]], need: int) -> int | None:
    """Return the whole units of time needed to drive a leg, driving whenever the agent is not on a break.

    Args:
        travel_periods: Those of the problem.
        stretches: (since, until) between the breaks, in order.
        need: Duration of the leg outside every travel period.

    Returns:
        The time spent driving; None where the intervals do not suffice.
    """
    left, spent = Fraction(need), 0
    for since, until in stretches:
        for length, factor in _constant_speed_pieces(travel_periods, since, until):
            gained = Fraction(length * 1000, factor)
            if left <= gained:
                return spent + math.ceil(left * factor / 1000)
            left -= gained
            spent += length
    return spent if left <= 0 else None


def _constant_speed_pieces(travel_periods: Sequence[TravelPeriod], since: int, until: int) -> Iterator[tuple[int, int]]:
    """Yield (length, factor) of each part of an interval with constant speed."""
    edges = {edge for period in travel_periods for edge in (period.start, period.end) if since < edge < until}
    cuts = [since, *sorted(edges), until]
    for start, end in pairwise(cuts):
        factor = next((period.factor for period in travel_periods if period.start <= start < period.end), 1000)
        yield end - start, factor
