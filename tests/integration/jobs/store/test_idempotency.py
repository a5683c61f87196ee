"""The same call gives the same job (SPEC T2)."""

from dataclasses import replace
from typing import Any

import anyio
import pytest

from planner_mcp.errors import IdempotencyConflictError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job, SolveRequest

pytestmark = pytest.mark.anyio


async def submit(harness: Any, request: SolveRequest, principal: str = "ann") -> Job:
    return await harness.store.submit(principal, request, ids.random_id("job", 0))


async def test_fifty_concurrent_first_calls_make_one_job(harness: Any) -> None:
    """SPEC T2."""
    request, made = await harness.request(), []

    async def call() -> None:
        made.append((await submit(harness, request)).id)

    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(call)
    assert len(set(made)) == 1
    assert (await harness.store.stats()).queued == 1


@pytest.mark.parametrize(
    ("state", "is_same"),
    [(JobState.COMPLETED, True), (JobState.FAILED, False), (JobState.CANCELLED, False)],
)
async def test_a_retained_completed_job_answers_again_but_a_lost_one_is_tried_anew(
    harness: Any, state: JobState, is_same: bool
) -> None:
    """SPEC T2."""
    claim = await harness.ended(state)
    again = await submit(harness, claim.job.request)
    assert (again.id == claim.job.id) is is_same


async def test_a_solving_job_answers_again(harness: Any) -> None:
    """SPEC T2."""
    claim = await harness.solving()
    assert (await submit(harness, claim.job.request)).id == claim.job.id


async def test_a_job_that_is_being_cancelled_answers_no_more(harness: Any) -> None:
    """SPEC T2, T4: the same call makes a new job, which answers from then on, also once the old one has ended."""
    claim = await harness.solving()
    await harness.store.cancel("ann", claim.job.id, keep_best=True)
    made = await submit(harness, claim.job.request)
    assert made.id != claim.job.id
    await harness.store.settle_cancel(claim)
    assert (await submit(harness, claim.job.request)).id == made.id


async def test_an_explicit_key_answers_for_a_job_that_is_being_cancelled(harness: Any) -> None:
    """SPEC T2: as for every state."""
    claim = await harness.solving(idempotency_key="k")
    await harness.store.cancel("ann", claim.job.id, keep_best=True)
    assert (await submit(harness, claim.job.request)).id == claim.job.id


async def test_fresh_makes_another_job_which_then_answers(harness: Any) -> None:
    """SPEC T2."""
    request = await harness.request()
    first = await submit(harness, request)
    second = await submit(harness, replace(request, fresh=True))
    assert first.id != second.id
    assert (await submit(harness, request)).id == second.id


async def test_an_explicit_key_answers_for_every_state(harness: Any) -> None:
    """SPEC T2."""
    claim = await harness.solving(idempotency_key="order: {7}")
    await harness.store.fail(claim, {"code": 1})
    again = await submit(harness, claim.job.request)
    assert (again.id, again.state) == (claim.job.id, JobState.FAILED)


async def test_an_explicit_key_with_other_arguments_is_an_error_that_says_so(harness: Any) -> None:
    """SPEC T2."""
    request = await harness.request(idempotency_key="k")
    await submit(harness, request)
    with pytest.raises(IdempotencyConflictError):
        await submit(harness, replace(request, solve_time_s=31))


async def test_keys_of_different_principals_never_meet(harness: Any) -> None:
    """SPEC A2."""
    ann = await harness.submit("ann", seed=1, idempotency_key="k")
    ben = await harness.submit("ben", seed=2, idempotency_key="k")
    assert ann.id != ben.id


async def test_the_same_step_sent_twice_makes_one_job(harness: Any) -> None:
    """SPEC T2: a submit whose answer was lost is repeated under the same name, fresh or not."""
    request, name = await harness.request(fresh=True), ids.random_id("job", 0)
    first = await harness.store.submit("ann", request, name)
    again = await harness.store.submit("ann", request, name)
    assert first == again
    assert await harness.kinds(name) == ["queued"]


async def test_an_expired_key_names_nothing(harness: Any) -> None:
    """SPEC J9: once the job is gone, the same call makes a new one."""
    request = await harness.request()
    first = await submit(harness, request)
    await harness.store.redis.delete("{p0}:job:" + first.id)
    assert (await submit(harness, request)).id != first.id
