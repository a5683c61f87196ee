"""What the command says of itself."""

from typer.testing import CliRunner

import planner_mcp
from planner_mcp.cli.commands import app


def test_the_command_tells_its_version() -> None:
    """Our choice: the first thing a report of a fault names."""
    told = CliRunner().invoke(app, ["--version"])
    assert (told.exit_code, told.output) == (0, f"planner-mcp {planner_mcp.__version__}\n")
