"""What the command says of itself."""

import sys

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
