"""The form of a file, by its name and its first bytes (SPEC T5)."""

import pytest

from planner_mcp.formats.import_formats import form_of
from planner_mcp.formats.json_content import Content
from tests.shared.formats.workbook_files import open_workbook, sheet_xml, workbook

BOOK = workbook({"s": sheet_xml("")})
ROWS = "Order\tLat\tLon\nA1\t52.5\t13.4\n".encode("utf-16")


@pytest.mark.parametrize(
    ("name", "data", "form"),
    [
        ("orders.xlsx", BOOK, "xlsx"),
        ("orders.csv", BOOK, "xlsx"),
        ("orders.ods", open_workbook({"s": ""}), "xlsx"),
        ("orders.xls", ROWS, "csv"),
        ("orders.csv", ROWS, "csv"),
        ("orders.txt", ROWS, "csv"),
        ("orders.txt", b"Order\tLat\tLon\nA1\t52.5\t13.4\n", "csv"),
        ("lc101.txt", b"25\t200\t1\n0\t40\t50\t0\t0\t1236\t0\t0\t0\n", "li_lim"),
        ("day.vrp", b"NAME : x", "vrplib"),
    ],
)
def test_rows_and_workbooks_are_known_by_their_content(name: str, data: bytes, form: str) -> None:
    """SPEC T5: many programs export rows of text under the name of a workbook."""
    assert form_of(name, Content(data)) == form
