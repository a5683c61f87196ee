"""Real worker processes on a real store, and what a test needs to watch and to kill them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest

from benchmarks.process_stats import descendants
from planner_mcp.jobs import ids
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_events import Event, EventKind
from planner_mcp.jobs.job_model import Job, SolveRequest, StoredScenario
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.shared.processes.process_tree import LONGEST_S, children
from workers.supervisor import Supervisor

OWNER = "local"


def check_plans_improve(events: list[Event]) -> None:
    """Check that no event of a job reports a plan that is worse than the one before."""
    best = [(event.data.penalty or 0, event.data.cost) for event in events if event.data.cost is not None]
    assert best == sorted(best, reverse=True)


@dataclass
class WorkerHarness:
    """A store with jobs to do."""

    store: RedisStore
    feed: EventFeed
    settings: Settings
    supervisor: Supervisor | None = None
    """Of the workers of `running_workers`, while they run."""

    async def submit(
        self, body: dict[str, Any], solve_time_s: int, engine: str = "auto", pool: int = 0, **more: Any
    ) -> Job:
        """Queue a job for a scenario."""
        scenario_id = ids.random_id("scn", pool)
        await self.store.put_scenario(StoredScenario(scenario_id, OWNER, body, datetime.now(UTC), "hash"))
        request = SolveRequest(scenario_id, solve_time_s, engine=engine, fresh=True, **more)
        return await self.store.submit(OWNER, request, ids.random_id("job", pool))

    async def job(self, job: Job) -> Job:
        """Return a job as it stands."""
        return await self.store.get_job(OWNER, job.id)

    async def holder(self, job: Job) -> int:
        """Return the process id of the worker that holds a job."""
        return int((await self.store.redis.hget(f"{{p0}}:job:{job.id}", "worker")).split("-")[-2])

    async def solvers(self, job: Job) -> list[int]:
        """Return the processes that search for a job: the child of its worker, and whatever it started."""
        worker = await self.holder(job)
        with anyio.fail_after(LONGEST_S):
            while not (found := [pid for fork_server in children(worker) for pid in descendants(fork_server)]):  # noqa: ASYNC110
                await anyio.sleep(0.01)
        return found

    async def until(self, job: Job, is_it: Callable[[Event], bool]) -> list[Event]:
        """Follow a job until an event, or its end; return all events up to there."""
        seen: list[Event] = []
        with anyio.fail_after(LONGEST_S):
            async for event in self.feed.follow(OWNER, job.id):
                seen.append(event)
                if is_it(event):
                    break
        return seen

    async def until_end(self, job: Job) -> list[Event]:
        """Follow a job to its end."""
        return await self.until(job, lambda event: event.is_final)

    async def until_solving(self, job: Job) -> None:
        """Return when a worker has claimed the job."""
        await self.until(job, lambda event: event.kind is EventKind.STARTED)

    async def until_attempt(self, job: Job, number: int) -> None:
        """Return when a plan was reported in this attempt or a later one."""
        begun = 0

        def has_plan(event: Event) -> bool:
            nonlocal begun
            begun = event.data.attempt or begun
            return begun >= number and event.data.cost is not None

        await self.until(job, has_plan)

    async def until_planned(self, job: Job) -> None:
        """Return when a plan was reported."""
        await self.until(job, lambda event: event.data.cost is not None)

    @asynccontextmanager
    async def running_workers(self, processes: int = 1, **changes: Any) -> AsyncIterator[Supervisor]:
        """Run workers, with settings changed; after the block they have left."""
        self.supervisor = pool = Supervisor(self.settings.model_copy(update=changes), processes)
        running = asyncio.create_task(pool.run())
        try:
            yield pool
        finally:
            self.supervisor = None
            pool.drain()
            pool.drain()
            with anyio.fail_after(LONGEST_S, shield=True):
                await running


@pytest.fixture
def harness(store: RedisStore, feed: EventFeed, settings: Settings) -> WorkerHarness:
    """A store without workers yet."""
    return WorkerHarness(store, feed, settings.model_copy(update={"lease_s": 1.5}))


def kinds(events: list[Event]) -> list[EventKind]:
    """Return what happened, progress left aside."""
    return [event.kind for event in events if event.kind is not EventKind.PROGRESS]


async def solver_of(pool: Supervisor | None, holder: int | None = None) -> tuple[int, int, int]:
    """Return worker, fork server and child of a pool's worker that solves: the holder, or the one there is."""
    assert pool is not None
    with anyio.fail_after(LONGEST_S):
        while True:
            for worker in pool.pids if holder is None else [holder]:
                for fork_server in children(worker):
                    if forks := children(fork_server):
                        return worker, fork_server, forks[0]
            await anyio.sleep(0.01)
