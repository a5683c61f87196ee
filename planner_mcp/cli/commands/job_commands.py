"""`planner-mcp jobs`: list, show, watch and end jobs from a shell (SPEC J5, T4).

Owns the wording of these commands. They ask the configured store and act for one principal, the single user of a server
without authorization unless `--principal` names another; or a running server, with `--url`, and act for the principal
of its key (`remote_jobs.py`). With `--json` standard output carries only JSON, one object a line.
"""

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any, Final, TypeVar

import typer

from planner_mcp.cli.environment_settings import API_KEY
from planner_mcp.cli.remote_jobs import RemoteJobs, run_remote_query
from planner_mcp.cli.store_queries import DataDir, RedisUrl, run_store_query
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_content import job_view, state_line
from planner_mcp.jobs.job_events import notification
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import LOCAL, Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.tools.arguments.lookup_errors import AcceptedId, naming_argument
from planner_mcp.settings import Settings
from planner_mcp.text import Json, compact

FAILED: Final = 1
"""Exit status when a job that was waited for ended without being completed."""

app = typer.Typer(name="jobs", help="List, show, watch and end jobs.")

R = TypeVar("R")
KNOWN: Final[AcceptedId] = ("the id of a job (job-…)", "planner-mcp jobs list shows them.")
JobId = Annotated[str, typer.Argument(help="Id of a job, as solve_vrp returns it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]
Owner = Annotated[str, typer.Option("--principal", help="Owner of the jobs, as `keys list` shows it.")]
ServerUrl = Annotated[
    str | None,
    typer.Option(help=f"Ask a running server, with the key in {API_KEY} if it wants one; absent: the store."),
]


@app.command("list")
def list_jobs(
    state: Annotated[JobState | None, typer.Option(help="Only jobs in this state.")] = None,
    count: Annotated[int, typer.Option(min=1, max=1000, help="Largest number of lines.")] = 20,
    as_json: AsJson = False,
    principal: Owner = LOCAL.id,
    url: ServerUrl = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """List jobs, newest first."""
    found, total = _run(lambda jobs: jobs.list(state, count), principal, url, redis_url, data_dir)
    for view in found:
        _print_job(view, as_json=as_json)
    if total > len(found) and not as_json:
        typer.echo(f"… and {total - len(found)} more")


@app.command()
def status(
    job_id: JobId,
    as_json: AsJson = False,
    principal: Owner = LOCAL.id,
    url: ServerUrl = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Show a job."""
    _print_job(_run(lambda jobs: jobs.job(job_id), principal, url, redis_url, data_dir), as_json=as_json)


@app.command()
def watch(
    job_id: JobId,
    as_json: AsJson = False,
    principal: Owner = LOCAL.id,
    url: ServerUrl = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Print each event of a job until it ends; exit status 1 unless it is completed."""

    def show(at: str, params: Json) -> None:
        typer.echo(compact(params) if as_json else f"{at}  {state_line({'status': '', 'progress': 0, **params})}")

    _exit_by(_run(partial(_until_ended, job_id=job_id, on_event=show), principal, url, redis_url, data_dir))


@app.command()
def wait(
    job_id: JobId,
    as_json: AsJson = False,
    principal: Owner = LOCAL.id,
    url: ServerUrl = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Wait for the end of a job and show it; exit status 1 unless it is completed."""
    view = _run(partial(_until_ended, job_id=job_id), principal, url, redis_url, data_dir)
    _print_job(view, as_json=as_json)
    _exit_by(view)


@app.command()
def cancel(
    job_id: JobId,
    discard: Annotated[bool, typer.Option(help="Delete the best plan so far, too.")] = False,
    as_json: AsJson = False,
    principal: Owner = LOCAL.id,
    url: ServerUrl = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Cancel a job; its best plan so far stays readable."""
    view = _run(lambda jobs: jobs.cancel(job_id, keep_best=not discard), principal, url, redis_url, data_dir)
    _print_job(view, as_json=as_json)


@app.command()
def finish(
    job_id: JobId,
    as_json: AsJson = False,
    principal: Owner = LOCAL.id,
    url: ServerUrl = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """End the search of a job now and complete it with its best plan."""
    view = _run(lambda jobs: jobs.finish(job_id), principal, url, redis_url, data_dir)
    _print_job(view, as_json=as_json)


class StoredJobs:
    """The jobs of a principal in the store; `RemoteJobs` are those of a server."""

    def __init__(self, jobs: JobService, owner: Principal) -> None:
        self._jobs = jobs
        self._owner = owner

    async def list(self, state: JobState | None, count: int) -> tuple[list[Json], int]:
        """Return the newest jobs, and how many there are."""
        found, total = await self._jobs.jobs(self._owner, state, offset=0, count=count)
        return [job_view(job) for job in found], total

    async def job(self, job_id: str) -> Json:
        """Return a job."""
        return job_view(await self._jobs.job(self._owner, job_id))

    async def cancel(self, job_id: str, *, keep_best: bool) -> Json:
        """Cancel a job."""
        return job_view(await self._jobs.cancel(self._owner, job_id, keep_best))

    async def finish(self, job_id: str) -> Json:
        """Complete a job with its best plan."""
        return job_view(await self._jobs.finish_now(self._owner, job_id))

    async def events(self, job_id: str) -> AsyncGenerator[tuple[str, Json], None]:
        """Yield time and content of each event of a job until it ends."""
        await self.job(job_id)
        async with aclosing(self._jobs.follow(self._owner, job_id)) as events:
            async for event in events:
                yield event.at, notification(event)["params"]


Jobs = StoredJobs | RemoteJobs


def _run(use: Callable[[Jobs], Awaitable[R]], principal: str, url: str | None, redis_url: Any, data_dir: Any) -> R:
    """Return what the store, or the server at a URL, answers; an error ends the command with status 1."""
    if url is None:
        return run_store_query(partial(_of_store, use, principal), redis_url, data_dir)
    if principal != LOCAL.id or redis_url is not None or data_dir is not None:
        raise typer.BadParameter("--url asks a server: leave out --principal, --redis-url and --data-dir")
    return run_remote_query(use, url)


async def _of_store(
    use: Callable[[StoredJobs], Awaitable[R]], principal: str, store: RedisStore, settings: Settings
) -> R:
    owner = LOCAL if principal == LOCAL.id else Principal(principal)
    async with EventFeed(store) as feed:
        with naming_argument("/job_id", KNOWN):
            return await use(StoredJobs(JobService(store, feed, settings=settings), owner))


async def _until_ended(jobs: Jobs, *, job_id: str, on_event: Callable[[str, Json], None] | None = None) -> Json:
    """Pass on each event of a job until it ends; return the job."""
    async with aclosing(jobs.events(job_id)) as events:
        async for at, params in events:
            if on_event is not None:
                on_event(at, params)
    return await jobs.job(job_id)


def _print_job(view: Json, *, as_json: bool) -> None:
    typer.echo(compact(view) if as_json else f"{view['job_id']}  {state_line(view)}")
    if (error := view.get("error")) is not None and not as_json:
        typer.echo(f"  error {error.get('code')} {error.get('type')}: {error.get('message')}", err=True)


def _exit_by(view: Json) -> None:
    sys.exit(0 if view["status"] == JobState.COMPLETED.upper() else FAILED)
