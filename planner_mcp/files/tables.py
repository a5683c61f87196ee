"""A table from a file of text, whoever wrote it: UTF-8 or GB18030, comma, semicolon or tab (SPEC T5).

Owns the bytes: encoding, delimiter, header, size. What the columns mean is `files/columns.py`'s.
"""

import csv
import io
from dataclasses import dataclass
from typing import Final

from planner_mcp.errors import Fault, TooLargeError, input_error

MAX_BYTES: Final = 20 * 1024 * 1024
MAX_COLUMNS: Final = 200
_ENCODINGS: Final = ("utf-8-sig", "gb18030")
_DELIMITERS: Final = ",;\t"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text by header, each with its line in the file."""

    headers: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]
    encoding: str


def read_table(data: bytes, *, max_rows: int) -> Table:
    """Return the table of a file.

    Raises:
        TooLargeError: It has more bytes or rows than allowed.
        InputError: It is no text in a known encoding, has no header, or a header twice.
    """
    if len(data) > MAX_BYTES:
        raise TooLargeError(f"The file is larger than {MAX_BYTES} bytes.")
    text, encoding = _decoded(data)
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        lines = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error:
        raise input_error([Fault("", "The file is no table of text.", "CSV with a header line")]) from None
    if len(lines) - 1 > max_rows:
        raise TooLargeError(f"The table has more than {max_rows} rows.")
    headers = tuple(cell.strip() for cell in lines[0][1]) if lines else ()
    _check_headers(headers)
    rows = [(number, _row(headers, cells)) for number, cells in lines[1:]]
    return Table(headers, tuple(rows), encoding)


def _decoded(data: bytes) -> tuple[str, str]:
    for encoding in _ENCODINGS:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    raise input_error([Fault("", "The file is neither UTF-8 nor GB18030.", "a CSV file in one of the two")])


def _check_headers(headers: tuple[str, ...]) -> None:
    named = [header for header in headers if header]
    if not named or len(headers) > MAX_COLUMNS:
        raise input_error([Fault("", "The file has no header line.", "a first line that names the columns")])
    if len(set(named)) < len(named):
        raise input_error([Fault("", "Two columns have the same header.", "each header once", "Rename one.")])


def _row(headers: tuple[str, ...], cells: list[str]) -> dict[str, str]:
    return {header: cell.strip() for header, cell in zip(headers, cells, strict=False) if header and cell.strip()}
