"""Log lines."""

import io
import json
import logging
from typing import Any

import pytest

from planner_mcp.settings import Settings
from planner_mcp.telemetry import MAX_MESSAGE, configure_logging, new_trace_id, trace_context, trace_id


@pytest.fixture
def lines() -> io.StringIO:
    stream = io.StringIO()
    configure_logging(Settings(), stream)
    return stream


def read(lines: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.getvalue().splitlines()]


def test_a_line_is_one_json_object(lines: io.StringIO) -> None:
    """SPEC A3: time, level, logger, message, then what was added."""
    logging.getLogger("planner.x").warning(
        "took %s", "long", extra={"job_id": "job-0-a", "ms": 1.5, "bad": float("nan")}
    )
    (line,) = read(lines)
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "warning",
        "logger": "planner.x",
        "message": "took long",
        "job_id": "job-0-a",
        "ms": 1.5,
        "bad": "nan",
    }


@pytest.mark.parametrize("evil", ['x"}\n{"level":"info"', "a\r\nb", "\u2028\u2029\x85", "\x1b[2J", "\ud800", "\u202e"])
def test_no_text_breaks_out_of_its_line(lines: io.StringIO, evil: str) -> None:
    """SPEC O3: injection-proof, in messages and in fields; pure ASCII on the wire."""
    logging.getLogger("x").info("said %s", evil, extra={"name_given": evil})
    (line,) = read(lines)
    assert line["message"] == f"said {evil}"
    assert line["name_given"] == evil
    assert lines.getvalue().isascii()
    assert lines.getvalue().count("\n") == 1


def test_lines_are_cut(lines: io.StringIO) -> None:
    """Our choice: nobody fills the disk with one call."""
    logging.getLogger("x").info("y" * 100_000, extra={"long": "z" * 100_000})
    (line,) = read(lines)
    assert len(line["message"]) == MAX_MESSAGE
    assert len(line["long"]) == 500


def test_the_trace_id_is_on_every_line_inside(lines: io.StringIO) -> None:
    """SPEC T8, O3: what the client was told leads to the cause."""
    with trace_context(new_trace_id()) as trace:
        assert trace_id() == trace
        logging.getLogger("x").info("inside")
    logging.getLogger("x").info("outside")
    inside, outside = read(lines)
    assert inside["trace_id"] == trace
    assert "trace_id" not in outside


def test_a_traceback_stays_on_the_line(lines: io.StringIO) -> None:
    """SPEC A3: one object a line, even for a crash."""
    try:
        raise ValueError("boom")
    except ValueError:
        logging.getLogger("x").exception("failed")
    (line,) = read(lines)
    assert line["stack"].endswith("ValueError: boom")


def test_the_server_logs_the_same_way(lines: io.StringIO) -> None:
    """SPEC A3: uvicorn's lines too; its access log is too chatty and stays quiet."""
    logging.getLogger("uvicorn.error").setLevel(logging.NOTSET)  # servers of other tests in this process raise it
    logging.getLogger("uvicorn.error").info("started")
    logging.getLogger("uvicorn.access").info('"GET /?token=secret HTTP/1.1" 200')
    (line,) = read(lines)
    assert line["logger"] == "uvicorn.error"


def test_the_level_is_a_setting() -> None:
    """SPEC O3: PLANNER_LOG_LEVEL."""
    stream = io.StringIO()
    configure_logging(Settings(log_level="error"), stream)
    logging.getLogger("x").warning("quiet")
    assert stream.getvalue() == ""
