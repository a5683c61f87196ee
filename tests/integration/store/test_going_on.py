"""A worker that ends one job and takes the next in the same step."""

from typing import Any

import pytest

from planner_mcp.errors import LeaseLostError
from planner_mcp.jobs.lifecycle import JobState
from planner_mcp.jobs.model import Progress

pytestmark = pytest.mark.anyio


async def test_the_end_of_a_job_brings_the_next_one(desk: Any, plan: dict[str, Any], half: Progress) -> None:
    """SPEC J6, J7: claimed like any other, under a lease and a fencing number of its own."""
    claim = await desk.solving()
    waiting = await desk.submit()
    following = await desk.store.complete(claim, half, plan, take_next=True)
    assert (following.job.id, following.fence, following.worker_id) == (waiting.id, 1, claim.worker_id)
    assert await desk.kinds(waiting.id) == ["queued", "started"]
    assert (await desk.store.renew(following)).is_held
    assert await desk.store.complete(following, half, plan, take_next=True) is None
    assert await desk.state(waiting.id) is JobState.COMPLETED


async def test_a_job_taken_along_is_not_lost_with_the_answer(desk: Any, plan: dict[str, Any], half: Progress) -> None:
    """SPEC J6: saying the end again takes nothing more; the next claim of the worker has what was taken."""
    claim = await desk.solving()
    waiting = await desk.submit()
    lost = await desk.store.complete(claim, half, plan, take_next=True)
    desk.store._held.clear()  # as if the answer had been lost
    assert await desk.store.complete(claim, half, plan, take_next=True) is None
    found = await desk.claim()
    assert (found.job.id, found.fence) == (waiting.id, lost.fence + 1)
    with pytest.raises(LeaseLostError):
        await desk.store.complete(lost, half, plan)


async def test_a_job_that_is_claimed_again_has_a_whole_lease(desk: Any) -> None:
    """SPEC J6: what was lost with the answer counts against nobody."""
    claim = await desk.solving()
    desk.store._held.clear()  # as if the answer had been lost
    await desk.let_lease_lapse(claim)
    again = await desk.claim()
    assert (again.job.id, again.delivery_id) == (claim.job.id, claim.delivery_id)
    assert await desk.store.reap() == 0


async def test_a_stale_end_takes_nothing_along(desk: Any, plan: dict[str, Any], half: Progress) -> None:
    """SPEC J6."""
    stale = await desk.solving()
    await desk.let_lease_lapse(stale)
    assert await desk.store.reap() == 1
    with pytest.raises(LeaseLostError):
        await desk.store.complete(stale, half, plan, take_next=True)
    assert await desk.state(stale.job.id) is JobState.QUEUED
