"""A job on its way through a real worker."""

import pytest

from planner_mcp.jobs.events import EventKind
from planner_mcp.jobs.lifecycle import JobState
from planner_mcp.jobs.model import Job
from tests.integration.workers.conftest import OWNER, Shop, kinds
from tests.shared.fleet import fleet_body
from tests.shared.processes import LONGEST_S, until_gone
from tests.shared.scenarios import SMALLEST
from tests.shared.stopwatch import Stopwatch
from workers.engines import registry
from workers.order import OVERRUN_S

ENGINES = [registry.AUTO, *(engine.name for engine in registry.engines() if engine.is_available())]
IMPROVED = 2
"""Improvements after which a search is under way."""
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::ResourceWarning")]


async def test_smallest_call_completes_at_once(open_shop: Shop) -> None:
    """SPEC T1: the smallest call runs to COMPLETED as it stands, without waiting out its solve time."""
    watch = Stopwatch()
    job = await open_shop.submit(SMALLEST, 30)
    events = await open_shop.until_end(job)
    assert watch.spent_s < 0.5
    assert kinds(events) == [EventKind.QUEUED, EventKind.STARTED, EventKind.COMPLETED]
    plan = await open_shop.store.get_plan(OWNER, (await open_shop.job(job)).plan_id or "")
    assert plan["tickets_served"] == 1
    assert plan["status"] == "feasible"
    assert plan["engine"] == "enumeration"
    assert plan["versions"]["planner-mcp"]
    assert plan["input_hash"]


async def test_progress_is_true_and_only_rises(open_shop: Shop) -> None:
    """SPEC J5: elapsed share, best cost, tickets served; never 100 before the end, never backwards."""
    job = await open_shop.submit(fleet_body(80), 2)
    events = await open_shop.until_end(job)
    percents = [event.data["progress"] for event in events]
    assert percents == sorted(percents)
    assert all(percent < 100 for percent in percents[:-1])
    assert percents[-1] == 100
    best = [(event.data.get("penalty", 0), event.data["cost"]) for event in events if "cost" in event.data]
    assert best == sorted(best, reverse=True)
    done = await open_shop.job(job)
    assert done.state is JobState.COMPLETED
    assert 1.5 < done.progress.elapsed_s < 2 + OVERRUN_S
    assert done.progress.tickets_total == 80


async def test_plan_can_be_read_while_it_is_improved(open_shop: Shop) -> None:
    """SPEC S3: the best plan so far can be read while solving."""
    job = await open_shop.submit(fleet_body(80), 20)
    await open_shop.until_planned(job)
    solving = await open_shop.job(job)
    assert solving.state is JobState.SOLVING
    plan = await open_shop.store.get_plan(OWNER, solving.plan_id or "")
    assert plan["tickets_total"] == 80
    await open_shop.store.cancel(OWNER, job.id, keep_best=True)
    await open_shop.until_end(job)


async def cancelled(shop: Shop, job: Job) -> None:
    """Cancel a job; within a second it is over, and whoever searched for it is gone."""
    solvers = await shop.solvers(job)
    watch = Stopwatch()
    await shop.store.cancel(OWNER, job.id, keep_best=True)
    events = await shop.until_end(job)
    assert watch.spent_s < 1.0
    assert events[-1].kind is EventKind.CANCELLED
    assert (await shop.job(job)).state is JobState.CANCELLED
    await until_gone(solvers)


@pytest.mark.parametrize("engine", ENGINES)
async def test_cancel_takes_effect_within_a_second_while_the_model_is_built(open_shop: Shop, engine: str) -> None:
    """SPEC T4: at 1000 tickets, as soon as there is a process that reads the day."""
    job = await open_shop.submit(fleet_body(1000), 60, engine)
    await open_shop.until_solving(job)
    await cancelled(open_shop, job)


@pytest.mark.parametrize("engine", ENGINES)
async def test_cancel_takes_effect_within_a_second_deep_in_the_search(open_shop: Shop, engine: str) -> None:
    """SPEC T4: at 1000 tickets, when a plan has been told and improved; the best one stays readable."""
    job = await open_shop.submit(fleet_body(1000), 60, engine)
    seen = await open_shop.until(job, lambda event: event.data.get("improvements", 0) >= IMPROVED)
    assert not seen[-1].is_final
    await cancelled(open_shop, job)
    plan = await open_shop.store.get_plan(OWNER, (await open_shop.job(job)).plan_id or "")
    assert (plan["penalty"], plan["cost"]) <= (seen[-1].data.get("penalty", 0), seen[-1].data["cost"])


async def test_cancelled_job_keeps_its_best_plan(open_shop: Shop) -> None:
    """SPEC T4: the best plan so far stays readable, the last improvement included."""
    job = await open_shop.submit(fleet_body(200), 60)
    await open_shop.until_planned(job)
    watch = Stopwatch()
    await open_shop.store.cancel(OWNER, job.id, keep_best=True)
    await open_shop.until_end(job)
    assert watch.spent_s < 1.0
    cancelled = await open_shop.job(job)
    assert cancelled.state is JobState.CANCELLED
    plan = await open_shop.store.get_plan(OWNER, cancelled.plan_id or "")
    assert plan["cost"] == cancelled.progress.cost


async def test_finish_now_completes_with_the_best_plan(open_shop: Shop) -> None:
    """Issue 3: beside cancel, finish now and keep the best; asked before there is a plan, it waits for the first."""
    job = await open_shop.submit(fleet_body(200), 60)
    await open_shop.until_solving(job)
    watch = Stopwatch()
    await open_shop.store.finish_now(OWNER, job.id)
    events = await open_shop.until_end(job)
    assert watch.spent_s < 5.0
    assert events[-1].kind is EventKind.COMPLETED
    assert events[-1].data["result"]["tickets_served"] > 0


async def test_engine_that_cannot_plan_the_day_fails_the_job_with_its_name(open_shop: Shop) -> None:
    """SPEC S2, T8: the reason in the caller's words, and no trace of ours."""
    body = fleet_body(9)
    body["agents"][0]["locked_tickets"] = ["t-1"]
    job = await open_shop.submit(body, 5, "pyvrp")
    events = await open_shop.until_end(job)
    error = events[-1].data["error"]
    assert events[-1].kind is EventKind.FAILED
    assert error["type"] == "UnsupportedFeature"
    assert "locks" in error["message"]
    assert "Traceback" not in str(events[-1].data)


async def test_stored_scenario_that_no_longer_holds_fails_with_its_faults(open_shop: Shop) -> None:
    """SPEC T7: the child reads the scenario by the rules of the day; what they refuse is told, not retried."""
    job = await open_shop.submit({**SMALLEST, "agents": []}, 5)
    events = await open_shop.until_end(job)
    assert kinds(events) == [EventKind.QUEUED, EventKind.STARTED, EventKind.FAILED]
    assert events[-1].data["error"]["errors"][0]["path"] == "/agents"


async def test_exception_nobody_foresaw_fails_the_job_and_tells_nothing(open_shop: Shop) -> None:
    """SPEC T8: a code and a trace id; the stack is in the log alone. It is not retried: it would only happen again."""
    job = await open_shop.submit(fleet_body(20), 5, "pyvrp", seed=-1)
    events = await open_shop.until_end(job)
    assert kinds(events) == [EventKind.QUEUED, EventKind.STARTED, EventKind.FAILED]
    error = events[-1].data["error"]
    assert (error["code"], error["type"]) == (5010, "EngineFailed")
    assert error["traceId"]
    assert "TypeError" not in str(events[-1].data)
    assert (await open_shop.job(await _next(open_shop))).state is JobState.COMPLETED


async def _next(shop: Shop) -> Job:
    job = await shop.submit(SMALLEST, 5)
    await shop.until_end(job)
    return job


async def test_memory_cap_ends_as_a_clean_failure(shop: Shop) -> None:
    """SPEC J6: a solve that needs too much memory fails with that reason and is not tried again."""
    async with shop.crew(solve_memory_mb=128):
        job = await shop.submit(fleet_body(2500), 20, "ortools")
        events = await shop.until_end(job)
    assert kinds(events) == [EventKind.QUEUED, EventKind.STARTED, EventKind.FAILED]
    assert events[-1].data["error"]["type"] == "EngineOutOfMemory"


async def test_two_workers_solve_two_jobs_at_once(shop: Shop) -> None:
    """SPEC J6: one solve a worker process."""
    async with shop.crew(2):
        jobs = [await shop.submit(fleet_body(60), 2 * LONGEST_S) for _ in range(2)]
        for job in jobs:
            await shop.until_solving(job)
        assert [(await shop.job(job)).state for job in jobs] == [JobState.SOLVING] * 2
        for job in jobs:
            await shop.store.cancel(OWNER, job.id, keep_best=False)
            await shop.until_end(job)
