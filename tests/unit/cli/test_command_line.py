"""The command line as a whole: what each command is asked with, and how it refuses."""

import io
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import planner_mcp
from planner_mcp.cli.command_line import app, use_utf8
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.unit.cli.cli_runs import PLAN, refused_output


def test_the_command_prints_its_version() -> None:
    """Our choice: the first thing a report of a fault names."""
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"planner-mcp {planner_mcp.__version__}\n")


@pytest.mark.parametrize("command", ["serve", "worker", "solve", "matrix", "doctor", "keys list", "webhooks list"])
def test_who_names_the_data_folder_learns_what_lies_in_it(command: str) -> None:
    """SPEC O1: the key that opens stored secrets moves with it, whichever command is told so."""
    result = CliRunner().invoke(app, [*command.split(), "--help"])
    words = " ".join(result.output.replace("│", "").split())
    assert (result.exit_code, "Folder of the bundled store and of the key file." in words) == (0, True)


def test_a_refused_option_is_reported_by_its_name(tmp_path: Path) -> None:
    """SPEC T6, T7: in the words of the command line, not those of a tool, and not as a line of the log."""
    plan, day = tmp_path / "plan.json", tmp_path / "day.json"
    plan.write_text(json.dumps(PLAN))
    day.write_text(json.dumps(SMALLEST))
    for name, why in (("plan.docx", "There is no such form."), ("plan.gpx", "The scenario has no positions on the")):
        assert refused_output("export", str(plan), str(day), "--output", str(tmp_path / name)).startswith(
            f"error 4001 InvalidParameter: --output: {why}"
        )
    result = refused_output("solve", str(day), "--seconds", "4000", "--data-dir", str(tmp_path / "data"))
    problem = "--seconds: The search is longer than PLANNER_MAX_SOLVE_TIME_S allows. (accepted: 1 to 3600)"
    assert result.splitlines() == [f"error 4001 InvalidParameter: {problem}"]


def test_a_search_of_which_no_length_is_asked_keeps_to_the_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SPEC T6, T7: the usual ten seconds are no fault of a caller that asked for none."""
    monkeypatch.setenv("PLANNER_MAX_SOLVE_TIME_S", "5")
    day = tmp_path / "day.json"
    day.write_text(json.dumps({**SMALLEST, "tickets": []}))
    asked = ("solve", str(day), "--data-dir", str(tmp_path / "data"))
    assert "--seconds" not in refused_output(*asked)
    assert "--seconds" in refused_output(*asked, "--seconds", "10")


def test_spans_without_their_extra_are_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O3, T8: what to install, and no traceback."""
    monkeypatch.setenv("PLANNER_OTEL", "true")
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    result = CliRunner().invoke(app, ["validate", "-"])
    assert (result.exit_code, "planner-mcp[otel]" in result.output) == (2, True)


@pytest.mark.parametrize("command", ["doctor", "serve", "worker"])
def test_a_key_that_cannot_be_kept_is_reported_once(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store_url: str
) -> None:
    """SPEC O3, T8: what to set, and no traceback; a worker does not start to fail at every webhook."""
    monkeypatch.setenv("PLANNER_PORT", "0")
    monkeypatch.setenv("PLANNER_REDIS_URL", store_url)
    (tmp_path / "file").touch()
    output_lines = refused_output(command, "--data-dir", str(tmp_path / "file"))
    lines = [line for line in output_lines.splitlines() if "PLANNER_SECRET_KEY, or PLANNER_DATA_DIR" in line]
    assert len(lines) == 1 and f"{tmp_path / 'file'} cannot be used" in lines[0]


def test_replay_of_nothing_says_what_to_name(tmp_path: Path) -> None:
    """SPEC W3: it is a mistake of the caller, not a success; no store is asked."""
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["webhooks", "replay", "--data-dir", str(tmp_path / "data")])
    assert (result.exit_code, "--dead" in result.output, list(tmp_path.iterdir())) == (2, True, [])


def test_files_and_pipes_are_utf8_whatever_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O1: under a locale of ISO 8859-1 an arrow ended a command, and a day had other names."""
    for name, data in (("stdin", "Café 北京".encode()), ("stdout", b""), ("stderr", b"")):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(data), encoding="latin-1"))
    use_utf8()
    assert sys.stdin.read() == "Café 北京"
    for stream in (sys.stdout, sys.stderr):
        assert isinstance(stream, io.TextIOWrapper)
        print("→", file=stream, flush=True)
        assert stream.buffer.getvalue() == "→\n".encode()  # type: ignore[attr-defined]
