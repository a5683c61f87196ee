"""The elite pool: a few good plans that differ, as starts of parallel searches.

Owns the measure of difference and the choice of members: the cheapest plan, then the cheapest of those that differ
enough from it and from one another. Of plans that are nearly equal only one is kept.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from planner_mcp.routing.problem import Candidate

SIZE: Final = 5
MIN_DIFFERENCE: Final = 0.05
"""Least share of legs in which two members differ."""
MAX_COST_RATIO: Final = 1.003
"""Largest cost of a start, relative to the best member: a search from a dearer one does not catch up."""

StopKey = tuple[str, int]
LegSet = frozenset[tuple[StopKey, StopKey]]


_ROUTE_END: Final = ("home", 0)


@dataclass(frozen=True, slots=True)
class EliteMember:
    """A plan of the pool."""

    cost: int
    candidate: Candidate
    legs: LegSet


class ElitePool:
    """Keeps at most `SIZE` plans, cheapest first, any two of which differ by at least `MIN_DIFFERENCE`."""

    def __init__(self) -> None:
        self.members: tuple[EliteMember, ...] = ()

    def add(self, candidate: Candidate, cost: int) -> None:
        """Keep a plan if it is cheaper than all similar members, and than the dearest of a full pool."""
        if len(self.members) == SIZE and cost >= self.members[-1].cost:
            return
        legs = leg_set(candidate)
        similar = [member for member in self.members if leg_difference(legs, member.legs) < MIN_DIFFERENCE]
        if any(member.cost <= cost for member in similar):
            return
        others = [member for member in self.members if member not in similar]
        kept = sorted([*others, EliteMember(cost, candidate, legs)], key=lambda member: member.cost)
        self.members = tuple(kept[:SIZE])

    def starts(self, count: int) -> list[Candidate | None]:
        """Return `count` starts: the best member, others of similar cost, then the best again."""
        if not self.members:
            return [None] * count
        best = self.members[0]
        good = [member.candidate for member in self.members if member.cost <= MAX_COST_RATIO * best.cost]
        return [*good[:count], *[best.candidate] * (count - len(good))]


def leg_set(candidate: Candidate) -> LegSet:
    """Return the legs of all routes, with a common end for every start and end of a route."""
    sequences = (
        [_ROUTE_END, *((stop.kind.value, stop.index) for stop in route.stops), _ROUTE_END] for route in candidate.routes
    )
    return frozenset(leg for route in sequences for leg in pairwise(route))


def leg_difference(one: LegSet, other: LegSet) -> float:
    """Return the share of legs that two plans do not have in common, from 0 to 1."""
    return 1 - len(one & other) / max(1, len(one), len(other))
