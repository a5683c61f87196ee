"""A worker that lost its job changes nothing any more."""

from dataclasses import replace
from typing import Any

import pytest

from planner_mcp.errors import JobFailure, LeaseLostError
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.job_ports import Claim, Renewal

pytestmark = pytest.mark.anyio


@pytest.fixture
async def stale_and_new(harness: Any) -> tuple[Claim, Claim]:
    """The claim of a worker that fell silent, and that of the one who took over."""
    stale = await harness.solving()
    await harness.let_lease_lapse(stale)
    await harness.workers(name="w2")
    assert await harness.store.reap() == 1
    return stale, await harness.claim("w2")


async def test_fencing_numbers_only_rise(stale_and_new: tuple[Claim, Claim]) -> None:
    """SPEC J6."""
    stale, new = stale_and_new
    assert new.job.id == stale.job.id
    assert new.job.fence > stale.job.fence


@pytest.mark.parametrize("write", ["report", "complete", "fail", "settle_cancel", "crash", "hand_back"])
async def test_a_stale_write_is_refused_and_leaves_no_trace(
    harness: Any, stale_and_new: tuple[Claim, Claim], plan: dict[str, Any], half: Progress, write: str
) -> None:
    """SPEC J6: not even the acknowledgement of the new holder's delivery."""
    stale, new = stale_and_new
    before = await harness.events(new.job.id)
    arguments = {
        "report": (half, plan),
        "complete": (half, plan),
        "fail": ({"code": 1},),
        "crash": ({"code": 1},),
    }
    with pytest.raises(LeaseLostError):
        await getattr(harness.store, write)(stale, *arguments.get(write, ()))
    assert await harness.events(new.job.id) == before
    assert (await harness.store.renew(new)).is_held
    await harness.store.complete(new, half, plan)
    assert await harness.state(new.job.id) is JobState.COMPLETED


async def test_a_stale_renewal_says_so_and_does_not_steal_the_job_back(
    harness: Any, stale_and_new: tuple[Claim, Claim]
) -> None:
    """SPEC J6: XCLAIM alone would."""
    stale, new = stale_and_new
    assert await harness.store.renew(stale) == Renewal(is_held=False)
    assert await harness.store.renew(new) == Renewal(is_held=True)
    assert await harness.store.renew(replace(new, worker_id="w9")) == Renewal(is_held=False)


@pytest.mark.parametrize("heard_by", ["report", "renew"])
async def test_a_worker_forgets_what_it_lost(
    harness: Any, stale_and_new: tuple[Claim, Claim], half: Progress, heard_by: str
) -> None:
    """Our choice: it names all it holds with each claim, and may live for months."""
    stale, _new = stale_and_new
    if heard_by == "renew":
        await harness.store.renew(stale)
    else:
        with pytest.raises(LeaseLostError):
            await harness.store.report(stale, half, None)
    assert not harness.store._held["w1", 0]
    assert len(harness.store._held["w2", 0]) == 1


async def test_renewing_keeps_the_reaper_away(harness: Any) -> None:
    """SPEC J6: the lease is the time since the last renewal."""
    claim = await harness.solving()
    await harness.let_lease_lapse(claim)
    assert (await harness.store.renew(claim)).is_held
    assert await harness.store.reap() == 0


async def test_repeating_a_write_whose_answer_was_lost_is_safe(
    harness: Any, plan: dict[str, Any], half: Progress
) -> None:
    """SPEC J1, W3: each worker step may be repeated after StoreUnavailableError: one event, one outbox entry."""
    claim = await harness.solving(callback_url="https://example.org/hook")
    for _twice in range(2):
        await harness.store.report(claim, Progress(percent=10), None)
    for _twice in range(2):
        await harness.store.report(claim, half, plan)
    for _twice in range(2):
        await harness.store.complete(claim, half, plan)
    assert await harness.kinds(claim.job.id) == ["queued", "started", "progress", "progress", "completed"]
    assert len(await harness.store.redis.xrange("{p0}:outbox")) == 1


async def test_an_end_that_the_store_lost_is_reached_again(harness: Any, plan: dict[str, Any], half: Progress) -> None:
    """SPEC J6, J7: a failover without waiting takes the end back; the job runs again as another attempt, fenced."""
    claim = await harness.solving()
    await harness.store.report(claim, half, plan)
    redis = harness.store.redis
    kept = {key: (await redis.dump(key), max(0, await redis.pttl(key))) async for key in redis.scan_iter()}
    await harness.store.complete(claim, half, plan)
    await redis.flushdb()
    for key, (value, ttl_ms) in kept.items():
        await redis.restore(key, ttl_ms, value)
    again = await harness.claim("w1")  # the store says that its worker never ended it, so that is where it goes
    assert (again.job.id, again.job.fence) == (claim.job.id, claim.job.fence + 1)
    with pytest.raises(LeaseLostError):
        await harness.store.report(claim, half, plan)
    await harness.store.report(again, Progress(percent=75), None)
    await harness.store.complete(again, half, plan)
    kinds = ["queued", "started", "progress", "started", "progress", "completed"]
    assert await harness.kinds(claim.job.id) == kinds


async def test_repeating_a_crash_counts_it_once(harness: Any) -> None:
    """SPEC J6: a crash may be told again like every step and brings no job nearer its end."""
    claim = await harness.solving()
    for _twice in range(2):
        assert await harness.store.crash(claim, {"code": 1}) is JobState.QUEUED
    assert (await harness.store.get_job("ann", claim.job.id)).crashes == 1


async def test_a_job_that_fails_names_the_plan_it_leaves(harness: Any, plan: dict[str, Any], half: Progress) -> None:
    """SPEC J2, S3: the best plan so far can be read, and its last event says where; without one it says nothing."""
    claim = await harness.solving()
    await harness.store.report(claim, half, plan)
    error = {"code": 5010, "type": "EngineFailed", "message": "x"}
    await harness.store.fail(claim, error)
    last = (await harness.events(claim.job.id))[-1].data
    job = await harness.store.get_job("ann", claim.job.id)
    assert (last.plan_id, last.summary) == (job.plan_id, job.summary)
    assert last.error == job.error == JobFailure.of(error)
    assert await harness.store.get_plan("ann", last.plan_id) == plan
    bare = await harness.ended(JobState.FAILED)
    assert not {"plan_id", "summary"} & (await harness.events(bare.job.id))[-1].data.as_json().keys()


async def test_an_end_is_one_event_one_outbox_entry_and_one_plan(
    harness: Any, plan: dict[str, Any], half: Progress
) -> None:
    """SPEC W3: the delivery is written in the step that ends the job."""
    claim = await harness.solving(callback_url="https://example.org/hook")
    await harness.store.complete(claim, half, plan)
    last = (await harness.events(claim.job.id))[-1]
    ((_id, entry),) = await harness.store.redis.xrange("{p0}:outbox")
    assert entry["delivery_id"] == f"{claim.job.id}:{last.id}"
    assert (entry["principal"], entry["url"]) == ("ann", "https://example.org/hook")
    assert last.data.progress == 100
    assert last.data.result.plan_id == claim.job.id.replace("job", "plan", 1)
    assert await harness.store.get_plan("ann", last.data.result.plan_id) == plan
