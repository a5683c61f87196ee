"""Measures how long a principal waits whose jobs are queued behind the backlog of another.

The queue alone is measured: store, quotas and claims on the embedded server. The workers claim and complete jobs and
solve nothing, so that a job takes exactly `HOLD_S`.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.result_files import Figure, spread
from benchmarks.scenarios import ONE_TICKET
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_model import Progress, SolveRequest, StoredScenario
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import LOCAL, SCOPES, Principal
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings

PLAN: Final[dict[str, Any]] = {"status": "feasible", "cost": 0.0, "routes": [], "unassigned": []}
BACKLOG: Final = 300
HOLD_S: Final = 0.5
NEWCOMERS: Final = 10
SLOTS: Final = 8


async def measure(folder: Path) -> list[Figure]:
    """Return the figures of an empty data folder."""
    settings = Settings(data_dir=folder, lease_s=60)
    async with connect(settings) as store, aclosing(EventFeed(store)) as feed:
        return [await _wait_of_second_principal(JobService(store, feed, settings=settings), store)]


async def _wait_of_second_principal(job_service: JobService, store: RedisStore) -> Figure:
    other = Principal("second", SCOPES)
    ours = await job_service.create_scenario(LOCAL, ONE_TICKET)
    theirs = await job_service.create_scenario(other, ONE_TICKET)
    for _ in range(BACKLOG):
        await job_service.submit(LOCAL, _request(ours))
    claimed: dict[str, float] = {}

    async def slot(name: str) -> None:
        async with _worker(store, name):
            while isinstance(claim := await store.claim(name, 0.2), Claim):
                claimed[claim.job.id] = time.perf_counter()
                await asyncio.sleep(HOLD_S)
                await store.complete(claim, Progress(percent=99), PLAN)

    slots = asyncio.gather(*(slot(f"bench-{number}") for number in range(SLOTS)))
    waits = []
    for _ in range(NEWCOMERS):
        await asyncio.sleep(2 * HOLD_S)
        began = time.perf_counter()
        job = await job_service.submit(other, _request(theirs))
        while job.id not in claimed:  # noqa: ASYNC110 - a figure, not a test
            await asyncio.sleep(0.001)
        waits.append(claimed[job.id] - began)
    await slots
    note = f"behind {BACKLOG} jobs of {HOLD_S} s of the first, {SLOTS} slots, no solver"
    return spread("second principal's job → claimed", waits, note)


def _request(scenario: StoredScenario) -> SolveRequest:
    return SolveRequest(scenario.id, 1, fresh=True)


@asynccontextmanager
async def _worker(store: RedisStore, name: str) -> AsyncIterator[None]:
    await store.register(name, 1)
    try:
        yield
    finally:
        await store.register(name, 0)
