"""Real worker processes on a real store, and what a test needs to watch and to kill them."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from planner_mcp.jobs import ids
from planner_mcp.jobs.events import Event, EventKind
from planner_mcp.jobs.lifecycle import JobState
from planner_mcp.jobs.model import Job, SolveRequest, StoredScenario
from planner_mcp.notify.feed import RedisFeed
from planner_mcp.settings import Settings
from planner_mcp.store.connect import connect
from planner_mcp.store.redis_store import RedisStore
from workers.pool import Pool

OWNER = "local"
SMALLEST = {
    "name": "北京城配",
    "planning_date": "2025-07-15",
    "agents": [{"id": "veh-1", "capacity": 100}],
    "tickets": [{"id": "t-1", "location": "LOC_A", "demand": 20}],
}
"""The smallest call of SPEC T1."""
LONGEST_S = 60
"""Nothing in these tests takes longer."""


@dataclass
class Shop:
    """A store with jobs to do."""

    store: RedisStore
    feed: RedisFeed
    settings: Settings

    async def submit(
        self, body: dict[str, Any], solve_time_s: int, engine: str = "auto", pool: int = 0, **more: Any
    ) -> Job:
        """Queue a job for a scenario."""
        scenario_id = ids.random_name("scn", pool)
        await self.store.put_scenario(StoredScenario(scenario_id, OWNER, body, datetime.now(UTC), "hash"))
        request = SolveRequest(scenario_id, solve_time_s, engine=engine, fresh=True, **more)
        return await self.store.submit(OWNER, request, ids.random_name("job", pool))

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
            while not (found := [pid for warm in children(worker) for pid in descendants(warm)]):  # noqa: ASYNC110
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
            begun = event.data.get("attempt", begun)
            return begun >= number and event.data.get("cost") is not None

        await self.until(job, has_plan)

    async def until_planned(self, job: Job) -> None:
        """Return when a plan was reported."""
        await self.until(job, lambda event: event.data.get("cost") is not None)

    @asynccontextmanager
    async def crew(self, processes: int = 1, **changes: Any) -> AsyncIterator[Pool]:
        """Run workers, with settings changed; after the block they have left."""
        pool = Pool(self.settings.model_copy(update=changes), processes)
        running = asyncio.create_task(pool.run())
        try:
            yield pool
        finally:
            pool.drain()
            pool.drain()
            with anyio.fail_after(LONGEST_S, shield=True):
                await running


@pytest.fixture(scope="module")
async def open_shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    """A store with one worker at work, shared by the tests of a module that break nothing."""
    folder = tmp_path_factory.mktemp("shop")
    settings = Settings(data_dir=folder)
    async with connect(settings) as store, contextlib.aclosing(RedisFeed(store)) as feed:
        shop = Shop(store, feed, settings)
        async with shop.crew():
            await shop.until_end(await shop.submit(SMALLEST, 30))
            yield shop


@pytest.fixture
def shop(store: RedisStore, feed: RedisFeed, settings: Settings) -> Shop:
    """A store without workers yet."""
    return Shop(store, feed, settings.model_copy(update={"lease_s": 1.5}))


def kinds(events: list[Event]) -> list[EventKind]:
    """Return what happened, progress left aside."""
    return [event.kind for event in events if event.kind is not EventKind.PROGRESS]


def children(pid: int) -> list[int]:
    """Return the processes a process has started and not yet buried."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found


def descendants(pid: int) -> list[int]:
    """Return the processes below a process."""
    return [each for child in children(pid) for each in (child, *descendants(child))]


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


async def until_gone(pids: list[int], within_s: float = LONGEST_S) -> None:
    """Return when none of the processes runs."""
    with anyio.fail_after(within_s):
        while any(is_alive(pid) for pid in pids):  # noqa: ASYNC110 — a stranger's death sends no event
            await anyio.sleep(0.01)


async def solver_of(pool: Pool, holder: int | None = None) -> tuple[int, int, int]:
    """Return worker, warm parent and child of a pool's worker that solves: the holder, or the one there is."""
    with anyio.fail_after(LONGEST_S):
        while True:
            for worker in pool.pids if holder is None else [holder]:
                for warm in children(worker):
                    if forks := children(warm):
                        return worker, warm, forks[0]
            await anyio.sleep(0.01)


def kill(pid: int) -> None:
    """Kill a process without warning."""
    os.kill(pid, signal.SIGKILL)


__all__ = ["JobState", "Shop", "children", "descendants", "is_alive", "kill", "kinds", "solver_of", "until_gone"]
