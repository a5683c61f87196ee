"""Files that commands read and write: which of them cannot be used, and why."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from planner_mcp.cli.command_line import app
from planner_mcp.cli.files.command_files import check_output, read_matrices, read_scenario
from planner_mcp.errors import InputError
from planner_mcp.settings import Settings
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.unit.cli.cli_runs import PLAN, refused_output

WRONG = "error 4001 InvalidParameter: "


def test_a_fault_is_reported_with_what_would_be_accepted(tmp_path: Path) -> None:
    """SPEC T6, T7: the text is complete by itself."""
    agents, tickets = [{"id": "v", "capacity": 5}], [{"id": "t", "location": "A", "demand": 1, "priority": 12}]
    day = {"name": "m", "planning_date": "2025-07-15", "agents": agents, "tickets": tickets, "travel": {"router": "x"}}
    day["locations"] = [{"id": "A", "lat": 39.9, "lon": 116.4}]
    file = tmp_path / "day.json"
    file.write_text(json.dumps(day))
    priority = "/tickets/0/priority: t (12): The number is out of range. (accepted: a number from 1 to 9)"
    router = "/travel/router: There is no road engine of this name. (accepted: no road engine is configured here)"
    result = CliRunner().invoke(app, ["validate", str(file)])
    assert (result.exit_code, sorted(result.stdout.splitlines())) == (1, [priority, router, "not valid"])
    result = CliRunner().invoke(app, ["export", str(tmp_path / "nofile"), str(file), "--output", "x.csv"])
    assert result.exit_code == 1
    assert result.stderr == f"{WRONG}/: {tmp_path / 'nofile'}: No such file or directory (accepted: JSON (UTF-8))\n"
    result = CliRunner().invoke(app, ["import", str(tmp_path / "nofile.csv"), "--date", "2025-07-15"])
    assert result.stderr == f"{WRONG}/: {tmp_path / 'nofile.csv'}: No such file or directory\n"


@pytest.mark.parametrize(
    ("name", "why"),
    [("none.json", "none.json: No such file or directory"), ("a\0b", "The file cannot be read."), ("\ud800", "read.")],
)
def test_an_unreadable_file_of_matrices_is_reported_with_its_name(name: str, why: str, tmp_path: Path) -> None:
    """SPEC T7: whatever a scenario names; no traceback."""
    day = tmp_path / "day.json"
    day.write_text(json.dumps({**SMALLEST, "travel": {"matrix": name}}))
    output_lines = refused_output("validate", str(day))
    assert output_lines.startswith(f"{WRONG}/travel/matrix: {tmp_path}") and why in output_lines


def test_a_file_of_matrices_that_is_not_there_is_named(tmp_path: Path) -> None:
    """SPEC T7: by the command that keeps them."""
    with pytest.raises(InputError) as caught:
        read_matrices(tmp_path / "none.json", Settings())
    why = f"{tmp_path / 'none.json'}: No such file or directory"
    assert caught.value.lines() == [f"/: {why} (accepted: JSON (UTF-8))"]


def test_a_scenario_is_read_behind_a_mark_and_however_deep_it_is(tmp_path: Path) -> None:
    """SPEC T7: editors write a mark before UTF-8; what nests beyond measure is told, without a traceback."""
    day = tmp_path / "day.json"
    day.write_text(json.dumps(SMALLEST), encoding="utf-8-sig")
    assert read_scenario(day) == SMALLEST
    day.write_text("[" * 200_000)
    assert refused_output("validate", str(day)) == f"{WRONG}/: {day} is not JSON. (accepted: JSON (UTF-8))\n"
    day.write_text('{"name": "a", "name": "b"}')
    assert refused_output("validate", str(day)) == f'{WRONG}/name: "name" stands twice in one object.\n'


def test_a_dash_is_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our choice: as it is standard input; no file of this name is written, and none is looked for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").mkdir()
    (tmp_path / "orders.csv").write_text("id,lat,lon\nA1,39.95,116.40\n")
    command = ("import", "orders.csv", "--date", "2025-07-15", "--depot", "39.9,116.4", "--output", "-")
    result = CliRunner().invoke(app, command)
    assert (result.exit_code, json.loads(result.stdout)["tickets"][0]["id"]) == (0, "A1"), result.output
    check_output(Path("-"), SMALLEST)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """SPEC T7: by `import` and by `export`."""
    plan, day, orders, lost = (tmp_path / name for name in ("plan.json", "day.json", "orders.csv", "none/x.csv"))
    plan.write_text(json.dumps(PLAN))
    day.write_text(json.dumps(SMALLEST))
    orders.write_text("id,lat,lon\nA1,39.95,116.40\n")
    assert f"{lost}: No such file" in refused_output("export", str(plan), str(day), "--output", str(lost))
    depot = ("--date", "2025-07-15", "--depot", "39.9,116.4")
    assert f"{lost}: No such file" in refused_output("import", str(orders), *depot, "--output", str(lost))
