"""`planner-mcp validate`, `solve` and `matrix`: a scenario of a file is checked or planned without a client.

Owns the wording of these commands and what they print; `command_files.py` reads the scenario and writes the plan. Here
`travel.matrix` is the path of a file beside the scenario's, or the id of uploaded matrices; `validate` opens no store,
so it does not look for those.
"""

import sys
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Any

import typer

from planner_mcp.cli.command_files import (
    STDIN,
    check_output,
    form_of,
    print_faults,
    read_matrices,
    read_scenario,
    write_plan,
)
from planner_mcp.cli.command_runner import command_settings, run_command
from planner_mcp.cli.printed_plans import DRAWN
from planner_mcp.cli.store_queries import DataDir, RedisUrl
from planner_mcp.errors import Fault, InputError, input_error
from planner_mcp.formats.plan_exports import Lines, positions
from planner_mcp.jobs.ids import is_id
from planner_mcp.jobs.job_content import event_line
from planner_mcp.jobs.job_model import SolveRequest
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.matrix_service import matrix_id_of
from planner_mcp.jobs.principals import LOCAL
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.server.tools.arguments.resolved_inputs import (
    ResolvedInputs,
    resolution_faults,
    scenario_within_limits,
    with_default_travel,
    with_uploaded_matrices,
)
from planner_mcp.server.tools.arguments.scenario_addresses import AddressedDay
from planner_mcp.server.tools.validate_scenario import lines_of, validation_report
from planner_mcp.settings import Settings

Json = dict[str, Any]
File = Annotated[Path, typer.Argument(help="A scenario as JSON, as create_scenario takes it; - for standard input.")]
app = typer.Typer()


@app.command()
def validate(file: File) -> None:
    """Print every fault and warning of a scenario; exit status 1 if it cannot be planned."""
    sys.exit(0 if print_validation(file, command_settings()) else 1)


@app.command()
def solve(
    file: File,
    seconds: Annotated[int, typer.Option(min=1, help="Longest search.")] = 10,
    output: Annotated[Path | None, typer.Option(help="File (.json, .csv, .geojson, .gpx); absent or -: JSON.")] = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Plan a scenario and write the plan; exit status 1 when there is none."""
    settings = command_settings(redis_url=redis_url, data_dir=data_dir)
    planned = run_command(_solve_with_worker(file, seconds, output, settings))
    is_written = planned is not None and write_plan(planned[1], planned[0], output, planned[2])
    sys.exit(0 if is_written else 1)


async def _solve_with_worker(
    file: Path, seconds: int, output: Path | None, settings: Settings
) -> tuple[Json, Json, Lines] | None:
    """Return the scenario, its plan, and its lines along the roads where a map is to be written."""
    from planner_mcp.app import open_application
    from planner_mcp.cli.server_processes import workers_beside
    from planner_mcp.travel.route_geometry import RouteGeometry

    async with open_application(settings) as services, workers_beside(settings, 1):
        planned = await solve_file(services.job_service, file, seconds, output, settings=settings)
        if planned is None:
            return None
        scenario, plan = planned
        is_map = form_of(output) in DRAWN
        geometry = RouteGeometry(settings)
        lines = await geometry.lines("", Plan.from_json(plan), positions(scenario)) if is_map else {}
        return scenario, plan, lines


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


def matrices_beside(path: Path, body: Any, settings: Settings) -> TravelMatrices | None:
    """Return the tables that the scenario of a file names by their path; None where it names none."""
    named = matrix_id_of(body)
    folder = Path() if str(path) == STDIN else path.parent
    return None if named is None or is_id(named) else read_matrices(folder / named, settings, "/travel/matrix")


def print_validation(path: Path, settings: Settings) -> bool:
    """Print what is wrong or odd about the scenario of a file; return whether it can be planned."""
    try:
        body = with_default_travel(read_scenario(path), settings)
        resolved = ResolvedInputs(
            matrices_beside(path, body, settings), tuple(resolution_faults(body, settings)), shows_names=True
        )
        found = validation_report(body, {}, settings, lambda _: resolved, AddressedDay)
    except InputError as error:
        print_faults(error)
        return False
    typer.echo("\n".join(lines_of(found)))
    return found.valid


async def solve_file(
    job_service: JobService, path: Path, solve_time_s: int, output: Path | None, *, settings: Settings
) -> tuple[Json, Json] | None:
    """Plan the scenario of a file, telling progress as it comes and what made it fail.

    Args:
        job_service: Whom the job is given to.
        path: Of the scenario.
        solve_time_s: Longest search.
        output: Where the plan is to go; looked at before the search.
        settings: Limits, and the road engines there are.

    Returns:
        The scenario and its plan; None where there is none.
    """
    try:
        check_seconds(solve_time_s, settings)
        body = with_default_travel(read_scenario(path), settings)
        travel_matrices = matrices_beside(path, body, settings)
        resolved = ResolvedInputs(travel_matrices, tuple(resolution_faults(body, settings)), shows_names=True)
        scenario_within_limits(body, settings, await with_uploaded_matrices(job_service, LOCAL, body, resolved))
        check_output(output, body)
    except InputError as error:
        print_faults(error)
        return None
    if travel_matrices is not None:
        body = {
            **body,
            "travel": {**body["travel"], "matrix": await job_service.matrices.keep(LOCAL.id, travel_matrices)},
        }
    scenario = await job_service.create_scenario(LOCAL, body)
    job = await job_service.submit(LOCAL, SolveRequest(scenario.id, solve_time_s, fresh=True))
    async with aclosing(job_service.follow(LOCAL, job.id)) as events:
        async for event in events:
            typer.echo(event_line(event), err=True)
    ended = await job_service.job(LOCAL, job.id)
    if ended.error is not None:
        print_failure(ended.error)
    return None if ended.plan_id is None else (body, (await job_service.plan_of_job(LOCAL, job.id)).as_json())


def check_seconds(seconds: int, settings: Settings) -> None:
    """Check the length of a search against the limit.

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
