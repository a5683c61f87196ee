"""Travel matrices between locations by id: metres and seconds, row from, column to.

Owns the matrices of one scenario in memory, their packed form for the store and the solver process, and the number of
their decimals. Other modules read them from the scenario, an upload or a road engine, or compute them from positions
(`compilation/integer_matrices.py`).
"""

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from planner_mcp import arrays as np
from planner_mcp.arrays import Floats, Indices, Integers, ShortIntegers
from planner_mcp.text import compact

MAX_DECIMALS: Final = 3
"""Finer numbers are rounded to a thousandth of a metre or second."""
_UNIT: Final = 10**MAX_DECIMALS
_PACKED: Final = "<i8"
_PACKED_BYTES: Final = 8
_ROWS: Final = 128
"""Rows of a table that are converted at once."""
_CHARS: Final = 1 << 16
"""Characters of a packed table that are read at once, a multiple of 4."""

BLOCK_CHARS: Final = 1 << 20
"""Characters of a block in which packed matrices are passed on and stored."""

NAMES: Final = ("distances", "durations")
"""Names of the matrices a scenario may have."""
Table = Floats | Integers | ShortIntegers
"""(n, n) metres or seconds as floats, or whole numbers of 1/1000 of them, which take half the memory."""
Packed = dict[str, str]
"""Matrices as text: `locations`, `provenance` and, where there are any, `off_network` as JSON, each matrix as base64 of
compressed integers of 1/1000."""


@dataclass(frozen=True, slots=True, eq=False)
class TravelMatrices:
    """(n, n) distances in metres and durations in seconds between locations; at least one of the two."""

    locations: tuple[str, ...]
    """(n,) ids of the rows and columns."""
    distances: Table | None = None
    durations: Table | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """Their source, for the plan."""
    off_network: Mapping[str, str] = field(default_factory=dict)
    """Locations that no road leads to or from, each with why in a clause; what the tables say of them is no travel."""

    @property
    def given(self) -> dict[str, Table]:
        """The matrices that exist, by name."""
        both = {"distances": self.distances, "durations": self.durations}
        return {name: table for name, table in both.items() if table is not None}

    def rows_of(self, ids: Sequence[str]) -> Indices:
        """Return the row of each location, (n,)."""
        row = {name: index for index, name in enumerate(self.locations)}
        return np.array([row[name] for name in ids], dtype=np.intp)

    def pack(self) -> Packed:
        """Return the matrices as text."""
        packed = {"locations": compact(self.locations), "provenance": compact(dict(self.provenance))}
        packed |= {"off_network": compact(dict(self.off_network))} if self.off_network else {}
        return packed | {name: _packed(table) for name, table in self.given.items()}

    @staticmethod
    def unpack(packed: Mapping[str, str]) -> "TravelMatrices":
        """Rebuild matrices from `pack()`; unknown keys are ignored."""
        locations = tuple(json.loads(packed["locations"]))
        travel_matrices = {name: _unpacked(packed[name], len(locations)) for name in NAMES if name in packed}
        return TravelMatrices(
            locations,
            **travel_matrices,
            provenance=json.loads(packed["provenance"]),
            off_network=json.loads(packed.get("off_network", "{}")),
        )


def among(table: Table, chosen: Indices) -> Iterator[tuple[slice, Floats]]:
    """Yield a matrix restricted to some rows and their columns, with a diagonal of 0, a few rows at a time.

    A second whole matrix would take 800 MB at 10,000 locations.
    """
    for low in range(0, len(chosen), _ROWS):
        rows = slice(low, min(low + _ROWS, len(chosen)))
        cells = table[np.ix_(chosen[rows], chosen)]
        part: Floats = cells / _UNIT if _is_thousandths(table) else cells.astype(np.float64, copy=False)
        np.fill_diagonal(part[:, low:], 0)
        yield rows, part


def decimals_of(table: Table, chosen: Indices) -> int:
    """Return how many decimals the values between some rows have, at most 3."""
    decimals = 0
    for _rows, part in among(table, chosen):
        while decimals < MAX_DECIMALS and not _is_whole(part * 10**decimals):
            decimals += 1
    return decimals


def _is_whole(values: Floats) -> bool:
    return np.allclose(values, np.rint(values), rtol=0, atol=1e-6)


def _is_thousandths(table: Table) -> bool:
    return table.dtype != np.float64


def _packed(table: Table) -> str:
    thousandths = table if _is_thousandths(table) else np.rint(table * _UNIT)
    return base64.b64encode(zlib.compress(thousandths.astype(_PACKED).tobytes(), level=1)).decode()


def _unpacked(text: str, size: int) -> Table:
    """Return a table of 1/1000, of 32 bits where they suffice; it is never whole in a wider form."""
    inflate = zlib.decompressobj()
    table, at, rest = np.zeros(size * size, dtype=np.int32), 0, b""
    for low in range(0, len(text), _CHARS):
        found = rest + inflate.decompress(base64.b64decode(text[low : low + _CHARS]))
        cells = np.frombuffer(found, dtype=_PACKED, count=len(found) // _PACKED_BYTES)
        rest = found[cells.nbytes :]
        if int(cells.max(initial=0)) > np.iinfo(table.dtype).max:
            table = table.astype(np.int64)
        table[at : at + len(cells)] = cells
        at += len(cells)
    return table.reshape(size, size)
