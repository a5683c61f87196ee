"""How a command starts and ends: its settings and log at the start, refusals and the exit status at the end."""

import asyncio
import logging
import sys
from collections.abc import Coroutine
from typing import Any, Final, NoReturn, TypeVar

import typer

from planner_mcp.cli.environment_settings import (
    doubtful_settings,
    read_settings,
    unknown_variable_line,
    unknown_variables,
)
from planner_mcp.errors import PlannerError, ungrouped
from planner_mcp.process_limits import usable_cores
from planner_mcp.settings import Settings
from planner_mcp.telemetry import configure_logging

_Result = TypeVar("_Result")
log = logging.getLogger(__name__)
INTERRUPTED: Final = 130
"""Exit status of what was stopped by Ctrl-C, as shells count it."""
MOST_OWN_CORES: Final = 8
"""Most cores of a solve that are not asked for: each costs a process and its memory."""


def command_settings(**given: Any) -> Settings:
    """Return the settings of the environment and the command line, and set up the log and the export of spans.

    Raises:
        typer.BadParameter: A setting cannot be used.
    """
    settings = _with_own_cores(read_settings(**given))
    configure_logging(settings)
    if settings.otel:
        _export_spans()
    return settings


def _with_own_cores(settings: Settings) -> Settings:
    """Return settings whose solves use the cores of the machine, unless they say otherwise.

    Processes that share a store must agree, and do not know one another's machines: there it is 1 unless it is set.
    """
    if "solve_cores" in settings.model_fields_set or settings.redis_url is not None or settings.workers == 0:
        return settings
    cores = min(MOST_OWN_CORES, max(1, usable_cores() // settings.workers))
    return settings.model_copy(update={"solve_cores": cores})


def _export_spans() -> None:
    from planner_mcp.tracing import export_spans

    try:
        export_spans("planner-mcp")
    except ImportError as error:
        raise typer.BadParameter("PLANNER_OTEL needs the extra: pip install 'planner-mcp[otel]'") from error


def run_service(settings: Settings, work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a process that serves to its end and return its result; a refusal is logged, one line for each fault.

    A variable that is nearly a setting is logged first: it has no effect, and the process runs as if it were not there.
    So are settings that are accepted and do harm.
    """
    misspelt = [unknown_variable_line(name, near) for name, near in unknown_variables().items() if near]
    for line in (*misspelt, *doubtful_settings(settings)):
        log.warning(line)
    try:
        return _run(work)
    except PlannerError as error:
        for line in error.lines():
            log.error(line, extra={"code": error.code, "type": error.type})
        sys.exit(1)


def run_command(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a command that a person waits for to its end and return its result; a refusal is printed."""
    try:
        return _run(work)
    except PlannerError as error:
        refuse(error)


def _run(work: Coroutine[Any, Any, _Result]) -> _Result:
    try:
        with ungrouped():
            return asyncio.run(work)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def refuse(error: PlannerError) -> NoReturn:
    """Print what is wrong, each fault on a line, and end the command with exit status 1."""
    typer.echo(error.as_text(), err=True)
    sys.exit(1)
