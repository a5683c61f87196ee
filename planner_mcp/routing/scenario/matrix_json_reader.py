"""Reads uploaded matrices from JSON: `{"locations": […], "distances": [[…]], "durations": [[…]]}`.

Owns the reading, row by row: the length of each item is bounded before it is decoded, and what was read is let go. So
neither memory nor time exceed what tables of the allowed size take. All faults are reported at once, up to a limit.
"""

import codecs
import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from pydantic_core import PydanticCustomError

from planner_mcp import arrays as np
from planner_mcp.arrays import Floats
from planner_mcp.errors import Fault, TooLargeError, input_error
from planner_mcp.routing.scenario.field_types import MAX_NUMBER, NO_WAY, first_beyond, read_id
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.routing.scenario.synonyms import MAX_NAME
from planner_mcp.routing.scenario.travel_matrices import NAMES, TravelMatrices
from planner_mcp.text import plain

_MAX_FAULTS: Final = 20
_MAX_MEMBERS: Final = 20
_BLANKS: Final = re.compile(rb"[ \t\r\n]*+")
_ROOM: Final = 1024
"""Bytes of a key or of the id of a location, at most."""
_LONGEST_TOKEN: Final = 16
"""Characters of `true`, an escape or the like, in which a text that was cut off may end."""
ROW_BYTES: Final = 64
"""Bytes of a number with the blanks around it, on average of a row."""
_FORM: Final = "an object of locations, distances and durations"


def read_travel_matrices(text: str, *, max_locations: int) -> TravelMatrices:
    """Return the matrices of a JSON text; raises as `read_matrix_blocks`."""
    return read_matrix_blocks(iter([text.encode(errors="surrogatepass")]), max_locations=max_locations)


def read_matrix_blocks(blocks: Iterator[bytes], *, max_locations: int) -> TravelMatrices:
    """Return the matrices of a JSON text that comes in blocks of bytes, in UTF-8.

    Raises:
        TooLargeError: More locations than allowed.
        InputError: Every other fault.
    """
    rows: dict[str, list[Floats]] = {}
    faults: list[Fault] = []
    locations: list[Any] | None = None
    text = _Text(blocks, longest_row=_ROOM + ROW_BYTES * max_locations)
    try:
        for name, value in text.members():
            items = _few(name, value, max_locations)
            if name in NAMES and name not in rows:
                rows[name] = [_row(name, at, cells, faults, max_locations) for at, cells in items]
            elif name == "locations":
                locations = [item for _, item in items]
            else:
                problem = f"The key {plain(name, MAX_NAME)} is unknown, or given twice."
                faults.append(Fault(pointer([name]), problem, _FORM, "Remove it.", "unknown"))
                deque(items, maxlen=0)
    except UnicodeDecodeError:
        raise input_error([Fault("", "The body is not UTF-8.", "JSON in UTF-8")]) from None
    except (ValueError, RecursionError):
        problem = f"The text is not JSON of this form from byte {text.position + 1} on."
        raise input_error([Fault("", problem, _FORM)]) from None
    ids = _ids(locations, faults)
    if not rows:
        faults.append(Fault("", "There are neither distances nor durations.", "one or both", "Add one.", "missing"))
    faults += [fault for name, table in rows.items() if (fault := _misshapen(name, table, len(ids))) is not None]
    if faults:
        raise input_error(faults, most=_MAX_FAULTS)
    tables: dict[str, Any] = {name: np.stack(table) for name, table in rows.items()}
    return TravelMatrices(ids, **tables, provenance={"source": "uploaded matrices", "given": sorted(tables)})


class _Text:
    """A JSON object whose values are lists, decoded item by item; no more of it is held than an item and a block."""

    def __init__(self, blocks: Iterator[bytes], *, longest_row: int) -> None:
        self._blocks = blocks
        self._longest_row = longest_row
        self._text = b""
        self._at = 0
        self._let_go = 0
        self._decoder = json.JSONDecoder()  # it reads NaN too, which is refused at its place

    @property
    def position(self) -> int:
        """Bytes before what is read next."""
        return self._let_go + self._at

    def members(self) -> Iterator[tuple[str, Iterator[Any]]]:
        """Yield each key with the items of its list; take all items before the next key."""
        self._fill(len(codecs.BOM_UTF8))
        if self._text.startswith(codecs.BOM_UTF8):  # editors on Windows write it
            self._at = len(codecs.BOM_UTF8)
        self._take(b"{")
        for _ in range(_MAX_MEMBERS):
            name = self._value(_ROOM)
            if not isinstance(name, str):
                raise ValueError(name)
            self._take(b":")
            yield name, self._items(_ROOM if name == "locations" else self._longest_row)
            if self._take(b",}") == b"}":
                break
        if self._peek():
            raise ValueError("something follows")

    def _items(self, longest: int) -> Iterator[Any]:
        self._take(b"[")
        if self._peek() == b"]":
            self._at += 1
            return
        while True:
            yield self._value(longest)
            if self._take(b",]") == b"]":
                return

    def _value(self, longest: int) -> Any:
        """Return the next value, of so many bytes at most."""
        self._peek()
        self._fill(longest)
        window, _ = codecs.utf_8_decode(self._text[self._at : self._at + longest], "strict", False)
        try:
            value, end = self._decoder.raw_decode(window)
        except json.JSONDecodeError as error:
            is_cut = error.pos > len(window) - _LONGEST_TOKEN or error.msg.startswith("Unterminated")
            if is_cut and len(self._text) - self._at > longest:
                raise TooLargeError(f"A value is longer than {longest} bytes.") from None
            raise
        self._at += end if window.isascii() else len(window[:end].encode())
        return value

    def _peek(self) -> bytes:
        while True:
            self._at = _BLANKS.match(self._text, self._at).end()  # type: ignore[union-attr]  # matches nothing too
            if self._at < len(self._text) or not self._fill(1):
                return self._text[self._at : self._at + 1]

    def _take(self, accepted: bytes) -> bytes:
        found = self._peek()
        if not found or found not in accepted:
            raise ValueError(found)
        self._at += 1
        return found

    def _fill(self, count: int) -> bool:
        """Have more than so many bytes at hand, or all that is left; return whether there are more than before."""
        has_more = False
        while len(self._text) - self._at <= count and (block := next(self._blocks, b"")):
            self._let_go += self._at
            self._text, self._at = self._text[self._at :] + block, 0
            has_more = True
        return has_more


def _few(name: str, items: Iterator[Any], most: int) -> Iterator[tuple[int, Any]]:
    for at, item in enumerate(items):
        if at >= most:
            what = "There are more than {} locations." if name == "locations" else "The table has more than {} rows."
            raise TooLargeError(what.format(most))
        yield at, item


def _row(name: str, at: int, cells: Any, faults: list[Fault], most: int) -> Floats:
    if isinstance(cells, list) and len(cells) > most:
        raise TooLargeError(f"A row has more than {most} numbers.")
    if not isinstance(cells, list):
        faults.append(Fault(f"/{name}/{at}", "The row is not a list.", "a list of numbers"))
        return np.zeros(0)
    if (wrong := first_beyond(cells, 0)) is not None:
        accepted = f"numbers from 0 to {MAX_NUMBER:g}"
        faults.append(Fault(f"/{name}/{at}/{wrong}", "The value is not a distance or duration.", accepted, NO_WAY))
        return np.zeros(len(cells))
    return np.array(cells, dtype=np.float64)


def _ids(values: list[Any] | None, faults: list[Fault]) -> tuple[str, ...]:
    if not values:
        faults.append(
            Fault("/locations", "The ids of the rows are missing.", "location ids in order", "Add them.", "missing")
        )
        return ()
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
