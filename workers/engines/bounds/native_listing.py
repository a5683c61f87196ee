"""The call of the native listing of routes, with which proofs are checked.

Owns nothing of what the tables mean: `planner_mcp/routing/verification/optimality_check.py` fills them, and
`workers/engines/native/proof_listing.hpp` states them.
"""

import ctypes
import time
from dataclasses import fields
from typing import Final

import numpy as np

from planner_mcp.errors import EngineMemoryError
from planner_mcp.routing.verification.optimality_check import AgentTables, RouteLister, Table
from planner_mcp.routing.verification.small_day_check import SmallDayLister
from planner_mcp.routing.verification.small_day_tables import SmallDayTables
from workers.engines.native.sisr_engine import library

MAX_PARTIAL: Final = 1_500_000
"""Partial routes that are kept at the same time: 400 MB or so."""
_CELLS: Final = 1 << 22
_COMPLETE, _OUT_OF_MEMORY = 0, 2
_POINTER: Final = ctypes.POINTER(ctypes.c_int64)


class _Request(ctypes.Structure):
    """`proof::Request`."""

    _fields_ = (
        *((name, _POINTER) for name in ("agent", "tickets", "legs", "windows", "cut_price")),
        *((name, ctypes.c_int64) for name in ("limit", "most_partial")),
        ("seconds", ctypes.c_double),
        ("cancel", _POINTER),
    )


def route_lister(cancel: Table, deadline: float) -> RouteLister:
    """Return a lister that ends by `deadline` (`time.monotonic()`), or once `cancel`, (1,), is not 0."""
    out = np.empty(_CELLS, dtype=np.int64)

    def list_routes(tables: AgentTables, limit: int) -> list[tuple[int, int, tuple[int, ...]]] | None:
        used = ctypes.c_int64()
        arrays = [_cells(getattr(tables, each.name)) for each in fields(tables)]
        left_s = max(0.0, deadline - time.monotonic())
        request = _Request(*arrays, limit, MAX_PARTIAL, left_s, _cells(cancel))
        end = library().proof_list_routes(ctypes.byref(request), _cells(out), _CELLS, ctypes.byref(used))
        if end == _OUT_OF_MEMORY:
            raise EngineMemoryError
        return _routes(out[: used.value]) if end == _COMPLETE else None

    return list_routes


def _routes(written: Table) -> list[tuple[int, int, tuple[int, ...]]]:
    cells, routes, at = written.tolist(), [], 0
    while at < len(cells):
        end = at + 3 + cells[at + 2]
        routes.append((cells[at], cells[at + 1], tuple(cells[at + 3 : end])))
        at = end
    return routes


def _cells(array: Table) -> "ctypes._Pointer[ctypes.c_int64]":
    return array.ctypes.data_as(_POINTER)


class _SmallDayRequest(ctypes.Structure):
    """`proof::small::Request`."""

    _fields_ = (
        *((name, _POINTER) for name in ("agent", "tickets", "legs", "service", "windows", "breaks")),
        *((name, _POINTER) for name in ("locked", "may_end", "rest")),
        *((name, ctypes.c_int64) for name in ("limit", "most_partial")),
        ("seconds", ctypes.c_double),
        ("cancel", _POINTER),
    )


def small_day_lister(cancel: Table, deadline: float) -> SmallDayLister:
    """Return a lister of small days; it ends as `route_lister` does."""

    def list_routes(tables: SmallDayTables, limit: int) -> dict[int, int] | None:
        out, used = np.empty(2 * len(tables.may_end), dtype=np.int64), ctypes.c_int64()
        arrays = [_cells(getattr(tables, each.name)) for each in fields(tables)]
        left_s = max(0.0, deadline - time.monotonic())
        request = _SmallDayRequest(*arrays, limit, MAX_PARTIAL, left_s, _cells(cancel))
        end = library().proof_list_small_day(ctypes.byref(request), _cells(out), len(out), ctypes.byref(used))
        if end == _OUT_OF_MEMORY:
            raise EngineMemoryError
        written = out[: used.value].tolist()
        return dict(zip(written[1::2], written[::2], strict=True)) if end == _COMPLETE else None

    return list_routes
