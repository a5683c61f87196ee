"""What the store is told of one claim, whatever the solver ends with (SPEC S3, J1)."""

import time
from typing import Any

import pytest

from planner_mcp.errors import EngineMemoryError
from planner_mcp.jobs import ids
from planner_mcp.jobs.lifecycle import JobState
from planner_mcp.jobs.ports import Claim
from planner_mcp.store.redis_store import RedisStore
from tests.integration.store.conftest import HALF, PLAN, Desk
from workers.story import Story

pytestmark = pytest.mark.anyio


@pytest.fixture
def desk(store: RedisStore) -> Desk:
    return Desk(store)


def story_of(claim: Claim, store: RedisStore) -> Story:
    return Story(claim, store, trace_id="0" * 32, clock=time.monotonic, on_absence=lambda: None)


@pytest.mark.parametrize("how", ["fail", "fail_with"])
async def test_a_job_that_fails_keeps_the_plan_it_had_not_told_yet(desk: Desk, how: str) -> None:
    """SPEC S3: the best plan so far can be read, whatever ended the search."""
    claim = await desk.solving()
    story = story_of(claim, desk.store)
    story.better(dict(PLAN), 1)
    error: Any = EngineMemoryError() if how == "fail" else EngineMemoryError().as_json("0" * 32)
    await getattr(story, how)(error)
    job = await desk.store.get_job("ann", claim.job.id)
    assert (job.state, job.progress.cost) == (JobState.FAILED, PLAN["cost"])
    assert await desk.store.get_plan("ann", ids.plan_of(claim.job.id)) == PLAN


async def test_a_plan_to_start_from_is_no_progress(desk: Desk) -> None:
    """SPEC S3, J5: it was made for another day, and may be cheaper than any of this one."""
    earlier = await desk.solving()
    await desk.store.complete(earlier, HALF, PLAN)
    await desk.submit(warm_plan_id=ids.plan_of(earlier.job.id))
    claim = await desk.claim()
    assert claim.best_plan == PLAN
    told = story_of(claim, desk.store).progress()
    assert (told.cost, told.tickets_served, told.improvements) == (None, None, 0)


async def test_what_an_earlier_attempt_has_left_is_progress(desk: Desk) -> None:
    """SPEC S3, J6: the next worker goes on from there, and never tells less."""
    first = await desk.solving()
    await desk.store.report(first, HALF, PLAN)
    await desk.store.hand_back(first)
    claim = await desk.claim()
    assert story_of(claim, desk.store).progress().cost == PLAN["cost"]
