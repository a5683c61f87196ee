"""Tests of streams over hours are no part of the quick suite; `tests/chaos/conftest.py` leaves out those of storms."""

import ast
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[1] / "soak"
NOT_QUICK = {"slow", "chaos"}


@pytest.mark.parametrize("path", sorted(SOAK.glob("test_*.py")), ids=lambda path: path.stem)
def test_every_test_of_streams_carries_a_mark_that_leaves_it_out(path: Path) -> None:
    """ADR 31: `make test` goes by marks alone, so that ARGS may name these folders."""
    functions = [
        node
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]
    assert functions
    for function in functions:
        marks = {ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in function.decorator_list}
        assert marks & NOT_QUICK, function.name
