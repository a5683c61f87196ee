"""A fleet of many workers shares the chores that read all of them (SPEC O8)."""

import pytest

from planner_mcp.jobs.job_lifecycle import JobState
from tests.integration.jobs.conftest import StoreHarness

pytestmark = pytest.mark.anyio
MANY = 40


async def _age(harness: StoreHarness, field: str) -> None:
    """Make the last chore look a minute old."""
    redis = harness.store.redis
    await redis.hincrby("{p0}:clock", field, -60_000)


async def test_one_roll_call_serves_all_workers_of_a_large_fleet(harness: StoreHarness) -> None:
    """SPEC J6, O8: heartbeats keep alive; who is silent is looked for eight times a lease, whoever calls."""
    for number in range(MANY):
        await harness.workers(name=f"w{number}")
    redis = harness.store.redis
    await harness.workers(name="w0")
    await redis.zadd("{p0}:alive", {"w1": 0})
    await harness.workers(name="w0")
    assert (await redis.hlen("{p0}:slots"), await redis.hget("{p0}:clock", "slots")) == (MANY, str(MANY))
    await _age(harness, "called_ms")
    await harness.workers(name="w0")
    assert (await redis.hlen("{p0}:slots"), await redis.hget("{p0}:clock", "slots")) == (MANY - 1, str(MANY - 1))


async def test_one_sweep_serves_all_workers_of_a_large_fleet(harness: StoreHarness) -> None:
    """SPEC J6, O8: a lost job is queued again at the next sweep, at most an eighth of a lease later."""
    for number in range(MANY):
        await harness.workers(name=f"w{number}")
    await harness.submit()
    claim = await harness.claim("w3")
    await harness.store.reap()
    await harness.let_lease_lapse(claim)
    assert await harness.store.reap() == 0
    await _age(harness, "swept_ms")
    assert await harness.store.reap() == 1
    assert await harness.state(claim.job.id) is JobState.QUEUED


async def test_a_worker_that_comes_or_goes_is_counted_at_once_in_a_large_fleet(harness: StoreHarness) -> None:
    """SPEC J7: its slot is there for the next job, or gone."""
    for number in range(MANY):
        await harness.workers(name=f"w{number}")
    await harness.store.register("w5", 0)
    assert await harness.store.redis.hget("{p0}:clock", "slots") == str(MANY - 1)
    await harness.workers(name="late")
    assert await harness.store.redis.hget("{p0}:clock", "slots") == str(MANY)
