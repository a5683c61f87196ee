"""`planner-mcp bridge`: operations of another service as MCP tools over stdio, and what they cost a model (SPEC O5).

Over HTTP a bridge is served by `planner-mcp serve --bridge FILE`.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from planner_mcp.cli.command_runner import command_settings, run_command, run_service
from planner_mcp.cli.environment_settings import read_settings
from planner_mcp.cli.processes.server_processes import serve_stdio
from planner_mcp.cli.store_queries import DataDir, RedisUrl

app = typer.Typer(
    name="bridge", help="Serve operations of an OpenAPI document as MCP tools over stdio, or check what they cost."
)


@app.callback(invoke_without_command=True)
def bridge(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option(help="Configuration of the bridge; absent: PLANNER_BRIDGE_CONFIG.")
    ] = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Speak MCP over standard input and output with the tools of a configuration."""
    if context.invoked_subcommand is None:
        settings = command_settings(
            bridge_config=config, redis_url=redis_url, data_dir=data_dir, server="bridge", workers=0
        )
        run_service(settings, serve_stdio(settings))


@app.command()
def check(config: Annotated[Path, typer.Argument(help="Configuration of the bridge.")]) -> None:
    """Check a configuration and its document; exit status 1 where it cannot be used or costs too much.

    Nothing is asked of the service. The secret may be missing.
    """
    read_settings()  # for their language alone
    run_command(_check(config))


async def _check(path: Path) -> None:
    from planner_mcp.bridge.bridge_config import read_config
    from planner_mcp.bridge.bridge_offer import bridged_offer
    from planner_mcp.bridge.budget_report import budget_report

    config = read_config(path)
    secret = {} if config.auth is None else {config.auth.env: os.environ.get(config.auth.env) or "not set"}
    offer = bridged_offer(path, secret)
    report = budget_report(offer.tools, config.budget_tokens)
    for each in report.costs:
        tool, mark = each.tool, "ok " if each.is_within else "BAD"
        effect = "reads" if tool.hints.read_only else "destroys" if tool.hints.destructive else "writes"
        typer.echo(f"{mark} {each.tokens:5} {tool.name} ({effect}): {tool.described()}")
    typer.echo(f"{'ok ' if report.is_within else 'BAD'} {report.total:5} of {report.budget} tokens in all")
    for line in report.advice:
        typer.echo(f"    {line}")
    if not report.is_within:
        sys.exit(1)
