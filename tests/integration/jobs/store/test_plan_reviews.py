"""Reviews on the real store: each step is one atomic change, and only the legal ones happen (SPEC A5)."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from planner_mcp.errors import FourEyesError, IllegalTransitionError, NotFoundError, PlannerError, PlanNotReadyError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job, StoredScenario
from planner_mcp.jobs.plan_review import REVIEWS, PlanReview, ReviewState, ReviewStep
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.integration.jobs.conftest import HALF, PLAN, StoreHarness

pytestmark = pytest.mark.anyio
PROPOSE, APPROVE, REJECT, PUBLISH = ReviewStep
WAYS: dict[ReviewState, list[ReviewStep]] = {
    ReviewState.DRAFT: [],
    ReviewState.PROPOSED: [PROPOSE],
    ReviewState.APPROVED: [PROPOSE, APPROVE],
    ReviewState.REJECTED: [PROPOSE, REJECT],
    ReviewState.PUBLISHED: [PROPOSE, APPROVE, PUBLISH],
}
"""How a plan comes into each state."""


async def planned(harness: StoreHarness) -> str:
    """Have a completed job of ann."""
    return (await harness.ended(JobState.COMPLETED)).job.id


async def in_state(harness: StoreHarness, state: ReviewState) -> str:
    """Have a plan in a state of review."""
    job_id = await planned(harness)
    for step in WAYS[state]:
        await harness.store.review("ann", job_id, step, proposed_to="g", reason="r" if step is REJECT else "")
    return job_id


@pytest.mark.parametrize("step", list(ReviewStep))
@pytest.mark.parametrize("state", list(ReviewState))
async def test_a_state_allows_what_the_table_says(harness: StoreHarness, state: ReviewState, step: ReviewStep) -> None:
    """SPEC A5: an illegal step changes nothing and says what is allowed; one taken again by the same is no fault."""
    job_id = await in_state(harness, state)
    before = await harness.store.get_job("ann", job_id)
    target, is_repeat = REVIEWS.get((state, step)), WAYS[state][-1:] == [step]
    if target is None and not is_repeat:
        with pytest.raises(IllegalTransitionError) as refused:
            await harness.store.review("ann", job_id, step)
        assert [fault.path for fault in refused.value.errors] == ["/job_id"]
        assert refused.value.errors[0].accepted
    else:
        job = await harness.store.review("ann", job_id, step, proposed_to="g", reason="r" if step is REJECT else "")
        assert job.review is not None
        assert job.review.state is (state if is_repeat else target)
    if target is None or is_repeat:
        assert await harness.store.get_job("ann", job_id) == before


async def test_each_step_is_an_event_after_the_end_of_the_job(harness: StoreHarness) -> None:
    """SPEC A5, J1: one ordered stream per job; the states of the job stay final."""
    job_id = await in_state(harness, ReviewState.PUBLISHED)
    events = (await harness.store.read_past("ann", job_id)).events
    assert [event.kind.value for event in events[-4:]] == [
        "completed",
        "plan.proposed",
        "plan.approved",
        "plan.published",
    ]
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert events[-1].data.review == PlanReview(ReviewState.PUBLISHED)
    assert events[-1].data.plan_id == ids.plan_of(job_id)
    assert (await harness.store.get_job("ann", job_id)).state is JobState.COMPLETED


async def test_a_rejection_keeps_its_reason(harness: StoreHarness) -> None:
    """SPEC A5; a plan that is proposed again has none."""
    job_id = await planned(harness)
    await harness.store.review("ann", job_id, PROPOSE, proposed_to="g")
    rejected = await harness.store.review("ann", job_id, REJECT, reason="车 7 在检修")
    assert rejected.review is not None and rejected.review.reason == "车 7 在检修"
    again = await harness.store.review("ann", job_id, PROPOSE, proposed_to="g")
    assert again.review is not None and (again.review.reason, again.review.reviewed_at) == ("", None)


async def test_of_two_reviewers_one_decides(harness: StoreHarness) -> None:
    """SPEC A5: approve and reject at the same time, twenty times; exactly one holds and the other is refused."""
    for number in range(20):
        job_id = await planned(harness)
        await harness.store.review("ann", job_id, PROPOSE, proposed_to="g")
        steps = (APPROVE, REJECT) if number % 2 else (REJECT, APPROVE)
        outcomes = await asyncio.gather(
            *(
                harness.store.review(f"reviewer-{step}", job_id, step, group="g", reason="x" if step is REJECT else "")
                for step in steps
            ),
            return_exceptions=True,
        )
        refused = [outcome for outcome in outcomes if isinstance(outcome, PlannerError)]
        held = [outcome for outcome in outcomes if isinstance(outcome, Job)]
        assert (len(refused), len(held)) == (1, 1), outcomes
        assert isinstance(refused[0], IllegalTransitionError)
        kept = await harness.store.get_job("ann", job_id)
        assert kept.review == held[0].review


async def test_a_plan_is_unknown_to_whom_it_was_not_proposed(harness: StoreHarness) -> None:
    """SPEC A2: another principal finds it once it is proposed to its group, and may then decide, not propose."""
    job_id = await planned(harness)
    for group in ("", "g", "other"):
        with pytest.raises(NotFoundError):
            await harness.store.review("ben", job_id, APPROVE, group=group)
    assert await harness.store.owner_proposed_to("g", job_id) is None
    await harness.store.review("ann", job_id, PROPOSE, proposed_to="g")
    for group in ("", "other"):
        with pytest.raises(NotFoundError):
            await harness.store.review("ben", job_id, APPROVE, group=group)
        assert await harness.store.owner_proposed_to(group or "x", job_id) is None
    assert await harness.store.owner_proposed_to("g", job_id) == "ann"
    assert await harness.store.owner_proposed_to("g", await harness.scenario()) == "ann"
    with pytest.raises(NotFoundError):
        await harness.store.review("ben", job_id, PUBLISH)
    approved = await harness.store.review("ben", job_id, APPROVE, group="g", four_eyes=True)
    assert approved.review is not None and approved.review.state is ReviewState.APPROVED


async def test_four_eyes_are_those_of_another_principal(harness: StoreHarness) -> None:
    """SPEC A5: never the principal that proposed."""
    job_id = await planned(harness)
    await harness.store.review("ann", job_id, PROPOSE, proposed_to="g")
    for step in (APPROVE, REJECT):
        with pytest.raises(FourEyesError):
            await harness.store.review("ann", job_id, step, group="g", four_eyes=True)


async def test_a_job_that_solves_has_no_plan_to_propose(harness: StoreHarness) -> None:
    """SPEC A5: its plan may still change; one that ended without a plan has none."""
    claim = await harness.solving()
    with pytest.raises(PlanNotReadyError):
        await harness.store.review("ann", claim.job.id, PROPOSE)
    await harness.store.fail(claim, {"code": 5010, "type": "EngineFailed", "message": "x"})
    with pytest.raises(IllegalTransitionError):
        await harness.store.review("ann", claim.job.id, PROPOSE)
    with pytest.raises(NotFoundError):
        await harness.store.review("ann", "job-0-" + "a" * 26, PROPOSE)
    with pytest.raises(NotFoundError):
        await harness.store.review("ann", "job-63-" + "a" * 26, PROPOSE)


async def revision_planned(harness: StoreHarness, parent_id: str, principal: str = "ann") -> tuple[str, str]:
    """Have a revision of a scenario and a completed job of it."""
    name = ids.random_id("scn", 0)
    await harness.store.put_scenario(
        StoredScenario(name, principal, {"name": "b"}, datetime.now(UTC), "h", revision=2, parent_id=parent_id)
    )
    request = replace(await harness.request(principal), scenario_id=name)
    await harness.workers()
    await harness.store.submit(principal, request, ids.random_id("job", 0))
    claim = await harness.claim()
    await harness.store.complete(claim, HALF, PLAN)
    return name, claim.job.id


async def test_a_plan_follows_the_one_that_was_approved_for_its_day(harness: StoreHarness) -> None:
    """SPEC A5: the difference is told against the approved plan; told against an older one it does not count."""
    store, first = harness.store, await in_state(harness, ReviewState.APPROVED)
    scenario = await harness.scenario()
    revision, second = await revision_planned(harness, scenario)
    _other, third = await revision_planned(harness, revision)
    for job_id in (second, third):
        proposed = await store.review("ann", job_id, PROPOSE, proposed_to="g")
        assert proposed.review is not None and proposed.review.differs_from == ids.plan_of(first)
    await store.review("ann", second, APPROVE)
    assert await store.approved_job("ann", scenario) == await store.approved_job("ann", revision) == second
    with pytest.raises(IllegalTransitionError) as refused:
        await store.review("ann", third, APPROVE)
    assert refused.value.errors[0].accepted == "propose_plan"
    with pytest.raises(IllegalTransitionError):
        await store.review("ann", first, PUBLISH)
    again = await store.review("ann", third, PROPOSE, proposed_to="g")
    assert again.review is not None and again.review.differs_from == ids.plan_of(second)
    await store.review("ann", third, APPROVE)
    assert await store.approved_job("ann", scenario) == third
    await store.review("ann", third, PUBLISH)


async def test_a_revision_by_another_changes_nothing_of_the_day(harness: StoreHarness) -> None:
    """SPEC A2: the day of a revision ends where its parent belongs to somebody else."""
    approved = await in_state(harness, ReviewState.APPROVED)
    theirs, job_id = await revision_planned(harness, await harness.scenario(), "ben")
    for step in (PROPOSE, APPROVE):
        await harness.store.review("ben", job_id, step, proposed_to="g")
    assert await harness.store.approved_job("ben", theirs) == job_id
    assert await harness.store.approved_job("ann", await harness.scenario()) == approved
    with pytest.raises(NotFoundError):
        await harness.store.approved_job("ben", await harness.scenario())


async def test_a_review_renews_the_life_of_a_job(store: RedisStore, harness: StoreHarness, settings: Settings) -> None:
    """SPEC J9: jobs are kept for the job TTL from their end or the last step of their review."""
    job_id = await planned(harness)
    keys = [f"{{p0}}:{kind}:{name}" for kind, name in (("job", job_id), ("ev", job_id), ("plan", ids.plan_of(job_id)))]
    for key in keys:
        await store.redis.expire(key, 100)
    await store.review("ann", job_id, PROPOSE, proposed_to="g")
    assert [await store.redis.ttl(key) for key in keys] == [settings.job_ttl_s] * 3
