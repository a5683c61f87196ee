"""`planner-mcp jobs`: list, show, watch and end jobs from a shell (SPEC J5, T4).

Owns the wording of these commands. They ask the configured store and act for one principal, the single user of a server
without authorization unless `--principal` names another. With `--json` standard output carries only JSON, one
object a line.
"""

import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any, Final, TypeVar

import typer

from planner_mcp.cli.store_queries import DataDir, RedisUrl, run_store_query
from planner_mcp.jobs.event_feed import EventFeed
from planner_mcp.jobs.job_content import event_line, job_view, state_line
from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.job_notifications import notification
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import LOCAL, Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from planner_mcp.text import compact

FAILED: Final = 1
"""Exit status when a job that was waited for ended without being completed."""

app = typer.Typer(name="jobs", help="List, show, watch and end jobs.")

R = TypeVar("R")
JobId = Annotated[str, typer.Argument(help="Id of a job, as solve_vrp returns it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]
Owner = Annotated[str, typer.Option("--principal", help="Owner of the jobs, as `keys list` shows it.")]


@app.command("list")
def list_jobs(
    state: Annotated[JobState | None, typer.Option(help="Only jobs in this state.")] = None,
    count: Annotated[int, typer.Option(min=1, max=1000, help="Largest number of lines.")] = 20,
    as_json: AsJson = False,
    principal: Owner = LOCAL.id,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """List jobs, newest first."""
    found, total = _run(
        lambda jobs, owner: jobs.jobs(owner, state, offset=0, count=count), principal, redis_url, data_dir
    )
    for job in found:
        _print_job(job, as_json=as_json)
    if total > len(found) and not as_json:
        typer.echo(f"… and {total - len(found)} more")


@app.command()
def status(
    job_id: JobId,
    as_json: AsJson = False,
    principal: Owner = LOCAL.id,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Show a job."""
    _print_job(_run(lambda jobs, owner: jobs.job(owner, job_id), principal, redis_url, data_dir), as_json=as_json)


@app.command()
def watch(
    job_id: JobId,
    as_json: AsJson = False,
    principal: Owner = LOCAL.id,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Print each event of a job until it ends; exit status 1 unless it is completed."""

    def show(event: Event) -> None:
        typer.echo(compact(notification(event)["params"]) if as_json else f"{event.at}  {event_line(event)}")

    _exit_by(_run(partial(_until_ended, job_id=job_id, on_event=show), principal, redis_url, data_dir))


@app.command()
def wait(
    job_id: JobId,
    as_json: AsJson = False,
    principal: Owner = LOCAL.id,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Wait for the end of a job and show it; exit status 1 unless it is completed."""
    job = _run(partial(_until_ended, job_id=job_id), principal, redis_url, data_dir)
    _print_job(job, as_json=as_json)
    _exit_by(job)


@app.command()
def cancel(
    job_id: JobId,
    discard: Annotated[bool, typer.Option(help="Delete the best plan so far, too.")] = False,
    as_json: AsJson = False,
    principal: Owner = LOCAL.id,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Cancel a job; its best plan so far stays readable."""
    job = _run(lambda jobs, owner: jobs.cancel(owner, job_id, not discard), principal, redis_url, data_dir)
    _print_job(job, as_json=as_json)


@app.command()
def finish(
    job_id: JobId,
    as_json: AsJson = False,
    principal: Owner = LOCAL.id,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """End the search of a job now and complete it with its best plan."""
    job = _run(lambda jobs, owner: jobs.finish_now(owner, job_id), principal, redis_url, data_dir)
    _print_job(job, as_json=as_json)


def _run(use: Callable[[JobService, Principal], Awaitable[R]], principal: str, redis_url: Any, data_dir: Any) -> R:
    """Return what a use case answers on the configured store; an error ends the command with status 1."""

    async def ask(store: RedisStore, settings: Settings) -> R:
        async with EventFeed(store) as feed:
            return await use(JobService(store, feed, settings=settings), Principal(principal))

    return run_store_query(ask, redis_url, data_dir)


async def _until_ended(
    jobs: JobService, owner: Principal, *, job_id: str, on_event: Callable[[Event], None] | None = None
) -> Job:
    """Pass on each event of a job until it ends; return the job."""
    await jobs.job(owner, job_id)
    async with aclosing(jobs.follow(owner, job_id)) as events:
        async for event in events:
            if on_event is not None:
                on_event(event)
    return await jobs.job(owner, job_id)


def _print_job(job: Job, *, as_json: bool) -> None:
    view = job_view(job)
    typer.echo(compact(view) if as_json else f"{job.id}  {state_line(view)}")
    if job.error is not None and not as_json:
        typer.echo(f"  error {job.error.get('code')} {job.error.get('type')}: {job.error.get('message')}", err=True)


def _exit_by(job: Job) -> None:
    sys.exit(0 if job.state is JobState.COMPLETED else FAILED)
