"""Reads uploaded matrices from JSON: `{"locations": […], "distances": [[…]], "durations": [[…]]}`.

Owns the reading, row by row: decoding millions of numbers in one call would hold the GIL for a second and delay every
other request. All faults are reported at once, up to a limit.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import numpy as np
from pydantic_core import PydanticCustomError

from planner_mcp.errors import Fault, TooLargeError, input_error
from planner_mcp.routing.scenario.field_types import MAX_NUMBER, read_id
from planner_mcp.routing.scenario.travel_matrices import Floats, TravelMatrices

_NAMES: Final = ("distances", "durations")
_MAX_FAULTS: Final = 20
_BLANK: Final = " \t\r\n"
_FORM: Final = "an object of locations, distances and durations"


def read_travel_matrices(text: str, *, max_locations: int) -> TravelMatrices:
    """Return the matrices of a JSON text.

    Raises:
        TooLargeError: More locations than allowed.
        InputError: Every other fault.
    """
    rows: dict[str, list[Floats]] = {}
    faults: list[Fault] = []
    locations: Any = None
    try:
        for name, value in _Text(text).members():
            if name in _NAMES and name not in rows:
                rows[name] = [_row(name, at, cells, faults) for at, cells in _few(value, max_locations)]
            elif name == "locations":
                locations = list(value)
            else:
                faults.append(Fault("", "A key is unknown, or given twice.", _FORM, "Remove it.", "unknown"))
                list(value)
    except (ValueError, RecursionError):
        raise input_error([Fault("", "The text is not JSON of this form.", _FORM)]) from None
    ids = _ids(locations, max_locations, faults)
    if not rows:
        faults.append(Fault("", "There is neither distances nor durations.", "one or both", "Add one.", "missing"))
    faults += [fault for name, table in rows.items() if (fault := _misshapen(name, table, len(ids))) is not None]
    if faults:
        raise input_error(faults, most=_MAX_FAULTS)
    travel_matrices = {name: np.stack(table) for name, table in rows.items()}
    return TravelMatrices(
        ids, **travel_matrices, provenance={"source": "uploaded matrices", "given": sorted(travel_matrices)}
    )


class _Text:
    """A JSON object whose values are lists, decoded item by item."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._decoder = json.JSONDecoder(parse_constant=_refuse)

    def members(self) -> Iterator[tuple[str, Iterator[Any]]]:
        """Yield each key with the items of its list; take all items before the next key."""
        self._take("{")
        while True:
            name = self._value()
            if not isinstance(name, str):
                raise ValueError(name)
            self._take(":")
            yield name, self._items()
            if self._take(",}") == "}":
                break
        if self._text[self._at :].strip(_BLANK):
            raise ValueError("something follows")

    def _items(self) -> Iterator[Any]:
        self._take("[")
        if self._peek() == "]":
            self._at += 1
            return
        while True:
            yield self._value()
            if self._take(",]") == "]":
                return

    def _value(self) -> Any:
        self._peek()
        value, self._at = self._decoder.raw_decode(self._text, self._at)
        return value

    def _peek(self) -> str:
        while self._at < len(self._text) and self._text[self._at] in _BLANK:
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _take(self, accepted: str) -> str:
        found = self._peek()
        if not found or found not in accepted:
            raise ValueError(found)
        self._at += 1
        return found


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _few(items: Iterator[Any], most: int) -> Iterator[tuple[int, Any]]:
    for at, item in enumerate(items):
        if at >= most:
            raise TooLargeError(f"The table has more than {most} rows.")
        yield at, item


def _row(name: str, at: int, cells: Any, faults: list[Fault]) -> Floats:
    is_row = isinstance(cells, list) and set(map(type, cells)) <= {int, float}
    if not is_row or not all(0 <= cell <= MAX_NUMBER for cell in cells):
        accepted = f"numbers from 0 to {MAX_NUMBER:g}"
        faults.append(Fault(f"/{name}/{at}", "The row contains a value that is not a distance or duration.", accepted))
        return np.zeros(len(cells) if isinstance(cells, list) else 0)
    return np.array(cells, dtype=np.float64)


def _ids(values: list[Any] | None, most: int, faults: list[Fault]) -> tuple[str, ...]:
    if not values:
        faults.append(
            Fault("/locations", "The ids of the rows are missing.", "location ids in order", "Add them.", "missing")
        )
        return ()
    if len(values) > most:
        raise TooLargeError(f"There are more than {most} locations.")
    seen: set[Any] = set()
    for at, value in enumerate(values):
        try:
            name = read_id(value)
        except PydanticCustomError as error:
            faults.append(Fault(f"/locations/{at}", "The value is not an id.", str((error.context or {})["accepted"])))
            continue
        if name in seen:
            faults.append(Fault(f"/locations/{at}", "A location has two rows.", "each location once", "", "logic"))
        seen.add(name)
    return tuple(value if isinstance(value, str) else "" for value in values)


def _misshapen(name: str, table: list[Floats], size: int) -> Fault | None:
    wrong = next((at for at, row in enumerate(table) if len(row) != size), None)
    if not size or (len(table) == size and wrong is None):
        return None
    where = f"it has {len(table)} rows" if wrong is None else f"row {wrong} has {len(table[wrong])} numbers"
    accepted = f"{size} rows of {size} numbers"
    return Fault(f"/{name}", f"The matrix does not fit {size} locations: {where}.", accepted, "", "logic")
