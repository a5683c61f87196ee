"""Workbooks of a spreadsheet as days, and the files that only look like one (SPEC T5, T7)."""

import struct
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.errors import InputError, TooLargeError
from planner_mcp.formats.tables.sheets.sheet_inspection import inspect_sheet, letters_of, place_of
from planner_mcp.formats.tables.sheets.sheet_reader import tables_of
from planner_mcp.formats.tables.sheets.text_tables import MAX_BYTES, Table
from planner_mcp.formats.tables.sheets.workbook_package import MAX_UNPACKED_BYTES, opened
from planner_mcp.formats.tables.sheets.workbook_reader import read_workbook
from planner_mcp.formats.tables.table_import import TableImport
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.shared.formats.workbook_files import (
    DAY,
    GENERAL,
    MAIN,
    MOMENT,
    SPAN,
    TIME,
    archive,
    cell,
    open_cell,
    open_row,
    open_workbook,
    rows_of,
    sheet_xml,
    workbook,
)
from tests.shared.property_tests.example_counts import examples

ORDERS = rows_of(("订单号", "纬度", "经度", "重量(kg)"), (1001.0, 39.95, 116.4, 3.5), ("A/2", 39.96, 116.42, 4.0))
SHEET = sheet_xml(ORDERS)
FLEET = sheet_xml(rows_of(("vehicle", "capacity", "shift start"), ("京A1", 20.0, "08:00")))


def faults(data: bytes, sheet: str = "") -> list[tuple[str, str]]:
    """Return place and problem of everything that is wrong with a workbook."""
    with pytest.raises(InputError) as caught:
        tables_of(data, sheet=sheet, max_rows=100)
    assert all(fault.accepted and fault.hint for fault in caught.value.errors)
    return [(fault.path, fault.problem) for fault in caught.value.errors]


def tables_in(sheets: dict[str, str]) -> dict[str, Table]:
    """Return the tables of a workbook of sheets by name."""
    return tables_of(workbook(sheets), sheet="", max_rows=9)


def tickets_in(xml: str) -> Table:
    """Return the table of a workbook of one sheet."""
    return tables_in({"s": xml})["tickets"]


def test_a_workbook_of_orders_and_vehicles_is_a_day() -> None:
    """SPEC T5: XLSX; the sheets are known by their names, hidden ones are left alone."""
    data = workbook({"说明": SHEET, "订单": SHEET, "车辆": FLEET, "old": "<broken"}, hidden=("old",))
    tables = read_workbook(data, max_rows=100)
    day = TableImport()
    day.add_tickets(tables["tickets"], {})
    day.add_agents(tables["agents"], {})
    scenario = parse_scenario(day.scenario(name="x", planning_date="2025-07-15", depot=day.add_depot("39.9,116.4")))
    assert [(ticket.id, ticket.demand["load"]) for ticket in scenario.tickets] == [("1001", 3.5), ("A/2", 4)]
    assert [(agent.id, agent.shift_start) for agent in scenario.agents] == [("京A1", 28800)]


def test_an_open_document_is_read_as_any_workbook() -> None:
    """SPEC T5: ODS, with merged groups of headers, hidden rows and the million empty rows that programs add."""
    rows = open_row(open_cell("Place", 'table:number-columns-spanned="2"'), "<table:covered-table-cell/>", "Order")
    rows += open_row("Lat", "Lon", "Id") + open_row(52.5, 13.4, "A1")
    rows += open_row(52.6, 13.5, "A2", attributes='table:visibility="filter"')
    rows += '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
    fleet = open_row("vehicle", "capacity") + open_row("v", 9.0)
    tables = tables_of(open_workbook({"Orders": rows, "Fleet": fleet}), sheet="", max_rows=9)
    assert [tuple(row.values()) for _, row in tables["tickets"].rows] == [
        ("52.5", "13.4", "A1"),
        ("52.6", "13.5", "A2"),
    ]
    assert "Rows hidden in a sheet, read all the same: 1." in tables["tickets"].notices
    assert tables["agents"].rows == ((2, {"vehicle": "v", "capacity": "9"}),)


def test_cells_of_an_open_document_without_a_value_are_refused() -> None:
    """SPEC T7: a formula that was never calculated, an error, a demand merged over two rows."""
    formula = '<table:table-cell table:formula="of:=1+1"/>'
    error = open_cell("#N/A", 'table:formula="of:=X" calcext:value-type="error"')
    head = open_row("Order", "Demand")
    rows = head + open_row("A1", formula) + open_row("A2", error)
    assert faults(open_workbook({"s": rows})) == [
        ("/s/2/B", "The formula has no value."),
        ("/s/3/B", "The cell holds an error."),
    ]
    merged = open_cell(5.0, 'table:number-rows-spanned="2"')
    rows = head + open_row("A1", merged) + open_row("A2", "<table:covered-table-cell/>")
    assert faults(open_workbook({"s": rows})) == [("/s/2/B", "Cells of several rows are merged.")]


def test_totals_whose_formulas_have_no_value_are_passed_over() -> None:
    """SPEC T5: programs that do not calculate write them so; an order that is called Total is refused as any."""
    formula = '<table:table-cell table:formula="of:=SUM(C2:C3)"/>'
    rows = open_row("Order", "Place", "Demand") + open_row("A1", "Ulm", 3.0) + open_row("A2", "Graz", 4.0)
    (table,) = tables_of(open_workbook({"s": rows + open_row("Total", "", formula)}), sheet="", max_rows=9).values()
    assert [row["Order"] for _, row in table.rows] == ["A1", "A2"]
    assert table.notices == ("Row 4 adds up those above it and is passed over.",)
    place = [("/s/4/C", "The formula has no value.")]
    assert faults(open_workbook({"s": rows + open_row("A3", "Total", formula, "Gate 4")})) == place


@pytest.mark.parametrize(("columns", "rows"), [(300, 1), (1, 5000), (16384, 1_048_575)])
def test_an_open_document_of_many_repeated_cells_is_bounded(columns: int, rows: int) -> None:
    """SPEC X3: a short text may stand for billions of cells; those that cannot be held end their process."""
    cells = open_cell(1.0, f'table:number-columns-repeated="{columns}"')
    xml = open_row("Order") + open_row(cells, attributes=f'table:number-rows-repeated="{rows}"')
    with pytest.raises(InputError) as error:
        read_workbook(open_workbook({"s": xml}), max_rows=9)
    assert error.value.errors[0].problem.startswith(("A sheet reaches to row", "The workbook"))


def test_an_older_workbook_is_read_with_a_note() -> None:
    """SPEC T5: XLS, whose reader does not tell errors from empty cells."""
    tables = read_workbook(Path(__file__).with_name("older_workbook.xls").read_bytes(), max_rows=9)
    assert [tuple(row.values()) for _, row in tables["tickets"].rows] == [
        ("1001", "Müller", "12.5", "08:30:00"),
        ("1002", "Weiß", "7", "08:30:00"),
    ]
    assert "In an .xls, errors" in tables["tickets"].notices[-1]
    assert tables["agents"].rows == ((2, {"Fahrzeug": "B-AB 1", "Nutzlast kg": "500"}),)


def test_dates_and_times_are_those_of_the_cell_not_its_number() -> None:
    """SPEC T5: a time, a moment, a span past midnight; whole numbers lose their point."""
    head = "".join(cell(f"{letter}2", letter) for letter in "ABCDE")
    row = cell("A3", 0.354166666666667, TIME) + cell("B3", 45853.5, MOMENT) + cell("C3", 1.0625, SPAN)
    row += cell("D3", 45853, DAY) + cell("E3", 12.0)
    assert tickets_in(sheet_xml(f'<row r="2">{head}</row><row r="3">{row}</row>')).rows == (
        (3, {"A": "08:30:00", "B": "2025-07-15T12:00:00", "C": "25:30:00", "D": "2025-07-15", "E": "12"}),
    )


@pytest.mark.parametrize(
    ("value", "style", "text"),
    [
        (1.0, TIME, "24:00:00"),
        (1.0, SPAN, "24:00:00"),
        (1.25, TIME, "30:00:00"),
        (0.3541666, TIME, "08:30:00"),
        (45853.3541666, MOMENT, "2025-07-15T08:30:00"),
        (0.0, TIME, "00:00:00"),
        (0.00004, GENERAL, "0.00004"),
        (-4e-05, GENERAL, "-0.00004"),
    ],
)
def test_a_cell_is_what_was_typed_however_it_shows(value: float, style: int, text: str) -> None:
    """SPEC T5: 24:00 in a column of hours is the first of January 1900 too, and Greenwich has places at 4e-05."""
    rows = f'<row r="1">{cell("A1", "until")}</row><row r="2">{cell("A2", value, style)}</row>'
    assert tickets_in(sheet_xml(rows)).rows == ((2, {"until": text}),)


def test_hours_from_24_on_are_read_from_an_open_document() -> None:
    """SPEC T5: which writes them as a span."""
    value = 'office:value-type="time" office:time-value="PT24H00M00S"'
    until = f"<table:table-cell {value}><text:p>24:00</text:p></table:table-cell>"
    (table,) = tables_of(
        open_workbook({"s": open_row("until", "id") + open_row(until, "a")}), sheet="", max_rows=9
    ).values()
    assert table.rows == ((2, {"until": "24:00:00", "id": "a"}),)


def test_equal_faults_are_reported_once_with_each_place() -> None:
    """SPEC T7, T9: also by the process that reads the workbook."""
    rows = "".join(f'<row r="{n}"><c r="A{n}" t="e"><v>#N/A</v></c></row>' for n in range(2, 62))
    with pytest.raises(InputError) as caught:
        read_workbook(workbook({"s": sheet_xml(f'<row r="1">{cell("A1", "id")}</row>{rows}')}), max_rows=100)
    assert caught.value.message == "60 problems; each is listed in errors."
    assert [(fault.count, len(fault.which)) for fault in caught.value.errors] == [(60, 60)]


def test_unreadable_values_are_reported_by_sheet_row_and_column() -> None:
    """SPEC T7: the place as a person finds it."""
    data = workbook({"周/二": sheet_xml(rows_of(("id", "qty"), ("a", "much")))})
    day = TableImport()
    day.add_tickets(read_workbook(data, max_rows=9)["tickets"], {})
    with pytest.raises(InputError) as caught:
        day.scenario(name="x", planning_date="2025-07-15")
    assert [fault.path for fault in caught.value.errors] == ["/周~1二/2/qty"]


FORMULA = '<row r="1"><c r="A1" t="str"><f>B1</f><v>id</v></c></row><row r="2">{}</row>'


@pytest.mark.parametrize(
    ("xml", "path", "problem"),
    [
        (sheet_xml(FORMULA.format('<c r="AB2"><f>1+1</f></c>')), "/s/2/AB", "The formula has no value."),
        (sheet_xml(FORMULA.format("<c><f>1+1</f></c>")), "/s/2/A", "The formula has no value."),
        (sheet_xml(FORMULA.format('<c r="B2"><f>1+1</f><v/></c>')), "/s/2/B", "The formula has no value."),
        (sheet_xml(FORMULA.format('<c r="B2" t="e"><v>#N/A</v></c>')), "/s/2/B", "The cell holds an error."),
        (sheet_xml(ORDERS, merged="B2:B3"), "/s/2/B", "Cells of several rows are merged."),
        (f"<!DOCTYPE w [<!ENTITY a 'b'>]>{SHEET}", "", "A part of the workbook is not valid XML."),
        (SHEET[:-30], "", "A part of the workbook is not valid XML."),
    ],
)
def test_what_is_no_plain_value_is_reported_by_its_cell(xml: str, path: str, problem: str) -> None:
    """SPEC T7: formulas never calculated, errors, merged cells: they would read as empty."""
    assert faults(workbook({"s": xml})) == [(path, problem)]


def test_a_formula_counts_with_the_value_it_was_saved_with() -> None:
    """SPEC T5: nothing is calculated here."""
    rows = FORMULA.format('<c r="A2" t="str"><f>B2</f><v>a</v></c>')
    assert tickets_in(sheet_xml(rows)).rows == ((2, {"id": "a"}),)


def test_rows_that_a_filter_hides_are_read_and_reported() -> None:
    """SPEC T5: a filter for one day may hide the orders of the others; which were meant is not guessed."""
    rows = ORDERS.replace('<row r="3">', '<row r="3" hidden="1">') + '<row r="4" hidden="1"/>'
    read = tickets_in(sheet_xml(rows))
    assert ([line for line, _ in read.rows], read.notices) == (
        [2, 3],
        ("Rows hidden in a sheet, read all the same: 1.",),
    )


def test_comments_that_are_passed_over_are_reported() -> None:
    """SPEC T5: "call before ten" would be lost in silence; an .xlsx and an .ods have them in other places."""
    note = "<office:annotation><text:p>call before ten</text:p></office:annotation>"
    noted = f'<table:table-cell office:value-type="string">{note}<text:p>A1</text:p></table:table-cell>'
    rows = {"orders": open_row("id", "place") + open_row(noted, "A")}
    xlsx = workbook(
        {"orders": sheet_xml(rows_of(("id", "place"), ("A1", "A")))}, more={"xl/comments1.xml": "<comments/>"}
    )
    for data in (xlsx, open_workbook(rows)):
        table = read_workbook(data, max_rows=10)["tickets"]
        assert table.rows == ((2, {"id": "A1", "place": "A"}),)
        assert table.notices == ("Comments on cells are not read.",)


def test_a_merged_title_and_merged_groups_above_the_header_are_read() -> None:
    """SPEC T5: a title over all columns is passed over, a group is put before the headers that it spans."""
    rows = rows_of(
        ("Orders of Monday",), ("id", "place", "Time window", ""), ("", "", "from", "to"), ("a", "A", "08:00", "12:00")
    )
    for merged in ("A1:D1", "A1:D1 A2:A3 B2:B3 C2:D2"):
        read = tickets_in(sheet_xml(rows, merged=merged))
        assert read.headers == ("id", "place", "Time window from", "Time window to")
        assert read.notices == ('Lines above the header, passed over: 1 ("Orders of Monday").',)


def test_a_title_merged_over_some_columns_is_no_group() -> None:
    """SPEC T5: it was put before each header that it spans, also over empty rows."""
    table = (("id", "place", "from", "to"), ("a", "A", "08:00", "12:00"))
    for between in ((), (("", "", "", ""),)):
        rows = rows_of(("Orders of Monday", "", "", ""), *between, *table)
        read = tickets_in(sheet_xml(rows, merged="A1:C1"))
        assert read.headers == ("id", "place", "from", "to")


def test_a_formula_that_gives_no_text_is_an_empty_cell() -> None:
    """SPEC T5: an order without a note, unlike a formula that no program has calculated yet."""
    rows = FORMULA.format('<c r="A2" t="str"><f>B2</f><v>a</v></c><c r="B2" t="str"><f>""</f><v></v></c>')
    assert tickets_in(sheet_xml(rows)).rows == ((2, {"id": "a"}),)


def test_a_fleet_in_a_sheet_of_a_longer_name_is_read_and_other_sheets_are_reported() -> None:
    """SPEC T5, T7: else a vehicle without limits takes its place in silence."""
    empty = sheet_xml("")
    for fleet in ("Camions", "Fahrzeuge Berlin", "车辆清单", "Technicians", "护士", "Pflegekräfte"):
        read = tables_in({"Tour 5": SHEET, fleet: FLEET, "Sheet3": empty})
        assert (read["agents"].name, read["tickets"].name, read["tickets"].notices) == (fleet, "Tour 5", ())
    read = tables_in({"orders": SHEET, "Tabelle2": FLEET})
    assert read["tickets"].notices == (
        'Sheets that are not read: "Tabelle2".',
        "A sheet of vehicles is known by its name, such as Vehicles or Fleet.",
    )
    read = tables_in({"Einsätze": SHEET, "Monteure": FLEET, "Legende": FLEET})
    assert (read["agents"].name, read["tickets"].name) == ("Monteure", "Einsätze")
    alone = tables_in({"Fahrer Mo": SHEET})
    assert (alone["tickets"].name, list(alone)) == ("Fahrer Mo", ["tickets"]), "a single sheet is that of the tickets"


def test_a_sheet_of_agents_without_values_counts_as_none() -> None:
    """SPEC T5: templates have one that nobody fills in; the agents are then given with the call, or assumed."""
    for nothing in ("", '<row r="1"><c r="A1" s="1"/><c r="B1" s="1"></c></row>'):
        read = tables_in({"Orders": SHEET, "Fahrzeuge": sheet_xml(nothing)})
        assert (list(read), read["tickets"].notices) == (["tickets"], ())


def test_a_sheet_of_staff_is_no_fleet_beside_one_of_vehicles_and_takes_no_sheet_of_tickets() -> None:
    """SPEC T5: two sheets of agents are refused, and a dispatcher may keep people beside vehicles."""
    for book in ({"Orders": SHEET, "Vehicles": FLEET, "Staff": FLEET}, {"Staff visits": SHEET, "Vehicles": FLEET}):
        read = tables_in(book)
        assert (read["tickets"].name, read["agents"].name) == (next(iter(book)), "Vehicles")
    read = tables_in({"Staff visits": SHEET, "Notes": FLEET})
    assert (read["tickets"].name, list(read)) == ("Staff visits", ["tickets"])


@pytest.mark.parametrize(
    ("orders", "fleet"), [("Aufträge", "Fuhrpark"), ("Pupils", "Minibuses"), ("Ritten", "Auto's"), ("患者", "护士")]
)
def test_customers_beside_orders_are_master_data(orders: str, fleet: str) -> None:
    """SPEC T5: it was asked which of the two has the tickets; where there are no orders, customers are visited."""
    read = tables_in({orders: SHEET, fleet: FLEET, "Kunden": sheet_xml("")})
    assert (read["tickets"].name, read["agents"].name, read["tickets"].notices) == (orders, fleet, ())
    read = tables_in({"Kunden": SHEET, "Lieferungen": SHEET, "Fuhrpark": FLEET})
    assert (read["tickets"].name, read["tickets"].notices) == ("Lieferungen", ('Sheets that are not read: "Kunden".',))


@pytest.mark.parametrize("places", ["Our depots", "Depots NL", "Bases", "仓库一览"])
def test_a_sheet_of_places_may_have_a_longer_name(places: str) -> None:
    """SPEC T5: as one of vehicles; it was passed over, and the places of all vehicles were unknown."""
    read = tables_of(workbook({"Orders": SHEET, places: FLEET, "Depot orders": FLEET}), sheet="Orders", max_rows=9)
    assert read["locations"].name == places


def test_a_calculated_number_is_read_as_its_cell_shows_it() -> None:
    """SPEC T5: Excel stores 24.9 times 3 as 74.69999999999999, and shows 15 digits."""
    rows = rows_of(("id", "price"), ("a", 24.9 * 3), ("b", 1e-5))
    assert [row["price"] for _, row in tickets_in(sheet_xml(rows)).rows] == ["74.7", "0.00001"]


def test_a_line_of_groups_below_other_lines_is_no_header() -> None:
    """SPEC T5: a date of printing above it makes neither of them the header."""
    rows = rows_of(
        ("Stand:", "27.11.2026", "Schäfer"),
        ("Auftrag", "Empfänger", "", "Lieferfenster", ""),
        ("Nr.", "Name", "Ort", "von", "bis"),
        ("1", "Café", "Berlin", "08:00", "12:00"),
    )
    read = tickets_in(sheet_xml(rows, merged="B2:C2 D2:E2"))
    assert read.headers == ("Auftrag Nr.", "Empfänger Name", "Empfänger Ort", "Lieferfenster von", "Lieferfenster bis")
    assert len(read.rows) == 1


def test_the_sheet_is_named_where_it_is_not_clear() -> None:
    """SPEC T7: the visible ones are listed, hidden ones are not."""
    data = workbook({"a": SHEET, "b": SHEET, "c": SHEET}, hidden=("c",))
    assert faults(data) == [("sheet", "Which sheet has the tickets is not clear.")]
    assert faults(data, "c") == [("sheet", "The sheet is hidden.")]
    assert faults(data, "d") == [("sheet", "There is no such sheet.")]
    fleets = workbook({"a": SHEET, "车辆": FLEET, "fleet": FLEET})
    assert faults(fleets, "a") == [("", "Several sheets are called like one of agents.")]
    assert tables_of(data, sheet="b", max_rows=9)["tickets"].name == "b"
    assert faults(workbook({"s": sheet_xml("")})) == [("/s", "The table has no header line.")]


OLE2 = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600)
GOOD = workbook({"s": SHEET})
LOOKALIKES = {
    "an older workbook of nothing": (OLE2, "The workbook cannot be read."),
    "an older one with macros": (OLE2 + "_VBA_PROJECT_CUR".encode("utf-16-le"), "The workbook has macros."),
    "an open document with macros": (open_workbook({"s": ""}, more={"Basic/m.xml": ""}), "The workbook has macros."),
    "an encrypted open document": (
        open_workbook({"s": ""}, more={"META-INF/manifest.xml": "<encryption-data/>"}),
        "The workbook is encrypted.",
    ),
    "an encrypted one": (OLE2 + "EncryptedPackage".encode("utf-16-le"), "The workbook is encrypted."),
    "one with macros": (workbook({"s": SHEET}, more={"xl/vbaProject.bin": b"x"}), "The workbook has macros."),
    "one with old macros": (workbook({"s": SHEET}, more={"xl/macrosheets/m1.xml": ""}), "The workbook has macros."),
    "a binary one": (archive({"xl/workbook.bin": b"x"}), "The file is a binary .xlsb."),
    "another archive": (archive({"content.xml": ""}), "The file is an archive, but not a workbook."),
    "one that is cut off": (GOOD[:-40], "The file is not a workbook, or it is cut off."),
    "one with a broken part": (GOOD[:60] + b"\xff\xff" + GOOD[62:], "The file is not a workbook, or it is cut off."),
    "a web page": (b"\xef\xbb\xbf\n<html><table>", "The file is a web page (HTML)."),
    "a PDF": (b"%PDF-1.7\n%\xe2\xe3", "The file is a PDF."),
    "a picture": (b"\x89PNG\r\n\x1a\n", "The file is a picture."),
    "a workbook as XML": (b'<?xml version="1.0"?><Workbook/>', "The file is XML."),
    "a text": (b"id,place\n", "The file is not a workbook, or it is cut off."),
    "nothing": (b"", "The file is not a workbook, or it is cut off."),
    "a workbook without sheets": (workbook({}), "Which sheet has the tickets is not clear."),
    "one whose sheet is lost": (
        archive({"xl/workbook.xml": "<workbook/>", "[Content_Types].xml": "<Types/>"}),
        "The workbook cannot be read.",
    ),
}


@pytest.mark.parametrize("what", LOOKALIKES)
def test_what_only_looks_like_a_workbook_is_named(what: str) -> None:
    """SPEC T7: what it is, and how to save it instead."""
    data, problem = LOOKALIKES[what]
    assert problem in [reported for _, reported in faults(data)]


def encrypted_entry() -> bytes:
    """Return a workbook whose parts carry the flag of a password."""
    data = bytearray(GOOD)
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        found = data.find(mark)
        while found >= 0:
            data[found + at] |= 1
            found = data.find(mark, found + 1)
    return bytes(data)


def test_a_password_on_the_parts_is_named() -> None:
    """SPEC T7: the other way to encrypt."""
    assert faults(encrypted_entry()) == [("", "The workbook is encrypted.")]


FAR = sheet_xml('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
WIDE = sheet_xml(f'<row r="1">{cell("ZZ1", "id")}</row>')
LONG = sheet_xml("".join(f'<row r="{n}">{cell(f"A{n}", "x")}</row>' for n in range(1, 103)))


def test_a_far_cell_or_too_many_rows_are_refused_before_they_are_read() -> None:
    """SPEC X3: one cell in the last corner would cost the reader 550 GB."""
    for xml, problem in ((FAR, "row 1048576, column XFD"), (WIDE, "column ZZ"), (LONG, "more than 100 rows")):
        with pytest.raises(TooLargeError, match=problem):
            tables_of(workbook({"s": xml}), sheet="", max_rows=100)


def test_what_unpacks_beyond_measure_is_refused() -> None:
    """SPEC X3: a bomb by its size, by its parts, and one that lies about its size."""
    bomb = workbook({"s": SHEET}, more={"xl/media/x": bytes(MAX_UNPACKED_BYTES)})
    assert len(bomb) < MAX_BYTES // 100
    many = workbook({"s": SHEET}, more={f"xl/media/{n}": b"" for n in range(600)})
    for data in (bomb, many, bytes(MAX_BYTES + 1)):
        with pytest.raises(TooLargeError):
            opened(data)
    lying = bomb.replace(struct.pack("<I", MAX_UNPACKED_BYTES), struct.pack("<I", 1000))
    assert faults(lying) == [("", "The file is not a workbook, or it is cut off.")]


@pytest.mark.slow
def test_what_takes_too_much_memory_dies_alone() -> None:
    """SPEC X3, T8: one long text in many cells outgrows its process; the caller hears that, not how."""
    shared = f'<sst {MAIN} count="1" uniqueCount="1"><si><t>{"x" * 30_000}</t></si></sst>'
    row = "".join(f'<c r="{letters_of(n)}{{0}}" t="s"><v>0</v></c>' for n in range(1, 201))
    rows = "".join(f'<row r="{n}">{row.format(n)}</row>' for n in range(1, 400))
    data = workbook({"s": sheet_xml(rows)}, more={"xl/sharedStrings.xml": shared})
    with pytest.raises(TooLargeError, match="more memory or time than allowed"):
        read_workbook(data, max_rows=5000)


def test_what_lies_in_the_folder_of_whoever_imports_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC X3: a file beside the orders may be called like a module of ours, or have been put there."""
    (tmp_path / "resource.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert read_workbook(workbook({"Orders": SHEET}), max_rows=9)["tickets"].rows


def test_the_process_distinguishes_faults_and_limits(capfd: pytest.CaptureFixture[str]) -> None:
    """SPEC T7: what it finds travels to the caller as it was said."""
    with pytest.raises(InputError) as caught:
        read_workbook(OLE2, max_rows=9)
    assert caught.value.errors[0].hint == "Save it as .xlsx again."
    with pytest.raises(TooLargeError, match="column XFD"):
        read_workbook(workbook({"s": FAR}), max_rows=9)
    for refused in ("\0", "none"):
        with pytest.raises(InputError):
            read_workbook(GOOD, max_rows=9, sheet=refused)
    assert capfd.readouterr() == ("", "")


@given(st.integers(1, 16384), st.integers(1, 1048576))
def test_names_of_cells_read_back(column: int, row: int) -> None:
    """Our choice: letters count from A to XFD."""
    assert place_of(f"{letters_of(column)}{row}") == (row, column)


@examples(60)
@given(at=st.integers(0, len(GOOD)), more=st.binary(max_size=20))
def test_any_bytes_in_a_workbook(at: int, more: bytes) -> None:
    """SPEC T7, T8: no exception but ours."""
    try:
        tables_of(GOOD[:at] + more + GOOD[at + len(more) :], sheet="", max_rows=9)
    except InputError as error:
        assert error.message


@examples(60)
@given(st.text(alphabet='<>/crvfis="A1 ', max_size=80))
def test_any_xml_in_a_sheet(text: str) -> None:
    """SPEC T7, T8: the look over a sheet ends in a survey or a fault."""
    try:
        inspect_sheet(f"<worksheet><sheetData>{text}</sheetData></worksheet>".encode())
    except InputError as error:
        assert error.errors


@pytest.mark.parametrize("length", [20_000, 200])
def test_long_headers_over_many_rows_do_not_fill_the_memory(length: int) -> None:
    """SPEC A4: a header crosses from the process that reads it once, not in every row, and is bounded."""
    heads = tuple("h" * (length - 1) + str(n) for n in range(8))
    data = workbook({"s": sheet_xml(rows_of(heads, *[tuple(1.0 for _ in heads)] * 900))})
    tracemalloc.start()
    try:
        read = read_workbook(data, max_rows=1000)["tickets"]
        assert (length, len(read.rows)) == (200, 900)
    except InputError as error:
        assert (length, error.errors[0].problem) == (20_000, "The header of column 1 has 20000 characters.")
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 4_000_000
