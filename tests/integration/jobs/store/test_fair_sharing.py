"""Who goes next, and who has to wait outside (SPEC J8)."""

import time
from collections import Counter
from typing import Any

import pytest

from planner_mcp.errors import QueueFullError, QuotaExceededError, RateLimitedError
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.settings import Settings

pytestmark = pytest.mark.anyio


async def serve(harness: Any, jobs: int, plan: dict[str, Any], *, used: float = 1.0) -> list[str]:
    """Run jobs one after another, each for a share of the time it may take; return whose they were."""
    served = []
    for _ in range(jobs):
        claim = await harness.claim()
        served.append(claim.job.principal)
        began = time.time() - used * claim.job.request.solve_time_s
        await harness.store.redis.hset(f"{{p0}}:job:{claim.job.id}", "started_ms", round(began * 1000))
        await harness.store.complete(claim, Progress(), plan)
    return served


async def test_a_second_principal_does_not_wait_behind_the_backlog_of_the_first(
    harness: Any, plan: dict[str, Any]
) -> None:
    """SPEC J8."""
    await harness.workers(1)
    for _ in range(30):
        await harness.submit("ann")
    await harness.submit("ben")
    assert "ben" in (await serve(harness, 3, plan))


async def test_sharing_is_by_cpu_seconds_not_by_count(harness: Any, plan: dict[str, Any]) -> None:
    """SPEC J8: three short jobs weigh as much as one long one."""
    for _ in range(40):
        await harness.submit("ann", solve_time_s=10)
        await harness.submit("ben", solve_time_s=30)
    await harness.workers(1)
    shares = Counter(await serve(harness, 40, plan))
    assert shares["ann"] / shares["ben"] == pytest.approx(3, rel=0.1)


async def test_who_used_less_than_was_charged_is_served_more(harness: Any, plan: dict[str, Any]) -> None:
    """SPEC J8: a job that ends early is charged what it used, so asking for long searches costs nothing by itself."""
    for _ in range(40):
        await harness.submit("ann", solve_time_s=300)
        await harness.submit("ben", solve_time_s=30)
    await harness.workers(1)
    shares = Counter(await serve(harness, 40, plan, used=0.0))
    assert shares["ann"] == pytest.approx(20, abs=2)


async def test_a_job_cancelled_before_it_began_is_charged_nothing(harness: Any, plan: dict[str, Any]) -> None:
    """SPEC J8."""
    await harness.workers(1)
    unwanted = [await harness.submit("ann", solve_time_s=3000) for _ in range(5)]
    for job in unwanted:
        await harness.store.cancel("ann", job.id, keep_best=True)
    for _ in range(10):
        await harness.submit("ann")
        await harness.submit("ben")
    assert Counter(await serve(harness, 10, plan)) == {"ann": 5, "ben": 5}


async def test_weights_set_the_shares(harness: Any, plan: dict[str, Any]) -> None:
    """SPEC J8."""
    await harness.store.redis.hset("{p0}:weights", "ann", 3)
    for _ in range(40):
        await harness.submit("ann")
        await harness.submit("ben")
    await harness.workers(1)
    shares = Counter(await serve(harness, 40, plan))
    assert shares["ann"] / shares["ben"] == pytest.approx(3, rel=0.1)


async def test_who_was_away_gets_no_credit_for_it(harness: Any, plan: dict[str, Any]) -> None:
    """SPEC J8: a latecomer shares from now on and does not make up for the past."""
    for _ in range(40):
        await harness.submit("ann")
    await harness.workers(1)
    await serve(harness, 20, plan)
    for _ in range(20):
        await harness.submit("ben")
    assert Counter(await serve(harness, 20, plan))["ben"] == pytest.approx(10, abs=1)


async def test_priority_orders_the_jobs_of_one_principal_then_age(harness: Any) -> None:
    """SPEC J8."""
    jobs = {priority: await harness.submit(priority=priority) for priority in (5, 1, 9)}
    later = await harness.submit(priority=9)
    assert (await harness.store.get_job("ann", jobs[5].id)).queue_position == 3
    await harness.workers(4)
    claimed = [(await harness.claim()).job.id for _ in range(4)]
    assert claimed == [jobs[9].id, later.id, jobs[5].id, jobs[1].id]


async def test_a_principal_at_its_quota_leaves_the_slots_to_others(harness: Any, settings: Settings) -> None:
    """SPEC J8: `max_solving_per_principal`."""
    async with connect(settings.model_copy(update={"max_solving_per_principal": 2})) as store:
        harness.store = store
        await harness.workers(4)
        for _ in range(5):
            await harness.submit("ann")
        await harness.submit("ben")
        owners = [(await harness.claim()).job.principal for _ in range(3)]
        assert Counter(owners) == {"ann": 2, "ben": 1}
        assert await store.claim("w1", 0) is None


async def test_a_share_of_the_slots_stays_free_for_others(harness: Any, settings: Settings) -> None:
    """SPEC J8: `max_share`; a job of a second principal starts without waiting for one of the first to end."""
    async with connect(settings.model_copy(update={"max_share": 0.75})) as store:
        harness.store = store
        await harness.workers(4)
        for _ in range(10):
            await harness.submit("ann")
        assert [(await harness.claim()).job.principal for _ in range(3)] == ["ann"] * 3
        assert await store.claim("w1", 0) is None
        await harness.submit("ben")
        assert (await harness.claim()).job.principal == "ben"


async def test_who_stands_at_its_share_is_served_as_the_slots_grow(harness: Any, settings: Settings) -> None:
    """SPEC J8: `max_share` of the slots there are now, also for a backlog that was there before the workers."""
    async with connect(settings.model_copy(update={"max_share": 0.5, "lease_s": 30.0})) as store:
        harness.store = store
        for _ in range(20):
            await harness.submit("ann")
        for number in range(1, 11):
            await harness.workers(1, f"w{number}")
            claimed = await harness.store.redis.scard("{p0}:out:ann")
            assert claimed == max(1, number // 2)
        assert [(await harness.claim(f"w{number}")).job.principal for number in range(1, 6)] == ["ann"] * 5
        assert await store.claim("w6", 0) is None


async def test_who_is_above_its_share_gets_no_more_as_the_slots_shrink(
    harness: Any, settings: Settings, plan: dict[str, Any]
) -> None:
    """SPEC J8: workers that leave take their part of the share along; what runs goes on."""
    async with connect(settings.model_copy(update={"max_share": 0.5, "lease_s": 30.0})) as store:
        harness.store = store
        for worker in ("stays", "leaves"):
            await harness.workers(4, worker)
        for principal in [*["ann"] * 3, *["ben"] * 4, "cem", "ann"]:
            await harness.submit(principal)
        held = [await harness.claim("stays") for _ in range(8)]
        await store.register("leaves", 0)
        for claim in held:
            if claim.job.principal != "ann":
                await store.complete(claim, Progress(), plan)
        assert await store.claim("stays", 0) is None
        for claim in [claim for claim in held if claim.job.principal == "ann"][:2]:
            await store.complete(claim, Progress(), plan)
        assert (await harness.claim("stays")).job.principal == "ann"


async def test_a_larger_quota_holds_from_the_next_beat_on(harness: Any, settings: Settings) -> None:
    """SPEC J8: a deployment that is started anew with another `max_solving_per_principal` waits for no job to end."""
    for quota, out in ((1, 1), (3, 3)):
        async with connect(settings.model_copy(update={"max_solving_per_principal": quota})) as store:
            harness.store = store
            for _ in range(5) if quota == 1 else ():
                await harness.submit("ann")
            await harness.workers(4)
            assert await store.redis.scard("{p0}:out:ann") == out


async def test_one_slot_is_shared_in_turn_whatever_the_share(harness: Any, settings: Settings) -> None:
    """SPEC J8: a share never keeps the only slot empty."""
    async with connect(settings.model_copy(update={"max_share": 0.5})) as store:
        harness.store = store
        await harness.workers(1)
        await harness.submit("ann")
        await harness.claim()


async def test_submits_above_the_rate_are_refused_with_a_time_to_retry(harness: Any, settings: Settings) -> None:
    """SPEC J8: `submit_rate_per_s`, with and without authorization; a repeated call is no new job and costs nothing."""
    async with connect(settings.model_copy(update={"submit_rate_per_s": 2.0, "submit_burst": 3})) as store:
        harness.store = store
        kept = [await harness.submit() for _ in range(3)]
        with pytest.raises(RateLimitedError) as caught:
            await harness.submit()
        assert caught.value.retry_after_s == 1.0
        assert "submit_rate_per_s is 2" in caught.value.errors[0].accepted
        assert (await store.submit("ann", kept[0].request, "job-0-" + "b" * 26)).id == kept[0].id
        await harness.submit("ben")


async def test_a_freed_quota_brings_the_next_job(harness: Any, settings: Settings, plan: dict[str, Any]) -> None:
    """SPEC J8."""
    async with connect(settings.model_copy(update={"max_solving_per_principal": 1})) as store:
        harness.store = store
        await harness.workers(4)
        for _ in range(2):
            await harness.submit("ann")
        assert await serve(harness, 2, plan) == ["ann", "ann"]


@pytest.mark.parametrize(
    ("limit", "error"),
    [({"max_queued": 2}, QueueFullError), ({"max_queued_per_principal": 2}, QuotaExceededError)],
)
async def test_a_full_queue_refuses_and_says_when_to_come_back(
    harness: Any, settings: Settings, limit: dict[str, int], error: type[QueueFullError]
) -> None:
    """SPEC J8."""
    async with connect(settings.model_copy(update=limit)) as store:
        harness.store = store
        kept = [await harness.submit() for _ in range(2)]
        with pytest.raises(error) as caught:
            await harness.submit()
        assert caught.value.retry_after_s is not None
        assert 1 <= caught.value.retry_after_s <= 60
        assert caught.value.errors[0].accepted == f"{next(iter(limit))} is 2"
        assert (await store.submit("ann", kept[0].request, kept[0].id)).id == kept[0].id
        await store.cancel("ann", kept[0].id, keep_best=True)
        await harness.submit()


async def test_a_requeued_job_is_not_charged_twice(harness: Any, plan: dict[str, Any]) -> None:
    """SPEC J8: a crash of the fleet costs the principal nothing."""
    for _ in range(10):
        await harness.submit("ann")
        await harness.submit("ben")
    await harness.workers(1)
    for _ in range(6):
        claim = await harness.claim()
        await harness.store.hand_back(claim)
    assert Counter(await serve(harness, 10, plan)) == {"ann": 5, "ben": 5}
