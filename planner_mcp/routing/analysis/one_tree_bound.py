"""A lower bound on driving, from trees (SPEC T5).

Owns the bound on what it costs to drive to a set of tickets, each once. A trip leaves a depot, goes from ticket to
ticket, and comes back. Without the legs back, all trips together are a tree that joins the tickets to the depot; so no
plan costs less than the shortest tree and the shortest legs back. That alone is weak. It gets better by *tolls*, paid
at each end of a leg that is a ticket and given back twice for every ticket: they change no plan's cost, since a plan
has two legs at each ticket, but they drive the shortest tree towards two legs as well. Any tolls give a valid bound;
good ones are found by a subgradient ascent, and the last word is computed in whole numbers.

Source: Held and Karp, Operations Research 18 (1970), for one vehicle; Fisher, Operations Research 42 (1994), for many.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner_mcp.routing.feasibility.cheapest_legs import UNREACHABLE, Costs

MAX_ROUNDS: Final = 400
WORK: Final = 40_000
"""Tickets times rounds: below a second."""
_FIRST_STEP: Final = 0.2
_LAST_STEP: Final = 0.002
"""Steps, as shares of what the bound is for each ticket, from the first round to the last."""

Values = NDArray[Any]
"""Whole numbers, or floats on the way."""


@dataclass(frozen=True, slots=True)
class TreeCosts:
    """What a tree is grown on: the least that legs cost, and how many trips there are at least."""

    between: Costs
    """(n, n), of two tickets in either order; `UNREACHABLE` where nobody drives from one to the other."""
    out: Costs
    """(n,), from a depot."""
    back: Costs
    """(n,), to a depot."""
    trips: int


@dataclass(frozen=True, slots=True)
class Multipliers:
    """What is paid at each ticket; the gate of the depots asks for it on the way out, and gives it back."""

    tickets: Values
    depot: Any


@dataclass(frozen=True, slots=True)
class SpanningTree:
    """A shortest tree with the shortest legs back."""

    length: Any
    """A bound, whatever the tolls."""
    legs: Values
    """(n,), at each ticket; a plan has two."""
    unreturned_trips: int
    """Legs out that do not come back; a plan has none."""


def tree_bound(ground: TreeCosts) -> int:
    """Return a length that no plan goes below."""
    count = len(ground.out)
    if count == 0:
        return 0
    none = Multipliers(np.zeros(count, dtype=np.int64), 0)
    good = _subgradient_ascent(ground)
    whole = Multipliers(np.rint(good.tickets).astype(np.int64), round(good.depot))
    return max(0, int(_bounding_tree(ground, none).length), int(_bounding_tree(ground, whole).length))


def _subgradient_ascent(ground: TreeCosts) -> Multipliers:
    """Return the best tolls of a fixed number of rounds: dearer where too many legs meet, cheaper where too few."""
    count = len(ground.out)
    rounds = min(MAX_ROUNDS, max(10, WORK // count))
    multipliers = best = Multipliers(np.zeros(count), 0.0)
    longest, share = -np.inf, 0.0
    for number in range(rounds):
        tree = _bounding_tree(ground, multipliers)
        if tree.length > longest:
            longest, best = tree.length, multipliers
        share = share or abs(tree.length) / count
        step = share * _FIRST_STEP * (_LAST_STEP / _FIRST_STEP) ** (number / rounds)
        multipliers = Multipliers(
            multipliers.tickets + step * (tree.legs - 2), multipliers.depot + step * tree.unreturned_trips
        )
    return best


def _bounding_tree(ground: TreeCosts, multipliers: Multipliers) -> SpanningTree:
    at = multipliers.tickets
    length, legs, out = _tree(ground.out + at + multipliers.depot, ground.between + at + at[:, None])
    back = ground.back + at - multipliers.depot
    count = min(len(back), max(ground.trips, int((back < 0).sum())))
    chosen = np.argsort(back, kind="stable")[:count]
    legs[chosen] += 1
    return SpanningTree(length + back[chosen].sum() - 2 * at.sum(), legs, out - count)


def _tree(root: Values, between: Values) -> tuple[Any, Values, int]:
    """Return the length of the shortest tree, its legs at each ticket, and those at the root. Source: Prim (1957)."""
    reach = root.copy()
    parent = np.full(len(root), -1)
    is_out = np.ones(len(root), dtype=bool)
    legs = np.zeros(len(root), dtype=np.int64)
    length, out = root.dtype.type(0), 0
    for _ in range(len(root)):
        at = int(reach.argmin())
        length += reach[at]
        legs[at] += 1
        if parent[at] < 0:
            out += 1
        else:
            legs[parent[at]] += 1
        reach[at], is_out[at] = 4 * UNREACHABLE, False
        closer = (between[at] < reach) & is_out
        reach[closer] = between[at][closer]
        parent[closer] = at
    return length, legs, out
