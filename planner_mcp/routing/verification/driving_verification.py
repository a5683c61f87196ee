"""The proof of driving through rushes: part of the independent proof, sharing nothing with what it judges.

Owns the sum over stretches of time with fractions, stretch by stretch, as the definition in `problem.py` reads.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from planner_mcp.routing.problem import TravelPeriod


def driving_time(travel_periods: Sequence[TravelPeriod], stretches: Iterable[tuple[int, int]], need: int) -> int | None:
    """Return the whole units of time it takes to drive a leg, driving whenever there is time for it.

    Args:
        rushes: Of the day.
        stretches: (since, until) between the breaks, in order.
        need: Duration of the leg outside every rush.

    Returns:
        The time spent driving; None where the stretches do not suffice.
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
    """Yield (length, factor) of a stretch, cut where the factor changes."""
    edges = {edge for period in travel_periods for edge in (period.start, period.end) if since < edge < until}
    cuts = [since, *sorted(edges), until]
    for start, end in pairwise(cuts):
        factor = next((period.factor for period in travel_periods if period.start <= start < period.end), 1000)
        yield end - start, factor
