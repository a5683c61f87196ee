"""One solve from the command line: a scenario and a worker go in, a plan comes out, and Ctrl-C ends it early.

Owns the order of steps and the signals; what is shown is `solve_display.py`. The first SIGINT or SIGTERM asks the job
to complete with its best plan, the second cancels it and ends the command as interrupted.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import typer

from planner_mcp.cli.command_runner import INTERRUPTED
from planner_mcp.cli.files.command_files import check_output, matrices_beside, output_form
from planner_mcp.cli.files.printed_plans import DRAWN
from planner_mcp.cli.processes.solve_display import SearchDisplay, search_display
from planner_mcp.errors import Fault, JobFailure, PlannerError, error_text, input_error
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job, SolveRequest
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import LOCAL
from planner_mcp.routing.plan import Plan, gap_at_most
from planner_mcp.routing.scenario.coordinates import Lines, globe_positions
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.shown_scenario import ShownScenario, as_shown
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.server.tools.arguments.resolved_inputs import (
    ResolvedInputs,
    ScenarioBounds,
    resolution_faults,
    scenario_within_limits,
    with_default_travel,
    with_uploaded_matrices,
)
from planner_mcp.settings import Settings
from workers.supervisor import signals_to

USUAL_S: Final = 10
"""Longest search where none is asked for."""
SECONDS_HELP: Final = f"Longest search; absent: {USUAL_S}, or PLANNER_MAX_SOLVE_TIME_S if that is less."
BOUND_TICKETS: Final = 200
"""Tickets of a day whose lower bound is worked out beside the search, in well under a second."""


@dataclass(frozen=True, slots=True)
class SolveRun:
    """What is asked of one solve."""

    path: Path
    """Of the scenario; matrices it names lie beside it."""
    body: Any
    seconds: int | None
    """The longest search; None for the usual one."""
    output: Path | None
    as_json: bool


@dataclass(frozen=True, slots=True)
class Solved:
    """A job that has a plan."""

    scenario: ShownScenario
    plan: Plan
    job: Job
    """After its end."""
    gap: float | None
    """Share of the cost that a better plan could save at most; None where it is not known."""
    lines: Lines = field(default_factory=dict)


async def solve_beside_worker(asked: SolveRun, settings: Settings) -> Solved | None:
    """Return what a worker that runs for this solve alone makes of it; None where there is no plan.

    Raises:
        InputError: All that is wrong with what is asked.
    """
    from planner_mcp.app import open_application
    from planner_mcp.cli.processes.server_processes import workers_beside
    from planner_mcp.travel.route_geometry import RouteGeometry

    async with open_application(settings) as services, workers_beside(settings, 1):
        with search_display(as_json=asked.as_json) as display:
            solved = await _solved(services.job_service, asked, settings, display)
        if solved is None or output_form(asked.output) not in DRAWN:
            return solved
        lines = await RouteGeometry(settings).lines("", solved.plan, globe_positions(solved.scenario))
        return replace(solved, lines=lines)


async def _solved(jobs: JobService, asked: SolveRun, settings: Settings, display: SearchDisplay) -> Solved | None:
    seconds = _search_seconds(asked.seconds, settings)
    body, travel_matrices = await _checked(jobs, asked, settings)
    scenario = await jobs.create_scenario(LOCAL, body)
    job = await jobs.submit(LOCAL, SolveRequest(scenario.id, seconds, fresh=True))
    bounding = asyncio.create_task(_bound(body, travel_matrices, display))
    with _interruptible(jobs, job, display) as signals:
        async with aclosing(jobs.follow(LOCAL, job.id)) as events:
            async for event in events:
                display.event(event)
    ended = await jobs.job(LOCAL, job.id)
    bound = await bounding
    if ended.error is not None:
        print_failure(ended.error)
    if len(signals) > 1 and ended.state is JobState.CANCELLED:
        raise typer.Exit(INTERRUPTED)
    if ended.plan_id is None or ended.state is not JobState.COMPLETED:
        return None
    plan = await jobs.plan_of_job(LOCAL, job.id)
    gap = gap_at_most(plan.cost, bound) if bound is not None and not plan.unassigned else None
    return Solved(as_shown(body), plan, ended, gap)


async def _checked(jobs: JobService, asked: SolveRun, settings: Settings) -> tuple[ScenarioBody, TravelMatrices | None]:
    """Return the scenario to create, its matrices uploaded, and these matrices; refuse with all that is wrong."""
    bounds = ScenarioBounds.of(settings)
    body = with_default_travel(asked.body, bounds)
    travel_matrices = matrices_beside(asked.path, body, settings)
    resolved = ResolvedInputs(travel_matrices, tuple(resolution_faults(body, bounds)), shows_names=True)
    scenario_within_limits(body, bounds, await with_uploaded_matrices(jobs, LOCAL, body, resolved))
    check_output(asked.output, as_shown(body))
    if travel_matrices is not None:
        kept = await jobs.matrices.keep(LOCAL.id, travel_matrices)
        body = {**body, "travel": {**body["travel"], "matrix": kept}}
    return body, travel_matrices


async def _bound(body: ScenarioBody, travel_matrices: TravelMatrices | None, display: SearchDisplay) -> float | None:
    """Return a lower bound on the cost of serving all tickets, and show it; None for large days and unknown travel."""
    from planner_mcp.server.tools.jobs.read_progress import lower_bound_of

    if len(body["tickets"]) > BOUND_TICKETS:
        return None
    bound = await asyncio.to_thread(lower_bound_of, body, travel_matrices)
    if bound is None or bound.cost is None:
        return None
    display.bound(bound.cost)
    return bound.cost


@contextmanager
def _interruptible(jobs: JobService, job: Job, display: SearchDisplay) -> Iterator[list[asyncio.Task[None]]]:
    """Finish the job at the first signal inside the block, and cancel it at the next; yield what each has begun."""
    begun: list[asyncio.Task[None]] = []

    def on_signal() -> None:
        if not begun:
            work = _tried(
                jobs.finish_now(LOCAL, job.id), "Finishing with the best plan; Ctrl-C again gives up.", display
            )
        else:
            work = _tried(jobs.cancel(LOCAL, job.id), "Stopped.", display)
        begun.append(asyncio.create_task(work))

    with signals_to(on_signal):
        yield begun


async def _tried(work: Coroutine[Any, Any, object], sentence: str, display: SearchDisplay) -> None:
    """Change the job, and say so; a job that has ended meanwhile, or has no plan yet, cannot be changed."""
    try:
        await work
        display.note(sentence)
    except PlannerError as error:
        display.note(error.lines()[0])


def _search_seconds(seconds: int | None, settings: Settings) -> int:
    """Return the length of a search; the usual one where none is asked for, or the longest that is allowed."""
    most = settings.max_solve_time_s
    if seconds is None:
        return min(USUAL_S, most)
    if seconds > most:
        problem = "The search is longer than PLANNER_MAX_SOLVE_TIME_S allows."
        raise input_error([Fault("--seconds", problem, f"1 to {most}")])
    return seconds


def print_failure(error: JobFailure) -> None:
    """Print why a job failed, with what is to be corrected in its scenario."""
    typer.echo(error_text(error.code, error.type, error.message, [fault.as_line() for fault in error.faults]), err=True)
