"""A worker that finds a shard of the store unavailable: its final report waits, and so do matrices (SPEC J6, J7)."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job, Progress
from planner_mcp.jobs.job_ports import Claim, MatrixParts
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.integration.workers.conftest import OWNER, WorkerHarness
from tests.shared.processes.process_tree import LONGEST_S
from tests.shared.workers.stub_solver_worker import StubSolverPool
from workers.attempts.attempt import MATRICES_WAIT_S
from workers.attempts.job_attempt import JobAttempt
from workers.worker import Worker

pytestmark = pytest.mark.anyio
QUICK = {"busy_s": 0}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Two pools: one may be away while the other is there."""
    return settings.model_copy(update={"pools": 2})


class StoreLosingFinalReport:
    """The store, deaf to the end of one job: what a worker sees of a pool whose node went away in mid-solve."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self.rejected_job_id = ""
        self.was_reported = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def complete(self, claim: Claim, progress: Progress, plan: dict[str, Any]) -> None:
        """End a job, unless it is that one."""
        if claim.job.id == self.rejected_job_id:
            self.was_reported.set()
            raise StoreUnavailableError
        await self._store.complete(claim, progress, plan)


@asynccontextmanager
async def worker_with_unreported_job(
    harness: WorkerHarness,
) -> AsyncIterator[tuple[StoreLosingFinalReport, Worker, Job]]:
    """Run a worker that has solved a job and cannot say so."""
    store = StoreLosingFinalReport(harness.store)
    worker = Worker(store, StubSolverPool(), harness.settings, worker_id="host-1-w")
    with anyio.fail_after(LONGEST_S):
        job = await harness.submit(QUICK, 30)
        store.rejected_job_id = job.id
        working = asyncio.create_task(worker.run())
        await store.was_reported.wait()
        try:
            yield store, worker, job
        finally:
            store.rejected_job_id = ""
            worker.drain()
            await working


@pytest.mark.slow
async def test_a_worker_takes_other_jobs_while_the_end_of_one_cannot_be_reported(harness: WorkerHarness) -> None:
    """SPEC J6, J7: neither the worker nor the result waits in vain, and no attempt is burnt."""
    async with worker_with_unreported_job(harness) as (_store, _consumer, unheard):
        for _ in range(3):
            other = await harness.submit(QUICK, 30, pool=1)
            await harness.until_end(other)
            assert (await harness.job(other)).state is JobState.COMPLETED
        assert (await harness.job(unheard)).state is JobState.SOLVING
        await asyncio.sleep(2 * harness.settings.lease_s)  # held all the while: the lease is renewed
    ended = await harness.job(unheard)
    assert (ended.state, ended.fence, ended.crashes) == (JobState.COMPLETED, 1, 0)


async def test_a_cancel_reaches_a_job_whose_end_was_not_heard(harness: WorkerHarness) -> None:
    """SPEC J1, T4: who was told that it is cancelled finds it cancelled."""
    async with worker_with_unreported_job(harness) as (_store, _consumer, unheard):
        assert (await harness.store.cancel("local", unheard.id, keep_best=True)).cancel_requested
    assert (await harness.job(unheard)).state is JobState.CANCELLED


async def test_a_worker_that_drains_waits_for_the_store_to_hear_its_last_word(harness: WorkerHarness) -> None:
    """SPEC J6: within the time a drain may take."""
    async with worker_with_unreported_job(harness) as (_store, worker, unheard):
        worker.drain()
        other = await harness.submit(QUICK, 30, pool=1)
    ended = await harness.job(unheard)
    assert (ended.state, ended.fence, ended.crashes) == (JobState.COMPLETED, 1, 0)
    assert (await harness.job(other)).state is JobState.QUEUED


class StoreWithoutMatrices:
    """The store, while the pool that keeps the tables of a day is away and that of its job is not."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self.is_away = True
        self.was_asked_again = asyncio.Event()
        self._times = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get_matrix(self, principal: str, matrix_id: str) -> dict[str, str]:
        """Return tables, once their pool is there."""
        if self.is_away:
            self._times += 1
            if self._times > 1:
                self.was_asked_again.set()
            raise StoreUnavailableError
        return await self._store.get_matrix(principal, matrix_id)


async def scenario_with_matrices(harness: WorkerHarness) -> Job:
    """Queue a job of pool 0 whose tables lie in pool 1."""
    name = ids.random_id("mat", 1)
    await harness.store.put_matrix(OWNER, MatrixParts(name), {"locations": "[]"}, is_cache=False)
    return await harness.submit({**QUICK, "travel": {"matrix": name}}, 30)


@asynccontextmanager
async def waiting_for_matrices(harness: WorkerHarness) -> AsyncIterator[tuple[StoreWithoutMatrices, Worker, Job]]:
    """Run a worker that has asked for the tables of a job more than once and waits for them."""
    store = StoreWithoutMatrices(harness.store)
    worker = Worker(store, StubSolverPool(), harness.settings, worker_id="host-1-w")
    with anyio.fail_after(LONGEST_S):
        job = await scenario_with_matrices(harness)
        working = asyncio.create_task(worker.run())
        await store.was_asked_again.wait()
        try:
            yield store, worker, job
        finally:
            worker.drain()
            await working


@pytest.mark.slow
async def test_tables_whose_pool_is_away_are_waited_for_within_one_attempt(harness: WorkerHarness) -> None:
    """SPEC J6, J7: the lease is kept meanwhile, and no event tells of attempts that came to nothing."""
    async with waiting_for_matrices(harness) as (store, _consumer, job):
        await asyncio.sleep(2 * harness.settings.lease_s)  # held all the while: the lease is renewed
        store.is_away = False
        await harness.until_end(job)
    ended = await harness.job(job)
    assert (ended.state, ended.fence, ended.crashes) == (JobState.COMPLETED, 1, 0)


async def test_a_cancel_reaches_a_job_that_waits_for_its_tables(harness: WorkerHarness) -> None:
    """SPEC T4."""
    async with waiting_for_matrices(harness) as (_store, _consumer, job):
        await harness.store.cancel(OWNER, job.id, keep_best=True)
        await harness.until_end(job)
    assert (await harness.job(job)).state is JobState.CANCELLED


async def test_a_worker_that_leaves_hands_back_a_job_that_waits_for_its_tables(harness: WorkerHarness) -> None:
    """SPEC J7."""
    async with waiting_for_matrices(harness) as (_store, worker, job):
        worker.leave()
    left = await harness.job(job)
    assert (left.state, left.fence, left.crashes) == (JobState.QUEUED, 1, 0)


async def test_a_job_whose_tables_stay_away_is_handed_back_after_a_while(harness: WorkerHarness) -> None:
    """SPEC J6, J7: the worker is there for others then, and no attempt is burnt."""
    await harness.store.register("w1", 1)
    job = await scenario_with_matrices(harness)
    claim = await harness.store.claim("w1", 1)
    assert claim is not None
    store: Any = StoreWithoutMatrices(harness.store)
    clock = itertools.count(0.0, MATRICES_WAIT_S / 2).__next__
    process_pool: Any = StubSolverPool()
    with anyio.fail_after(LONGEST_S):
        await JobAttempt(claim, process_pool, store, harness.settings, trace_id="0" * 32, clock=clock).run()
    assert store.was_asked_again.is_set()
    left = await harness.job(job)
    assert (left.state, left.fence, left.crashes) == (JobState.QUEUED, 1, 0)
