"""Subset-row cuts of limited memory: of three tickets at most one pair shares a route.

Owns the cuts, the search for violated ones, and their layout for the pricing. Of three tickets that are each served at
most once, at most one route serves two or more. A fractional solution may have half of three such routes; the cut
forbids it. Its price is paid by a route at every second visit to the tickets, as long as all stops in between are in
the memory of the cut. A small memory counts less than there is, so the cut still holds, and fewer labels differ by it.

Source: Jepsen, Petersen, Spoorendonk and Pisinger, Operations Research 56 (2), 2008; limited memory, Pecin, Pessoa,
Poggi and Uchoa, Mathematical Programming Computation 9 (1), 2017.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

MAX_SUBSETS: Final = 64
"""Cuts that have a price at the same time: bits of a word."""
_VIOLATED: Final = 0.05
_TINY: Final = 1e-6
Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class SubsetRowCut:
    """Three tickets of which at most one pair shares a route."""

    tickets: Triple
    memory: frozenset[int]
    """Tickets, these three among them."""

    @property
    def least(self) -> int:
        """What all routes count at least."""
        return -1

    def entries(self, network: int, route: Sequence[int]) -> int:
        """Return what a route counts: -1 for each pair of visits that is remembered."""
        pairs, is_unpaired = 0, False
        for ticket in route:
            is_unpaired = is_unpaired and ticket in self.memory
            if ticket in self.tickets:
                pairs += is_unpaired
                is_unpaired = not is_unpaired
        return -pairs


def violated_triples(
    serves: NDArray[np.float64], amounts: NDArray[np.float64], *, known: frozenset[Triple] = frozenset()
) -> list[Triple]:
    """Return three tickets each of which more than one route serves in pairs, those violated most first.

    Args:
        serves: (routes, tickets), 1 where a route serves a ticket, else 0.
        amounts: (routes,), how much of each the solution has.
        known: Triples to leave out.
    """
    together = (serves * amounts[:, None]).T @ serves
    tickets = np.flatnonzero(((together > _TINY) & (together < 1 - _TINY)).any(axis=1))
    together, serves = together[np.ix_(tickets, tickets)], serves[:, tickets]
    found: list[tuple[float, Triple]] = []
    for at, first in enumerate(tickets.tolist()):
        later = serves[:, at + 1 :]
        all_three = (later * (amounts * serves[:, at])[:, None]).T @ later
        pairs = together[at, at + 1 :, None] + together[at, None, at + 1 :] + together[at + 1 :, at + 1 :]
        pairs = np.triu(pairs - 2 * all_three, 1)
        for second, third in np.argwhere(pairs > 1 + _VIOLATED).tolist():
            triple = (first, int(tickets[at + 1 + second]), int(tickets[at + 1 + third]))
            if triple not in known:
                found.append((float(pairs[second, third]), triple))
    return [triple for _, triple in sorted(found, reverse=True)]


def cut_of(tickets: Triple, routes: Sequence[Sequence[int]], remembered: frozenset[int] = frozenset()) -> SubsetRowCut:
    """Return the cut of three tickets that counts each of some routes with two of them at least once.

    Args:
        tickets: The three.
        routes: The routes.
        remembered: What an earlier cut of the three remembers.
    """
    memory = {*tickets, *remembered}
    for route in routes:
        places = [place for place, ticket in enumerate(route) if ticket in tickets]
        if between := min(pairwise(places), key=lambda pair: pair[1] - pair[0], default=None):
            memory.update(route[between[0] : between[1] + 1])
    return SubsetRowCut(tickets, frozenset(memory))


def masks_of(cuts: Sequence[SubsetRowCut], count: int) -> NDArray[np.uint64]:
    """Return the cuts that have each ticket, and those that remember at it, as bits: (count, 2)."""
    found = np.zeros((count, 2), dtype=np.uint64)
    for number, cut in enumerate(cuts):
        found[list(cut.tickets), 0] |= np.uint64(1 << number)
        found[list(cut.memory), 1] |= np.uint64(1 << number)
    return found
