"""`planner-mcp validate`, `solve` and `matrix`: a scenario of a file is checked or planned without a client.

Owns the wording of these commands and what they print; `command_files.py` reads the scenario and writes the plan. Here
`travel.matrix` is the path of a file beside the scenario's, or the id of uploaded matrices; `validate` opens no store,
so it does not look for those.
"""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from planner_mcp.cli.command_runner import command_settings, refuse, run_command
from planner_mcp.cli.files.command_files import STDIN, matrices_beside, read_matrices, read_scenario, write_plan
from planner_mcp.cli.files.file_import import (
    DATE_HELP,
    Agent,
    Agents,
    Capacity,
    Columns,
    Decimal,
    Depot,
    Format,
    ImportAnswers,
    Sheet,
    addressed_day,
    imported_with_questions,
)
from planner_mcp.cli.files.printed_plans import OUTPUT_HELP
from planner_mcp.cli.processes.solve_display import show_plan
from planner_mcp.cli.processes.solve_run import SECONDS_HELP, Solved, SolveRun, solve_beside_worker
from planner_mcp.cli.store_queries import DataDir, RedisUrl
from planner_mcp.errors import InputError
from planner_mcp.jobs.job_content import job_view
from planner_mcp.jobs.principals import LOCAL
from planner_mcp.server.tools.arguments.day_reading import DayReader
from planner_mcp.server.tools.arguments.resolved_inputs import OPEN, ResolvedInputs, ScenarioBounds, resolution_faults
from planner_mcp.server.tools.scenarios.validate_scenario import report_lines, validation_report
from planner_mcp.settings import Settings
from planner_mcp.text import compact, counted

File = Annotated[Path, typer.Argument(help="A scenario as JSON, as create_scenario takes it; - for standard input.")]
app = typer.Typer()


@app.command()
def validate(file: File) -> None:
    """Print every fault and warning of a scenario; exit status 1 if it cannot be planned."""
    settings = command_settings()
    try:
        body, bounds = read_scenario(file), ScenarioBounds.of(settings)
        resolved = ResolvedInputs(
            matrices_beside(file, body, settings), tuple(resolution_faults(body, bounds)), shows_names=True
        )
        reader = DayReader(bounds, lambda _: resolved, partial(addressed_day, settings=settings))
        found = validation_report(body, {}, reader)
    except InputError as error:
        refuse(error)
    typer.echo("\n".join(report_lines(found)))
    sys.exit(0 if found.valid else 1)


@app.command()
def solve(
    file: Annotated[
        Path,
        typer.Argument(help="A scenario as JSON, or a file that `import` reads; - for a scenario on standard input."),
    ],
    seconds: Annotated[int | None, typer.Option(min=1, help=SECONDS_HELP)] = None,
    cores: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="CPU cores; absent: PLANNER_SOLVE_CORES, else up to 8 of this machine."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help=f"{OUTPUT_HELP} Absent: JSON, unless standard output is a terminal; -: JSON.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print events and the result as JSON, one object a line.")
    ] = False,
    date: Annotated[str, typer.Option(help=DATE_HELP)] = "",
    agents: Agents = None,
    agent: Agent = None,
    capacity: Capacity = None,
    depot: Depot = "",
    sheet: Sheet = "",
    form: Format = None,
    column: Columns = [],  # noqa: B006 — typer copies it
    decimal: Decimal = "",
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Plan a scenario and write the plan; exit status 1 when there is none.

    Ctrl-C once ends the search and writes the best plan, twice gives up.
    """
    given = ImportAnswers(date, agents, agent, capacity, depot, "", sheet, form, tuple(column), decimal)
    settings = command_settings(redis_url=redis_url, data_dir=data_dir)
    if cores is not None:
        settings = settings.model_copy(update={"solve_cores": cores})
    if "log_level" not in settings.model_fields_set:  # what the worker does is shown as progress
        settings = settings.model_copy(update={"log_level": "warning"})
    try:
        body = _scenario_of(file, given, settings)
    except InputError as error:
        refuse(error)
    asked = SolveRun(file, body, seconds, output, as_json)
    solved = run_command(solve_beside_worker(asked, settings))
    if solved is None:
        sys.exit(1)
    try:
        _show(asked, solved)
    except InputError as error:
        refuse(error)


def _scenario_of(file: Path, given: ImportAnswers, settings: Settings) -> Any:
    """Return the scenario of a file, which is imported where it is no JSON, or where its format is named."""
    if given.form is None and (str(file) == STDIN or file.suffix.lower() in ("", ".json")):
        return _with_positions(read_scenario(file), settings)
    return imported_with_questions(file, given, settings).body


def _with_positions(body: Any, settings: Settings) -> Any:
    """Return a scenario with positions for its addresses, and print what is to be said of them."""
    day = addressed_day(body, settings)
    for notice in day.notices:
        typer.echo(notice, err=True)
    places = day.body.get("locations") if isinstance(day.body, dict) else None
    if count := sum(isinstance(place, dict) and OPEN in place for place in places or ()):
        typer.echo(f"{counted(count, 'open address')}; planner-mcp validate shows what may be meant.", err=True)
    return day.body


def _show(asked: SolveRun, solved: Solved) -> None:
    """Print a job that was solved, and write its plan where that was asked for."""
    if asked.as_json:
        view = job_view(solved.job)
        typer.echo(compact(view if asked.output else {**view, "plan": solved.plan.as_json()}))
        if asked.output is None:
            return
    else:
        show_plan(solved.scenario, solved.plan, solved.gap)
        if asked.output is None and sys.stdout.isatty():
            typer.echo("--output writes the plan to a file.", err=True)
            return
    write_plan(solved.plan, solved.scenario, asked.output, solved.lines)


@app.command()
def matrix(
    file: Annotated[Path, typer.Argument(help="Matrices as JSON, as PUT /matrices takes them.")],
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Keep large matrices for the single user and print the id that `travel.matrix` names."""
    settings = command_settings(redis_url=redis_url, data_dir=data_dir)
    run_command(_keep_matrix(file, settings))


async def _keep_matrix(file: Path, settings: Settings) -> None:
    from planner_mcp.app import open_application

    async with open_application(settings) as services:
        typer.echo(await services.job_service.matrices.keep(LOCAL.id, read_matrices(file, settings)))
