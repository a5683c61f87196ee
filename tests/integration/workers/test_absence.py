"""A worker that finds a part of the store away: its last word waits, and so do the tables of a day (SPEC J6, J7)."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs import ids
from planner_mcp.jobs.lifecycle import JobState
from planner_mcp.jobs.model import Job, Progress
from planner_mcp.jobs.ports import Claim
from planner_mcp.settings import Settings
from planner_mcp.store.redis_store import RedisStore
from tests.integration.workers.conftest import OWNER, Shop
from tests.shared.light import LightChild, LightNursery
from tests.shared.processes import LONGEST_S
from workers.attempt import TABLES_WAIT_S, Attempt
from workers.consumer import Consumer

pytestmark = pytest.mark.anyio
QUICK = {"busy_s": 0}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Two pools: one may be away while the other is there."""
    return settings.model_copy(update={"pools": 2})


class HardOfHearing:
    """The store, deaf to the end of one job: what a worker sees of a pool whose node went away in mid-solve."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self.deaf_to = ""
        self.was_told = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def complete(
        self, claim: Claim, progress: Progress, plan: dict[str, Any], *, take_next: bool = False
    ) -> Claim | None:
        """End a job, unless it is that one."""
        if claim.job.id == self.deaf_to:
            self.was_told.set()
            raise StoreUnavailableError
        return await self._store.complete(claim, progress, plan, take_next=take_next)


@asynccontextmanager
async def deaf_to_a_job(shop: Shop) -> AsyncIterator[tuple[HardOfHearing, Consumer, Job]]:
    """Run a worker that has solved a job and cannot say so."""
    store = HardOfHearing(shop.store)
    consumer = Consumer(store, LightNursery(), shop.settings, worker_id="host-1-w")  # type: ignore[arg-type]
    with anyio.fail_after(LONGEST_S):
        job = await shop.submit(QUICK, 30)
        store.deaf_to = job.id
        working = asyncio.create_task(consumer.run())
        await store.was_told.wait()
        try:
            yield store, consumer, job
        finally:
            store.deaf_to = ""
            consumer.drain()
            await working


async def test_a_worker_takes_other_jobs_while_the_end_of_one_cannot_be_told(shop: Shop) -> None:
    """SPEC J6, J7: neither the worker nor the result waits in vain, and no attempt is burnt."""
    async with deaf_to_a_job(shop) as (_store, _consumer, unheard):
        for _ in range(3):
            other = await shop.submit(QUICK, 30, pool=1)
            await shop.until_end(other)
            assert (await shop.job(other)).state is JobState.COMPLETED
        assert (await shop.job(unheard)).state is JobState.SOLVING
        await asyncio.sleep(2 * shop.settings.lease_s)  # held all the while: the lease is renewed
    ended = await shop.job(unheard)
    assert (ended.state, ended.fence, ended.crashes) == (JobState.COMPLETED, 1, 0)


async def test_a_cancel_reaches_a_job_whose_end_was_not_heard(shop: Shop) -> None:
    """SPEC J1, T4: who was told that it is cancelled finds it cancelled."""
    async with deaf_to_a_job(shop) as (_store, _consumer, unheard):
        assert (await shop.store.cancel("local", unheard.id, keep_best=True)).cancel_requested
    assert (await shop.job(unheard)).state is JobState.CANCELLED


async def test_a_worker_that_drains_waits_for_the_store_to_hear_its_last_word(shop: Shop) -> None:
    """SPEC J6: within the time a drain may take."""
    async with deaf_to_a_job(shop) as (_store, consumer, unheard):
        consumer.drain()
        other = await shop.submit(QUICK, 30, pool=1)
    ended = await shop.job(unheard)
    assert (ended.state, ended.fence, ended.crashes) == (JobState.COMPLETED, 1, 0)
    assert (await shop.job(other)).state is JobState.QUEUED


class WithoutTables:
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


async def day_with_tables(shop: Shop) -> Job:
    """Queue a job of pool 0 whose tables lie in pool 1."""
    name = ids.random_name("mat", 1)
    await shop.store.put_matrix(OWNER, name, {"locations": "[]"}, is_cache=False)
    return await shop.submit({**QUICK, "travel": {"matrix": name}}, 30)


@asynccontextmanager
async def waiting_for_tables(shop: Shop) -> AsyncIterator[tuple[WithoutTables, Consumer, Job]]:
    """Run a worker that has asked for the tables of a job more than once and waits for them."""
    store = WithoutTables(shop.store)
    consumer = Consumer(store, LightNursery(), shop.settings, worker_id="host-1-w")  # type: ignore[arg-type]
    with anyio.fail_after(LONGEST_S):
        job = await day_with_tables(shop)
        working = asyncio.create_task(consumer.run())
        await store.was_asked_again.wait()
        try:
            yield store, consumer, job
        finally:
            consumer.drain()
            await working


async def test_tables_whose_pool_is_away_are_waited_for_within_one_attempt(shop: Shop) -> None:
    """SPEC J6, J7: the lease is kept meanwhile, and no event tells of attempts that came to nothing."""
    async with waiting_for_tables(shop) as (store, _consumer, job):
        await asyncio.sleep(2 * shop.settings.lease_s)  # held all the while: the lease is renewed
        store.is_away = False
        await shop.until_end(job)
    ended = await shop.job(job)
    assert (ended.state, ended.fence, ended.crashes) == (JobState.COMPLETED, 1, 0)


async def test_a_cancel_reaches_a_job_that_waits_for_its_tables(shop: Shop) -> None:
    """SPEC T4."""
    async with waiting_for_tables(shop) as (_store, _consumer, job):
        await shop.store.cancel(OWNER, job.id, keep_best=True)
        await shop.until_end(job)
    assert (await shop.job(job)).state is JobState.CANCELLED


async def test_a_worker_that_leaves_hands_back_a_job_that_waits_for_its_tables(shop: Shop) -> None:
    """SPEC J7."""
    async with waiting_for_tables(shop) as (_store, consumer, job):
        consumer.leave()
    left = await shop.job(job)
    assert (left.state, left.fence, left.crashes) == (JobState.QUEUED, 1, 0)


async def test_a_job_whose_tables_stay_away_is_handed_back_after_a_while(shop: Shop) -> None:
    """SPEC J6, J7: the worker is there for others then, and no attempt is burnt."""
    await shop.store.register("w1", 1)
    job = await day_with_tables(shop)
    claim = await shop.store.claim("w1", 1)
    assert claim is not None
    store: Any = WithoutTables(shop.store)
    clock = itertools.count(0.0, TABLES_WAIT_S / 2).__next__
    child: Any = LightChild()
    with anyio.fail_after(LONGEST_S):
        await Attempt(claim, child, store, shop.settings, trace_id="0" * 32, clock=clock).run()
    assert store.was_asked_again.is_set()
    left = await shop.job(job)
    assert (left.state, left.fence, left.crashes) == (JobState.QUEUED, 1, 0)
