"""The demo, and what a person at a terminal is told (SPEC O1)."""

from pathlib import Path

import pytest

from planner_mcp.cli.commands.demo_command import CALENDAR, NAMES
from tests.shared.cli.command_runs import run_command_line


@pytest.mark.slow
def test_a_day_is_planned_and_printed(tmp_path: Path) -> None:
    """SPEC O1: one command, no server, no store left behind."""
    done = run_command_line("demo", "--seconds", "1", "--folder", str(tmp_path / "made"))
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines() == [str(tmp_path / "made" / name) for name in (*NAMES, CALENDAR)]
    assert {each.name for each in (tmp_path / "made").iterdir()} == {*NAMES, CALENDAR}
    assert "120 of 120 tickets served" in done.stderr


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    """SPEC T7: before the search."""
    (tmp_path / "file").touch()
    done = run_command_line("demo", "--folder", str(tmp_path / "file" / "made"))
    assert (done.exit_code, done.stderr.startswith("error 4001 InvalidParameter: --folder: ")) == (1, True)
