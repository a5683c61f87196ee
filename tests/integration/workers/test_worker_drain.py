"""What a worker that drains leaves to the others meanwhile (SPEC J7)."""

import asyncio
from typing import Any

import anyio
import pytest

from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.store.redis_store import RedisStore
from tests.integration.workers.conftest import WorkerHarness
from tests.shared.processes.process_tree import LONGEST_S
from tests.shared.workers.stub_solver_worker import PLAN, StubSolverPool
from workers.worker import Worker

pytestmark = pytest.mark.anyio
LONG = {"busy_s": LONGEST_S}


class HeartbeatRecorder:
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


async def test_a_worker_that_drains_takes_no_slot_from_those_that_live(harness: WorkerHarness) -> None:
    """SPEC J7: in a rolling restart a new worker solves while the old one still does; the slot goes with the old."""
    store = HeartbeatRecorder(harness.store)
    settings = harness.settings.model_copy(update={"solve_drain_s": LONGEST_S})
    old = Worker(store, StubSolverPool(), settings, worker_id="host-1-old")
    with anyio.fail_after(LONGEST_S):
        long = await harness.submit(LONG, LONGEST_S)
        working = asyncio.create_task(old.run())
        await harness.until_planned(long)
        old.drain()
        await store.beaten()
        await harness.store.register("host-2-new", 1)
        short = await harness.submit(LONG, 1)
        claim = await harness.store.claim("host-2-new", 30)
        assert claim is not None
        assert claim.job.id == short.id
        assert (await harness.job(long)).state is JobState.SOLVING
        old.leave()
        await working
        assert (await harness.store.stats()).live_slots == 1
        await harness.store.complete(claim, Progress(), PLAN)
        again = await harness.store.claim("host-2-new", 30)
        assert again is not None
        assert (again.job.id, again.job.crashes) == (long.id, 0)


async def test_a_worker_that_drains_and_solves_nothing_has_no_slot(harness: WorkerHarness) -> None:
    """SPEC J7: nothing is handed out on its account."""
    store = HeartbeatRecorder(harness.store)
    idle = Worker(store, StubSolverPool(), harness.settings, worker_id="host-1-idle")
    with anyio.fail_after(LONGEST_S):
        working = asyncio.create_task(idle.run())
        await store.beaten()
        idle.drain()
        await working
        assert (await harness.store.stats()).live_slots == 0
