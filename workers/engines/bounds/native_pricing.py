"""The calls of the native route pricing: networks as flat arrays, routes back as tuples.

Owns the layout, which `workers/engines/native/route_pricing.hpp` states. A call releases the GIL and ends by its time
limit.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from workers.engines.bounds.relaxed_networks import Cells, RelaxedNetwork
from workers.engines.native.native_arrays import cells_of
from workers.engines.native.sisr_engine import is_complete, library

_CELLS: Final = 1 << 22
"""Room for routes: 32 MB."""
_SET: Final = 256
"""Bits of a set of tickets."""
_Numbers = ctypes.POINTER(ctypes.c_int64)
_ARRAYS: Final = (
    *("field", "cost", "time", "distance", "shortest", "discount", "windows_at", "windows", "soft", "release"),
    *("delivery", "pickup", "capacity", "half", "shipped", "node_cost", "memory", "coarse", "subsets", "subset_price"),
)
Memory = NDArray[np.bool_]
"""(n, n): whether a visit to the row's ticket keeps the column's in mind."""


class _Network(ctypes.Structure):
    """`sisr::Network`."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("tickets", "dimensions")),
        *((name, _Numbers) for name in _ARRAYS),
    )


class _Options(ctypes.Structure):
    """`sisr::PricingOptions`."""

    _fields_ = (
        ("seconds", ctypes.c_double),
        *((name, ctypes.c_int64) for name in ("max_labels", "max_routes", "is_heuristic", "limit")),
    )


@dataclass(frozen=True, slots=True)
class PricedRoute:
    """A route of a relaxed network, which may visit a ticket more than once."""

    cost: int
    """Reduced cost, multiplied by the factor of the relaxed problem."""
    tickets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CutPrices:
    """What dual values of cuts change in one network."""

    discount: Cells
    """(n + 1, n + 1), of the cost of each arc."""
    subsets: NDArray[np.uint64]
    """(n, 2), bits: the subset-row cuts that have each ticket, and those that remember at it."""
    subset_price: Cells
    """(64,)."""


class RoutePricer:
    """Prices the routes of one network.

    Args:
        network: The network.
    """

    def __init__(self, network: RelaxedNetwork) -> None:
        self._network = network
        windows_at = np.cumsum([0, *map(len, network.windows)], dtype=np.int64)
        windows = np.array([end for each in network.windows for window in each for end in window] or [0])
        self._arrays: dict[str, Cells] = {
            **{name: getattr(network, name) for name in _ARRAYS if hasattr(network, name) and name != "windows"},
            "windows_at": windows_at,
            "windows": windows.astype(np.int64),
        }

    def price(
        self,
        node_cost: Cells,
        cuts: CutPrices,
        memory: Memory,
        coarse: Memory,
        *,
        seconds: float,
        max_labels: int,
        max_routes: int,
        is_heuristic: bool,
    ) -> tuple[bool, int, list[PricedRoute]]:
        """Return whether the search was complete, the least reduced cost found or 0, and routes below zero.

        Args:
            node_cost: (n,), cost of a visit less its dual value.
            cuts: Dual values of cuts.
            memory: The ng-sets.
            coarse: Smaller ng-sets, for bounds of how a route can end.
            seconds: Time limit.
            max_labels: Limit of the memory used, of 200 to 300 bytes each.
            max_routes: Routes to return at most.
            is_heuristic: Compare labels by cost, time and load alone; then nothing is proved.
        """
        used, least, out = ctypes.c_int64(), ctypes.c_int64(), _room()
        options = _Options(seconds, max_labels, max_routes, is_heuristic, 0)
        network = self._structure(node_cost, cuts, memory, coarse)
        end = library().sisr_price(
            ctypes.byref(network),
            ctypes.byref(options),
            cells_of(out),
            len(out),
            ctypes.byref(used),
            ctypes.byref(least),
        )
        return (is_complete(end), least.value, _routes(out[: used.value]))

    def enumerate(
        self,
        node_cost: Cells,
        cuts: CutPrices,
        memory: Memory,
        limit: int,
        *,
        seconds: float,
        max_labels: int,
        max_routes: int,
    ) -> list[PricedRoute] | None:
        """Return the cheapest route of each set of tickets whose reduced cost may be below a limit; None where not all.

        With dual values of cuts it is below the limit; what is told is without.
        """
        used, out = ctypes.c_int64(), _room()
        options = _Options(seconds, max_labels, max_routes, False, limit)
        network = self._structure(node_cost, cuts, memory, memory)
        end = library().sisr_enumerate(
            ctypes.byref(network), ctypes.byref(options), cells_of(out), len(out), ctypes.byref(used)
        )
        return _routes(out[: used.value]) if is_complete(end) else None

    def _structure(self, node_cost: Cells, cuts: CutPrices, memory: Memory, coarse: Memory) -> _Network:
        self._arrays["discount"] = np.ascontiguousarray(cuts.discount, dtype=np.int64)
        self._arrays |= {"subsets": cuts.subsets.view(np.int64), "subset_price": cuts.subset_price}
        self._arrays["node_cost"] = np.ascontiguousarray(node_cost, dtype=np.int64)
        self._arrays |= {"memory": _bits(memory), "coarse": _bits(coarse)}
        sizes = (len(self._network.release), len(self._network.capacity))
        return _Network(*sizes, *(cells_of(self._arrays[name]) for name in _ARRAYS))


def _room() -> Cells:
    """Return room for the routes of one call: kept for each of hundreds of kinds of agents it would be gigabytes."""
    return np.empty(_CELLS, dtype=np.int64)


def _routes(written: Cells) -> list[PricedRoute]:
    cells, routes, at = written.tolist(), [], 0
    while at < len(cells):
        end = at + 2 + cells[at + 1]
        routes.append(PricedRoute(cells[at], tuple(cells[at + 2 : end])))
        at = end
    return routes


def _bits(memory: Memory) -> Cells:
    """Return rows of booleans as sets of tickets, each of words of 64 bits."""
    padded = np.zeros((len(memory), _SET), dtype=np.uint8)
    padded[:, : len(memory)] = memory
    return np.ascontiguousarray(np.packbits(padded, axis=1, bitorder="little")).view(np.int64)


def dual_of_tickets(rows_of: Sequence[Sequence[int]], duals: Cells) -> Cells:
    """Return the dual value of a visit to each ticket, (n,): that of all its rows."""
    return np.array([sum(int(duals[row]) for row in rows) for rows in rows_of], dtype=np.int64)
