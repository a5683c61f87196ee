"""Who goes next, and who has to wait outside (SPEC J8)."""

from collections import Counter
from typing import Any

import pytest

from planner_mcp.errors import QueueFullError, QuotaExceededError
from planner_mcp.jobs.model import Progress
from planner_mcp.settings import Settings
from planner_mcp.store.connect import connect

pytestmark = pytest.mark.anyio


async def serve(desk: Any, jobs: int, plan: dict[str, Any]) -> list[str]:
    """Run jobs one after another and return whose they were."""
    served = []
    for _ in range(jobs):
        claim = await desk.claim()
        served.append(claim.job.principal)
        await desk.store.complete(claim, Progress(), plan)
    return served


async def test_a_second_principal_does_not_wait_behind_the_backlog_of_the_first(
    desk: Any, plan: dict[str, Any]
) -> None:
    """SPEC J8."""
    await desk.workers(1)
    for _ in range(30):
        await desk.submit("ann")
    await desk.submit("ben")
    assert "ben" in (await serve(desk, 3, plan))


async def test_sharing_is_by_cpu_seconds_not_by_count(desk: Any, plan: dict[str, Any]) -> None:
    """SPEC J8: three short jobs weigh as much as one long one."""
    for _ in range(40):
        await desk.submit("ann", solve_time_s=10)
        await desk.submit("ben", solve_time_s=30)
    await desk.workers(1)
    shares = Counter(await serve(desk, 40, plan))
    assert shares["ann"] / shares["ben"] == pytest.approx(3, rel=0.1)


async def test_weights_set_the_shares(desk: Any, plan: dict[str, Any]) -> None:
    """SPEC J8."""
    await desk.store.redis.hset("{p0}:weights", "ann", 3)
    for _ in range(40):
        await desk.submit("ann")
        await desk.submit("ben")
    await desk.workers(1)
    shares = Counter(await serve(desk, 40, plan))
    assert shares["ann"] / shares["ben"] == pytest.approx(3, rel=0.1)


async def test_who_was_away_gets_no_credit_for_it(desk: Any, plan: dict[str, Any]) -> None:
    """SPEC J8: a latecomer shares from now on and does not make up for the past."""
    for _ in range(40):
        await desk.submit("ann")
    await desk.workers(1)
    await serve(desk, 20, plan)
    for _ in range(20):
        await desk.submit("ben")
    assert Counter(await serve(desk, 20, plan))["ben"] == pytest.approx(10, abs=1)


async def test_priority_orders_the_jobs_of_one_principal_then_age(desk: Any) -> None:
    """SPEC J8."""
    jobs = {priority: await desk.submit(priority=priority) for priority in (5, 1, 9)}
    later = await desk.submit(priority=9)
    assert (await desk.store.get_job("ann", jobs[5].id)).queue_position == 3
    await desk.workers(4)
    claimed = [(await desk.claim()).job.id for _ in range(4)]
    assert claimed == [jobs[9].id, later.id, jobs[5].id, jobs[1].id]


async def test_a_principal_at_its_quota_leaves_the_slots_to_others(desk: Any, settings: Settings) -> None:
    """SPEC J8: `max_solving_per_principal`."""
    async with connect(settings.model_copy(update={"max_solving_per_principal": 2})) as store:
        desk.store = store
        await desk.workers(4)
        for _ in range(5):
            await desk.submit("ann")
        await desk.submit("ben")
        owners = [(await desk.claim()).job.principal for _ in range(3)]
        assert Counter(owners) == {"ann": 2, "ben": 1}
        assert await store.claim("w1", 0) is None


async def test_a_freed_quota_brings_the_next_job(desk: Any, settings: Settings, plan: dict[str, Any]) -> None:
    """SPEC J8."""
    async with connect(settings.model_copy(update={"max_solving_per_principal": 1})) as store:
        desk.store = store
        await desk.workers(4)
        for _ in range(2):
            await desk.submit("ann")
        assert await serve(desk, 2, plan) == ["ann", "ann"]


@pytest.mark.parametrize(
    ("limit", "error"),
    [({"max_queued": 2}, QueueFullError), ({"max_queued_per_principal": 2}, QuotaExceededError)],
)
async def test_a_full_queue_refuses_and_says_when_to_come_back(
    desk: Any, settings: Settings, limit: dict[str, int], error: type[QueueFullError]
) -> None:
    """SPEC J8."""
    async with connect(settings.model_copy(update=limit)) as store:
        desk.store = store
        kept = [await desk.submit() for _ in range(2)]
        with pytest.raises(error) as caught:
            await desk.submit()
        assert caught.value.retry_after_s is not None
        assert 1 <= caught.value.retry_after_s <= 60
        assert (await store.submit("ann", kept[0].request, kept[0].id)).id == kept[0].id
        await store.cancel("ann", kept[0].id, keep_best=True)
        await desk.submit()


async def test_a_requeued_job_is_not_charged_twice(desk: Any, plan: dict[str, Any]) -> None:
    """SPEC J8: a crash of the fleet costs the principal nothing."""
    for _ in range(10):
        await desk.submit("ann")
        await desk.submit("ben")
    await desk.workers(1)
    for _ in range(6):
        claim = await desk.claim()
        await desk.store.hand_back(claim)
    assert Counter(await serve(desk, 10, plan)) == {"ann": 5, "ben": 5}
