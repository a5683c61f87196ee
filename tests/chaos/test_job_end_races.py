"""Races for the end of a job, jobs that kill, and solvers that do not stop (SPEC T4, J6).

`RACES` sets the number of cancel/finish races.
"""

import asyncio
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from planner_mcp.jobs import ids
from planner_mcp.jobs.job_lifecycle import MAX_CRASHES, JobState
from planner_mcp.jobs.job_model import Progress, SolveRequest
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.chaos.job_driver import CLIENT, SubmittingClients, beside
from tests.chaos.worker_processes import WorkerProcesses, fleet_of
from tests.shared.processes.wait_until import until
from tests.shared.store.chaos_results import keep, sizes
from tests.shared.store.store_audit import audit
from tests.shared.workers.stub_solver_worker import PLAN

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300), pytest.mark.filterwarnings("ignore::ResourceWarning")]
FaultPlan = tuple[RedisStore, Settings]
AT_ONCE = 20
NEIGHBOURS = 60


@sizes("RACES", quick=100, long=1000)
async def test_a_cancel_and_an_end_that_race_leave_one_end(storm_store: FaultPlan, seed: int, size: int) -> None:
    """SPEC T4, J1: completed or cancelled, one final event, one outbox entry, and the caller's answer holds."""
    (store, _settings), began, dice = storm_store, time.monotonic(), random.Random(seed)
    crowd = SubmittingClients(store, dice)
    await crowd.open()
    await store.register("w1", AT_ONCE)
    jobs: list[str] = []
    for first in range(0, size, AT_ONCE):
        count = min(AT_ONCE, size - first)
        jobs += await asyncio.gather(*(_race(store, crowd.quick[0], first + n, dice) for n in range(count)))
    found = await audit(store.redis, jobs, principal=CLIENT)
    keep("cancel and finish race", seed=seed, began=began, **found.as_json())
    assert found.faults == []
    assert found.states["completed"] + found.states["cancelled"] == size
    assert min(found.states["completed"], found.states["cancelled"]) > 0


async def _race(store: RedisStore, scenario: str, number: int, dice: random.Random) -> str:
    """Cancel and complete one job at the same moment, more or less; see that the end stands."""
    request = SolveRequest(scenario, 20, seed=number, callback_url="https://example.org")
    await store.submit(CLIENT, request, ids.random_id("job", 0))
    claim = await store.claim("w1", 5)
    assert claim is not None
    job_id = claim.job.id

    async def soon(end: Awaitable[Any]) -> None:
        await asyncio.sleep(dice.random() / 500)
        await end

    cancel = store.cancel(CLIENT, job_id, keep_best=True)
    await asyncio.gather(soon(cancel), soon(store.complete(claim, Progress(), PLAN)))
    ended = await store.get_job(CLIENT, job_id)
    assert ended.state in (JobState.COMPLETED, JobState.CANCELLED)
    assert (await store.cancel(CLIENT, job_id, keep_best=False)).state is ended.state
    return job_id


async def test_a_job_that_kills_its_workers_ends_failed_and_its_neighbours_do_not_notice(
    storm_store: FaultPlan, seed: int, tmp_path: Path
) -> None:
    """SPEC J6: three crashes, then failed with its reason; every neighbour completes without one."""
    (store, settings), began = storm_store, time.monotonic()
    settings = settings.model_copy(update={"lease_s": 1.0})
    crowd = SubmittingClients(store, random.Random(seed), long_share=0.0)
    await crowd.open()
    poison = await crowd.scenario({"busy_s": 3600.0})
    with fleet_of(settings, 3, tmp_path) as fleet:
        job = await store.submit(CLIENT, SolveRequest(poison, 30, fresh=True), ids.random_id("job", 0))
        async with beside(_kill_whoever_holds(store, fleet, job.id)):
            await crowd.submit(range(NEIGHBOURS))
            await crowd.until_ended(NEIGHBOURS, 60)
            await until(partial(_is_over, store, job.id), 60)
    ended = await store.get_job(CLIENT, job.id)
    states = Counter[Any]()
    for job_id in crowd.acknowledged.values():
        neighbour = await store.get_job(CLIENT, job_id)
        states[neighbour.state.value, neighbour.crashes] += 1
    keep("poison", seed=seed, began=began, crashes=ended.crashes, neighbours=NEIGHBOURS)
    assert (ended.state, ended.crashes) == (JobState.FAILED, MAX_CRASHES)
    assert ended.error is not None
    assert ended.error.type == "PoisonedJob"
    assert states == {("completed", 0): NEIGHBOURS}


async def _is_over(store: RedisStore, job_id: str) -> bool:
    return (await store.get_job(CLIENT, job_id)).is_terminal


async def _kill_whoever_holds(store: RedisStore, fleet: WorkerProcesses, job_id: str) -> None:
    """Be the effect of a poison job: kill each worker that has begun it."""
    done = 0
    while True:
        await asyncio.sleep(0.02)
        worker, fence, state = await store.redis.hmget(f"{{p0}}:job:{job_id}", "worker", "fence", "state")
        if state == "solving" and int(fence) > done:
            done = int(fence)
            os.kill(int(worker.split("-")[-2]), signal.SIGKILL)
            await asyncio.sleep(0.1)
            fleet.restart_ended()
