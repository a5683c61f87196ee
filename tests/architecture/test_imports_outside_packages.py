"""Examples and benchmarks, which the type checker does not read, import only what there is."""

import ast
import importlib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
OURS = {"planner_mcp", "workers", "manifest", "examples", "benchmarks"}
FILES = sorted(
    path.relative_to(ROOT).as_posix() for folder in ("examples", "benchmarks") for path in (ROOT / folder).rglob("*.py")
)


def has(module: ModuleType, name: str) -> bool:
    """Return whether a module has a name, or a module of that name in it."""
    if hasattr(module, name):
        return True
    try:
        importlib.import_module(f"{module.__name__}.{name}")
    except ModuleNotFoundError:
        return False
    return True


@pytest.mark.parametrize("file", FILES)
def test_every_name_that_is_imported_from_the_project_exists(file: str) -> None:
    """Our choice: a renamed function breaks `make demo` and the benchmarks, which only slow tests run."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module is not None]
    missing = [
        f"{node.module}.{each.name}"
        for node in found
        if str(node.module).partition(".")[0] in OURS and node.level == 0
        for each in node.names
        if not has(importlib.import_module(str(node.module)), each.name)
    ]
    assert missing == []
