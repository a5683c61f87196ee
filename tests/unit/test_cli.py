"""What the command says of itself."""

import sys
from types import ModuleType

import pytest
from typer.testing import CliRunner

import planner_mcp
from planner_mcp.cli.commands import app


def test_the_command_tells_its_version() -> None:
    """Our choice: the first thing a report of a fault names."""
    told = CliRunner().invoke(app, ["--version"])
    assert (told.exit_code, told.output) == (0, f"planner-mcp {planner_mcp.__version__}\n")


def test_spans_without_their_extra_are_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O3, T8: what to install, and no traceback."""
    monkeypatch.setenv("PLANNER_OTEL", "true")
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    told = CliRunner().invoke(app, ["validate", "-"])
    assert (told.exit_code, "planner-mcp[otel]" in told.output) == (2, True)


@pytest.mark.parametrize("is_taken", [False, True], ids=["no such package", "another's package of this name"])
def test_the_benchmark_is_refused_in_a_sentence_where_it_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, is_taken: bool
) -> None:
    """SPEC T8: a wheel does not hold it; what to run instead, and no traceback."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)
    stranger = ModuleType("benchmarks")
    stranger.__path__ = []
    monkeypatch.setitem(sys.modules, "benchmarks", stranger if is_taken else None)
    told = CliRunner().invoke(app, ["bench", "--most", "1"])
    assert (told.exit_code, "bench-plans" in told.output) == (2, True)
