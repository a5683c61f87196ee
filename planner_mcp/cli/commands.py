"""The command line; without a command it speaks MCP over stdio.

Owns commands, their options, and the exit status when one is refused; what `serve`, `worker` and stdio keep running is
`processes.py`'s. Standard output carries what a command prints, or the protocol; the log goes to standard error.
"""

import asyncio
import importlib
import json
import logging
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

import planner_mcp
from planner_mcp.app import open_app, open_application
from planner_mcp.cli import command_files, scenario_commands
from planner_mcp.cli.api_key_commands import app as keys
from planner_mcp.cli.doctor import examine
from planner_mcp.cli.environment_settings import read_settings
from planner_mcp.cli.http_server import check_exposure
from planner_mcp.cli.import_export_commands import export_plan, import_tables
from planner_mcp.cli.server_processes import run_workers, serve_http, serve_stdio, workers_beside
from planner_mcp.cli.store_queries import DataDir, RedisUrl
from planner_mcp.cli.webhook_commands import app as webhooks
from planner_mcp.errors import PlannerError, ungrouped
from planner_mcp.jobs.principals import LOCAL
from planner_mcp.server.http.manifest_routes import served
from planner_mcp.settings import Settings
from planner_mcp.telemetry import configure_logging
from planner_mcp.tracing import export_spans

_Done = TypeVar("_Done")
log = logging.getLogger(__name__)

app = typer.Typer(
    name="planner-mcp",
    help="An async, job-oriented MCP server for vehicle routing. Without a command it speaks MCP over stdio.",
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(webhooks)
app.add_typer(keys)
app.command(name="import")(import_tables)
app.command(name="export")(export_plan)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"planner-mcp {planner_mcp.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def stdio(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Speak MCP over standard input and output, with one worker in the background."""
    if context.invoked_subcommand is None:
        settings = _settings()
        _run(serve_stdio(settings))


@app.command()
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one.")] = None,
    workers: Annotated[int | None, typer.Option(help="Worker processes beside the server; 0 for none.")] = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
    insecure: Annotated[bool, typer.Option(help="Listen beyond loopback although nobody is authenticated.")] = False,
) -> None:
    """Run the HTTP server and its workers."""
    settings = _settings(host=host, port=port, workers=workers, redis_url=redis_url, data_dir=data_dir)
    check_exposure(settings, is_allowed=insecure)
    _run(serve_http(settings, context.obj or open_app))


@app.command()
def worker(
    redis_url: RedisUrl = None,
    processes: Annotated[int, typer.Option(min=1, help="Worker processes; each solves one job at a time.")] = 1,
    data_dir: DataDir = None,
) -> None:
    """Run workers for a store that servers share."""
    settings = _settings(redis_url=redis_url, data_dir=data_dir)
    _run(run_workers(settings, processes))


File = Annotated[Path, typer.Argument(help="A scenario as JSON, as create_scenario takes it; - for standard input.")]


@app.command()
def validate(file: File) -> None:
    """Tell all that is wrong or odd about a scenario; exit status 1 when it cannot be planned."""
    sys.exit(0 if scenario_commands.validate(file, _settings()) else 1)


@app.command()
def solve(
    file: File,
    seconds: Annotated[int, typer.Option(min=1, help="Longest search.")] = 10,
    output: Annotated[Path | None, typer.Option(help="File (.json, .csv, .geojson, .gpx); absent or -: JSON.")] = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Plan a scenario and write the plan; exit status 1 when there is none."""
    settings = _settings(redis_url=redis_url, data_dir=data_dir)
    planned = _run(_solve(file, seconds, output, settings))
    is_written = planned is not None and command_files.write_plan(planned[1], planned[0], output)
    sys.exit(0 if is_written else 1)


async def _solve(
    file: Path, seconds: int, output: Path | None, settings: Settings
) -> tuple[scenario_commands.Json, scenario_commands.Json] | None:
    async with open_application(settings) as services, workers_beside(settings, 1):
        return await scenario_commands.solve(services.job_service, file, seconds, output, settings=settings)


@app.command()
def matrix(
    file: Annotated[Path, typer.Argument(help="Matrices as JSON, as PUT /matrices takes them.")],
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Keep large matrices for the single user and print the id that `travel.matrix` names."""
    settings = _settings(redis_url=redis_url, data_dir=data_dir)
    _run(_keep_matrix(file, settings))


async def _keep_matrix(file: Path, settings: Settings) -> None:
    async with open_application(settings) as services:
        typer.echo(await services.job_service.matrices.keep(LOCAL.id, command_files.read_matrices(file, settings)))


@app.command(name="manifest")
def show_manifest() -> None:
    """Print what the server offers, as served at /manifest."""
    typer.echo(json.dumps(served(_settings()), ensure_ascii=False, indent=2))


@app.command()
def doctor(redis_url: RedisUrl = None, data_dir: DataDir = None) -> None:
    """Check that everything is in place; exit status 1 when something is not."""
    settings = _settings(redis_url=redis_url, data_dir=data_dir)
    _run(_doctor(settings))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []})
def bench(context: typer.Context) -> None:
    """Compare engines on published instances; `bench --help` lists its options. Runs from a checkout."""
    try:
        plans = importlib.import_module("benchmarks.plans")
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "benchmarks":
            raise
        problem = "the benchmark is not part of the installed package; run `make bench-plans` in a checkout."
        raise typer.BadParameter(problem) from None
    sys.exit(plans.main(context.args))


async def _doctor(settings: Settings) -> None:
    is_well = True
    async for finding in examine(settings):
        is_well &= finding.is_well
        typer.echo(f"{'ok ' if finding.is_well else 'BAD'} {finding.name:8} {finding.detail}")
    if not is_well:
        sys.exit(1)


def main() -> None:
    """Run the command line."""
    app()


# ---- parts


def _settings(**given: Any) -> Settings:
    """Return the settings of the environment under what the command line says, and set the log up."""
    settings = read_settings(**given)
    configure_logging(settings)
    if settings.otel:
        _export_spans()
    return settings


def _export_spans() -> None:
    try:
        export_spans("planner-mcp")
    except ImportError as error:
        raise typer.BadParameter("PLANNER_OTEL needs the extra: pip install 'planner-mcp[otel]'") from error


def _run(work: Coroutine[Any, Any, _Done]) -> _Done:
    """Run to the end, return what came of it; what the planner refuses is told, a line a fault, with exit status 1."""
    try:
        with ungrouped():
            return asyncio.run(work)
    except PlannerError as error:
        for line in error.lines():
            log.error(line, extra={"code": error.code, "type": error.type})
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
