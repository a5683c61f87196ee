"""Rounded-capacity cuts: tickets that one vehicle cannot carry are entered by two routes or more.

Owns the cuts and the search for violated ones. For tickets that every plan serves, the routes that visit them number at
least their load divided by the largest capacity, rounded up, and each of these routes enters the set from outside once
or more. A dual value of a cut so is a discount on the arcs that enter the set, and the pricing need not know of it.

Source: Laporte, Nobert and Desrochers, Operations Research 33 (5), 1985.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from workers.engines.bounds.relaxed_networks import Cells, RelaxedProblem

_VIOLATED: Final = 0.05
_MOST: Final = 10
"""Cuts of a round."""
Flow = NDArray[np.float64]
"""(n + 1, n + 1), how often routes drive each arc; the last row is the start, the last column the end."""


@dataclass(frozen=True, slots=True)
class CapacityCut:
    """Tickets, and how often routes enter them at least."""

    tickets: frozenset[int]
    least: int

    def entries(self, route: Sequence[int]) -> int:
        """Return how often a route enters the set."""
        inside = [ticket in self.tickets for ticket in route]
        return sum(now and not before for before, now in zip([False, *inside], inside, strict=False))

    def arcs(self, count: int) -> NDArray[np.bool_]:
        """Return the arcs that enter the set, (count + 1, count + 1)."""
        inside = np.zeros(count + 1, dtype=bool)
        inside[list(self.tickets)] = True
        return np.outer(~inside, inside)


def flow_of(count: int, routes: Sequence[Sequence[int]], amounts: Sequence[float]) -> Flow:
    """Return the flow of a solution."""
    flow = np.zeros((count + 1, count + 1))
    for route, amount in zip(routes, amounts, strict=True):
        for origin, target in zip([count, *route], [*route, count], strict=True):
            flow[origin, target] += amount
    return flow


class CutFinder:
    """Finds cuts of one problem."""

    def __init__(self, relaxed: RelaxedProblem) -> None:
        networks = relaxed.networks
        loads = [networks[0].delivery, networks[0].pickup]
        rooms = np.max([network.capacity for network in networks], axis=0)
        self._loads = np.hstack([np.where(rooms > 0, load, 0) for load in loads])
        self._rooms = np.maximum(1, np.concatenate([rooms, rooms]))
        wanted = [row.tickets[0] for row in relaxed.rows if row.penalty is None and len(row.tickets) == 1]
        self._wanted = np.zeros(len(self._loads), dtype=bool)
        self._wanted[wanted] = True

    def least(self, tickets: Cells) -> int:
        """Return how many routes serve some tickets at least."""
        needed = -(-self._loads[tickets].sum(axis=0) // self._rooms)
        return int(needed.max(initial=0))

    def violated(self, flow: Flow) -> list[CapacityCut]:
        """Return the cuts that a flow violates most."""
        found: dict[frozenset[int], float] = {}
        for seed in np.flatnonzero(self._wanted).tolist():
            for tickets, entries in self._grown(seed, flow):
                gap = self.least(tickets) - entries
                if gap > _VIOLATED:
                    found[frozenset(tickets.tolist())] = gap
        best = sorted(found, key=lambda tickets: found[tickets], reverse=True)[:_MOST]
        return [CapacityCut(tickets, self.least(np.array(sorted(tickets)))) for tickets in best]

    def _grown(self, seed: int, flow: Flow) -> Iterator[tuple[Cells, float]]:
        """Yield growing sets: each ticket that joins is the one most driven to and from them; with their entries."""
        count = len(self._loads)
        into, both = flow[:, :count].sum(axis=0), (flow + flow.T)[:count, :count]
        tickets, entries, near = [seed], float(into[seed]), both[seed].copy()
        outside = self._wanted.copy()
        outside[seed] = False
        while outside.any():
            best = int(np.where(outside, near, -1.0).argmax())
            if near[best] <= 0:
                return
            entries += float(into[best] - near[best])
            tickets.append(best)
            outside[best] = False
            near += both[best]
            yield np.array(tickets), entries
