"""Measures the engine room alone: store, queue and feed on the embedded server, without HTTP and without a solver.

Owns one measurement per function. A worker here claims and completes like the real one but solves nothing, so the
figures are what the house itself costs.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.result_files import Figure, rate, spread
from planner_mcp.jobs.event_feed import EventFeed
from planner_mcp.jobs.job_events import EventKind
from planner_mcp.jobs.job_model import Progress, SolveRequest, StoredScenario
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import LOCAL, SCOPES, Principal
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings

SMALLEST: Final = {
    "name": "bench",
    "planning_date": "2025-07-15",
    "agents": [{"id": "veh-1", "capacity": 100}],
    "tickets": [{"id": "t-1", "location": "LOC_A", "demand": 20}],
}
PLAN: Final[dict[str, Any]] = {"status": "feasible", "cost": 0.0, "routes": [], "unassigned": []}
WORKER: Final = "bench"
CROWD: Final = 300
HOLD_S: Final = 0.5
NEWCOMERS: Final = 10
SLOTS: Final = 8
"""Of one worker; each is a worker to the store, as the processes of a pool are."""
DRAINING: Final = 16
"""Of the one that empties a backlog: as many as jobs are in flight over HTTP."""


async def measure(folder: Path, *, n: int) -> list[Figure]:
    """Return all figures of the engine room.

    Args:
        folder: Empty data folder.
        n: Samples a measurement.
    """
    async with _job_store(folder / "drain") as (job_service, store, scenario):  # empty, as a job library finds its own
        drained = await _drain(job_service, store, scenario, 2 * n)
    async with _job_store(folder / "rest") as (job_service, store, scenario):
        return [
            await _submit(job_service, store, scenario, n),
            await _pick_up(job_service, store, scenario, n),
            await _event(job_service, store, scenario, n),
            drained,
            await _second(job_service, store, scenario),
        ]


@asynccontextmanager
async def _job_store(folder: Path) -> AsyncIterator[tuple[JobService, RedisStore, StoredScenario]]:
    """Open a store of its own, with nothing in it but a scenario."""
    settings = Settings(
        data_dir=folder,
        lease_s=60,
        max_queued_per_principal=1_000_000,
        max_queued=1_000_000,
        max_solving_per_principal=64,
    )
    async with connect(settings) as store, aclosing(EventFeed(store)) as feed:
        job_service = JobService(store, feed, settings=settings)
        yield job_service, store, await job_service.create_scenario(LOCAL, SMALLEST)


def _request(scenario: StoredScenario) -> SolveRequest:
    return SolveRequest(scenario.id, 1, fresh=True)


async def _submit(job_service: JobService, store: RedisStore, scenario: StoredScenario, n: int) -> Figure:
    samples = []
    for _ in range(n):
        started = time.perf_counter()
        await job_service.submit(LOCAL, _request(scenario))
        samples.append(time.perf_counter() - started)
    await _all_claimed(store, n)
    return spread("submit, engine only", samples, "one Lua step, durable (appendfsync always) when it returns")


async def _all_claimed(store: RedisStore, n: int) -> None:
    left = iter(range(n))

    async def slot(name: str) -> None:
        async with _worker(store, name):
            claim = None
            for _ in left:
                claim = claim or await store.claim(name, 5.0)
                assert claim is not None, "the job went to nobody"
                claim = await store.complete(claim, Progress(percent=99), PLAN, take_next=True)
            if claim is not None:
                await store.hand_back(claim)

    await asyncio.gather(*(slot(f"{WORKER}-{number}") for number in range(DRAINING)))


async def _pick_up(job_service: JobService, store: RedisStore, scenario: StoredScenario, n: int) -> Figure:
    samples = []
    async with _worker(store):
        for _ in range(n):
            waiting = asyncio.create_task(store.claim(WORKER, 5.0))
            await asyncio.sleep(0.001)  # the worker stands at the queue before the job comes
            started = time.perf_counter()
            await job_service.submit(LOCAL, _request(scenario))
            claim = await waiting
            samples.append(time.perf_counter() - started)
            assert claim is not None, "the job went to nobody"
            await store.complete(claim, Progress(percent=99), PLAN)
    return spread("submit → claimed, engine only", samples, "to a worker that waits at the queue")


async def _event(job_service: JobService, store: RedisStore, scenario: StoredScenario, n: int) -> Figure:
    samples: list[float] = []
    async with _worker(store):
        job = await job_service.submit(LOCAL, _request(scenario))
        claim = await store.claim(WORKER, 5.0)
        assert claim is not None, "the job went to nobody"
        async with aclosing(job_service.follow(LOCAL, job.id)) as events:
            async for event in events:
                if event.kind is EventKind.STARTED:
                    break
            for index in range(n):
                started = time.perf_counter()
                reporting = asyncio.create_task(_report(store, claim, index))
                await anext(events)
                samples.append(time.perf_counter() - started)
                await reporting
        await store.complete(claim, Progress(percent=99), PLAN)
    return spread("event, engine only", samples, "worker's report → follower in another task, through Redis")


async def _report(store: RedisStore, claim: Claim, index: int) -> None:
    await store.report(claim, Progress(percent=index % 99, cost=1e6 - index, improvements=index), None)


async def _drain(job_service: JobService, store: RedisStore, scenario: StoredScenario, n: int) -> Figure:
    for _ in range(n):
        await job_service.submit(LOCAL, _request(scenario))
    started = time.perf_counter()
    await _all_claimed(store, n)
    elapsed_s = time.perf_counter() - started
    note = f"claim and complete, {DRAINING} slots of one process, no solver"
    return rate("drain of a backlog, engine only", n, elapsed_s, note)


async def _second(job_service: JobService, store: RedisStore, scenario: StoredScenario) -> Figure:
    """Return how long a principal waits whose jobs come behind a long backlog of another's."""
    other = Principal("second", SCOPES)
    theirs = await job_service.create_scenario(other, SMALLEST)
    for _ in range(CROWD):
        await job_service.submit(LOCAL, _request(scenario))
    claimed: dict[str, float] = {}

    async def slot(name: str) -> None:
        async with _worker(store, name):
            while claim := await store.claim(name, 0.2):
                claimed[claim.job.id] = time.perf_counter()
                await asyncio.sleep(HOLD_S)
                await store.complete(claim, Progress(percent=99), PLAN)

    slots = asyncio.gather(*(slot(f"{WORKER}-{number}") for number in range(SLOTS)))
    waits = []
    for _ in range(NEWCOMERS):
        await asyncio.sleep(2 * HOLD_S)
        began = time.perf_counter()
        job = await job_service.submit(other, _request(theirs))
        while job.id not in claimed:  # noqa: ASYNC110 - a figure, not a test
            await asyncio.sleep(0.001)
        waits.append(claimed[job.id] - began)
    await slots
    note = f"behind {CROWD} jobs of {HOLD_S} s of the first, {SLOTS} slots, no solver"
    return spread("second principal's job → claimed", waits, note)


@asynccontextmanager
async def _worker(store: RedisStore, name: str = WORKER) -> AsyncIterator[None]:
    await store.register(name, 1)
    try:
        yield
    finally:
        await store.unregister(name)
