"""A table from a file of text, whatever its encoding and the marks between its cells (SPEC T5).

Owns the bytes: encoding, ends of lines, delimiter, header, size. What the columns mean is
`formats/tables/columns/column_proposal.py`'s.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any, Final

from planner_mcp.errors import Fault, TooLargeError, input_error
from planner_mcp.formats.tables.headers.header_rows import MAX_TITLES, FoundHeader, find_header, names_columns
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.routing.scenario.synonyms import MAX_NAME
from planner_mcp.text import plain

MAX_BYTES: Final = 20 * 1024 * 1024
MAX_LINES: Final = 1_100_000
"""Lines of a file, empty ones too: a spreadsheet has 1,048,576."""
MAX_COLUMNS: Final = 200
MAX_HEADER: Final = 200
"""Characters of a header. Every header is compared with every word that is known."""
SPLIT: Final = "Split the scenario."
"""What to do about too many rows."""
_MOST_GAPS: Final = 500
"""Lines below empty ones of which each is compared with the words of headers: 0.1 ms for a word."""
_FALLBACK_NAMES: Final = {
    "gb18030": "GB18030",
    "cp1250": "Windows-1250",
    "cp1252": "Windows-1252",
    "cp1254": "Windows-1254",
    "cp932": "Shift JIS",
    "cp949": "EUC-KR",
    "cp950": "Big5",
}
_EAST_ASIAN: Final = (
    ("cp932", range(0x81, 0xA0), range(0x40, 0x100), 0.5, 1.0),
    ("cp949", range(0xB0, 0xC9), range(0xA1, 0x100), 0.95, 1.0),
    ("cp950", range(0xA4, 0xFA), range(0x40, 0x80), 0.15, 0.75),
)
"""Encodings of two bytes beside GB18030: first and second bytes of their everyday letters, that seldom stand in the
others, and which share of all letters these are."""
_POLISH: Final = re.compile("[a-z][¹³¿][a-z]|œæ|[£¯][a-zó]")
_CZECH: Final = (frozenset("šž"), frozenset("ìøèòùï"), frozenset("àâãåæçêëîñõû"))
_TURKISH: Final = (frozenset("ðþý"), frozenset("ðþý"), frozenset("áéíóúæøšž"))
"""Letters of Polish (ą, ł, ż, ść), Czech (š, ž; ě, ř, č, ň, ů, ď) and Turkish (ğ, ş, ı) as Windows-1252 has them, where
no Western language has both; and those of languages that have some of them too."""
_LEAST_LETTERS: Final = 12
"""Different letters from which a share of them is told."""
_WIDE: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""What spreadsheets write before their "Unicode text"."""
OLE2: Final = bytes.fromhex("d0cf11e0a1b11ae1")
"""How older workbooks begin, and encrypted ones."""
_WORKBOOKS: Final = (b"PK\x03\x04", OLE2)
_MARKUP: Final = (b"<!doctype", b"<html", b"<table", b"<?xml", b"<head", b"<meta")
_MARKUP_BYTES: Final = 200
_PDF: Final = b"%pdf-"
_PICTURES: Final = (b"\x89png", b"\xff\xd8\xff", b"gif8")
_DELIMITERS: Final = ",;\t|"
_SAMPLE_LINES: Final = 30
_SAMPLE_BYTES: Final = 100_000
_SEPARATOR: Final = re.compile(r'"?sep=([^\w"\r\n])"?(?=[\r\n])', re.IGNORECASE)
"""A first line for spreadsheets, which names the delimiter of those behind it."""
_AS_TEXT: Final = re.compile(r"""="([^"]*)"|'(\+?\d.*)""", re.DOTALL)
"""`="0012"` and `'75008`, so that zeros in front stay."""
_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]+")
_FEW: Final = 3
"""Headers that a hint names."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text by header, each with its line in the file."""

    headers: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]
    name: str = ""
    """Of the sheet, or of the file where there are two."""
    notices: tuple[str, ...] = ()
    """What was taken for granted in reading it."""
    delimiter: str = ""
    """Of cells of text in a line."""
    skills: frozenset[str] = frozenset()
    """Headers of columns of yes and no in which a skill stands in place of yes."""

    def cells(self, header: str) -> list[str]:
        """Return the cells below a header, without the empty ones."""
        return [row[header] for _, row in self.rows if header in row]


def place_in(table: str, *segments: str | int) -> str:
    """Return the place of something in a file: the sheet first, where the table has a name."""
    return pointer((*([table] if table else ()), *segments))


def too_large(path: str, problem: str, accepted: str, hint: str = "") -> TooLargeError:
    """Return the refusal of a file that is larger than allowed, reported at a place in it like any other fault."""
    return TooLargeError(problem, errors=[Fault(path, problem, accepted, hint)])


def check_size(data: bytes) -> None:
    """Refuse a file that is too large, of whatever kind.

    Raises:
        TooLargeError: It has more than `MAX_BYTES`.
    """
    if len(data) > MAX_BYTES:
        raise too_large("", f"The file is larger than {MAX_BYTES} bytes.", f"at most {MAX_BYTES} bytes", SPLIT)


def is_workbook(data: bytes) -> bool:
    """Return whether a file begins as a workbook of any kind does, or another archive."""
    return data.startswith(_WORKBOOKS)


def refuse_what_has_no_table(data: bytes) -> None:
    """Refuse a web page or XML, which some programs write under the name of a table or a workbook; a PDF, a picture.

    Raises:
        InputError: It is one.
    """
    begin = data[:_MARKUP_BYTES].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    hint = "Open it in a spreadsheet and save it as .xlsx, or as CSV UTF-8."
    if begin.startswith(_MARKUP):
        problem = "The file is XML." if begin.startswith(b"<?xml") else "The file is a web page (HTML)."
    elif begin.startswith((_PDF, *_PICTURES)):
        problem = "The file is a PDF." if begin.startswith(_PDF) else "The file is a picture."
        hint = "Import the table that it was made from."
    else:
        return
    raise input_error([Fault("", problem, "a CSV file, or a workbook as .xlsx", hint)])


def read_table(data: bytes, *, max_rows: int, name: str = "") -> Table:
    """Return the table of a file.

    Args:
        name: That faults begin with, where there are two such files.

    Raises:
        TooLargeError: It has more bytes or rows than allowed.
        InputError: It is a web page, XML, a PDF, a picture, or no text in a known encoding, a quote is not closed, it
        has no header, a header twice, or rows with more cells than headers.
    """
    check_size(data)
    refuse_what_has_no_table(data)
    text, notices = _decoded(data, name)
    text = _with_line_feeds(text)
    delimiter = _delimiter_of(text)
    if named := _SEPARATOR.match(text):
        text, delimiter = text[named.end() :], named[1]
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        filled = ((line, cells) for line, cells in _numbered(reader) if any(cell.strip() for cell in cells))
        lines = list(islice(filled, max_rows + MAX_TITLES + 2))
    except csv.Error:
        raise input_error([_slip(text, delimiter, name, reader.line_num)]) from None
    return replace(table_of(lines, max_rows=max_rows, name=name, notices=notices), delimiter=delimiter)


def table_of(
    lines: Sequence[tuple[int, list[str]]],
    *,
    max_rows: int,
    name: str = "",
    notices: tuple[str, ...] = (),
    spans: Sequence[tuple[int, int, int]] = (),
) -> Table:
    """Return lines of cells as a table.

    Args:
        lines: Numbered, without empty ones; the header is found among the first.
        notices: What was taken for granted before.
        spans: Merged cells as line number, first and last column from 0.

    Raises:
        TooLargeError: There are more rows than allowed.
        InputError: There is no header, one twice, another table below, or rows with more cells than headers.
    """
    refusal = too_large(place_in(name), f"The table has more than {max_rows} rows.", f"at most {max_rows}", SPLIT)
    if len(lines) - 1 > max_rows + MAX_TITLES:
        raise refusal
    found = find_header(lines, spans) if lines else FoundHeader(0, (), ())
    headers = found.headers
    rows = [each for each in lines[found.at + 1 :] if not _repeats(headers, each[1])]
    if len(rows) > max_rows:
        raise refusal
    check_headers(headers, place_in(name))
    if (other := _other_header(headers, lines[found.at :])) is not None:
        hint = "Put it on a sheet, or into a file, of its own."
        raise input_error([Fault(place_in(name, other), "Another table begins here.", "one table", hint)])
    if faults := list(_overlong(rows, len(headers), name)):
        raise input_error(faults)
    notices = (*notices, *found.notices)
    if repeated := len(lines) - found.at - 1 - len(rows):
        notices = (*notices, f"Lines that repeat the header, passed over: {repeated}.")
    if nameless := sum(_nameless(headers, cells) for _, cells in rows):
        notices = (*notices, f"Cells left out, for their columns have no header: {nameless}.")
    return Table(headers, tuple((number, _row(headers, cells)) for number, cells in rows), name, notices)


def _delimiter_of(text: str) -> str:
    """Return what parts the cells: the mark that most of the first lines have equally often."""
    lines = [_outside_quotes(line) for line in text[:_SAMPLE_BYTES].split("\n")[:_SAMPLE_LINES] if line.strip()]

    def agreement(mark: str) -> tuple[int, int]:
        counts = Counter(line.count(mark) for line in lines)
        del counts[0]
        return max(((lines_of_it, number) for number, lines_of_it in counts.items()), default=(0, 0))

    return max(_DELIMITERS, key=agreement)


def _outside_quotes(line: str) -> str:
    return "".join(line.split('"')[::2])


def _decoded(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file, and what was taken for granted of its encoding."""
    if is_workbook(data):
        hint = "Save it as CSV; only tickets may be in a workbook, of the format xlsx."
        raise input_error([Fault(place_in(name), "The file is a workbook, not text.", "a CSV file", hint)])
    for encoding in _encodings_of(data):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            fallback = _FALLBACK_NAMES.get(encoding)
            return text, (f"The file is not UTF-8; it was read as {fallback}.",) if fallback else ()
    accepted = "UTF-8, UTF-16, GB18030, Windows-1252, 1250 or 1254, Shift JIS, EUC-KR or Big5"
    raise input_error([Fault(place_in(name), "The text has no known encoding.", accepted, "Save it as CSV UTF-8.")])


def _single_byte(data: bytes) -> str:
    """Return which encoding of single bytes the letters of a text are of; Windows-1252 has no ť, of Czech."""
    text = data.decode("cp1252", errors="ignore")
    found = set(text.lower())
    if _POLISH.search(text):
        return "cp1250"
    for name, (some, others, foreign) in (("cp1250", _CZECH), ("cp1254", _TURKISH)):
        if found & some and found & others and not found & foreign:
            return name
    return "cp1252"


def _encodings_of(data: bytes) -> Iterator[str]:
    """Yield the encodings a file may have, the likeliest first.

    UTF-16 without its mark has a zero beside each letter of ASCII. Western text has single bytes beyond ASCII between
    letters, Chinese text has them in pairs.
    """
    if data.startswith(_WIDE):
        yield "utf-16"
        return
    sample = data[:_SAMPLE_BYTES]
    for encoding, zeros, letters in (
        ("utf-16-le", sample[1::2], sample[::2]),
        ("utf-16-be", sample[::2], sample[1::2]),
    ):
        if zeros.count(0) > len(zeros) // 4 and zeros.count(0) > 4 * letters.count(0):
            yield encoding
            return
    yield "utf-8-sig"
    yield from _east_asian(sample)
    runs = [len(run) for run in _BEYOND_ASCII.findall(sample)]
    single = sum(length == 1 for length in runs)
    is_western = 2 * single > len(runs) and 4 * sum(runs) < len(sample)
    if not is_western:
        yield "gb18030"
    if 2 * sum(runs) < len(sample):
        yield _single_byte(data)


def _east_asian(sample: bytes) -> Iterator[str]:
    """Yield the encoding of Japanese, Korean or traditional Chinese text; nearly any of it can be read as GB18030."""
    for encoding, leads, seconds, least, most in _EAST_ASIAN:
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(sample)  # the sample may end within a letter
        except UnicodeDecodeError:
            continue
        letters = [each.encode(encoding) for each in set(text) if not each.isascii()]
        fitting = sum(len(pair) == 2 and pair[0] in leads and pair[1] in seconds for pair in letters)
        if len(letters) >= _LEAST_LETTERS and least * len(letters) <= fitting <= most * len(letters):
            yield encoding


def _with_line_feeds(text: str) -> str:
    """Return a text with lines as its reader counts them; those of an old Mac end with a carriage return alone."""
    alone = text.count("\r") - text.count("\r\n")
    return text.replace("\r\n", "\n").replace("\r", "\n") if alone > text.count("\n") else text


def _numbered(reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV reader, each with the line it begins at."""
    line = 1
    for cells in reader:
        if line > MAX_LINES:
            raise too_large("", f"The file has more than {MAX_LINES} lines.", f"at most {MAX_LINES}", SPLIT)
        yield line, cells
        line = reader.line_num + 1


def _slip(text: str, delimiter: str, name: str, line: int) -> Fault:
    """Return what keeps a text from being a table: a quote that nothing closes, most often.

    `line` is where the reader gave up.
    """
    separator = re.compile(rf"[{re.escape(delimiter)}\r\n]|\Z")
    at = 0
    while at < len(text):
        end = at
        if text[at] == '"':
            end = _closing_quote(text, at) + 1
            if end == 0 or not separator.match(text, end):
                return _open_quote(place_in(name, text.count("\n", 0, at) + 1))
        found = separator.search(text, end)
        at = len(text) if found is None else max(found.end(), at + 1)
    accepted = f"CSV with a header line, {csv.field_size_limit()} characters a cell"
    hint = "Put line breaks within a cell into quotes."
    return Fault(place_in(name, line), "The file is not a table of text.", accepted, hint)


def _open_quote(path: str) -> Fault:
    return Fault(
        path,
        "A quote opens a cell that does not end with one.",
        'a cell in quotes, quotes within it doubled ("")',
        "Close the quote, or remove it.",
    )


def _closing_quote(text: str, opening: int) -> int:
    """Return where the cell ends that a quote opens, doubled quotes within it aside; -1 where it does not."""
    end = text.find('"', opening + 1)
    while end >= 0 and text.startswith('"', end + 1):
        end = text.find('"', end + 2)
    return end


def check_headers(headers: tuple[str, ...], path: str) -> None:
    """Refuse headers that are too many, too long, none, or equal.

    Raises:
        TooLargeError: There are more than `MAX_COLUMNS`.
        InputError: None has text, one is longer than `MAX_HEADER`, or two are equal.
    """
    named = [header for header in headers if header]
    if len(headers) > MAX_COLUMNS:
        problem = f"The table has more than {MAX_COLUMNS} columns."
        raise too_large(path, problem, f"at most {MAX_COLUMNS} columns", "Leave out columns that are not needed.")
    if not named:
        problem = "The table has no header line."
        raise input_error([Fault(path, problem, "a first line that names the columns", "Add it.")])
    if long := [number for number, header in enumerate(headers, 1) if len(header) > MAX_HEADER]:
        problem = f"The header of column {long[0]} has {len(headers[long[0] - 1])} characters."
        raise input_error([Fault(path, problem, f"at most {MAX_HEADER} characters", "Shorten the header.")])
    if twice := [plain(header, MAX_NAME) for header, number in Counter(named).items() if number > 1]:
        hint = f"Rename one: {', '.join(twice[:_FEW])}."
        raise input_error([Fault(path, "Two columns have the same header.", "each header once", hint)])


def _overlong(lines: Sequence[tuple[int, list[str]]], width: int, name: str) -> Iterator[Fault]:
    """Yield the rows with more in them than headers: a number such as 1,200 is two cells, and the first would count."""
    for number, cells in lines:
        if any(cell.strip() for cell in cells[width:]):
            yield Fault(
                place_in(name, number),
                "The row has more cells than there are headers.",
                "a cell for each header at most",
                "Put a cell with a separator in it into quotes, or give the column a header.",
                which=(f"row {number}",),
            )


def _other_header(headers: Sequence[str], lines: Sequence[tuple[int, list[str]]]) -> int | None:
    """Return the first line below an empty one that is another header by its words: vehicles below the stops.

    Only the first of such lines are looked at: some files have an empty line below each row.
    """
    below_empty = (line for above, line in pairwise(lines) if line[0] > above[0] + 1)
    others = (line for line in islice(below_empty, _MOST_GAPS) if not _repeats(headers, line[1]))
    return next((number for number, cells in others if names_columns(cells)), None)


def _repeats(headers: Sequence[str], cells: Sequence[str]) -> bool:
    """Return whether a line is the header once more, as each page of a printed list has it."""
    named = [header for header in headers if header]
    return len(named) > 1 and [cell.strip() for cell in cells if cell.strip()] == named


def _nameless(headers: tuple[str, ...], cells: list[str]) -> int:
    """Return how many cells of a row stand under no header."""
    return sum(bool(cell.strip()) for header, cell in zip(headers, cells, strict=False) if not header)


def _row(headers: tuple[str, ...], cells: list[str]) -> dict[str, str]:
    return {header: text for header, cell in zip(headers, cells, strict=False) if header and (text := _text(cell))}


def _text(cell: str) -> str:
    """Return a cell without what programs write around numbers that a spreadsheet is to keep as text."""
    cell = cell.strip()
    marked = _AS_TEXT.fullmatch(cell) if cell.startswith(("=", "'")) else None
    return (marked[1] or marked[2] or "").strip() if marked else cell
