"""What a worker that drains leaves to the others meanwhile (SPEC J7)."""

import asyncio
from typing import Any

import anyio
import pytest

from planner_mcp.jobs.lifecycle import JobState
from planner_mcp.jobs.model import Progress
from planner_mcp.store.redis_store import RedisStore
from tests.integration.workers.conftest import Shop
from tests.shared.light import PLAN, LightNursery
from tests.shared.processes import LONGEST_S
from workers.consumer import Consumer

pytestmark = pytest.mark.anyio
LONG = {"busy_s": LONGEST_S}


class Overheard:
    """The store, and a word to the test whenever a worker has said that it lives."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self._has_beaten = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def register(self, worker_id: str, slots: int) -> None:
        """Say that a worker lives."""
        await self._store.register(worker_id, slots)
        self._has_beaten.set()

    async def beaten(self) -> None:
        """Return when a beat that began after the call has ended: the first may have been under way."""
        for _ in range(2):
            self._has_beaten.clear()
            await self._has_beaten.wait()


async def test_a_worker_that_drains_takes_no_slot_from_those_that_live(shop: Shop) -> None:
    """SPEC J7: in a rolling restart a new worker solves while the old one still does; the slot goes with the old."""
    store = Overheard(shop.store)
    old = Consumer(store, LightNursery(), shop.settings, worker_id="host-1-old")  # type: ignore[arg-type]
    with anyio.fail_after(LONGEST_S):
        long = await shop.submit(LONG, LONGEST_S)
        working = asyncio.create_task(old.run())
        await shop.until_planned(long)
        old.drain()
        await store.beaten()
        await shop.store.register("host-2-new", 1)
        short = await shop.submit(LONG, 1)
        claim = await shop.store.claim("host-2-new", 30)
        assert claim is not None
        assert claim.job.id == short.id
        assert (await shop.job(long)).state is JobState.SOLVING
        old.leave()
        await working
        assert (await shop.store.stats()).live_slots == 1
        await shop.store.complete(claim, Progress(), PLAN)
        again = await shop.store.claim("host-2-new", 30)
        assert again is not None
        assert (again.job.id, again.job.crashes) == (long.id, 0)


async def test_a_worker_that_drains_and_solves_nothing_has_no_slot(shop: Shop) -> None:
    """SPEC J7: nothing is handed out on its account."""
    store = Overheard(shop.store)
    idle = Consumer(store, LightNursery(), shop.settings, worker_id="host-1-idle")  # type: ignore[arg-type]
    with anyio.fail_after(LONGEST_S):
        working = asyncio.create_task(idle.run())
        await store.beaten()
        idle.drain()
        await working
        assert (await shop.store.stats()).live_slots == 0
