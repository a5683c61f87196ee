"""`solve_alternatives` where the queue has room for some of its jobs (SPEC T5, J8)."""

import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.tools.tool_definition import ToolContext
from planner_mcp.settings import Settings
from tests.shared.scenarios.stored_plans import Call, created, solved

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for one queued job of each caller."""
    return settings.model_copy(update={"max_queued_per_principal": 1})


async def test_a_queue_that_is_full_leaves_no_revisions_of_styles_that_were_not_tried(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5, J8: of three styles one is queued and one refused; for the third nothing was made."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    for revisions in (2, 3):
        answer = await call("solve_alternatives", {"plan": job_id, "styles": ["fewest_agents", "balanced", "quickest"]})
        assert answer.is_error is (revisions == 3)
        _, kept = await ctx.job_service.scenarios(ctx.principal)
        assert kept == 1 + revisions


async def test_alternatives_for_which_there_is_no_room_are_named(call: Call, store: RedisStore) -> None:
    """SPEC T5, J8: whoever has a job already is told of it; the rest can be asked for again."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    answer = (await call("solve_alternatives", {"plan": job_id, "k": 3})).structured
    queued = [each["style"] for each in answer["alternatives"]]
    assert queued
    assert answer["not_queued"]
    assert [*queued, *answer["not_queued"]] == ["fewest_agents", "balanced", "quickest"]
    refused = (await call("solve_alternatives", {"plan": job_id, "k": 3})).structured
    assert refused["type"] == "QuotaExceeded"
