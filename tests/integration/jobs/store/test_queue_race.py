"""Three workers at once: whatever they do side by side, every job's history stays a possible one.

Each history is drawn before it runs; the interleaving is the server's. `RACE_RUNS=200` runs the long size,
of other histories each time.
"""

import asyncio
import os
import random
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner_mcp.errors import LeaseLostError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_model import Progress, SolveRequest, StoredScenario
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.shared.store.store_audit import audit

RUNS = int(os.environ.get("RACE_RUNS", "10"))
IS_LONG = "RACE_RUNS" in os.environ
WORKERS = ("w1", "w2", "w3")
JOBS = 8
OWNER = "ann"
PLAN = {"status": "feasible", "cost": 1.0, "unassigned": []}
ACTIONS = (
    "claim", "report", "complete", "fail", "crash", "hand_back", "fall_silent", "reap", "cancel", "look_back",
)  # fmt: skip

histories = st.tuples(
    *(st.lists(st.sampled_from(ACTIONS), min_size=5, max_size=25) for _worker in WORKERS), st.integers(0, 2**32)
)


class Racer:
    """One worker that does what its history says, with whatever claim it holds or held."""

    def __init__(self, store: RedisStore, name: str, jobs: list[str], dice: random.Random) -> None:
        self._store, self._name, self._jobs, self._dice = store, name, jobs, dice
        self._claims: list[Claim] = []

    async def run(self, actions: list[str]) -> None:
        """Do one thing after another."""
        for action in actions:
            with suppress(LeaseLostError):
                await getattr(self, action)()

    async def claim(self) -> None:
        if claim := await self._store.claim(self._name, 0):
            self._claims.append(claim)

    async def _write(self, word: str, *args: Any) -> None:
        if self._claims:
            await getattr(self._store, word)(self._dice.choice(self._claims[-3:]), *args)

    async def report(self) -> None:
        await self._write("report", Progress(percent=5, elapsed_s=self._dice.random()), PLAN)

    async def complete(self) -> None:
        await self._write("complete", Progress(), PLAN)

    async def fail(self) -> None:
        await self._write("fail", {"code": 1})

    async def crash(self) -> None:
        await self._write("crash", {"code": 1})

    async def hand_back(self) -> None:
        await self._write("hand_back")

    async def fall_silent(self) -> None:
        if self._claims:
            claim = self._claims[-1]
            words = ("XCLAIM", "{p0}:ready", "workers", self._name, 0, claim.ready_entry_id, "IDLE", 60_000, "JUSTID")
            await self._store.redis.execute_command(*words)

    async def reap(self) -> None:
        await self._store.reap()

    async def cancel(self) -> None:
        await self._store.cancel(OWNER, self._dice.choice(self._jobs), keep_best=True)

    async def look_back(self) -> None:
        await self._store.get_job(OWNER, self._dice.choice(self._jobs))


async def race(url: str, *lists: Any) -> None:
    """Run three workers side by side, then finish what is left and read the stories."""
    *actions, seed = lists
    async with connect(Settings(redis_url=url, lease_s=30.0)) as store:
        await store.redis.flushdb()
        scenario = ids.random_id("scn", 0)
        await store.put_scenario(StoredScenario(scenario, OWNER, {}, datetime.now(UTC), "h"))
        for worker in WORKERS:
            await store.register(worker, 1)
        jobs = [await _submit(store, scenario, number) for number in range(JOBS)]
        racers = [Racer(store, worker, jobs, random.Random(seed + n)) for n, worker in enumerate(WORKERS)]
        await asyncio.gather(*(racer.run(todo) for racer, todo in zip(racers, actions, strict=True)))
        await _finish(store)
        assert (await audit(store.redis, jobs, principal=OWNER)).faults == []


async def _submit(store: RedisStore, scenario: str, number: int) -> str:
    request = SolveRequest(scenario, 30, seed=number, callback_url="https://example.org")
    return (await store.submit(OWNER, request, ids.random_id("job", 0))).id


async def _finish(store: RedisStore) -> None:
    """Let the jobs of the silent be reaped and complete every job that is left."""
    for entry, _fields in await store.redis.xrange("{p0}:ready"):
        words = ("XCLAIM", "{p0}:ready", "workers", "gone", 0, entry, "IDLE", 60_000, "JUSTID")
        await store.redis.execute_command(*words)
    await store.reap()
    while (claim := await store.claim("w1", 0)) is not None:
        await store.complete(claim, Progress(), PLAN)


@pytest.mark.timeout(3600)
def test_three_workers_at_once_never_record_an_impossible_history(database_url: str) -> None:
    """SPEC J1, J6, W3: one end, one outbox entry, fencing numbers that rise by one, nothing left behind."""
    profile = settings(max_examples=RUNS, derandomize=not IS_LONG, suppress_health_check=list(HealthCheck))

    @profile
    @given(histories)
    def run(history: Any) -> None:
        asyncio.run(race(database_url, *history))

    run()
