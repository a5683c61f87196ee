"""`planner-mcp manifest`: what the server offers, printed without a server."""

import json

import typer

from planner_mcp.cli.command_runner import command_settings
from planner_mcp.server.http.routes.discovery_routes import served_manifest

app = typer.Typer()


@app.command(name="manifest")
def show_manifest() -> None:
    """Print what the server offers, as served at /manifest."""
    typer.echo(json.dumps(served_manifest(command_settings()), ensure_ascii=False, indent=2))
