"""What the reader of workbooks does not report about a sheet: its reach, rows that are hidden, cells without a value.

Owns a look over the XML of one sheet, of XLSX or ODS, before it is read. A single far cell would make the reader ask
for hundreds of gigabytes; formulas that were never calculated and errors look to it like empty cells.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from planner_mcp.errors import Fault, input_error
from planner_mcp.formats.tables.sheets.workbook_package import ACCEPTED, Parts, WorkbookPackage

_WORKBOOK: Final = "xl/workbook.xml"
_RELATIONS: Final = "xl/_rels/workbook.xml.rels"
_CONTENT: Final = "content.xml"
_OPEN_CELLS: Final = ("table-cell", "covered-table-cell")
_VALUES: Final = frozenset({"value", "date-value", "time-value", "boolean-value", "string-value"})
"""Attributes of a cell in an OpenDocument, one of which holds its value."""
_MOST_ROWS: Final = 1_048_576
_DIGITS: Final = 7
"""Of a count; a sheet has 1,048,576 rows."""
_LETTERS: Final = 26
Attributes = dict[str, str]
Start = Callable[[str, Attributes], None]
End = Callable[[str], None]
Text = Callable[[str], None]
_VALUE: Final = "a value"
"""Stands among the elements of a cell for characters in its value."""


@dataclass(slots=True)
class SheetInspection:
    """A sheet as its XML has it; rows and columns count from 1."""

    rows: int = 0
    columns: int = 0
    uncalculated: list[tuple[int, int]] = field(default_factory=list)
    """Cells of a formula without a value."""
    errors: list[tuple[int, int]] = field(default_factory=list)
    """Cells whose value is an error, such as #N/A."""
    hidden: set[int] = field(default_factory=set)
    """Rows that do not show: by a filter, most often."""
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Of ODS, ranges of merged cells: first and last row, first and last column, these from 0."""


def inspect(workbook: WorkbookPackage, sheet: str) -> SheetInspection:
    """Return what there is to know of a sheet before it is read; nothing of one in an older workbook.

    Raises:
        InputError: It is no XML, or declares entities.
    """
    if workbook.kind == "ods":
        handler = _OpenSheetHandler(sheet)
        _walk(workbook.parts.get(_CONTENT, b"<none/>"), handler.start, handler.end, handler.text)
        return handler.found
    return inspect_sheet(part_of_sheet(workbook.parts, sheet) or b"<none/>") if workbook.parts else SheetInspection()


def inspect_sheet(xml: bytes) -> SheetInspection:
    """Return what there is to know of a sheet before it is read.

    Raises:
        InputError: It is no XML, or declares entities.
    """
    handler = _SheetHandler()
    _walk(xml, handler.start, handler.end, handler.text)
    return handler.found


class _SheetHandler:
    """Follows the cells of a sheet."""

    def __init__(self) -> None:
        self.found = SheetInspection()
        self._at = (0, 0)
        self._inside: set[str] = set()
        self._type = ""
        self._is_open = False

    def start(self, name: str, attributes: Attributes) -> None:
        """Take in the start of an element."""
        if name == "row":
            row = attributes.get("r", "")
            self._at = (int(row) if row.isdecimal() else self._at[0] + 1, 0)
            if attributes.get("hidden") in ("1", "true"):
                self.found.hidden.add(self._at[0])
        elif name == "c":
            self._at = place_of(attributes.get("r", "")) or (self._at[0], self._at[1] + 1)
            self._inside, self._type = set(), attributes.get("t", "")
        else:
            self._inside.add(name)
            self._is_open = name == "v"

    def text(self, _text: str) -> None:
        """Take in characters: a value is none while it is empty, as programs leave it that do not calculate."""
        if self._is_open:
            self._inside.add(_VALUE)

    def end(self, name: str) -> None:
        """Take in the end of an element."""
        self._is_open = False
        if name != "c" or not self._inside:
            return
        self.found.rows = max(self.found.rows, self._at[0])
        self.found.columns = max(self.found.columns, self._at[1])
        has_value = _VALUE in self._inside or (self._type == "str" and "v" in self._inside)
        if self._type == "e":
            self.found.errors.append(self._at)
        elif "f" in self._inside and not has_value:
            self.found.uncalculated.append(self._at)


class _OpenSheetHandler:
    """Follows the cells of one sheet among those of an OpenDocument."""

    def __init__(self, sheet: str) -> None:
        self.found = SheetInspection()
        self._sheet = sheet
        self._is_inside = False
        self._row, self._column = 0, 0
        self._rows = 1
        self._cell: Attributes | None = None
        self._has_text = False

    def start(self, name: str, attributes: Attributes) -> None:
        """Take in the start of an element."""
        if name == "table":
            self._is_inside = attributes.get("name") == self._sheet
        elif not self._is_inside:
            return
        elif name == "table-row":
            self._row, self._column = self._row + 1, 0
            self._rows = _count(attributes, "number-rows-repeated")
            if attributes.get("visibility", "visible") != "visible":
                self.found.hidden.update(range(self._row, self._row + min(self._rows, _MOST_ROWS)))
        elif name in _OPEN_CELLS:
            self._cell, self._has_text = attributes, False

    def text(self, text: str) -> None:
        """Take in characters of a cell."""
        self._has_text = self._has_text or bool(text.strip())

    def end(self, name: str) -> None:
        """Take in the end of an element."""
        if name == "table":
            self._is_inside = False
        elif self._is_inside and name == "table-row":
            self._row += self._rows - 1
        elif self._is_inside and name in _OPEN_CELLS and self._cell is not None:
            self._take(self._cell)
            self._column += _count(self._cell, "number-columns-repeated")
            self._cell = None

    def _take(self, cell: Attributes) -> None:
        row, column = self._row, self._column + 1
        if self._has_text or "formula" in cell:
            self.found.rows = max(self.found.rows, row + self._rows - 1)
            self.found.columns = max(self.found.columns, self._column + _count(cell, "number-columns-repeated"))
        if cell.get("value-type") == "error":
            self.found.errors.append((row, column))
        elif "formula" in cell and not self._has_text and _VALUES.isdisjoint(cell):
            self.found.uncalculated.append((row, column))
        height, width = _count(cell, "number-rows-spanned"), _count(cell, "number-columns-spanned")
        if height > 1 or width > 1:
            self.found.merged.append((row, row + height - 1, column - 1, column + width - 2))


def _count(attributes: Attributes, name: str) -> int:
    """Return how often an element of an OpenDocument stands, or how far it reaches."""
    value = attributes.get(name, "1")[:_DIGITS]
    return max(1, int(value)) if value.isascii() and value.isdecimal() else 1


def place_of(name: str) -> tuple[int, int] | None:
    """Return row and column of a cell's name, such as `C12`; None where it is none."""
    letters = name.rstrip("0123456789")
    digits = name[len(letters) :]
    if not (digits and letters.isascii() and letters.isalpha() and len(letters) <= len("XFD")):
        return None
    column = 0
    for letter in letters.upper():
        column = column * _LETTERS + ord(letter) - ord("A") + 1
    return int(digits[:9]), column


def letters_of(column: int) -> str:
    """Return the letters of a column, which counts from 1."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, _LETTERS)
        letters = chr(ord("A") + rest) + letters
    return letters


def part_of_sheet(parts: Parts, sheet: str) -> bytes:
    """Return the XML of a sheet; empty where the workbook does not say which it is."""
    ids: dict[str, str] = {}
    targets: dict[str, str] = {}

    def note_sheet(name: str, attributes: Attributes) -> None:
        if name == "sheet":
            ids[attributes.get("name", "")] = attributes.get("id", "")

    def note_target(name: str, attributes: Attributes) -> None:
        if name == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    _walk(parts[_WORKBOOK], note_sheet)
    _walk(parts.get(_RELATIONS, b"<none/>"), note_target)
    target = targets.get(ids.get(sheet, ""), "")
    return parts.get(target.lstrip("/") if target.startswith("/") else f"xl/{target}", b"")


def _walk(xml: bytes, start: Start, end: End | None = None, text: Text | None = None) -> None:
    """Call `start` and `end` with the local names of elements and attributes, `text` with the characters in them."""
    parser = expat.ParserCreate(namespace_separator=" ")

    def refuse(*_declaration: object) -> None:
        raise expat.ExpatError

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda name, attributes: start(
        _local(name), {_local(key): value for key, value in attributes.items()}
    )
    if end is not None:
        parser.EndElementHandler = lambda name: end(_local(name))
    if text is not None:
        parser.CharacterDataHandler = text
    try:
        parser.Parse(xml, True)
    except (expat.ExpatError, ValueError):
        problem, hint = "A part of the workbook is not valid XML.", "Save the workbook again."
        raise input_error([Fault("", problem, ACCEPTED, hint)]) from None


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
