"""`planner-mcp validate FILE` and `solve FILE`: a scenario of a file judged, or planned, without a client.

Owns the wording of these commands and what they print; `cli.py` hangs them into the command line and brings the
workers. A plan goes to standard output or a file as JSON, everything else to standard error.
"""

import json
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import typer

from planner_mcp.errors import Fault, InputError, input_error
from planner_mcp.jobs.model import LOCAL, SolveRequest
from planner_mcp.jobs.service import Planner
from planner_mcp.settings import Settings
from planner_mcp.tools.job_view import event_line
from planner_mcp.tools.validate_scenario import judged, lines_of
from planner_mcp.vrp.scenario import parse_scenario

STDIN = "-"


def read_scenario(path: Path) -> Any:
    """Return the JSON of a file, or of standard input for `-`.

    Raises:
        InputError: It is no JSON, or cannot be read.
    """
    try:
        text = sys.stdin.read() if str(path) == STDIN else path.read_text(encoding="utf-8")
        return json.loads(text)
    except (OSError, ValueError) as error:
        problem = error.strerror if isinstance(error, OSError) else "The file is not JSON."
        raise input_error([Fault("", problem or "The file cannot be read.", "a scenario as JSON (UTF-8)")]) from error


def validate(path: Path, settings: Settings) -> bool:
    """Print what is wrong or odd about the scenario of a file; return whether it can be planned."""
    try:
        found = judged(read_scenario(path), {}, settings)
    except InputError as error:
        _print_faults(error)
        return False
    typer.echo("\n".join(lines_of(found)))
    return bool(found["valid"])


async def solve(planner: Planner, body: Any, solve_time_s: int, *, settings: Settings) -> dict[str, Any] | None:
    """Plan a scenario, telling progress as it comes; return its plan, None where there is none."""
    try:
        parse_scenario(body, max_tickets=settings.max_tickets, max_agents=settings.max_agents)
    except InputError as error:
        _print_faults(error)
        return None
    scenario = await planner.create_scenario(LOCAL, body)
    job = await planner.submit(LOCAL, SolveRequest(scenario.id, solve_time_s, fresh=True))
    async with aclosing(planner.follow(LOCAL, job.id)) as events:
        async for event in events:
            typer.echo(event_line(event), err=True)
    has_plan = (await planner.job(LOCAL, job.id)).plan_id is not None
    return await planner.plan_of_job(LOCAL, job.id) if has_plan else None


def write_plan(plan: dict[str, Any], output: Path | None) -> None:
    """Write a plan as JSON to a file or to standard output."""
    text = json.dumps(plan, ensure_ascii=False, indent=2)
    if output is None:
        typer.echo(text)
    else:
        output.write_text(text + "\n", encoding="utf-8")


def _print_faults(error: InputError) -> None:
    for fault in error.errors:
        typer.echo(f"{fault.path or '/'}: {fault.problem} {fault.hint}".rstrip(), err=True)
