"""Rounded-capacity cuts: tickets that one vehicle cannot carry are entered by two routes or more.

Owns the cuts and the search for violated ones. The routes that enter a set of tickets that every plan serves carry its
load: each at most its capacity, or the load where this is less. Divided by a unit and rounded up, on the left for each
kind of agents and then on the right, this is a cut: with the largest capacity as unit it counts routes, with smaller
units a large vehicle counts for several. A dual value of a cut is a discount on the arcs that enter the set, and the
pricing need not know more of it.

Source: Laporte, Nobert and Desrochers, Operations Research 33 (5), 1985; rounding by multipliers, Chvatal, Discrete
Mathematics 4 (4), 1973.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner_mcp.routing.problem import LoadKind
from workers.engines.bounds.relaxed_networks import Cells, RelaxedProblem

_VIOLATED: Final = 0.05
_MOST: Final = 10
"""Cuts of a round."""
_PARTS: Final = 4
"""Largest number by which capacities are divided to make units."""
_HEAVIEST: Final = 100
"""Most units in a vehicle: larger coefficients make linear programs unstable."""
Flow = NDArray[np.float64]
"""(networks, n + 1, n + 1), how often routes drive each arc; the last row is the start, the last column the end."""


@dataclass(frozen=True, slots=True)
class CapacityCut:
    """Tickets, and how often routes enter them at least, each entry counted by its kind of agents."""

    tickets: frozenset[int]
    load: LoadKind
    dimension: int
    unit: int
    weights: tuple[int, ...]
    """By network: its capacity, or the load where this is less, in units, rounded up."""
    least: int
    """The load of the tickets in units, rounded up."""

    def entries(self, network: int, route: Sequence[int]) -> int:
        """Return what the entries of a route count."""
        inside = [ticket in self.tickets for ticket in route]
        entries = sum(now and not before for before, now in zip([False, *inside], inside, strict=False))
        return self.weights[network] * entries

    def arcs(self, count: int) -> NDArray[np.bool_]:
        """Return the arcs that enter the set, (count + 1, count + 1)."""
        inside = np.zeros(count + 1, dtype=bool)
        inside[list(self.tickets)] = True
        return np.outer(~inside, inside)


def discount_of(relaxed: RelaxedProblem, number: int, cuts: Sequence[CapacityCut], prices: Sequence[int]) -> Cells:
    """Return what dual values of cuts take off the arcs of a network, (n + 1, n + 1)."""
    count = len(relaxed.problem.tickets)
    found = np.zeros((count + 1, count + 1), dtype=np.int64)
    for cut, price in zip(cuts, prices, strict=True):
        if worth := price * cut.weights[number]:
            found[cut.arcs(count)] += worth
    return found


def flow_of(relaxed: RelaxedProblem, routes: Sequence[tuple[int, Sequence[int]]], amounts: Sequence[float]) -> Flow:
    """Return the flow of a solution: networks with routes, and how much of each."""
    count = len(relaxed.problem.tickets)
    flow = np.zeros((len(relaxed.networks), count + 1, count + 1))
    for (network, route), amount in zip(routes, amounts, strict=True):
        for origin, target in zip([count, *route], [*route, count], strict=True):
            flow[network, origin, target] += amount
    return flow


@dataclass(frozen=True, slots=True, eq=False)
class CutForm:
    """A way in which each set of tickets is a cut."""

    load: LoadKind
    dimension: int
    unit: int
    loads: Cells
    """(tickets,)."""
    capacities: Cells
    """(networks,)."""

    def counts(self, tickets: Sequence[int]) -> tuple[Cells, Cells]:
        """Return of the first ticket, of the first two, and so on: weights, (sizes, networks), and least, (sizes,)."""
        loads = np.cumsum(self.loads[list(tickets)])
        return -(-np.minimum(self.capacities, loads[:, None]) // self.unit), -(-loads // self.unit)

    def cut(self, tickets: Sequence[int]) -> CapacityCut:
        """Return a cut; every plan has to serve the tickets."""
        weights, least = (each[-1] for each in self.counts(tickets))
        return CapacityCut(
            frozenset(tickets), self.load, self.dimension, self.unit, tuple(weights.tolist()), int(least)
        )


class CutFinder:
    """Finds cuts of one problem."""

    def __init__(self, relaxed: RelaxedProblem) -> None:
        self.forms = tuple(_forms(relaxed))
        wanted = [row.tickets[0] for row in relaxed.rows if row.penalty is None and len(row.tickets) == 1]
        self._wanted = np.zeros(len(relaxed.problem.tickets), dtype=bool)
        self._wanted[wanted] = True

    def violated(self, flow: Flow) -> list[CapacityCut]:
        """Return the cuts that a flow violates most."""
        found: dict[frozenset[int], tuple[float, CapacityCut]] = {}
        for seed in np.flatnonzero(self._wanted).tolist() if self.forms else ():
            order, entries = self._grown(seed, flow)
            counts = [form.counts(order) for form in self.forms]
            gaps = np.array([(least - (w * entries).sum(axis=1)) / np.maximum(1, w.max(axis=1)) for w, least in counts])
            for size in np.flatnonzero(gaps.max(axis=0) > _VIOLATED).tolist():
                form = int(gaps[:, size].argmax())
                cut = self.forms[form].cut(order[: size + 1])
                found.setdefault(cut.tickets, (float(gaps[form, size]), cut))
        best = sorted(found.values(), key=lambda each: each[0], reverse=True)[:_MOST]
        return [cut for _, cut in best]

    def _grown(self, seed: int, flow: Flow) -> tuple[list[int], NDArray[np.float64]]:
        """Return a growing set: the next ticket is the one most driven to and from it; with its entries by network.

        The entries are (size, networks): those of the first ticket, of the first two, and so on.
        """
        count = len(self._wanted)
        into, both = flow[:, :, :count].sum(axis=1), (flow + flow.transpose(0, 2, 1))[:, :count, :count]
        order, entries, near = [seed], [into[:, seed]], both[:, seed].copy()
        outside = self._wanted.copy()
        outside[seed] = False
        while outside.any():
            best = int(np.where(outside, near.sum(axis=0), -1.0).argmax())
            if near[:, best].sum() <= 0:
                break
            entries.append(entries[-1] + into[:, best] - near[:, best])
            order.append(best)
            outside[best] = False
            near += both[:, best]
        return order, np.array(entries)


def _forms(relaxed: RelaxedProblem) -> Iterator[CutForm]:
    """Yield the loads of a problem in units of its capacities, and of parts of them where they differ."""
    capacities = np.array([network.capacity for network in relaxed.networks])
    for dimension, rooms in enumerate(capacities.T):
        parts = range(1, 1 + (_PARTS if len(set(rooms.tolist())) > 1 else 1))
        for load in LoadKind:
            loads = getattr(relaxed.networks[0], load.value)[:, dimension]
            heaviest = min(int(rooms.max()), int(loads.sum()))
            for unit in sorted({-(-int(room) // part) for room in rooms if room > 0 for part in parts}):
                if 0 < heaviest <= _HEAVIEST * unit:
                    yield CutForm(load, dimension, unit, loads, rooms)
