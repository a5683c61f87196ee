"""Travel that comes as tables: between named places, metres and seconds, row from, column to.

Owns the tables of one day in memory, their packed form for the store and the solving process, and their rounding to
integers. Where they come from (the scenario itself, an upload, a road engine) is others' matter; so is travel that is
measured from positions (`compile/travel.py`).
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
"""Finer numbers are rounded; a thousandth of a metre or of a second is finer than any road is known."""
_UNIT: Final = 10**MAX_DECIMALS

NAMES: Final = ("distances", "durations")
"""Of the tables a day may be given."""
Floats = NDArray[np.float64]
Packed = dict[str, str]
"""Tables as text: `locations` and `provenance` as JSON, each table as base64 of compressed integers of 1/1000."""


@dataclass(frozen=True, slots=True, eq=False)
class TravelMatrices:
    """Distances in metres and durations in seconds between locations; at least one of the two."""

    locations: tuple[str, ...]
    """Ids of the rows and columns."""
    distances: Floats | None = None
    durations: Floats | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """Where they came from, for the plan."""

    @property
    def given(self) -> dict[str, Floats]:
        """The tables there are, by name."""
        both = {"distances": self.distances, "durations": self.durations}
        return {name: table for name, table in both.items() if table is not None}

    def among(self, ids: Sequence[str]) -> dict[str, Floats]:
        """Return the tables there are between some of the locations, in this order; nothing from a place to itself."""
        row = {name: index for index, name in enumerate(self.locations)}
        chosen = np.array([row[name] for name in ids], dtype=np.intp)
        found = {name: table[np.ix_(chosen, chosen)] for name, table in self.given.items()}
        for table in found.values():
            np.fill_diagonal(table, 0)
        return found

    def pack(self) -> Packed:
        """Return the tables as text."""
        packed = {"locations": compact(self.locations), "provenance": compact(dict(self.provenance))}
        return packed | {name: _packed(table) for name, table in self.given.items()}

    @staticmethod
    def unpack(packed: Mapping[str, str]) -> "TravelMatrices":
        """Rebuild tables from `pack()`; other words are passed over."""
        locations = tuple(json.loads(packed["locations"]))
        travel_matrices = {name: _unpacked(packed[name], len(locations)) for name in NAMES if name in packed}
        return TravelMatrices(locations, **travel_matrices, provenance=json.loads(packed["provenance"]))


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
