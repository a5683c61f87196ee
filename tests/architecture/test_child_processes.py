"""Which modules the processes that we start find."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "workers" / "engines" / "native" / "build.py"
"""Runs where the package is made."""


def test_no_process_of_ours_looks_for_modules_where_it_was_started() -> None:
    """SPEC X3: a client starts the planner in its project, which may have a package `workers` or a module `random`."""
    sources = [path for folder in ("planner_mcp", "workers") for path in (ROOT / folder).rglob("*.py")]
    started = {path: re.findall(r'sys\.executable, "(-\w)"', path.read_text(encoding="utf-8")) for path in sources}
    assert {flag for path, flags in started.items() if path != BUILD for flag in flags} == {"-P", "-I"}
