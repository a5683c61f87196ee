"""Sheets of a workbook as tables; run in a process of its own, which dies with the workbook.

Owns which sheet is which, and how a cell becomes text: dates and times as the scenario takes them, whole numbers
without a point. `workbook_reader.py` starts this process and bounds it.
"""

import io
import json
import re
import resource
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from planner_mcp.errors import Fault, InputError, TooLargeError, input_error
from planner_mcp.formats.tables.cells.total_words import is_total
from planner_mcp.formats.tables.cells.unit_words import words_of
from planner_mcp.formats.tables.headers.header_meanings import normalized
from planner_mcp.formats.tables.headers.header_words import PLACE_SHEETS
from planner_mcp.formats.tables.sheets.master_data import with_master_data
from planner_mcp.formats.tables.sheets.sheet_inspection import inspect, letters_of, part_of_sheet
from planner_mcp.formats.tables.sheets.text_tables import MAX_COLUMNS, Table, place_in, table_of, too_large
from planner_mcp.formats.tables.sheets.workbook_package import ACCEPTED, WorkbookPackage, opened
from planner_mcp.text import Json, clock_s, decimals, plain

MAX_MEMORY_BYTES: Final = 1024**3
MAX_CPU_S: Final = 15
MAX_TEXT: Final = 10_000_000
"""Characters in all cells together; one text may stand in many."""
_TICKETS: Final = words_of(
    "tickets orders stops visits deliveries jobs shipments appointments bookings auftrage auftragsliste "
    "bestellungen lieferungen sendungen stopps einsatze einsatzplan termine besuche tourenplan commandes "
    "livraisons interventions visites pedidos entregas visitas bestellingen leveringen ordini consegne zamowienia "
    "dostawy zlecenia objednavky zakazky rozvoz siparisler teslimatlar ordrar leveranser 注文 受注 配送 納品 订单 "
    "任务 订单明细 配送单 送货单 运单"
)
_VISITED: Final = words_of(
    "customers kunden clients clientes klanten clienti klienci 客户 网点 patients patienten pacientes pazienti pupils "
    "students schuler eleves alumnos leerlingen passengers fahrgaste points puntos punkte containers contenedores "
    "trips rides fahrten touren ritten pickups collections abholungen enlevements recogidas ophalingen inzameling "
    "zakaznici musteriler kunder 顧客 得意先 患者 学生 乘客"
)
"""Words for tickets where no sheet has orders or visits: beside these they are master data."""
_AGENTS: Final = words_of(
    "agents vehicles fleet drivers trucks vans cars buses minibuses couriers technicians engineers auto autos busse "
    "wagen wagens bussen fahrzeuge fahrzeugliste fuhrpark flotte fahrer fahrerliste lkw techniker monteure vehicules "
    "camions chauffeurs livreurs techniciens vehiculos camiones furgonetas autobuses flota conductores repartidores "
    "vozidla ridici araclar suruculer soforler fordon forare veiculos motoristas frota 車両 運転手 tecnicos "
    "voertuigen wagenpark monteurs veicoli mezzi autisti tecnici pojazdy kierowcy 车辆 司机 车队 车辆信息 "
    "运力 骑手 配送员"
)
_STAFF: Final = words_of(
    "staff employees workers nurses carers caregivers crews teams equipes equipos mitarbeiter personal "
    "pflegekrafte pfleger employes personnel infirmiers soignants empleados enfermeros cuidadores 人员 员工 护士 "
    "护理员 护工 技师 师傅"
)
"""Words for agents where no sheet has vehicles or drivers."""
_OLDER: Final = (
    "In an .xls, errors and formulas without a value are read as empty cells; an .xlsx with such is refused."
)
_COMMENTS: Final = "Comments on cells are not read."
_MOST_NAMED: Final = 20
"""Sheets that a refusal names."""
_FEW: Final = 3
_MOST_OF_TOTAL: Final = 2
"""Cells with a value in a row of totals whose formulas have none."""
_VALUE: Final = re.compile(rb"<(?:\w+:)?(?:v|is|f)[\s/>]")
"""In a cell that has more than a format."""
_LONGEST_NAME: Final = 31
"""Characters that a sheet's name may have."""
_DAYS_OF_HOURS: Final = {
    **dict.fromkeys((date(1899, 12, 30), date(1899, 12, 31), date(1904, 1, 1)), 0),
    **dict.fromkeys((date(1900, 1, 1), date(1904, 1, 2)), 1),
}
"""Where spreadsheets count days from: a time without a date; and the day after, which 24:00 is, however it shows."""
_SPAN: Final = re.compile(r"PT(\d{1,4})H(\d{2})M(\d{2})(?:[.,]\d+)?S", re.ASCII)
"""How an OpenDocument writes hours from 24 on."""
_DIGITS: Final = 15
"""Of a number, as spreadsheets show it: the product of 24.9 and 3 is stored as 74.69999999999999."""
_HALF_A_SECOND: Final = timedelta(seconds=0.5)
"""Times of less precision lie a little before their second."""


def tables_of(data: bytes, *, sheet: str, max_rows: int) -> dict[str, Table]:
    """Return the table of `tickets`, and of `agents` and of `locations` where sheets are named so.

    Args:
        data: The workbook.
        sheet: Of the tickets; empty to find it: one of a usual name, or the only one.
        max_rows: Of a table.

    Raises:
        TooLargeError: There is more in it than allowed.
        InputError: All that is wrong with it, by sheet, row and column.
    """
    workbook = opened(data)
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(workbook.data)) as book:
            visible = _filled(book, workbook)
            names = _chosen(book, visible, sheet)
            tables = {kind: _table(book, workbook, name, max_rows) for kind, name in names.items()}
            customers = names.pop("customers", "")
            if customers and (joined := with_master_data(tables["tickets"], tables.pop("customers"))) is not None:
                names, tables = {**names, "customers": customers}, tables | {"tickets": joined}
            older = (_OLDER,) if workbook.kind == "xls" else ()
            remarks = (_COMMENTS,) if _has_comments(workbook) else ()
            notices = (*tables["tickets"].notices, *_unread(visible, names), *remarks, *older)
            return tables | {"tickets": replace(tables["tickets"], notices=notices)}
    except CalamineError:
        hint = "Save it as .xlsx again."
        raise input_error([Fault("", "The workbook cannot be read.", ACCEPTED, hint)]) from None


def _filled(book: CalamineWorkbook, workbook: WorkbookPackage) -> list[str]:
    """Return the visible sheets, without those in which there is nothing but one called so after the tickets."""
    visible = [
        each.name
        for each in book.sheets_metadata
        if (each.typ, each.visible) == (SheetTypeEnum.WorkSheet, SheetVisibleEnum.Visible)
    ]
    known = {name for name in visible if normalized(name) in _TICKETS}
    if workbook.kind == "xlsx":  # without reading them
        filled = [name for name in visible if name in known or _VALUE.search(part_of_sheet(workbook.parts, name))]
    else:
        filled = [name for name in visible if name in known or book.get_sheet_by_name(name).total_height]
    return filled or visible


def _unread(visible: Sequence[str], names: Mapping[str, str]) -> Iterator[str]:
    """Yield what is said of sheets that are passed over: a fleet in one would give way to a vehicle without limits."""
    others = [f'"{plain(name, _LONGEST_NAME)}"' for name in visible if name not in names.values()]
    if others:
        more = ", …" if len(others) > _FEW else ""
        yield f"Sheets that are not read: {', '.join(others[:_FEW])}{more}."
        if "agents" not in names:
            yield "A sheet of vehicles is known by its name, such as Vehicles or Fleet."


def _has_comments(workbook: WorkbookPackage) -> bool:
    """Return whether people wrote comments on cells; what stands there is in no column."""
    is_noted = any(name.startswith(("xl/comments", "xl/threadedComments")) for name in workbook.parts)
    return is_noted or b"<office:annotation" in workbook.parts.get("content.xml", b"")


def _chosen(book: CalamineWorkbook, visible: Sequence[str], sheet: str) -> dict[str, str]:
    sheets = [each for each in book.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet]
    besides = [name for name in visible if name != sheet]
    of_tickets = _TICKETS | _VISITED
    agents = _called(besides, _AGENTS, besides=of_tickets) or _called(besides, _STAFF, besides=of_tickets)
    others = [name for name in visible if name not in agents]
    if not others and not sheet:  # of a single sheet it is the tickets'
        agents, others = [], list(visible)
    named = _called(others, _TICKETS, besides=_AGENTS) or _called(others, _VISITED, besides=_AGENTS)
    shown = [each.name for each in sheets if each.visible == SheetVisibleEnum.Visible]
    besides_places = [name for name in others if normalized(name) not in PLACE_SHEETS] or others
    candidates = [name for name in shown if name == sheet] if sheet else named or besides_places
    if len(candidates) != 1:
        problem = "There is no such sheet." if sheet else "Which sheet has the tickets is not clear."
        problem = "The sheet is hidden." if sheet in (each.name for each in sheets) else problem
        accepted = " or ".join(visible[:_MOST_NAMED]) or "a visible sheet"
        choices = tuple((candidates or visible)[:_MOST_NAMED])
        raise input_error([Fault("sheet", problem, accepted, "Name one of the visible sheets.", choices=choices)])
    if len(agents) > 1:
        hint = "Rename or hide all but one."
        raise input_error([Fault("", "Several sheets are called like one of agents.", " or ".join(agents), hint)])
    chosen = {"tickets": candidates[0]} | ({"agents": agents[0]} if agents else {})
    unread = [name for name in visible if name not in chosen.values()]
    places = _called(unread, PLACE_SHEETS, besides=of_tickets | _AGENTS)
    customers = _called([name for name in unread if name not in places], _VISITED, besides=_TICKETS | _AGENTS)
    besides_these = {"locations": places, "customers": customers}
    return chosen | {kind: sheets[0] for kind, sheets in besides_these.items() if len(sheets) == 1}


def _called(names: Sequence[str], words: frozenset[str], *, besides: frozenset[str]) -> list[str]:
    """Return the sheets that a word names, or else has part in: *Vehicles*, or else *Vehicles Berlin*, 车辆清单."""
    whole = [name for name in names if normalized(name) in words]
    return whole or [name for name in names if _has_part(name, words) and not _has_part(name, besides)]


def _has_part(name: str, words: frozenset[str]) -> bool:
    text = normalized(name)
    return not words.isdisjoint(text.split()) or any(word in text for word in words if not word.isascii())


def _table(book: CalamineWorkbook, workbook: WorkbookPackage, name: str, max_rows: int) -> Table:
    look = inspect(workbook, name)
    if look.rows > max_rows + MAX_COLUMNS or look.columns > MAX_COLUMNS:
        problem = f"A sheet reaches to row {look.rows}, column {letters_of(look.columns)}."
        accepted = f"at most {max_rows} rows, {MAX_COLUMNS} columns"
        raise too_large(place_in(name), problem, accepted, "Delete what lies beyond the table, or split the day.")
    read = book.get_sheet_by_name(name)
    lines = [
        (number, [_text(cell) for cell in row]) for number, row in enumerate(read.to_python(skip_empty_area=False), 1)
    ]
    without_value = {row for row, _ in (*look.uncalculated, *look.errors)}
    totals = {number for number, cells in lines if number in without_value and _is_bare_total(cells)}
    uncalculated, errors = (
        [cell for cell in found if cell[0] not in totals] for found in (look.uncalculated, look.errors)
    )
    faults = [
        *_faults(name, uncalculated, "The formula has no value.", "Open the file in a spreadsheet and save it."),
        *_faults(name, errors, "The cell holds an error.", "Correct the formula, or empty the cell."),
    ]
    if faults:
        raise input_error(faults)
    if sum(len(cell) for _, cells in lines for cell in cells) > MAX_TEXT:
        problem = f"The cells of a sheet hold more than {MAX_TEXT} characters."
        raise too_large(place_in(name), problem, f"at most {MAX_TEXT}", "Leave out columns that are not needed.")
    filled = [(number, cells) for number, cells in lines if any(cells) and number not in totals]
    spans = look.merged or _spans(read)
    hidden = sum(number in look.hidden for number, _ in filled[1:])
    notices = (
        *([f"Rows hidden in a sheet, read all the same: {hidden}."] if hidden else []),
        *(f"Row {number} adds up those above it and is passed over." for number in sorted(totals)),
    )
    table = table_of(
        filled,
        max_rows=max_rows,
        name=name,
        notices=notices,
        spans=[(top, left, right) for top, _, left, right in spans],
    )
    first = table.rows[0][0] if table.rows else len(lines) + 1
    if merged := [(top, left + 1) for top, bottom, left, _ in spans if bottom >= first and bottom > top]:
        hint = "Unmerge them, and write the value into each row."
        raise input_error([*_faults(name, merged, "Cells of several rows are merged.", hint)])
    return table


def _is_bare_total(cells: Sequence[str]) -> bool:
    """Return whether a row is a word for a total and hardly more: its sums have no value, and no order is lost."""
    return is_total(cells) and sum(map(bool, cells)) <= _MOST_OF_TOTAL


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
    if isinstance(cell, date) and (days := _DAYS_OF_HOURS.get(date(cell.year, cell.month, cell.day))) is not None:
        cell = timedelta(days) + (_since_midnight(cell.time()) if isinstance(cell, datetime) else timedelta())
    if isinstance(cell, datetime):
        return (cell + _HALF_A_SECOND).isoformat(timespec="seconds")
    if isinstance(cell, time):
        cell = _since_midnight(cell)
    if isinstance(cell, str) and (span := _SPAN.fullmatch(cell)):
        hours, minutes, seconds = map(int, span.groups())
        cell = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if isinstance(cell, timedelta):
        return clock_s(cell.total_seconds())
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return decimals(float(f"{cell:.{_DIGITS}g}")) if isinstance(cell, float) else str(cell).strip()


def _since_midnight(moment: time) -> timedelta:
    return timedelta(0, moment.hour * 3600 + moment.minute * 60 + moment.second, moment.microsecond)


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
        output["faults"] = [fault.as_json() | {"choices": fault.choices} for fault in error.errors]
        output["found"] = error.found
    sys.stdout.buffer.write(json.dumps(output, ensure_ascii=False).encode("utf-8", "replace"))


def _as_lists(table: Table) -> list[Any]:
    """Return a table with its headers once: a row is its number and its cells in their order."""
    rows = [[number, [row.get(header, "") for header in table.headers]] for number, row in table.rows]
    return [table.headers, rows, table.name, table.notices]


if __name__ == "__main__":
    main(sys.argv[1:])
