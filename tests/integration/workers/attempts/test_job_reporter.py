"""What the store is told of one claim, whatever the solver ends with (SPEC S3, J1)."""

import asyncio
import itertools
import time
from typing import Any

import anyio
import pytest

from planner_mcp.errors import EngineMemoryError, EngineTimeoutError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.integration.jobs.conftest import HALF, PLAN, StoreHarness
from tests.shared.workers.stub_solver_worker import StubSolverProcess
from workers.attempts.job_attempt import JobAttempt
from workers.attempts.job_reporter import JobReporter

pytestmark = pytest.mark.anyio


@pytest.fixture
def harness(store: RedisStore) -> StoreHarness:
    return StoreHarness(store)


def reporter_of(claim: Claim, store: RedisStore) -> JobReporter:
    return JobReporter(claim, store, trace_id="0" * 32, clock=time.monotonic, on_store_unavailable=lambda: None)


@pytest.mark.parametrize("how", ["fail", "fail_with"])
async def test_a_job_that_fails_keeps_the_plan_it_had_not_reported_yet(harness: StoreHarness, how: str) -> None:
    """SPEC S3: the best plan so far can be read, whatever ended the search."""
    claim = await harness.solving()
    reporter = reporter_of(claim, harness.store)
    reporter.add_plan(dict(PLAN), 1)
    error: Any = EngineMemoryError() if how == "fail" else EngineMemoryError().as_json("0" * 32)
    await getattr(reporter, how)(error)
    job = await harness.store.get_job("ann", claim.job.id)
    assert (job.state, job.progress.cost) == (JobState.FAILED, PLAN["cost"])
    assert await harness.store.get_plan("ann", ids.plan_of(claim.job.id)) == PLAN


async def test_a_plan_to_start_from_is_no_progress(harness: StoreHarness) -> None:
    """SPEC S3, J5: it was made for another day, and may be cheaper than any of this one."""
    earlier = await harness.solving()
    await harness.store.complete(earlier, HALF, PLAN)
    await harness.submit(warm_plan_id=ids.plan_of(earlier.job.id))
    claim = await harness.claim()
    assert claim.best_plan == PLAN
    progress = reporter_of(claim, harness.store).progress()
    assert (progress.cost, progress.tickets_served, progress.improvements) == (None, None, 0)


async def test_what_an_earlier_attempt_has_left_is_progress(harness: StoreHarness) -> None:
    """SPEC S3, J6: the next worker goes on from there, and never tells less."""
    first = await harness.solving()
    await harness.store.report(first, HALF, PLAN)
    await harness.store.hand_back(first)
    claim = await harness.claim()
    assert reporter_of(claim, harness.store).progress().cost == PLAN["cost"]


async def test_a_job_whose_time_ends_before_its_next_attempt_has_a_plan_completes_with_the_one_it_has(
    harness: StoreHarness,
) -> None:
    """SPEC S3, J7: a day handed back late in its time ended failed, with a good plan beside it."""
    first = await harness.solving()
    await harness.store.report(first, HALF, PLAN)
    await harness.store.hand_back(first)
    claim = await harness.claim()
    await reporter_of(claim, harness.store).complete(without=EngineTimeoutError())
    job = await harness.store.get_job("ann", claim.job.id)
    assert (job.state, job.progress.cost) == (JobState.COMPLETED, PLAN["cost"])
    assert await harness.store.get_plan("ann", ids.plan_of(claim.job.id)) == PLAN


class BusySolver(StubSolverProcess):
    """A solver that computes and finds nothing, and the executor that has it."""

    _used_s = itertools.count()

    async def acquire(self) -> Any:
        """Be the solver."""
        return self

    def send(self, message: Any) -> None:
        """Take no notice."""

    def cpu_s(self) -> float:
        """Use a little more each time it is asked."""
        return next(self._used_s) / 1000


async def test_a_job_that_has_a_plan_gets_no_time_beyond_its_own_to_find_one(
    harness: StoreHarness, settings: Settings
) -> None:
    """SPEC S3: its next attempt had 25 s of CPU more, as if it had none."""
    first = await harness.solving()
    await harness.store.report(first, HALF, PLAN)
    await harness.store.hand_back(first)
    claim, began = await harness.claim(), time.monotonic()

    def hurried_clock() -> float:
        return began + 300 * (time.monotonic() - began)

    trace_id = "0" * 32
    solver: Any = BusySolver()
    attempt = JobAttempt(claim, solver, harness.store, settings, trace_id=trace_id, clock=hurried_clock)
    with anyio.fail_after(5):
        await attempt.run()
    assert await harness.state(claim.job.id) is JobState.COMPLETED


class NoRoom:
    """An executor that has no solver to give."""

    async def acquire(self) -> Any:
        """Wait for ever."""
        await asyncio.Event().wait()


async def test_a_job_that_is_to_finish_now_completes_with_the_plan_of_its_attempt_before(
    harness: StoreHarness, settings: Settings
) -> None:
    """SPEC T5: handed back meanwhile, it loaded its day and waited for a first plan although there was one."""
    first = await harness.solving()
    await harness.store.report(first, HALF, PLAN)
    await harness.store.finish_now("ann", first.job.id)
    await harness.store.hand_back(first)
    claim = await harness.claim()
    with anyio.fail_after(10):
        await JobAttempt(claim, NoRoom(), harness.store, settings, trace_id="0" * 32).run()  # type: ignore[arg-type]
    assert await harness.state(claim.job.id) is JobState.COMPLETED
