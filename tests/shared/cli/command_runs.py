"""Runs of the command line inside the test process: the same code as a process runs, without the start of one.

Standard input, output and error are files, as those of a process are: workers that a command starts inherit them, which
they could not from the buffers of Typer's own test runner.
"""

import io
import json
import os
import tempfile
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any, TextIO
from unittest import mock

from planner_mcp.cli.command_line import app
from tests.shared.processes.logging_state import logging_restored


@dataclass(frozen=True)
class CommandResult:
    """How a command ended and what it wrote."""

    exit_code: int
    stdout: str
    stderr: str


def run_command_line(*args: str, given: Any = None, **variables: str) -> CommandResult:
    """Run a command to its end.

    Args:
        args: Behind `planner-mcp`.
        given: Standard input: a text, or what is written there as JSON.
        variables: Of the environment, beside those of this process.
    """
    with ExitStack() as stack:
        stdin, stdout, stderr = (stack.enter_context(_text_file()) for _ in range(3))
        stdin.write(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False))
        stdin.seek(0)
        stack.enter_context(mock.patch.dict(os.environ, variables))
        stack.enter_context(mock.patch("sys.stdin", stdin))
        stack.enter_context(logging_restored())
        stack.enter_context(redirect_stdout(stdout))
        stack.enter_context(redirect_stderr(stderr))
        return CommandResult(_exit_code(args), _written(stdout), _written(stderr))


def _exit_code(args: tuple[str, ...]) -> int:
    try:
        app(args, prog_name="planner-mcp")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _text_file() -> TextIO:
    return io.TextIOWrapper(tempfile.TemporaryFile(), encoding="utf-8")  # type: ignore[arg-type]


def _written(file: TextIO) -> str:
    file.flush()
    file.seek(0)
    return file.read()
