"""What a partial route costs and when it goes on, for a whole range of departures at once.

For a given departure every stop is served as early as possible: nothing gets cheaper or sooner by waiting longer than a
rule demands. A later departure is cheaper where time is paid, and delays what comes later or uses up what would be
waiting. So a partial route is a few ranges of departures, and in each of them cost and time are linear.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class DepartureRange(NamedTuple):
    """A partial route that departs at `leaves + x`, for each integer x from 0 to `span`."""

    cost: int
    """At x = 0: what was spent, less the price of time up to the departure."""
    slope: int
    """Rise of `cost` with x."""
    ready: int
    """At x = 0: when the route goes on."""
    moves: int
    """Rise of `ready` with x: 0 where the route waits anyway, otherwise 1."""
    leaves: int
    span: int

    def part(self, first: int, last: int) -> "DepartureRange":
        """Return the departures from x = first to x = last."""
        cost, slope, ready, moves, leaves, _ = self
        return DepartureRange(cost + slope * first, slope, ready + moves * first, moves, leaves + first, last - first)

    def least(self, per_time: int) -> int:
        """Return the least cost so far, with the price of time up to `ready`."""
        cost, slope, ready, moves, _, span = self
        return cost + per_time * ready + min(0, (slope + per_time * moves) * span)

    def later(self, time: int, cost: int) -> "DepartureRange":
        """Return it after some time, at some cost."""
        spent, slope, ready, moves, leaves, span = self
        return DepartureRange(spent + cost, slope, ready + time, moves, leaves, span)

    def waiting(self, time: int) -> "DepartureRange":
        """Return it, ready at a time whenever it departs."""
        return DepartureRange(self.cost, self.slope, time, 0, self.leaves, self.span)


def settled(each: DepartureRange, *, is_limited: bool) -> DepartureRange:
    """Return the best departure alone where one is nowhere worse than the others.

    Args:
        each: A range.
        is_limited: Whether durations are limited, so that a later departure may be better at the same cost and time.
    """
    if each.span and not each.moves and each.slope <= 0:
        each = each.part(each.span, each.span)
    elif each.span and each.slope >= 0 and not is_limited:
        each = each.part(0, 0)
    return each if each.span else DepartureRange(each.cost, 0, each.ready, 0, each.leaves, 0)


def not_before(each: DepartureRange, time: int, *, is_limited: bool) -> Iterator[DepartureRange]:
    """Yield it, waiting until a time."""
    missing = time - each.ready
    if missing <= 0:
        yield each
    elif not each.moves or missing > each.span:
        yield settled(each.waiting(time), is_limited=is_limited)
    else:
        if each.slope > 0:  # otherwise the earlier departures only wait longer
            yield settled(each.part(0, missing - 1).waiting(time), is_limited=is_limited)
        yield settled(each.part(missing, each.span), is_limited=is_limited)


def not_after(each: DepartureRange, time: int) -> DepartureRange | None:
    """Return the part of it that is ready by a time."""
    left = time - each.ready
    if left < 0:
        return None
    return each.part(0, left) if each.moves and left < each.span else each


def within(each: DepartureRange, windows: Sequence[tuple[int, int]], *, is_limited: bool) -> Iterator[DepartureRange]:
    """Yield it, waiting for the first of the windows, sorted and disjoint, that is still open."""
    if not windows:
        yield each
    for opens, closes in windows:
        if (part := not_after(each, closes)) is None:
            continue
        yield from not_before(part, opens, is_limited=is_limited)
        passed = closes + 1 - each.ready
        if not each.moves or passed > each.span:
            return
        each = each.part(passed, each.span)


def charged_after(each: DepartureRange, time: int, price: int, *, is_limited: bool) -> Iterator[DepartureRange]:
    """Yield it with a price for each unit of time that it is ready after a time."""
    early = time - each.ready
    if not price or (early >= 0 and (not each.moves or early >= each.span)):
        yield each
        return
    if early > 0:
        yield settled(each.part(0, early), is_limited=is_limited)
        each = each.part(early + 1, each.span)
    cost, slope, ready, moves, leaves, span = each
    dearer = DepartureRange(cost + price * (ready - time), slope + price * moves, ready, moves, leaves, span)
    yield settled(dearer, is_limited=is_limited)


def not_longer(each: DepartureRange, duration: int) -> DepartureRange | None:
    """Return the part of it that takes at most so long."""
    excess = each.ready - each.leaves - duration
    if excess <= 0:
        return each
    return each.part(excess, each.span) if not each.moves and excess <= each.span else None


def is_no_worse(a: DepartureRange, b: DepartureRange, *, is_limited: bool) -> bool:
    """Return whether for each departure of b one of a is nowhere worse; False where that is not plain."""
    if a.ready > b.ready:
        return False
    if not is_limited and not b.span:
        if a.cost <= b.cost:
            return True
        if not a.span:
            return False
    if a.moves and b.moves and _is_no_worse_by_ready(a, b, is_limited=is_limited):
        return True
    early = a if not a.moves else a.part(0, min(a.span, b.ready - a.ready))  # ready before all of b
    lowest, latest = b.cost + min(0, b.slope * b.span), b.leaves + b.span
    is_first, is_last = early.cost <= lowest, early.cost + early.slope * early.span <= lowest
    if not is_limited:
        return is_first or is_last
    if early.leaves + early.span < latest:
        return False
    return is_last or (is_first and early.leaves >= latest) or _is_no_worse_by_departure(early, b)


def _is_no_worse_by_ready(a: DepartureRange, b: DepartureRange, *, is_limited: bool) -> bool:
    """Match those that are ready at the same time, or the last of a: linear on both sides of that."""
    last = b.ready + b.span
    for ready in (b.ready, min(max(a.ready + a.span, b.ready), last), last):
        x, y = min(ready - a.ready, a.span), ready - b.ready
        if a.cost + a.slope * x > b.cost + b.slope * y or (is_limited and a.leaves + x < b.leaves + y):
            return False
    return True


def _is_no_worse_by_departure(a: DepartureRange, b: DepartureRange) -> bool:
    """Match those that depart at the same time, or the first of a: linear on both sides of that."""
    last = b.leaves + b.span
    for leaves in (b.leaves, min(max(a.leaves, b.leaves), last), last):
        if a.cost + a.slope * max(0, leaves - a.leaves) > b.cost + b.slope * (leaves - b.leaves):
            return False
    return True
