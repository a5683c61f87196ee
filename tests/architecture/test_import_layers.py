"""Who may import whom: the contracts in pyproject.toml hold, and they cover every package."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import FunctionType

import pytest

from planner_mcp.routing.problem import AgentSpec, BreakSpec, Problem, TicketSpec

ROOT = Path(__file__).parents[2]
BASE_MODULES = {
    "errors",
    "text",
    "settings",
    "setting_urls",
    "telemetry",
    "tracing",
    "task_cancellation",
    "bounded_requests",
    "arrays",
    "file_locks",
    "process_limits",
}
OURS = re.compile(r"^\s*(?:from|import) ((?:planner_mcp|workers|manifest)\b[\w.]*)", re.MULTILINE)
SOLVER_FREE = (
    "planner_mcp.cli.commands.service_commands",
    "planner_mcp.http_app",
    "workers.supervisor",
    "workers.__main__",
)


@pytest.mark.slow
def test_import_contracts_hold() -> None:
    """Our choice: import-linter holds who may import whom; `make check` runs it too."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_every_package_stands_in_the_layers() -> None:
    """Our choice: a new package is placed in a layer before it is used."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    placed = {name for layer in layers for name in layer.replace(":", "|").replace("(", "").replace(")", "").split()}
    packages = {path.parent.name for path in (ROOT / "planner_mcp").glob("*/__init__.py")}
    assert packages - placed == set()


def test_checks_of_plans_and_proofs_apply_no_rule_that_searches_apply() -> None:
    """Our choice: a problem answers for engines whom a ticket admits, or when it begins; no import shows such a use."""
    specs = (AgentSpec, BreakSpec, TicketSpec, Problem)
    rules = {name for spec in specs for name, value in vars(spec).items() if isinstance(value, FunctionType | property)}
    rules = {name for name in rules if not name.startswith("_")} - {"reload_depots"}  # places, none twice
    assert rules >= {"admits", "amounts", "latest_end", "start_from"}
    folder = ROOT / "planner_mcp" / "routing" / "verification"
    nodes = (node for path in folder.glob("*.py") for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    assert rules & {node.attr for node in nodes if isinstance(node, ast.Attribute)} == set()


def test_a_test_folder_imports_itself_and_shared_alone() -> None:
    """Our choice: what two test folders need stands in `tests/shared`, which imports none of them."""
    astray = []
    for path in (ROOT / "tests").glob("*/**/*.py"):
        if "node_modules" in path.parts:
            continue
        package, text = path.relative_to(ROOT / "tests").parts[0], path.read_text(encoding="utf-8")
        others = re.findall(r"^\s*(?:from tests import |(?:from|import) tests\.)(\w+)", text, re.MULTILINE)
        astray += [f"{path.relative_to(ROOT)}: {other}" for other in others if other not in {package, "shared"}]
    assert astray == []


def test_the_table_of_packages_says_what_each_builds_on() -> None:
    """Our choice: ARCHITECTURE.md describes the packages, so it is compared with their imports."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(?:planner_mcp/)?(\w+)` \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    documented = {
        package: set(re.findall(r"`(\w+)`", builds_on)) for package, builds_on in rows if builds_on.strip() != "all"
    }
    assert len(documented) >= 8
    built = {package: _imported_packages(package) for package in documented if package != "manifest"}
    assert {package: documented[package] for package in built} == built


def test_the_table_of_tests_names_every_folder_of_them() -> None:
    """Our choice: every test folder is described on one page."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| `tests/(\w+)` \|", page, re.MULTILINE)
    folders = [path for path in (ROOT / "tests").iterdir() if path.is_dir() and not (path / "package.json").exists()]
    assert sorted(documented) == sorted(path.name for path in folders if any(path.rglob("test_*.py")))


def test_the_tutorial_knows_nothing_of_the_inside() -> None:
    """Our choice: tests/walkthrough shows what a caller has, so it imports none of the three packages."""
    chapters = sorted((ROOT / "tests" / "walkthrough").glob("*.py"))
    assert chapters
    assert {path.name: found for path in chapters if (found := _imported(path))} == {}


def _imported_packages(package: str) -> set[str]:
    """Return the other packages that a package's files import, without the shared modules."""
    folder = ROOT / package if (ROOT / package).is_dir() else ROOT / "planner_mcp" / package
    inner = {package, *(["engines"] if package == "workers" else [])}
    names = {name for path in folder.rglob("*.py") for name in _imported(path)}
    packages = {name.split(".")[1] if name.startswith("planner_mcp.") else name.split(".")[0] for name in names}
    return packages - inner - BASE_MODULES - {"planner_mcp", "__version__"}


def _imported(path: Path) -> set[str]:
    """Return the full names a file imports from the three packages."""
    return set(OURS.findall(path.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_the_server_runs_without_a_solver() -> None:
    """Our choice: only engines import a solver; a replica, a worker, and who starts workers, need none loaded.

    `tests/unit/cli/test_idle_imports.py` has the quick check, of a server and of a worker.
    """
    code = f"import sys, {', '.join(SOLVER_FREE)}; print([m for m in ('ortools', 'pyvrp') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_version_is_printed_without_the_sdk_or_the_store() -> None:
    """Our choice: each command imports what it needs, so a short one is not made to wait."""
    code = "import sys, planner_mcp.cli.command_line; print([m for m in HEAVY if m in sys.modules])"
    heavy = "HEAVY = ('pydantic', 'mcp', 'redis', 'numpy', 'starlette'); "
    done = subprocess.run([sys.executable, "-c", heavy + code], capture_output=True, text=True, check=True)
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
    assert found == {"planner_mcp/server/mcp/kernel.py"}
