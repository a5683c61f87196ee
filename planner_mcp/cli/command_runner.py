"""How a command starts and ends: its settings and log at the start, refusals and the exit status at the end."""

import asyncio
import logging
import sys
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

import typer

from planner_mcp.cli.environment_settings import read_settings
from planner_mcp.errors import PlannerError, ungrouped
from planner_mcp.settings import Settings
from planner_mcp.telemetry import configure_logging

_Result = TypeVar("_Result")
log = logging.getLogger(__name__)
INTERRUPTED: Final = 130
"""Exit status of what was stopped by Ctrl-C, as shells count it."""


def command_settings(**given: Any) -> Settings:
    """Return the settings of the environment and the command line, and set up the log and the export of spans.

    Raises:
        typer.BadParameter: A setting cannot be used.
    """
    settings = read_settings(**given)
    configure_logging(settings)
    if settings.otel:
        _export_spans()
    return settings


def _export_spans() -> None:
    from planner_mcp.tracing import export_spans

    try:
        export_spans("planner-mcp")
    except ImportError as error:
        raise typer.BadParameter("PLANNER_OTEL needs the extra: pip install 'planner-mcp[otel]'") from error


def run_command(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine to its end and return its result.

    A refusal of the planner is logged, one line for each fault, and ends the process with exit status 1.
    """
    try:
        with ungrouped():
            return asyncio.run(work)
    except PlannerError as error:
        for line in error.lines():
            log.error(line, extra={"code": error.code, "type": error.type})
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
