"""One principal floods the queue; another one goes on as if it were nearly alone (SPEC J8).

`FAIR_JOBS` sets how many jobs the second principal submits. Order is asserted, and waits where slots are kept free.
"""

import asyncio
import random
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from planner_mcp.jobs import ids
from planner_mcp.jobs.job_model import Job, SolveRequest, StoredScenario
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.chaos.worker_processes import fleet_of
from tests.shared.processes.wait_until import until
from tests.shared.store.chaos_results import keep, sizes

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600), pytest.mark.filterwarnings("ignore::ResourceWarning")]
FaultPlan = tuple[RedisStore, Settings]
SLOTS = 4
BUSY_S = 0.2
EVERY_S = 0.3
NOISE_MS = 20.0
"""A wait below this says how busy the machine is, not who had to wait for whom."""
OVERLOAD = 10
"""Times what all slots together can do that the first principal submits."""


@dataclass
class Caller:
    """A principal with jobs of one length."""

    store: RedisStore
    name: str
    scenario: str = ""
    submitted: int = 0
    jobs: list[Job] = field(default_factory=list)

    async def open(self) -> None:
        """Create the scenario."""
        self.scenario = ids.random_id("scn", 0)
        kept = StoredScenario(self.scenario, self.name, {"busy_s": BUSY_S}, datetime.now(UTC), "hash")
        await self.store.put_scenario(kept)

    async def submit(self) -> None:
        """Queue one job."""
        self.submitted += 1
        request = SolveRequest(self.scenario, 1, seed=self.submitted)
        self.jobs.append(await self.store.submit(self.name, request, ids.random_id("job", 0)))

    async def starts(self) -> list[tuple[float, float]]:
        """Return when each job that has begun was submitted and when it began, in seconds of the epoch."""
        jobs = [await self.store.get_job(self.name, job.id) for job in self.jobs]
        return [(job.submitted_at.timestamp(), job.started_at.timestamp()) for job in jobs if job.started_at]

    async def waits(self) -> list[float]:
        """Return how long its jobs waited, the shortest first."""
        return sorted(began - submitted for submitted, began in await self.starts())


async def _steadily(caller: Caller, count: int, dice: random.Random) -> None:
    for _ in range(count):
        await asyncio.sleep(EVERY_S * dice.uniform(0.5, 1.5))
        await caller.submit()

    async def have_begun() -> bool:
        return len(await caller.starts()) >= count

    await until(have_begun, 60)


async def _flood(caller: Caller, count: int) -> None:
    for _ in range(count):
        await caller.submit()


def _p95_ms(waits: list[float]) -> float:
    return round(1000 * waits[int(0.95 * (len(waits) - 1))], 1)


@pytest.mark.parametrize("share", [1.0, 0.5])
@sizes("FAIR_JOBS", quick=6, long=40)
async def test_a_flood_of_one_principal_puts_nobody_else_back(
    storm_store: FaultPlan, seed: int, tmp_path: Path, size: int, share: float
) -> None:
    """SPEC J8: with every slot taken by a flood the next one that comes free is the other principal's.

    Where `max_share` keeps slots free, it waits at most twice as long as alone: for no job of the flood at all.
    """
    (_store, settings), began, dice = storm_store, time.monotonic(), random.Random(seed)
    settings = settings.model_copy(update={"lease_s": 6.0, "max_share": share})
    async with connect(settings) as store:
        flood, alone, beside = Caller(store, "ann"), Caller(store, "ben"), Caller(store, "ben")
        for caller in (flood, alone, beside):
            await caller.open()
        with fleet_of(settings, SLOTS, tmp_path):
            await until(partial(_are_there, store), 30)
            await _steadily(alone, size, dice)
            jobs = int(OVERLOAD * SLOTS / BUSY_S * size * EVERY_S / 4)
            await asyncio.gather(*(_flood(flood, jobs) for _ in range(4)))
            await _steadily(beside, size, dice)
            backlog = (await store.stats()).queued
        overtaken = await _most_between(flood, beside)
        alone_ms, beside_ms = _p95_ms(await alone.waits()), _p95_ms(await beside.waits())
    figures = {"overtaken": overtaken, "backlog": backlog, "alone_p95_ms": alone_ms, "beside_p95_ms": beside_ms}
    keep("flood", seed=seed, began=began, jobs=size, busy_s=BUSY_S, max_share=share, **figures)
    assert backlog > 0
    assert overtaken <= SLOTS + 1
    if share < 1:
        assert beside_ms <= 2 * max(alone_ms, NOISE_MS)


async def _are_there(store: RedisStore) -> bool:
    return (await store.stats()).live_slots >= SLOTS


async def _most_between(flood: Caller, other: Caller) -> int:
    """Return the most jobs of the flood that began while one of the other's waited."""
    begun = [began for _submitted, began in await flood.starts()]
    spans = await other.starts()
    return max(sum(submitted < start < began for start in begun) for submitted, began in spans)
