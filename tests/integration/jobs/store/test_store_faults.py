"""Faults at every call to Redis: it fails before, after, or without an answer."""

import inspect
import random
import re
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest
from redis.exceptions import ConnectionError as ConnectionLostError
from redis.exceptions import TimeoutError as NoAnswerError

from planner_mcp.errors import LeaseLostError, StoreUnavailableError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Progress, SolveRequest, StoredScenario
from planner_mcp.jobs.store import lua_scripts, record_codec, store_keys
from planner_mcp.jobs.store.connection import script_client as script_client_module
from planner_mcp.jobs.store.events import event_log
from planner_mcp.jobs.store.queue import job_store, matrix_store, worker_store
from planner_mcp.jobs.store.redis_store import RedisStore
from tests.shared.processes.wait_until import until

pytestmark = pytest.mark.anyio
JOBS = 40
SHARE = 0.15
"""Of all calls, for each of the three faults."""


class Faulty:
    """A client that now and then fails before, fails after, or does not answer."""

    def __init__(self, client: Any, dice: random.Random) -> None:
        self._client = client
        self._dice = dice
        self.faults: Counter[str] = Counter()
        self.has_failed = anyio.Event()

    async def execute_command(self, *words: Any) -> Any:
        roll = self._dice.random()
        if roll < SHARE:
            raise self._fault(words[0], "before", ConnectionLostError)
        reply = await self._client.execute_command(*words)
        if roll < 2 * SHARE:
            raise self._fault(words[0], "after", ConnectionLostError)
        if roll < 3 * SHARE:
            raise self._fault(words[0], "no answer", NoAnswerError)
        return reply

    def _fault(self, command: str, when: str, kind: type[Exception]) -> Exception:
        self.faults[f"{command} {when}"] += 1
        self.has_failed.set()
        return kind()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


async def insist(call: Any, *args: Any, **named: Any) -> Any:
    """Call until the store confirms it, as every caller and worker does."""
    while True:
        try:
            return await call(*args, **named)
        except StoreUnavailableError:
            await anyio.sleep(0.001)


async def work(store: RedisStore, worker: str, plan: dict[str, Any], is_done: anyio.Event) -> None:
    """Be a worker whose line is bad."""
    while not is_done.is_set():
        await insist(store.register, worker, 2)
        claim = await insist(store.claim, worker, 0.05)
        if claim is not None:
            with suppress(LeaseLostError):
                await insist(store.report, claim, Progress(percent=50), plan)
                await insist(store.complete, claim, Progress(percent=50), plan)


async def reap(store: RedisStore, is_done: anyio.Event) -> None:
    """Be a reaper whose line is bad."""
    while not is_done.is_set():
        await insist(store.reap)
        await anyio.sleep(0.05)


async def test_nothing_is_lost_doubled_or_stuck_whichever_call_fails(store: RedisStore, plan: dict[str, Any]) -> None:
    """SPEC J6, J7, W3: every step is atomic and may be repeated."""
    script_client, dice = store._script_client, random.Random(7)
    healthy = script_client.commands, script_client._blocking
    scenario = StoredScenario(ids.random_id("scn", 0), "ann", {}, datetime.now(UTC), "h")
    await store.put_scenario(scenario)
    script_client.commands, script_client._blocking = line, blocking = (
        Faulty(healthy[0], dice),
        Faulty(healthy[1], dice),
    )
    is_done, jobs = anyio.Event(), []

    async def have_ended() -> bool:
        return (await insist(store.list_jobs, "ann", JobState.COMPLETED, offset=0, count=1))[1] == JOBS

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for name in ("w1", "w2"):
                group.start_soon(work, store, name, plan, is_done)
            group.start_soon(reap, store, is_done)
            await blocking.has_failed.wait()  # jobs come once a worker had to wait: who never waits never reads
            for seed in range(JOBS):
                request = SolveRequest(scenario.id, 1, seed=seed, callback_url="https://example.org")
                jobs.append((await insist(store.submit, "ann", request, ids.random_id("job", 0))).id)
            await until(have_ended, 60)
            is_done.set()

    script_client.commands, script_client._blocking = healthy
    assert len(set(jobs)) == JOBS
    for job_id in jobs:
        kinds = Counter(event.kind.value for event in (await store.read_past("ann", job_id)).events)
        assert kinds["queued"] == kinds["completed"] == 1
    delivered = [fields["delivery_id"].partition(":")[0] for _id, fields in await store.redis.xrange("{p0}:outbox")]
    assert sorted(delivered) == sorted(jobs)
    assert {fault.partition(" ")[0] for fault in line.faults + blocking.faults} >= {"EVALSHA", "XREADGROUP"}


def test_the_job_engine_calls_redis_in_one_file_only() -> None:
    """Our choice: the faults above reach every call, since each goes through `execute_command` of script_client.py."""
    engine = (job_store, worker_store, matrix_store, event_log, record_codec, lua_scripts, store_keys)
    sites = {
        module.__name__: re.findall(r"execute_command|\.redis\b\.|_redis\.", inspect.getsource(module))
        for module in engine
    }
    assert sites == {module.__name__: [] for module in engine}
    assert inspect.getsource(script_client_module).count("execute_command") == 4  # one reads matrices, and only reads
