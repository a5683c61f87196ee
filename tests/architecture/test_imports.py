"""Who may import whom: the contracts in pyproject.toml hold, and they cover every room."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOLVER_FREE = ("planner_mcp.cli.commands", "planner_mcp.app", "workers.pool", "workers.__main__")


def test_import_contracts_hold() -> None:
    """Our choice: import-linter holds who may import whom."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_every_room_stands_in_the_layers() -> None:
    """Our choice: a new room is placed before it is used."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    placed = {name for layer in layers for name in layer.replace(":", "|").replace("(", "").replace(")", "").split()}
    rooms = {path.parent.name for path in (ROOT / "planner_mcp").glob("*/__init__.py")}
    assert rooms - placed == set()


def test_the_server_runs_without_a_solver() -> None:
    """Our choice: only engines import a solver; a replica, a worker, and who starts workers, need none loaded."""
    code = f"import sys, {', '.join(SOLVER_FREE)}; print([m for m in ('ortools', 'pyvrp') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_manifest_is_read_with_the_standard_library_alone() -> None:
    """Our choice: who only wants the manifest loads nothing else."""
    code = "import sys, manifest; print([m for m in ('pydantic', 'mcp', 'planner_mcp') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_the_kernel_touches_the_runner_of_the_sdk() -> None:
    """Our choice: what is not the SDK's public face is held in one file."""
    inner = re.compile(r"^\s*(?:from|import) mcp\.server\.(?:runner|connection|lowlevel|streamable_http)", re.MULTILINE)
    modules = (ROOT / "planner_mcp").rglob("*.py")
    found = {path.relative_to(ROOT).as_posix() for path in modules if inner.search(path.read_text(encoding="utf-8"))}
    assert found == {"planner_mcp/protocol/kernel.py"}
