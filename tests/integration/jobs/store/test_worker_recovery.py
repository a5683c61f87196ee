"""Workers die, drain and come back (SPEC J6, J7)."""

import time
from typing import Any

import pytest

from planner_mcp.jobs.job_lifecycle import MAX_CRASHES, JobState
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.settings import Settings

pytestmark = pytest.mark.anyio


async def test_a_job_whose_worker_fell_silent_runs_again_from_its_checkpoint(
    harness: Any, plan: dict[str, Any], half: Progress
) -> None:
    """SPEC J6."""
    claim = await harness.solving()
    await harness.store.report(claim, half, plan)
    await harness.let_lease_lapse(claim)
    assert await harness.store.reap() == 1
    again = await harness.claim()
    assert again.job.id == claim.job.id
    assert (again.best_plan, again.elapsed_s, again.job.crashes) == (plan, half.elapsed_s, 1)
    assert again.job.progress.percent == 50
    assert await harness.kinds(claim.job.id) == ["queued", "started", "progress", "requeued", "started"]


async def test_a_job_that_keeps_killing_workers_ends_failed_and_says_so(harness: Any) -> None:
    """SPEC J6: a killed child and a lost worker both count."""
    await harness.workers()
    job = await harness.submit()
    for attempt in range(MAX_CRASHES):
        claim = await harness.claim()
        if attempt % 2:
            await harness.let_lease_lapse(claim)
            await harness.store.reap()
        else:
            await harness.store.crash(claim, {"code": 5011, "type": "EngineCrashed", "message": "signal 9"})
    ended = await harness.store.get_job("ann", job.id)
    assert (ended.state, ended.crashes) == (JobState.FAILED, MAX_CRASHES)
    assert ended.error is not None
    assert (ended.error.code, ended.error.type) == (5015, "PoisonedJob")
    assert (await harness.events(job.id))[-1].data.error == ended.error
    assert await harness.store.claim("w1", 0) is None


async def test_handing_back_burns_no_attempt_and_goes_to_the_front(harness: Any) -> None:
    """SPEC J7."""
    await harness.workers()
    first = await harness.submit(priority=1)
    await harness.submit(priority=9)
    for _ in range(2 * MAX_CRASHES):
        claim = await harness.claim()
        assert claim.job.id == first.id
        await harness.store.hand_back(claim)
    assert (await harness.store.get_job("ann", first.id)).crashes == 0


async def test_a_job_that_is_claimed_again_has_a_whole_lease(harness: Any) -> None:
    """SPEC J6: what was lost with the answer counts against nobody."""
    claim = await harness.solving()
    harness.store._held.clear()  # as if the answer had been lost
    await harness.let_lease_lapse(claim)
    again = await harness.claim()
    assert (again.job.id, again.ready_entry_id) == (claim.job.id, claim.ready_entry_id)
    assert await harness.store.reap() == 0


async def test_a_late_try_to_claim_takes_no_job_from_its_own_worker(harness: Any) -> None:
    """SPEC J6: the store stood still; the worker claimed by its next try, and the one it gave up arrives at last."""
    claim = await harness.solving()
    late = {"worker": claim.worker_id, "held": [], "missing": "{}", "turn": 0}
    assert await harness.store.script_client.step("claim", 0, late) == ["none"]
    assert (await harness.store.renew(claim)).is_held


async def test_a_delivery_that_was_never_claimed_is_nobodys_fault(harness: Any) -> None:
    """SPEC J6: a worker died between taking the entry and claiming the job."""
    await harness.workers()
    job = await harness.submit()
    await harness.store.redis.xreadgroup("workers", "w1", {"{p0}:ready": ">"})
    ((delivery, _fields),) = await harness.store.redis.xrange("{p0}:ready")
    await harness.store.redis.execute_command("XCLAIM", "{p0}:ready", "workers", "w1", 0, delivery, "IDLE", 60_000)
    assert await harness.store.reap() == 1
    claim = await harness.claim()
    assert (claim.job.id, claim.job.crashes) == (job.id, 0)


async def test_a_delivery_nobody_claimed_leaves_no_trace_of_itself(harness: Any) -> None:
    """SPEC J6, J8: cancelled later, the job leaves the backlog and takes none of its principal's places."""
    await harness.workers()
    job = await harness.submit()
    await harness.store.script_client.read_group("{p0}:ready", group="workers", consumer="w1", block_s=0)
    await harness.store.register("w1", 0)
    redis = harness.store.redis
    delivery = await redis.hget(f"{{p0}}:job:{job.id}", "delivery")
    await redis.execute_command("XCLAIM", "{p0}:ready", "workers", "w1", 0, delivery, "IDLE", 60_000, "JUSTID")
    assert await harness.store.reap() == 1
    assert await redis.hget(f"{{p0}}:job:{job.id}", "delivery") == ""
    await harness.store.cancel("ann", job.id, keep_best=True)
    await harness.workers()
    assert await redis.exists("{p0}:bl:ann", "{p0}:out:ann") == 0


async def test_a_drained_worker_takes_its_slots_with_it_and_keeps_its_jobs(
    harness: Any, plan: dict[str, Any], half: Progress
) -> None:
    """SPEC J7."""
    claim = await harness.solving()
    await harness.store.register("w1", 0)
    stats = await harness.store.stats()
    assert (stats.live_workers, stats.live_slots, stats.solving) == (0, 0, 1)
    await harness.store.complete(claim, half, plan)
    assert await harness.state(claim.job.id) is JobState.COMPLETED


async def test_a_worker_that_left_is_no_consumer_once_its_job_is_off_its_hands(
    harness: Any, plan: dict[str, Any], half: Progress
) -> None:
    """SPEC J9: one that ended its job after it left, one that never did; who lives stays, and so does who holds."""

    async def consumers() -> set[str]:
        return {each["name"] for each in await harness.store.redis.xinfo_consumers("{p0}:ready", "workers")}

    held = {}
    for name in ("ends", "dies", "holds"):
        await harness.workers(1, name)
        await harness.submit()
        held[name] = await harness.claim(name)
    await harness.workers(1, "lives")
    assert await harness.store.claim("lives", 0) is None
    for name in held:
        await harness.store.register(name, 0)
    await harness.store.complete(held["ends"], half, plan)
    await harness.let_lease_lapse(held["dies"])
    assert await consumers() == {"ends", "dies", "holds", "lives"}
    assert await harness.store.reap() == 1
    assert await consumers() == {"holds", "lives"}


async def test_a_silent_worker_is_forgotten_after_three_leases(harness: Any) -> None:
    """SPEC O3: by whoever registers next; until then, and if nobody does, its slots are not alive."""
    await harness.workers(4, "dead")
    await harness.store.redis.zadd("{p0}:alive", {"dead": 1})
    stats = await harness.store.stats()
    assert (stats.live_workers, stats.live_slots) == (0, 0)
    await harness.workers(1, "w1")
    stats = await harness.store.stats()
    assert (stats.live_workers, stats.live_slots) == (1, 1)


async def test_each_worker_is_checked_by_its_own_lease_whoever_sweeps(harness: Any, settings: Settings) -> None:
    """SPEC J6: while a change of the lease is rolled out, who has the longer one loses nothing, nor by leaving."""
    async with connect(settings.model_copy(update={"lease_s": 3600.0})) as slow:
        await slow.register("slow", 1)
        held = await harness.submit()
        await harness.let_lease_lapse(await slow.claim("slow", 1))
        assert await harness.store.reap() == 0
        await slow.register("slow", 0)
        assert await harness.store.reap() == 0
        await harness.workers(2)
        lost = await harness.submit()
        await harness.let_lease_lapse(await harness.claim())
        assert await slow.reap() == 1
    assert [(await harness.store.get_job("ann", job.id)).crashes for job in (held, lost)] == [0, 1]


async def test_a_worker_is_silent_by_its_own_lease_whoever_looks(harness: Any, settings: Settings) -> None:
    """SPEC J6: one that calls rarely, as its lease allows, keeps its slots beside one that calls often."""
    async with connect(settings.model_copy(update={"lease_s": 3600.0})) as slow:
        await slow.register("slow", 2)
    await harness.store.redis.zincrby("{p0}:alive", -60_000, "slow")  # it called a minute ago
    await harness.workers(1, "quick")
    stats = await harness.store.stats()
    assert (stats.live_workers, stats.live_slots) == (2, 3)
    await harness.store.redis.zadd(
        "{p0}:alive", {"slow": 1000 * (time.time() - 3 * 3600 - 1)}
    )  # three leases and 1 s ago
    assert (await harness.store.stats()).live_workers == 1


async def test_workers_of_two_versions_keep_their_slots_beside_each_other(harness: Any) -> None:
    """SPEC J7: a rollout; the version before wrote when a worker called, and told no lease."""
    redis, now_ms = harness.store.redis, 1000 * time.time()
    await redis.zadd("{p0}:alive", {"before": now_ms})
    await redis.hset("{p0}:slots", "before", 2)
    await harness.workers(1, "after")
    assert await redis.hget("{p0}:clock", "slots") == "3"
    stats = await harness.store.stats()
    assert (stats.live_workers, stats.live_slots) == (2, 3)
    assert abs(await redis.zscore("{p0}:alive", "after") - now_ms) < 60_000


async def test_nothing_is_handed_out_while_no_worker_lives_and_all_once_one_does(harness: Any) -> None:
    """SPEC J8: no more entries than slots."""
    jobs = [await harness.submit() for _ in range(5)]
    assert await harness.store.redis.xlen("{p0}:ready") == 0
    await harness.workers(3)
    assert await harness.store.redis.xlen("{p0}:ready") == 3
    assert [(await harness.claim()).job.id for _ in range(3)] == [job.id for job in jobs[:3]]


async def test_progress_never_goes_backwards_nor_reaches_100_before_the_end(harness: Any) -> None:
    """SPEC J5: whatever a worker or a second attempt says."""
    claim = await harness.solving()
    for percent in (40, 20, 250):
        await harness.store.report(claim, Progress(percent=percent), None)
    seen = [event.data.progress for event in await harness.events(claim.job.id)]
    assert seen == [0, 0, 40, 40, 99]


async def test_a_job_whose_scenario_expired_fails_with_a_reason(harness: Any) -> None:
    """SPEC J9."""
    job = await harness.submit()
    await harness.store.redis.delete("{p0}:scn:" + job.request.scenario_id)
    await harness.workers()
    assert await harness.store.claim("w1", 0) is None
    ended = await harness.store.get_job("ann", job.id)
    assert ended.state is JobState.FAILED
    assert ended.error is not None
    assert ended.error.type == "NotFound"
