"""The same call gives the same job (SPEC T2)."""

from dataclasses import replace
from typing import Any

import anyio
import pytest

from planner_mcp.errors import IdempotencyConflictError
from planner_mcp.jobs import ids
from planner_mcp.jobs.lifecycle import JobState
from planner_mcp.jobs.model import Job, SolveRequest

pytestmark = pytest.mark.anyio


async def submit(desk: Any, request: SolveRequest, principal: str = "ann") -> Job:
    return await desk.store.submit(principal, request, ids.random_name("job", 0))


async def test_fifty_concurrent_first_calls_make_one_job(desk: Any) -> None:
    """SPEC T2."""
    request, made = await desk.request(), []

    async def call() -> None:
        made.append((await submit(desk, request)).id)

    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(call)
    assert len(set(made)) == 1
    assert (await desk.store.stats()).queued == 1


@pytest.mark.parametrize(
    ("state", "is_same"),
    [(JobState.COMPLETED, True), (JobState.FAILED, False), (JobState.CANCELLED, False)],
)
async def test_a_retained_completed_job_answers_again_but_a_lost_one_is_tried_anew(
    desk: Any, state: JobState, is_same: bool
) -> None:
    """SPEC T2."""
    claim = await desk.ended(state)
    again = await submit(desk, claim.job.request)
    assert (again.id == claim.job.id) is is_same


async def test_a_solving_job_answers_again(desk: Any) -> None:
    """SPEC T2."""
    claim = await desk.solving()
    assert (await submit(desk, claim.job.request)).id == claim.job.id


async def test_a_job_that_is_being_cancelled_answers_no_more(desk: Any) -> None:
    """SPEC T2, T4: the same call makes a new job, which answers from then on, also once the old one has ended."""
    claim = await desk.solving()
    await desk.store.cancel("ann", claim.job.id, keep_best=True)
    made = await submit(desk, claim.job.request)
    assert made.id != claim.job.id
    await desk.store.settle_cancel(claim)
    assert (await submit(desk, claim.job.request)).id == made.id


async def test_an_explicit_key_answers_for_a_job_that_is_being_cancelled(desk: Any) -> None:
    """SPEC T2: as for every state."""
    claim = await desk.solving(idempotency_key="k")
    await desk.store.cancel("ann", claim.job.id, keep_best=True)
    assert (await submit(desk, claim.job.request)).id == claim.job.id


async def test_fresh_makes_another_job_which_then_answers(desk: Any) -> None:
    """SPEC T2."""
    request = await desk.request()
    first = await submit(desk, request)
    second = await submit(desk, replace(request, fresh=True))
    assert first.id != second.id
    assert (await submit(desk, request)).id == second.id


async def test_an_explicit_key_answers_for_every_state(desk: Any) -> None:
    """SPEC T2."""
    claim = await desk.solving(idempotency_key="order: {7}")
    await desk.store.fail(claim, {"code": 1})
    again = await submit(desk, claim.job.request)
    assert (again.id, again.state) == (claim.job.id, JobState.FAILED)


async def test_an_explicit_key_with_other_arguments_is_an_error_that_says_so(desk: Any) -> None:
    """SPEC T2."""
    request = await desk.request(idempotency_key="k")
    await submit(desk, request)
    with pytest.raises(IdempotencyConflictError):
        await submit(desk, replace(request, solve_time_s=31))


async def test_keys_of_different_principals_never_meet(desk: Any) -> None:
    """SPEC A2."""
    ann = await desk.submit("ann", seed=1, idempotency_key="k")
    ben = await desk.submit("ben", seed=2, idempotency_key="k")
    assert ann.id != ben.id


async def test_the_same_step_sent_twice_makes_one_job(desk: Any) -> None:
    """SPEC T2: a submit whose answer was lost is repeated under the same name, fresh or not."""
    request, name = await desk.request(fresh=True), ids.random_name("job", 0)
    first = await desk.store.submit("ann", request, name)
    again = await desk.store.submit("ann", request, name)
    assert first == again
    assert await desk.kinds(name) == ["queued"]


async def test_an_expired_key_names_nothing(desk: Any) -> None:
    """SPEC J9: once the job is gone, the same call makes a new one."""
    request = await desk.request()
    first = await submit(desk, request)
    await desk.store.redis.delete("{p0}:job:" + first.id)
    assert (await submit(desk, request)).id != first.id
