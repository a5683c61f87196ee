"""Cancel and finish now, queued and mid-solve (SPEC T4)."""

from typing import Any

import anyio
import pytest

from planner_mcp.errors import IllegalTransitionError, NotFoundError, PlanNotReadyError
from planner_mcp.jobs.lifecycle import JobState
from planner_mcp.jobs.model import Progress
from planner_mcp.jobs.ports import Renewal

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("slots", [0, 1])
async def test_a_queued_job_is_cancelled_at_once_and_never_claimed(desk: Any, slots: int) -> None:
    """SPEC T4: whether it waits in the backlog or was handed out already."""
    if slots:
        await desk.workers(slots)
    job = await desk.submit()
    cancelled = await desk.store.cancel("ann", job.id, keep_best=True)
    assert (cancelled.state, cancelled.queue_position) == (JobState.CANCELLED, None)
    assert (await desk.events(job.id))[-1].data["cancelled_at"]
    await desk.workers()
    assert await desk.store.claim("w1", 0) is None


async def test_a_solving_job_learns_of_its_cancel_by_word_and_by_renewal(desk: Any) -> None:
    """SPEC T4: the fast path, and the sure one."""
    claim = await desk.solving()
    heard: list[str] = []

    async def listen() -> None:
        heard.extend(await desk.store.wait_control(5))

    await desk.store.wait_control(0)
    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        asked = await desk.store.cancel("ann", claim.job.id, keep_best=True)
    assert asked.cancel_requested
    assert asked.state is JobState.SOLVING
    assert heard == [claim.job.id]
    assert await desk.store.renew(claim) == Renewal(is_held=True, cancel=True)


async def test_the_best_plan_stays_readable_after_a_cancel(desk: Any, plan: dict[str, Any], half: Progress) -> None:
    """SPEC T4."""
    claim = await desk.solving()
    await desk.store.report(claim, half, plan)
    await desk.store.cancel("ann", claim.job.id, keep_best=True)
    await desk.store.settle_cancel(claim)
    last = (await desk.events(claim.job.id))[-1]
    assert await desk.store.get_plan("ann", last.data["plan_id"]) == plan
    assert last.data["summary"]["cost"] == plan["cost"]


async def test_a_cancel_that_keeps_nothing_drops_the_plan(desk: Any, plan: dict[str, Any], half: Progress) -> None:
    """SPEC T4."""
    claim = await desk.solving()
    await desk.store.report(claim, half, plan)
    await desk.store.cancel("ann", claim.job.id, keep_best=False)
    await desk.store.settle_cancel(claim)
    assert (await desk.store.get_job("ann", claim.job.id)).plan_id is None
    with pytest.raises(NotFoundError):
        await desk.store.get_plan("ann", claim.job.id.replace("job", "plan", 1))


@pytest.mark.parametrize("end", ["complete", "fail", "crash", "hand_back", "reap"])
async def test_a_cancel_that_was_answered_wins_every_race(
    desk: Any, plan: dict[str, Any], half: Progress, end: str
) -> None:
    """SPEC J1: one terminal state, and the one the caller was told."""
    claim = await desk.solving()
    await desk.store.cancel("ann", claim.job.id, keep_best=True)
    arguments = {"complete": (half, plan), "fail": ({"code": 1},), "crash": ({"code": 1},)}
    if end == "reap":
        await desk.let_lease_lapse(claim)
        await desk.store.reap()
    else:
        await getattr(desk.store, end)(claim, *arguments.get(end, ()))
    assert await desk.state(claim.job.id) is JobState.CANCELLED
    assert (await desk.kinds(claim.job.id)).count("cancelled") == 1
    assert (await desk.store.get_job("ann", claim.job.id)).error is None


@pytest.mark.parametrize("state", [JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED])
async def test_cancelling_or_finishing_what_is_over_changes_nothing(desk: Any, state: JobState) -> None:
    """SPEC T4: idempotent."""
    claim = await desk.ended(state)
    before = await desk.store.get_job("ann", claim.job.id)
    assert await desk.store.cancel("ann", claim.job.id, keep_best=False) == before
    assert await desk.store.finish_now("ann", claim.job.id) == before


async def test_finish_now_reaches_the_worker_and_refuses_a_queued_job(desk: Any) -> None:
    """SPEC T5."""
    queued = await desk.submit()
    with pytest.raises(IllegalTransitionError):
        await desk.store.finish_now("ann", queued.id)
    await desk.workers()
    claim = await desk.claim()
    assert (await desk.store.finish_now("ann", queued.id)).finish_requested
    assert await desk.store.renew(claim) == Renewal(is_held=True, finish=True)


async def test_a_job_without_a_plan_yet_says_come_back(desk: Any) -> None:
    """SPEC S3."""
    claim = await desk.solving()
    with pytest.raises(PlanNotReadyError):
        await desk.store.get_plan("ann", claim.job.id.replace("job", "plan", 1))
