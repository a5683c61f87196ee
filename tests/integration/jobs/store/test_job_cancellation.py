"""Cancel and finish now, queued and mid-solve (SPEC T4)."""

from typing import Any

import anyio
import pytest

from planner_mcp.errors import IllegalTransitionError, NotFoundError, PlanNotReadyError
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.job_ports import Renewal

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("slots", [0, 1])
async def test_a_queued_job_is_cancelled_at_once_and_never_claimed(harness: Any, slots: int) -> None:
    """SPEC T4: whether it waits in the backlog or was handed out already."""
    if slots:
        await harness.workers(slots)
    job = await harness.submit()
    cancelled = await harness.store.cancel("ann", job.id, keep_best=True)
    assert (cancelled.state, cancelled.queue_position) == (JobState.CANCELLED, None)
    assert (await harness.events(job.id))[-1].data.cancelled_at
    await harness.workers()
    assert await harness.store.claim("w1", 0) is None


async def test_a_solving_job_learns_of_its_cancel_by_word_and_by_renewal(harness: Any) -> None:
    """SPEC T4: the fast path, and the sure one."""
    claim = await harness.solving()
    heard: list[str] = []

    async def listen() -> None:
        heard.extend(await harness.store.wait_control(5))

    await harness.store.wait_control(0)
    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        asked = await harness.store.cancel("ann", claim.job.id, keep_best=True)
    assert asked.cancel_requested
    assert asked.state is JobState.SOLVING
    assert heard == [claim.job.id]
    assert await harness.store.renew(claim) == Renewal(is_held=True, cancel=True)


async def test_the_best_plan_stays_readable_after_a_cancel(harness: Any, plan: dict[str, Any], half: Progress) -> None:
    """SPEC T4."""
    claim = await harness.solving()
    await harness.store.report(claim, half, plan)
    await harness.store.cancel("ann", claim.job.id, keep_best=True)
    await harness.store.settle_cancel(claim)
    last = (await harness.events(claim.job.id))[-1]
    assert await harness.store.get_plan("ann", last.data.plan_id) == plan
    assert last.data.summary.cost == plan["cost"]


async def test_a_cancel_that_keeps_nothing_drops_the_plan(harness: Any, plan: dict[str, Any], half: Progress) -> None:
    """SPEC T4."""
    claim = await harness.solving()
    await harness.store.report(claim, half, plan)
    await harness.store.cancel("ann", claim.job.id, keep_best=False)
    await harness.store.settle_cancel(claim)
    assert (await harness.store.get_job("ann", claim.job.id)).plan_id is None
    with pytest.raises(NotFoundError):
        await harness.store.get_plan("ann", claim.job.id.replace("job", "plan", 1))


@pytest.mark.parametrize("end", ["complete", "fail", "crash", "hand_back", "reap"])
async def test_a_cancel_that_was_answered_wins_every_race(
    harness: Any, plan: dict[str, Any], half: Progress, end: str
) -> None:
    """SPEC J1: one terminal state, and the one in the caller's answer."""
    claim = await harness.solving()
    await harness.store.cancel("ann", claim.job.id, keep_best=True)
    arguments = {"complete": (half, plan), "fail": ({"code": 1},), "crash": ({"code": 1},)}
    if end == "reap":
        await harness.let_lease_lapse(claim)
        await harness.store.reap()
    else:
        await getattr(harness.store, end)(claim, *arguments.get(end, ()))
    assert await harness.state(claim.job.id) is JobState.CANCELLED
    assert (await harness.kinds(claim.job.id)).count("cancelled") == 1
    assert (await harness.store.get_job("ann", claim.job.id)).error is None


@pytest.mark.parametrize("state", [JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED])
async def test_cancelling_or_finishing_what_is_over_changes_nothing(harness: Any, state: JobState) -> None:
    """SPEC T4: idempotent."""
    claim = await harness.ended(state)
    before = await harness.store.get_job("ann", claim.job.id)
    assert await harness.store.cancel("ann", claim.job.id, keep_best=False) == before
    assert await harness.store.finish_now("ann", claim.job.id) == before


async def test_finish_now_reaches_the_worker_and_refuses_a_queued_job(harness: Any) -> None:
    """SPEC T5."""
    queued = await harness.submit()
    with pytest.raises(IllegalTransitionError):
        await harness.store.finish_now("ann", queued.id)
    await harness.workers()
    claim = await harness.claim()
    assert (await harness.store.finish_now("ann", queued.id)).finish_requested
    assert await harness.store.renew(claim) == Renewal(is_held=True, finish=True)


async def test_a_job_without_a_plan_yet_says_come_back(harness: Any) -> None:
    """SPEC S3."""
    claim = await harness.solving()
    with pytest.raises(PlanNotReadyError):
        await harness.store.get_plan("ann", claim.job.id.replace("job", "plan", 1))
