"""The command line; without a command it speaks MCP over stdio.

Owns the list of commands. The module of a command is imported when the command is run, so `--version` and `validate`
do not wait for the MCP SDK and the store. Standard output carries what a command prints, or the protocol; the log goes
to standard error.
"""

import gc
import importlib
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup
from typing_extensions import override

import planner_mcp

COMMANDS: Final = {
    "serve": "service_commands",
    "address": "service_commands",
    "worker": "service_commands",
    "validate": "scenario_commands",
    "solve": "scenario_commands",
    "matrix": "scenario_commands",
    "import": "import_export_commands",
    "export": "import_export_commands",
    "manifest": "manifest_command",
    "roads": "roads_commands",
    "addresses": "addresses_commands",
    "bridge": "bridge_commands",
    "config": "config_command",
    "demo": "demo_command",
    "doctor": "service_commands",
    "backup": "backup_commands",
    "restore": "backup_commands",
    "dashboard": "dashboard_command",
    "jobs": "job_commands",
    "keys": "api_key_commands",
    "webhooks": "webhook_commands",
}
"""Commands and groups of commands in the order of `--help`, and the module in `commands` that each stands in."""


class LazyCommands(TyperGroup):
    """Imports the module of a command when the command is run or described."""

    @override
    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    @override
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        for name in [cmd_name] if cmd_name in COMMANDS else COMMANDS:  # all: an unknown name is compared with them
            self.commands.setdefault(name, _load(name))
        return self.commands.get(cmd_name)


@contextmanager
def _importing() -> Iterator[None]:
    """Import without garbage collection, during the import and after it.

    Collections would take a quarter of a start to find that modules stay. What an import leaves over stays too.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _load(name: str) -> Any:
    """Return a command, or the group of this name."""
    with _importing():
        module = importlib.import_module(f"planner_mcp.cli.commands.{COMMANDS[name]}")
    group = typer.main.get_group(module.app)
    return group if group.name == name else group.commands[name]


app = typer.Typer(
    name="planner-mcp",
    cls=LazyCommands,
    help="An async, job-oriented MCP server for vehicle routing. Without a command it speaks MCP over stdio.",
    pretty_exceptions_enable=False,
)


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
        with _importing():
            from planner_mcp.cli.command_runner import command_settings, run_service
            from planner_mcp.cli.processes.server_processes import serve_stdio

        settings = command_settings()
        run_service(settings, serve_stdio(settings))


def use_utf8() -> None:
    """Read and write files and pipes as UTF-8, whatever the locale: JSON and tables are so on every machine.

    A terminal keeps its encoding; what that lacks is shown as question marks.
    """
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):  # none in a window, another in tests
            continue
        if stream.isatty():
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8", errors="strict" if stream is sys.stdin else "backslashreplace")


def main() -> None:
    """Run the command line."""
    use_utf8()
    app()
