"""A scenario of a file judged and planned by the command line, as a person would."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.system.scenarios import SMALLEST

PLANNER = Path(sys.executable).with_name("planner-mcp")


def run(*args: str, given: Any = None) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end."""
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return subprocess.run([PLANNER, *args], input=text, capture_output=True, text=True, timeout=100)


def test_a_sound_scenario_is_called_valid() -> None:
    """SPEC T5: validate only."""
    done = run("validate", "-", given=SMALLEST)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "valid"


def test_every_fault_is_told_and_the_exit_status_says_so() -> None:
    """SPEC T5, T7: all at once, each with its place; no traceback for what is no scenario at all."""
    done = run("validate", "-", given={**SMALLEST, "agents": [], "depot": 5})
    assert done.returncode == 1
    assert {line.partition(":")[0] for line in done.stdout.splitlines()[1:]} == {"/agents", "/depot"}
    broken = run("validate", "-", given="{")
    assert (broken.returncode, broken.stdout) == (1, "")
    assert broken.stderr.strip() == "/: The file is not JSON."


def test_a_file_is_planned(tmp_path: Path) -> None:
    """SPEC T5, O1: one command, from a scenario to a verified plan."""
    day, plan = tmp_path / "day.json", tmp_path / "plan.json"
    day.write_text(json.dumps(SMALLEST), encoding="utf-8")
    done = run("solve", str(day), "--seconds", "2", "--output", str(plan), "--data-dir", str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    assert json.loads(plan.read_text(encoding="utf-8"))["tickets_served"] == 1
    assert "COMPLETED 100%" in done.stderr
