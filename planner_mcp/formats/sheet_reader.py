"""Sheets of a workbook as tables; run in a process of its own, which dies with the workbook.

Owns which sheet is which, and how a cell becomes text: dates and times as the scenario takes them, whole numbers
without a point. `xlsx_workbook.py` starts this process and bounds it.
"""

import io
import json
import resource
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from planner_mcp.errors import Fault, InputError, TooLargeError, input_error
from planner_mcp.formats.amount_units import words_of
from planner_mcp.formats.header_words import normalized
from planner_mcp.formats.sheet_inspection import inspect_sheet, letters_of, part_of_sheet
from planner_mcp.formats.text_tables import MAX_COLUMNS, Table, place_in, table_of, too_large
from planner_mcp.formats.xlsx_package import Parts, packed, unpacked
from planner_mcp.text import Json, clock_s, counted

MAX_MEMORY_BYTES: Final = 1024**3
MAX_CPU_S: Final = 15
MAX_TEXT: Final = 10_000_000
"""Characters in all cells together; one text may stand in many."""
_TICKETS: Final = words_of(
    "tickets orders stops visits customers deliveries jobs auftrage lieferungen kunden stopps commandes "
    "livraisons clients "
    "pedidos entregas clientes 订单 任务 客户 网点 订单明细 配送单 送货单 运单"
)
_AGENTS: Final = words_of(
    "agents vehicles fleet drivers trucks vans fahrzeuge fuhrpark flotte fahrer vehicules chauffeurs vehiculos "
    "flota conductores "
    "车辆 司机 车队 车辆信息 运力"
)
_FIRST_DAYS: Final = frozenset({date(1899, 12, 30), date(1899, 12, 31), date(1904, 1, 1)})
"""Where spreadsheets count days from: a time without a date."""


def tables_of(data: bytes, *, sheet: str, max_rows: int) -> dict[str, Table]:
    """Return the table of `tickets`, and of `agents` where a sheet is named so.

    Args:
        data: The workbook.
        sheet: Of the tickets; empty to find it: one of a usual name, or the only one.
        max_rows: Of a table.

    Raises:
        TooLargeError: There is more in it than allowed.
        InputError: All that is wrong with it, by sheet, row and column.
    """
    parts = unpacked(data)
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(packed(parts))) as book:
            names = _chosen(book, sheet)
            return {kind: _table(book, parts, name, max_rows) for kind, name in names.items()}
    except CalamineError:
        hint = "Save it as .xlsx again."
        raise input_error([Fault("", "The workbook cannot be read.", "a workbook as .xlsx", hint)]) from None


def _chosen(book: CalamineWorkbook, sheet: str) -> dict[str, str]:
    sheets = [each for each in book.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet]
    visible = [each.name for each in sheets if each.visible == SheetVisibleEnum.Visible]
    agents = [name for name in visible if normalized(name) in _AGENTS and name != sheet]
    others = [name for name in visible if name not in agents]
    named = [name for name in others if normalized(name) in _TICKETS]
    candidates = [name for name in visible if name == sheet] if sheet else named or others
    if len(candidates) != 1:
        problem = "There is no such sheet." if sheet else "Which sheet has the tickets is not clear."
        problem = "The sheet is hidden." if sheet in (each.name for each in sheets) else problem
        raise input_error(
            [Fault("sheet", problem, " or ".join(visible[:20]) or "a visible sheet", "Name one of the visible sheets.")]
        )
    if len(agents) > 1:
        hint = "Rename or hide all but one."
        raise input_error([Fault("", "Several sheets are called like one of agents.", " or ".join(agents), hint)])
    return {"tickets": candidates[0]} | ({"agents": agents[0]} if agents else {})


def _table(book: CalamineWorkbook, parts: Parts, name: str, max_rows: int) -> Table:
    look = inspect_sheet(part_of_sheet(parts, name) or b"<none/>")
    if look.rows > max_rows + MAX_COLUMNS or look.columns > MAX_COLUMNS:
        problem = f"A sheet reaches to row {look.rows}, column {letters_of(look.columns)}."
        accepted = f"at most {max_rows} rows, {MAX_COLUMNS} columns"
        raise too_large(place_in(name), problem, accepted, "Delete what lies beyond the table, or split the day.")
    read = book.get_sheet_by_name(name)
    faults = [
        *_faults(name, look.uncalculated, "The formula has no value.", "Open the file in a spreadsheet and save it."),
        *_faults(name, look.errors, "The cell holds an error.", "Correct the formula, or empty the cell."),
    ]
    if faults:
        raise input_error(faults)
    lines = [
        (number, [_text(cell) for cell in row]) for number, row in enumerate(read.to_python(skip_empty_area=False), 1)
    ]
    if sum(len(cell) for _, cells in lines for cell in cells) > MAX_TEXT:
        problem = f"The cells of a sheet hold more than {MAX_TEXT} characters."
        raise too_large(place_in(name), problem, f"at most {MAX_TEXT}", "Leave out columns that are not needed.")
    filled = [(number, cells) for number, cells in lines if any(cells)]
    spans = _spans(read)
    hidden = sum(number in look.hidden for number, _ in filled[1:])
    notices = (f"Hidden in a sheet and read all the same: {counted(hidden, 'row')}.",) if hidden else ()
    table = table_of(
        filled,
        max_rows=max_rows,
        name=name,
        notices=notices,
        spans=[(top, left, right) for top, _, left, right in spans],
    )
    first = table.rows[0][0] if table.rows else len(lines) + 1
    if merged := [(top, left + 1) for top, bottom, left, _ in spans if bottom >= first and bottom > top]:
        raise input_error([*_faults(name, merged, "Cells of several rows are merged.", "Unmerge them.")])
    return table


def _spans(sheet: CalamineSheet) -> list[tuple[int, int, int, int]]:
    """Return the merged ranges of the table: rows from 1, columns from 0, ends included."""
    return [
        (top + 1, bottom + 1, left, right)
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ()
        if top < sheet.total_height and left < sheet.total_width
    ]


def _faults(sheet: str, cells: Iterable[tuple[int, int]], problem: str, hint: str) -> Iterator[Fault]:
    for row, column in cells:
        cell = f"{letters_of(column)}{row}"
        path = place_in(sheet, row, letters_of(column))
        yield Fault(path, problem, "a plain value in each cell", hint, which=(cell,))


def _text(cell: Any) -> str:
    """Return a cell as the scenario takes it."""
    if isinstance(cell, datetime):
        day = "" if cell.date() in _FIRST_DAYS else f"{cell.date().isoformat()}T"
        return day + cell.time().isoformat("seconds")
    if isinstance(cell, time):
        return cell.isoformat("seconds")
    if isinstance(cell, timedelta):
        return clock_s(cell.total_seconds())
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def main(arguments: Sequence[str]) -> None:
    """Read a workbook from standard input, write its tables or what is wrong with it to standard output as JSON."""
    for limit, most in ((resource.RLIMIT_AS, MAX_MEMORY_BYTES), (resource.RLIMIT_CPU, MAX_CPU_S)):
        try:
            resource.setrlimit(limit, (most, most))
        except (OSError, ValueError):  # systems without such a limit: the look over the sheet has to do
            continue
    sheet, max_rows = arguments
    output: Json = {}
    try:
        tables = tables_of(sys.stdin.buffer.read(), sheet=sheet, max_rows=int(max_rows))
        output["tables"] = {kind: _as_lists(table) for kind, table in tables.items()}
    except InputError as error:
        output["is_too_large"] = isinstance(error, TooLargeError)
        output["faults"] = [fault.as_json() for fault in error.errors]
        output["found"] = error.found
    sys.stdout.buffer.write(json.dumps(output, ensure_ascii=False).encode("utf-8", "replace"))


def _as_lists(table: Table) -> list[Any]:
    """Return a table with its headers once: a row is its number and its cells in their order."""
    rows = [[number, [row.get(header, "") for header in table.headers]] for number, row in table.rows]
    return [table.headers, rows, table.name, table.notices]


if __name__ == "__main__":
    main(sys.argv[1:])
