"""What a job costs to keep, and that nothing of it stays when its life is over (SPEC J9)."""

import time

import pytest

from planner_mcp.jobs import ids
from planner_mcp.jobs.job_model import Progress, SolveRequest
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.chaos.job_driver import CLIENT, SubmittingClients
from tests.shared.store.chaos_results import keep, sizes
from tests.shared.store.keys_without_ttl import keys_without_ttl
from tests.shared.workers.stub_solver_worker import PLAN

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]
REPORTS = 10
MOST_BYTES = 20_000
"""One job with ten reports and a plan of a few hundred bytes."""


@sizes("KEPT_JOBS", quick=100, long=2000)
async def test_a_job_costs_a_few_kilobytes_and_every_key_has_a_life(
    storm_store: tuple[RedisStore, Settings], seed: int, size: int
) -> None:
    """SPEC J9: storage per job, measured on the server."""
    (_store, settings), began = storm_store, time.monotonic()
    async with connect(settings) as store:
        crowd = SubmittingClients(store, dice=None)  # type: ignore[arg-type]
        await crowd.open()
        await store.register("w1", 1)
        before = await _figures(store)
        for number in range(size):
            await store.submit(CLIENT, SolveRequest(crowd.quick[0], 20, seed=number), ids.random_id("job", 0))
            claim = await store.claim("w1", 1)
            assert claim is not None
            for report in range(REPORTS):
                await store.report(claim, Progress(percent=report, cost=100.0 - report), PLAN)
            await store.complete(claim, Progress(percent=50, cost=10.0), PLAN)
        memory, disk = (round((now - then) / size) for now, then in zip(await _figures(store), before, strict=True))
        assert await keys_without_ttl(store) == []
    keep("storage of a job", seed=seed, began=began, jobs=size, reports=REPORTS, memory_bytes=memory, log_bytes=disk)
    assert memory < MOST_BYTES


async def _figures(store: RedisStore) -> tuple[int, int]:
    memory, persistence = await store.redis.info("memory"), await store.redis.info("persistence")
    return int(memory["used_memory_dataset"]), int(persistence["aof_current_size"])
