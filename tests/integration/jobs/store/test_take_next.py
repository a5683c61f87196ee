"""A worker that ends one job and takes the next in the same step."""

from typing import Any

import pytest

from planner_mcp.errors import LeaseLostError
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Progress

pytestmark = pytest.mark.anyio


async def test_the_end_of_a_job_brings_the_next_one(harness: Any, plan: dict[str, Any], half: Progress) -> None:
    """SPEC J6, J7: claimed like any other, under a lease and a fencing number of its own."""
    claim = await harness.solving()
    waiting = await harness.submit()
    following = await harness.store.complete(claim, half, plan, take_next=True)
    assert (following.job.id, following.fence, following.worker_id) == (waiting.id, 1, claim.worker_id)
    assert await harness.kinds(waiting.id) == ["queued", "started"]
    assert (await harness.store.renew(following)).is_held
    assert await harness.store.complete(following, half, plan, take_next=True) is None
    assert await harness.state(waiting.id) is JobState.COMPLETED


async def test_a_job_taken_along_is_not_lost_with_the_answer(
    harness: Any, plan: dict[str, Any], half: Progress
) -> None:
    """SPEC J6: saying the end again takes nothing more; the next claim of the worker has what was taken."""
    claim = await harness.solving()
    waiting = await harness.submit()
    lost = await harness.store.complete(claim, half, plan, take_next=True)
    harness.store._held.clear()  # as if the answer had been lost
    assert await harness.store.complete(claim, half, plan, take_next=True) is None
    found = await harness.claim()
    assert (found.job.id, found.fence) == (waiting.id, lost.fence + 1)
    with pytest.raises(LeaseLostError):
        await harness.store.complete(lost, half, plan)


async def test_a_job_that_is_claimed_again_has_a_whole_lease(harness: Any) -> None:
    """SPEC J6: what was lost with the answer counts against nobody."""
    claim = await harness.solving()
    harness.store._held.clear()  # as if the answer had been lost
    await harness.let_lease_lapse(claim)
    again = await harness.claim()
    assert (again.job.id, again.ready_entry_id) == (claim.job.id, claim.ready_entry_id)
    assert await harness.store.reap() == 0


async def test_a_stale_end_takes_nothing_along(harness: Any, plan: dict[str, Any], half: Progress) -> None:
    """SPEC J6."""
    stale = await harness.solving()
    await harness.let_lease_lapse(stale)
    assert await harness.store.reap() == 1
    with pytest.raises(LeaseLostError):
        await harness.store.complete(stale, half, plan, take_next=True)
    assert await harness.state(stale.job.id) is JobState.QUEUED
