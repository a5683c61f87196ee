"""What tests of commands share: a command that is refused, and a plan of the smallest day."""

from typer.testing import CliRunner

from planner_mcp.cli.commands import app
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.layout.schedule import lay_out
from planner_mcp.vrp.problem import Candidate
from planner_mcp.vrp.scenario import parse_scenario
from tests.shared.scenarios import SMALLEST

PLAN = lay_out(compile_scenario(parse_scenario(SMALLEST)), Candidate.of_tickets({0: [0]})).as_json()


def told_of(*command: str) -> str:
    """Return what a command says that ends with status 1 and without a traceback."""
    told = CliRunner().invoke(app, command)
    assert (told.exit_code, isinstance(told.exception, SystemExit)) == (1, True), told.exception
    return told.output
