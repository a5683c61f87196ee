"""Orders that name customers of another sheet (SPEC T5)."""

import pytest

from planner_mcp.formats.tables.import_options import ImportOptions
from planner_mcp.formats.tables.scenario_from_tables import scenario_of_tables
from planner_mcp.formats.tables.sheets.sheet_reader import tables_of
from tests.shared.formats.workbook_files import rows_of, sheet_xml, workbook

CUSTOMERS = sheet_xml(
    rows_of(
        ("Customer no.", "Name", "Street", "City", "Weight kg"),
        (10023.0, "Alpha", "Weg 1", "Bonn", 7.0),
        (10044.0, "Beta", "Weg 2", "Köln", 8.0),
        (10099.0, "Gamma", "Weg 3", "Ulm", 9.0),
    )
)
FLEET = sheet_xml(rows_of(("Vehicle", "Payload kg"), ("v", 99.0)))
NOTICE = 'Rows of "Customers" are read with those that name them in "{}".'


@pytest.mark.parametrize(("header", "names"), [("Customer No", (10044.0, 10023.0)), ("Customer", ("Beta", "Alpha"))])
def test_orders_are_read_with_their_customers(header: str, names: tuple[float | str, float | str]) -> None:
    """SPEC T5: they were planned without any travel; what the order says itself counts, and nobody else is visited."""
    orders = sheet_xml(rows_of(("Order", header, "Weight kg"), ("a", names[0], 1.0), ("b", names[1], 2.0)))
    tables = tables_of(workbook({"Orders": orders, "Customers": CUSTOMERS, "Fleet": FLEET}), sheet="", max_rows=9)
    assert tables["tickets"].notices == (NOTICE.format(header),)
    tickets = scenario_of_tables(tables, ImportOptions("d", "2026-12-01")).body["tickets"]
    assert [(each["id"], each["name"], each["address"], each["demand"]) for each in tickets] == [
        ("a", "Beta", "Weg 2, Köln", 1),
        ("b", "Alpha", "Weg 1, Bonn", 2),
    ]


@pytest.mark.parametrize(
    "rows",
    [
        (("Order", "Customer No", "Address"), ("a", 10044.0, "Ring 5, Jena")),
        (("Order", "Boxes"), ("a", 10044.0)),
        (("Order", "Customer"), ("a", "Delta")),
    ],
    ids=["an address of their own", "a number of another name", "a stranger"],
)
def test_orders_that_name_no_customer_or_have_their_place_are_read_alone(rows: tuple[tuple[float | str, ...]]) -> None:
    """SPEC T5: the other sheet is passed over, with a note."""
    book = workbook({"Orders": sheet_xml(rows_of(*rows)), "Customers": CUSTOMERS, "Fleet": FLEET})
    read = tables_of(book, sheet="", max_rows=9)
    assert (read["tickets"].headers, list(read)) == (rows[0], ["tickets", "agents"])
    assert read["tickets"].notices == ('Sheets that are not read: "Customers".',)


def test_a_customer_that_is_missing_leaves_its_row_without_a_place() -> None:
    """SPEC T7: one mistyped number is reported by its row, and the others are read."""
    orders = sheet_xml(rows_of(("Order", "Customer No"), ("a", 10044.0), ("b", 10023.0), ("c", 1.0)))
    tables = tables_of(workbook({"Orders": orders, "Customers": CUSTOMERS, "Fleet": FLEET}), sheet="", max_rows=9)
    assert ["City" in row for _, row in tables["tickets"].rows] == [True, True, False]
