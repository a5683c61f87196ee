"""`planner-mcp serve` and `worker`, which run until they are stopped, and `doctor`, which checks settings."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from planner_mcp.cli.command_runner import command_settings, run_command, run_service
from planner_mcp.cli.processes.http_server import check_exposure, serve_http
from planner_mcp.cli.processes.server_processes import run_workers, serve_stdio
from planner_mcp.cli.store_queries import DataDir, RedisUrl
from planner_mcp.http_app import open_app
from planner_mcp.settings import Settings
from planner_mcp.telemetry import configure_logging

app = typer.Typer()


@app.command()
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one.")] = None,
    workers: Annotated[int | None, typer.Option(help="Worker processes beside the server; 0 for none.")] = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
    address: Annotated[
        bool, typer.Option("--address", help="Serve the address server instead of the planner; it needs no workers.")
    ] = False,
    bridge: Annotated[
        Path | None, typer.Option(help="Serve the operations that this configuration names, instead of the planner.")
    ] = None,
    insecure: Annotated[bool, typer.Option(help="Listen beyond loopback although nobody is authenticated.")] = False,
) -> None:
    """Run the HTTP server and its workers."""
    settings = command_settings(
        host=host,
        port=port,
        workers=0 if address or bridge else workers,
        redis_url=redis_url,
        data_dir=data_dir,
        server="bridge" if bridge else "address" if address else None,
        bridge_config=bridge,
    )
    if sys.stderr.isatty() and "log_level" not in settings.model_fields_set:
        configure_logging(settings := settings.model_copy(update={"log_level": "warning"}))  # three lines say the rest
    check_exposure(settings, is_allowed=insecure)
    run_service(settings, serve_http(settings, context.obj or open_app))


@app.command()
def address(redis_url: RedisUrl = None, data_dir: DataDir = None) -> None:
    """Speak MCP over standard input and output as the address server."""
    settings = command_settings(redis_url=redis_url, data_dir=data_dir, server="address", workers=0)
    run_service(settings, serve_stdio(settings))


@app.command()
def worker(
    redis_url: RedisUrl = None,
    processes: Annotated[int, typer.Option(min=1, help="Worker processes; each solves one job at a time.")] = 1,
    data_dir: DataDir = None,
) -> None:
    """Run workers for a store that servers share."""
    settings = command_settings(redis_url=redis_url, data_dir=data_dir)
    run_service(settings, run_workers(settings, processes))


@app.command()
def doctor(redis_url: RedisUrl = None, data_dir: DataDir = None) -> None:
    """Check that everything is in place; exit status 1 when something is not."""
    settings = command_settings(redis_url=redis_url, data_dir=data_dir)
    run_command(_print_examination(settings))


async def _print_examination(settings: Settings) -> None:
    from planner_mcp.cli.commands.doctor import examine

    is_well = True
    async for finding in examine(settings):
        is_well &= finding.is_well
        typer.echo(f"{'ok ' if finding.is_well else 'BAD'} {finding.name:8} {finding.detail}")
    if not is_well:
        sys.exit(1)
