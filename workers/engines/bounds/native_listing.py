"""The call of the native listing of routes, with which proofs are checked.

Owns nothing of what the tables mean: `planner_mcp/routing/verification/optimality_check.py` fills them, and
`workers/engines/native/proof_listing.hpp` states them.
"""

import ctypes
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Final

import numpy as np

from planner_mcp.routing.verification.optimality_check import AgentTables, RouteLister, Table
from planner_mcp.routing.verification.small_day_check import SmallDayLister
from planner_mcp.routing.verification.small_day_tables import SmallDayTables
from workers.engines.native.native_arrays import cells_of
from workers.engines.native.sisr_engine import is_complete, library

MAX_PARTIAL: Final = 1_500_000
"""Partial routes that are kept at the same time: 400 MB or so."""
_CELLS: Final = 1 << 22
_POINTER: Final = ctypes.POINTER(ctypes.c_int64)


_LIMITS: Final = (("limit", ctypes.c_int64), ("most_partial", ctypes.c_int64), ("seconds", ctypes.c_double))


class _Request(ctypes.Structure):
    """`proof::Request`."""

    _fields_ = (*((each.name, _POINTER) for each in fields(AgentTables)), *_LIMITS)


class _SmallDayRequest(ctypes.Structure):
    """`proof::small::Request`."""

    _fields_ = (*((each.name, _POINTER) for each in fields(SmallDayTables)), *_LIMITS)


def route_lister(deadline: float) -> RouteLister:
    """Return a lister that ends by a deadline, `time.monotonic()`."""
    out = np.empty(_CELLS, dtype=np.int64)

    def list_routes(tables: AgentTables, limit: int) -> list[tuple[int, int, tuple[int, ...]]] | None:
        cells = _written(library().proof_list_routes, _Request, tables, limit, deadline, out)
        return None if cells is None else list(_routes(cells))

    return list_routes


def small_day_lister(deadline: float) -> SmallDayLister:
    """Return a lister of small days, as `route_lister`."""

    def list_routes(tables: SmallDayTables, limit: int) -> dict[int, int] | None:
        out = np.empty(2 * len(tables.may_end), dtype=np.int64)
        cells = _written(library().proof_list_small_day, _SmallDayRequest, tables, limit, deadline, out)
        return None if cells is None else dict(zip(cells[1::2], cells[::2], strict=True))

    return list_routes


def _written(
    list_routes: Callable[..., int],
    request_type: type[ctypes.Structure],
    tables: AgentTables | SmallDayTables,
    limit: int,
    deadline: float,
    out: Table,
) -> list[int] | None:
    """Return what a listing of the routes below a limit has written; None where it is not complete."""
    used = ctypes.c_int64()
    arrays = [cells_of(getattr(tables, each.name)) for each in fields(tables)]
    request = request_type(*arrays, limit, MAX_PARTIAL, max(0.0, deadline - time.monotonic()))
    end = list_routes(ctypes.byref(request), cells_of(out), len(out), ctypes.byref(used))
    return out[: used.value].tolist() if is_complete(end) else None


def _routes(cells: list[int]) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    at = 0
    while at < len(cells):
        end = at + 3 + cells[at + 2]
        yield cells[at], cells[at + 1], tuple(cells[at + 3 : end])
        at = end
