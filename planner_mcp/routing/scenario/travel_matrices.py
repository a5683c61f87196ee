"""Travel matrices between locations by id: metres and seconds, row from, column to.

Owns the matrices of one scenario in memory, their packed form for the store and the solver process, and the number of
their decimals. Other modules read them from the scenario, an upload or a road engine, or compute them from positions
(`compilation/integer_matrices.py`).
"""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner_mcp.text import compact

MAX_DECIMALS: Final = 3
"""Finer numbers are rounded to a thousandth of a metre or second."""
_UNIT: Final = 10**MAX_DECIMALS

BLOCK_CHARS: Final = 1 << 20
"""Characters of a block in which packed matrices are passed on and stored."""

NAMES: Final = ("distances", "durations")
"""Names of the matrices a scenario may have."""
Floats = NDArray[np.float64]
Packed = dict[str, str]
"""Matrices as text: `locations`, `provenance` and, where there are any, `off_network` as JSON, each matrix as base64 of
compressed integers of 1/1000."""


@dataclass(frozen=True, slots=True, eq=False)
class TravelMatrices:
    """(n, n) distances in metres and durations in seconds between locations; at least one of the two."""

    locations: tuple[str, ...]
    """(n,) ids of the rows and columns."""
    distances: Floats | None = None
    durations: Floats | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """Their source, for the plan."""
    off_network: Mapping[str, str] = field(default_factory=dict)
    """Locations that no road leads to or from, each with why in a clause; what the tables say of them is no travel."""

    @property
    def given(self) -> dict[str, Floats]:
        """The matrices that exist, by name."""
        both = {"distances": self.distances, "durations": self.durations}
        return {name: table for name, table in both.items() if table is not None}

    def among(self, ids: Sequence[str]) -> dict[str, Floats]:
        """Return the existing matrices restricted to some locations, in this order, with a diagonal of 0."""
        row = {name: index for index, name in enumerate(self.locations)}
        chosen = np.array([row[name] for name in ids], dtype=np.intp)
        found = {name: table[np.ix_(chosen, chosen)] for name, table in self.given.items()}
        for table in found.values():
            np.fill_diagonal(table, 0)
        return found

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


def decimals_of(table: Floats) -> int:
    """Return how many decimals the values have, at most 3."""
    return next((d for d in range(MAX_DECIMALS) if _is_whole(table * 10**d)), MAX_DECIMALS)


def _is_whole(values: Floats) -> bool:
    return np.allclose(values, np.rint(values), rtol=0, atol=1e-6)


def _packed(table: Floats) -> str:
    thousandths = np.rint(table * _UNIT).astype("<i8")
    return base64.b64encode(zlib.compress(thousandths.tobytes(), level=1)).decode()


def _unpacked(text: str, size: int) -> Floats:
    thousandths = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<i8")
    table: Floats = thousandths.reshape(size, size) / _UNIT
    return table
