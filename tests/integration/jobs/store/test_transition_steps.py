"""Lua obeys the transition table, for every state and change."""

from contextlib import suppress
from typing import Any

import pytest

from planner_mcp.errors import LeaseLostError
from planner_mcp.jobs.job_lifecycle import TERMINAL, TRANSITIONS, Change, JobState
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.job_ports import Claim

pytestmark = pytest.mark.anyio

ERROR = {"code": 5010, "type": "EngineFailed", "message": "x"}


@pytest.mark.parametrize("state", JobState)
@pytest.mark.parametrize("change", Change)
async def test_a_change_does_what_the_table_says_and_nothing_else(
    harness: Any, plan: dict[str, Any], half: Progress, state: JobState, change: Change
) -> None:
    """SPEC J1: a worker that still holds the last claim tries every change in every state."""
    claim = await _claim_on_job_in(harness, state)
    before = await harness.events(claim.job.id)

    with suppress(LeaseLostError):
        await _try(harness, claim, change, plan, half)

    expected = TRANSITIONS.get((state, change), state)
    assert await harness.state(claim.job.id) is expected
    if (state, change) not in TRANSITIONS:
        assert await harness.events(claim.job.id) == before
    if state is not expected and expected in TERMINAL:
        assert (await harness.events(claim.job.id))[-1].is_final


async def _claim_on_job_in(harness: Any, state: JobState) -> Claim:
    if state in TERMINAL:
        return await harness.ended(state)
    claim = await harness.solving()
    if state is JobState.QUEUED:
        await harness.store.hand_back(claim)
    return claim


async def _try(harness: Any, claim: Claim, change: Change, plan: dict[str, Any], half: Progress) -> None:
    store, is_queued = harness.store, await harness.state(claim.job.id) is JobState.QUEUED
    if change is Change.CLAIM:
        store._held.clear()  # as if the answer to the claim had been lost
        await store.claim("w1", 1 if is_queued else 0)
    elif change is Change.IMPROVE:
        await store.report(claim, half, plan)
    elif change is Change.HAND_BACK:
        await store.hand_back(claim)
    elif change is Change.CRASH:
        await store.crash(claim, ERROR)
    elif change is Change.COMPLETE:
        await store.complete(claim, half, plan)
    elif change is Change.FAIL and is_queued:  # the one failure without a worker: its scenario is gone
        await store.redis.delete("{p0}:scn:" + claim.job.request.scenario_id)
        await store.claim("w1", 0)
    elif change is Change.FAIL:
        await store.fail(claim, ERROR)
    elif change is Change.CANCEL and is_queued:
        await store.cancel("ann", claim.job.id, keep_best=True)
    else:
        await store.settle_cancel(claim)
