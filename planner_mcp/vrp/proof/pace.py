"""The proof of driving through rushes: part of the independent proof, sharing nothing with what it judges.

Owns the sum over stretches of time with fractions, stretch by stretch, as the definition in `problem.py` reads.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from planner_mcp.vrp.problem import Rush


def drive(rushes: Sequence[Rush], stretches: Iterable[tuple[int, int]], need: int) -> int | None:
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
        for length, factor in _pieces(rushes, since, until):
            gained = Fraction(length * 1000, factor)
            if left <= gained:
                return spent + math.ceil(left * factor / 1000)
            left -= gained
            spent += length
    return spent if left <= 0 else None


def _pieces(rushes: Sequence[Rush], since: int, until: int) -> Iterator[tuple[int, int]]:
    """Yield (length, factor) of a stretch, cut where the factor changes."""
    edges = {edge for rush in rushes for edge in (rush.start, rush.end) if since < edge < until}
    cuts = [since, *sorted(edges), until]
    for start, end in pairwise(cuts):
        factor = next((rush.factor for rush in rushes if rush.start <= start < rush.end), 1000)
        yield end - start, factor
