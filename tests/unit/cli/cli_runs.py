"""What tests of commands share: a command that is refused, and a plan of the smallest day."""

import re
from typing import Final

from typer.testing import CliRunner

from planner_mcp.cli.command_line import app
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.shared.scenarios.client_scenarios import SMALLEST

PLAN = build_plan(compile_scenario(parse_scenario(SMALLEST)), Candidate.of_tickets({0: [0]})).as_json()


_CODE: Final = re.compile(r"^error 4\d{3} \w+: ", re.MULTILINE)


def without_code(output: str) -> str:
    """Return what a command says without code and type, which its error begins with."""
    return _CODE.sub("", output)


def refused_output(*command: str) -> str:
    """Return what a command says that ends with status 1 and without a traceback."""
    result = CliRunner().invoke(app, command)
    assert (result.exit_code, isinstance(result.exception, SystemExit)) == (1, True), result.exception
    return result.output
