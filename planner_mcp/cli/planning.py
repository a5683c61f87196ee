"""`planner-mcp validate FILE` and `solve FILE`: a scenario of a file judged, or planned, without a client.

Owns the wording of these commands and what they print; `commands.py` hangs them into the command line and brings the
workers, `files.py` reads the scenario and writes the plan. Here `travel.matrix` is the path of a file beside the
scenario's, or the id of uploaded matrices; `validate` opens no store, so it does not look for those.
"""

from contextlib import aclosing
from pathlib import Path
from typing import Any

import typer

from planner_mcp.cli.files import STDIN, check_output, print_faults, read_matrices, read_scenario
from planner_mcp.errors import Fault, InputError, input_error
from planner_mcp.jobs.ids import is_name
from planner_mcp.jobs.matrices import matrix_named
from planner_mcp.jobs.model import LOCAL, SolveRequest
from planner_mcp.jobs.service import Planner
from planner_mcp.jobs.view import event_line
from planner_mcp.settings import Settings
from planner_mcp.tools.arguments.tables_at_hand import Borrowed, day_faults, day_within_limits, with_uploads
from planner_mcp.tools.validate_scenario import judged, lines_of
from planner_mcp.vrp.day.tables import Tables

Json = dict[str, Any]


def tables_beside(path: Path, body: Any, settings: Settings) -> Tables | None:
    """Return the tables that the scenario of a file names by their path; None where it names none."""
    named = matrix_named(body)
    folder = Path() if str(path) == STDIN else path.parent
    return None if named is None or is_name(named) else read_matrices(folder / named, settings, "/travel/matrix")


def validate(path: Path, settings: Settings) -> bool:
    """Print what is wrong or odd about the scenario of a file; return whether it can be planned."""
    try:
        body = read_scenario(path)
        borrowed = Borrowed(tables_beside(path, body, settings), tuple(day_faults(body, settings)), shows_names=True)
        found = judged(body, {}, settings, lambda _: borrowed)
    except InputError as error:
        print_faults(error)
        return False
    typer.echo("\n".join(lines_of(found)))
    return bool(found["valid"])


async def solve(
    planner: Planner, path: Path, solve_time_s: int, output: Path | None, *, settings: Settings
) -> tuple[Json, Json] | None:
    """Plan the scenario of a file, telling progress as it comes and what made it fail.

    Args:
        planner: Whom the job is given to.
        path: Of the scenario.
        solve_time_s: Longest search.
        output: Where the plan is to go; looked at before the search.
        settings: Limits, and the road engines there are.

    Returns:
        The scenario and its plan; None where there is none.
    """
    try:
        check_seconds(solve_time_s, settings)
        body = read_scenario(path)
        tables = tables_beside(path, body, settings)
        borrowed = Borrowed(tables, tuple(day_faults(body, settings)), shows_names=True)
        day_within_limits(body, settings, await with_uploads(planner, LOCAL, body, borrowed))
        check_output(output, body)
    except InputError as error:
        print_faults(error)
        return None
    if tables is not None:
        body = {**body, "travel": {**body["travel"], "matrix": await planner.matrices.keep(LOCAL.id, tables)}}
    scenario = await planner.create_scenario(LOCAL, body)
    job = await planner.submit(LOCAL, SolveRequest(scenario.id, solve_time_s, fresh=True))
    async with aclosing(planner.follow(LOCAL, job.id)) as events:
        async for event in events:
            typer.echo(event_line(event), err=True)
    ended = await planner.job(LOCAL, job.id)
    if ended.error is not None:
        print_failure(ended.error)
    return None if ended.plan_id is None else (body, await planner.plan_of_job(LOCAL, job.id))


def check_seconds(seconds: int, settings: Settings) -> None:
    """Look whether a search may take so long here.

    Raises:
        InputError: It may not.
    """
    if seconds > settings.max_solve_time_s:
        problem = "The search is longer than PLANNER_MAX_SOLVE_TIME_S allows."
        raise input_error([Fault("--seconds", problem, f"1 to {settings.max_solve_time_s}")])


def print_failure(error: Json) -> None:
    """Print why a job failed, with what is to be mended in its scenario."""
    typer.echo(f"error {error['code']} {error['type']}: {error['message']}", err=True)
    if faults := [Fault(**fault) for fault in error.get("errors", ())]:
        print_faults(InputError(error["message"], errors=faults))
