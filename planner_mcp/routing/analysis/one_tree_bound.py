"""A lower bound on travel costs from minimum spanning trees (SPEC T5).

Owns the bound on the cost of driving to a set of tickets, each once. A trip leaves a depot, visits tickets and returns.
Without the return legs, all trips together form a tree that connects the tickets to the depot. So no plan costs less
than the minimum spanning tree plus the cheapest return legs. Lagrangian multipliers strengthen this bound: each ticket
has a multiplier that is added to every leg at the ticket and subtracted twice per ticket. They change the cost of no
plan, since a plan has two legs at each ticket, but they drive the tree towards two legs at each ticket. Every choice of
multipliers gives a valid bound. Good ones are found by subgradient ascent, and the final bound is computed in integers.

Source: Held and Karp, Operations Research 18 (1970), for one vehicle; Fisher, Operations Research 42 (1994), for many.
"""

from dataclasses import dataclass
from typing import Any, Final

from planner_mcp import arrays as np
from planner_mcp.arrays import Array
from planner_mcp.routing.feasibility.cheapest_legs import UNREACHABLE, Costs

MAX_ROUNDS: Final = 400
WORK: Final = 40_000
"""Tickets times iterations, a limit that keeps the bound below a second."""
_FIRST_STEP: Final = 0.2
_LAST_STEP: Final = 0.002
"""Step sizes, as shares of the bound per ticket, of the first and the last iteration."""

Values = Array
"""Integers, or floats during the ascent."""


@dataclass(frozen=True, slots=True)
class TreeCosts:
    """The costs of the tree: lower bounds of the legs, and a lower bound on the number of trips."""

    between: Costs
    """(n, n), symmetric, between tickets; `UNREACHABLE` where neither direction can be driven."""
    out: Costs
    """(n,), from a depot."""
    back: Costs
    """(n,), to a depot."""
    trips: int


@dataclass(frozen=True, slots=True)
class Multipliers:
    """Lagrangian multipliers, (n,) for the tickets; that of the depot is added on the way out and subtracted back."""

    tickets: Values
    depot: Any


@dataclass(frozen=True, slots=True)
class SpanningTree:
    """A minimum spanning tree with the cheapest return legs."""

    length: Any
    """A valid bound for any multipliers."""
    legs: Values
    """(n,), the degree of each ticket; 2 in a plan."""
    unreturned_trips: int
    """Legs out of the depot minus return legs; 0 in a plan."""


def tree_bound(costs: TreeCosts) -> int:
    """Return a lower bound on the travel cost of any plan."""
    count = len(costs.out)
    if count == 0:
        return 0
    none = Multipliers(np.zeros(count, dtype=np.int64), 0)
    best_multipliers = _subgradient_ascent(costs)
    rounded = Multipliers(np.rint(best_multipliers.tickets).astype(np.int64), round(best_multipliers.depot))
    return max(0, int(_bounding_tree(costs, none).length), int(_bounding_tree(costs, rounded).length))


def _subgradient_ascent(costs: TreeCosts) -> Multipliers:
    """Return the best multipliers of a fixed number of iterations: raised where the degree exceeds 2, else lowered."""
    count = len(costs.out)
    rounds = min(MAX_ROUNDS, max(10, WORK // count))
    multipliers = best = Multipliers(np.zeros(count), 0.0)
    longest, share = -np.inf, 0.0
    for number in range(rounds):
        tree = _bounding_tree(costs, multipliers)
        if tree.length > longest:
            longest, best = tree.length, multipliers
        share = share or abs(tree.length) / count
        step = share * _FIRST_STEP * (_LAST_STEP / _FIRST_STEP) ** (number / rounds)
        multipliers = Multipliers(
            multipliers.tickets + step * (tree.legs - 2), multipliers.depot + step * tree.unreturned_trips
        )
    return best


def _bounding_tree(costs: TreeCosts, multipliers: Multipliers) -> SpanningTree:
    at = multipliers.tickets
    length, legs, out = _tree(costs.out + at + multipliers.depot, costs.between + at + at[:, None])
    back = costs.back + at - multipliers.depot
    count = min(len(back), max(costs.trips, int((back < 0).sum())))
    chosen = np.argsort(back, kind="stable")[:count]
    legs[chosen] += 1
    return SpanningTree(length + back[chosen].sum() - 2 * at.sum(), legs, out - count)


def _tree(root: Values, between: Values) -> tuple[Any, Values, int]:
    """Return the length of the minimum spanning tree, its degrees (n,), and the degree of the root.

    Source: Prim (1957).
    """
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
