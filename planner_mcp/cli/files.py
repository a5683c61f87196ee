"""`planner-mcp validate FILE` and `solve FILE`: a scenario of a file judged, or planned, without a client.

Owns the wording of these commands and what they print; `commands.py` hangs them into the command line and brings the
workers. A plan goes to standard output as JSON or to a file in the form its name ends in, everything else to standard
error. Here `travel.matrix` is the path of a file beside the scenario's.
"""

import json
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import typer

from planner_mcp.errors import Fault, InputError, input_error
from planner_mcp.files.exports import export
from planner_mcp.jobs.ids import is_name
from planner_mcp.jobs.matrices import matrix_named
from planner_mcp.jobs.model import LOCAL, SolveRequest
from planner_mcp.jobs.service import Planner
from planner_mcp.settings import Settings
from planner_mcp.tools.borrowing import Borrowed, day_faults, read_day
from planner_mcp.tools.job_view import event_line
from planner_mcp.tools.validate_scenario import judged, lines_of
from planner_mcp.vrp.day.table_text import read_tables
from planner_mcp.vrp.day.tables import Tables

Json = dict[str, Any]
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
        file = "The standard input" if str(path) == STDIN else str(path)
        problem = told(path, error) if isinstance(error, OSError) else f"{file} is not JSON."
        raise input_error([Fault("", problem, "JSON (UTF-8)")]) from error


def told(path: Path, error: OSError) -> str:
    """Return why a file cannot be read, with its name."""
    return f"{path}: {error.strerror or 'The file cannot be read.'}"


def read_matrices(path: Path, settings: Settings) -> Tables:
    """Return the tables of travel of a file.

    Raises:
        InputError: It cannot be read, or is no such file.
    """
    try:
        return read_tables(path.read_text(encoding="utf-8"), max_locations=settings.max_matrix_locations)
    except (OSError, UnicodeDecodeError):
        fault = Fault("/travel/matrix", "The file of matrices cannot be read.", "a path beside the scenario's file")
        raise input_error([fault]) from None


def tables_beside(path: Path, body: Any, settings: Settings) -> Tables | None:
    """Return the tables that the scenario of a file names by their path; None where it names none."""
    named = matrix_named(body)
    folder = Path() if str(path) == STDIN else path.parent
    return None if named is None or is_name(named) else read_matrices(folder / named, settings)


def validate(path: Path, settings: Settings) -> bool:
    """Print what is wrong or odd about the scenario of a file; return whether it can be planned."""
    try:
        body = read_scenario(path)
        borrowed = Borrowed(tables_beside(path, body, settings), tuple(day_faults(body, settings)))
        found = judged(body, {}, settings, lambda _: borrowed)
    except InputError as error:
        print_faults(error)
        return False
    typer.echo("\n".join(lines_of(found)))
    return bool(found["valid"])


async def solve(planner: Planner, path: Path, solve_time_s: int, *, settings: Settings) -> tuple[Json, Json] | None:
    """Plan the scenario of a file, telling progress as it comes; return it and its plan, None where there is none."""
    try:
        body = read_scenario(path)
        tables = tables_beside(path, body, settings)
        read_day(body, settings, Borrowed(tables, tuple(day_faults(body, settings))))
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
    has_plan = (await planner.job(LOCAL, job.id)).plan_id is not None
    return (body, await planner.plan_of_job(LOCAL, job.id)) if has_plan else None


def write_plan(plan: Json, scenario: Json, output: Path | None) -> bool:
    """Write a plan to standard output as JSON, or to a file in the form its name ends in; return whether it could."""
    form = "json" if output is None else output.suffix.lstrip(".").lower() or "json"
    try:
        text = export(plan, scenario, form)
    except InputError as error:
        print_faults(error)
        return False
    if output is None:
        typer.echo(text, nl=False)
    else:  # spreadsheets take a file without a mark for one in the encoding of the machine
        output.write_text(text, encoding="utf-8-sig" if form == "csv" else "utf-8", newline="")
    return True


def print_faults(error: InputError) -> None:
    """Print what is wrong, a line each."""
    typer.echo("\n".join(error.lines()), err=True)
