"""`planner-mcp addresses` (SPEC O4)."""

import csv
import io
from pathlib import Path

from planner_mcp.formats.import_formats import read_scenario_file
from planner_mcp.formats.json_content import Content
from planner_mcp.formats.tables.import_options import ImportOptions
from tests.shared.cli.command_runs import run_command_line

ROWS = """Kunde,Anschrift,Menge
A,"Alexanderplatz 1, 10178 Berlin",3
B,北京市朝阳区建国路88号,4
C,,1
D,=1+1,1
"""


def test_a_table_of_any_length_gets_positions_beside_its_own_columns(tmp_path: Path) -> None:
    """SPEC O4: every row is kept in its order, also those without an address; no cell becomes a formula."""
    (file := tmp_path / "customers.csv").write_text(ROWS + "E,Alexanderplatz 1\n" * 150, encoding="utf-8")
    done = run_command_line("addresses", "resolve", str(file), PLANNER_DATA_DIR=str(tmp_path))
    assert done.exit_code == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 154
    assert (rows[0]["Kunde"], rows[0]["Menge"], rows[0]["accuracy"], rows[0]["status"]) == (
        "A",
        "3",
        "city",
        "resolved",
    )
    assert (float(rows[1]["lat"]), rows[1]["accuracy"]) == (39.988, "district")
    assert (rows[2]["status"], rows[2]["lat"]) == ("not_found", "")
    assert rows[3]["Anschrift"].startswith("'=")
    assert done.stderr == "154 addresses of column Anschrift, 2 to be used unasked\n"


def test_a_table_that_has_such_columns_is_imported(tmp_path: Path) -> None:
    """SPEC O4, T5: its positions are written anew, its notes are kept; a second run adds no columns."""
    file, made, again = (tmp_path / name for name in ("orders.csv", "made.csv", "again.csv"))
    file.write_text("id,address,lat,lon,note,status\n1,北京市朝阳区,,,ring twice,paid\n", encoding="utf-8")
    for source, written in ((file, made), (made, again)):
        done = run_command_line(
            *("addresses", "resolve", str(source), "--output", str(written)), PLANNER_DATA_DIR=str(tmp_path)
        )
        assert done.exit_code == 0, done.stderr
    assert again.read_bytes() == made.read_bytes()
    options = ImportOptions("d", "2025-07-15", agents=({"id": "v", "capacity": 9},))
    day = read_scenario_file(Content(made.read_bytes()), "csv", options, max_tickets=9, max_agents=9).body
    assert (day["tickets"][0]["notes"], day["locations"][0]["lat"]) == ("ring twice", 39.988)


def test_the_column_is_named_where_no_header_says_address(tmp_path: Path) -> None:
    """SPEC T7: the error lists the headers there are, and says what to do."""
    (file := tmp_path / "c.csv").write_text("a,b\nx,Berlin\n", encoding="utf-8")
    refused = run_command_line("addresses", "resolve", str(file), PLANNER_DATA_DIR=str(tmp_path))
    assert refused.exit_code == 1
    assert "0 columns look like addresses. (accepted: a, b) Name it with --column." in refused.stderr
    named = run_command_line("addresses", "resolve", str(file), "--column", "b", PLANNER_DATA_DIR=str(tmp_path))
    assert (named.exit_code, "52.52" in named.stdout) == (0, True)


def test_a_table_that_cannot_be_written_is_one_clear_fault(tmp_path: Path) -> None:
    """SPEC T7: code, place and what is accepted; no traceback."""
    file = tmp_path / "orders.csv"
    file.write_text("id,address\n1,北京市朝阳区\n", encoding="utf-8")
    refused = run_command_line(
        *("addresses", "resolve", str(file), "--output", str(tmp_path / "none" / "made.csv")),
        PLANNER_DATA_DIR=str(tmp_path),
    )
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith("error 4001 InvalidParameter: --output: ") and "Traceback" not in refused.stderr
    missing = run_command_line("addresses", "resolve", str(tmp_path / "none.csv"), PLANNER_DATA_DIR=str(tmp_path))
    assert missing.stderr.startswith("error 4001 InvalidParameter: /: ")


def test_a_file_for_a_spreadsheet_has_the_mark_of_utf_8(tmp_path: Path) -> None:
    """SPEC O4: without it Excel takes the letters of a street for those of the machine, as in plans."""
    (file := tmp_path / "orders.csv").write_text("id,address\n1,Königstraße 1\n", encoding="utf-8")
    made = tmp_path / "made.csv"
    done = run_command_line(*("addresses", "resolve", str(file), "--output", str(made)), PLANNER_DATA_DIR=str(tmp_path))
    assert (done.exit_code, made.read_bytes()[:5]) == (0, b"\xef\xbb\xbfid")
