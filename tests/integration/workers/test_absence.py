"""A worker whose last word on one job cannot be heard yet: it goes on with others meanwhile (SPEC J6, J7)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.lifecycle import JobState
from planner_mcp.jobs.model import Job, Progress
from planner_mcp.jobs.ports import Claim
from planner_mcp.settings import Settings
from planner_mcp.store.redis_store import RedisStore
from tests.chaos.light import LightNursery
from tests.integration.workers.conftest import LONGEST_S, Shop
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
