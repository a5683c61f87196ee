"""A job on its way through a real worker."""

import pytest

from planner_mcp.jobs import ids
from planner_mcp.jobs.job_events import EventKind
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job, SolveRequest
from planner_mcp.routing.engine_names import AUTO, PROVE
from planner_mcp.routing.plan import Plan
from tests.integration.workers.conftest import OWNER, WorkerHarness, check_plans_improve, kinds
from tests.shared.processes.process_tree import LONGEST_S, until_gone
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.shared.scenarios.seeded_fleet import fleet_body
from tests.shared.scenarios.stored_plans import DAY
from workers.engines.selection import engine_registry
from workers.solver_processes.solve_command import OVERRUN_S

ENGINES = [
    AUTO,
    *(
        pytest.param(engine.name, marks=pytest.mark.slow)
        for engine in engine_registry.engines()
        if engine.is_available()
    ),
]
"""`auto` is what callers use; it searches with one of the others after another."""
IMPROVED = 2
"""Improvements after which a search is under way."""
pytestmark = pytest.mark.anyio


async def test_smallest_call_completes_at_once(running_harness: WorkerHarness) -> None:
    """SPEC T1: the smallest call runs to COMPLETED as it stands, without waiting out its solve time."""
    watch = Stopwatch()
    job = await running_harness.submit(SMALLEST, 30)
    events = await running_harness.until_end(job)
    assert watch.spent_s < 0.5
    assert kinds(events) == [EventKind.QUEUED, EventKind.STARTED, EventKind.COMPLETED]
    plan = await running_harness.store.get_plan(OWNER, (await running_harness.job(job)).plan_id or "")
    assert plan["tickets_served"] == 1
    assert plan["status"] == "feasible"
    assert plan["engine"] == "enumeration"
    assert plan["versions"]["planner-mcp"]
    assert plan["input_hash"]


async def test_a_plan_is_proved_by_a_job_of_its_own(running_harness: WorkerHarness) -> None:
    """SPEC S2, T5: its bound rises while it works, and stays on the plan; optimal only once checked."""
    solved = await running_harness.submit(DAY, 5)
    await running_harness.until_end(solved)
    solved = await running_harness.job(solved)
    request = SolveRequest(solved.request.scenario_id, 20, engine=PROVE, warm_plan_id=solved.plan_id)
    proof = await running_harness.store.submit(OWNER, request, ids.random_id("job", 0))
    events = await running_harness.until_end(proof)
    bounds = [bound for event in events if (bound := event.data.lower_bound) is not None]
    assert bounds == sorted(bounds)
    done = await running_harness.job(proof)
    assert done.state is JobState.COMPLETED
    plan = Plan.from_json(await running_harness.store.get_plan(OWNER, done.plan_id or ""))
    assert plan.proof is not None
    assert plan.proof.is_optimal
    assert plan.proof.lower_bound == plan.cost == done.progress.lower_bound


@pytest.mark.slow
async def test_progress_is_true_and_only_rises(running_harness: WorkerHarness) -> None:
    """SPEC J5: elapsed share, best cost, tickets served; never 100 before the end, never backwards."""
    job = await running_harness.submit(fleet_body(120), 2)
    events = await running_harness.until_end(job)
    percents = [event.data.progress for event in events]
    assert percents == sorted(percents)
    assert all(percent < 100 for percent in percents[:-1])
    assert percents[-1] == 100
    check_plans_improve(events)
    done = await running_harness.job(job)
    assert done.state is JobState.COMPLETED
    assert 1.5 < done.progress.elapsed_s < 2 + OVERRUN_S
    assert done.progress.tickets_total == 120


async def test_plan_can_be_read_while_it_is_improved(running_harness: WorkerHarness) -> None:
    """SPEC S3: the best plan so far can be read while solving."""
    job = await running_harness.submit(fleet_body(120), 20)
    await running_harness.until_planned(job)
    solving = await running_harness.job(job)
    assert solving.state is JobState.SOLVING
    plan = await running_harness.store.get_plan(OWNER, solving.plan_id or "")
    assert plan["tickets_total"] == 120
    await running_harness.store.cancel(OWNER, job.id, keep_best=True)
    await running_harness.until_end(job)


async def cancelled(harness: WorkerHarness, job: Job) -> None:
    """Cancel a job; within a second it is over, and whoever searched for it is gone."""
    solvers = await harness.solvers(job)
    watch = Stopwatch()
    await harness.store.cancel(OWNER, job.id, keep_best=True)
    events = await harness.until_end(job)
    assert watch.spent_s < 1.0
    assert events[-1].kind is EventKind.CANCELLED
    assert (await harness.job(job)).state is JobState.CANCELLED
    await until_gone(solvers)


@pytest.mark.parametrize("engine", ENGINES)
async def test_cancel_takes_effect_within_a_second_while_the_model_is_built(
    running_harness: WorkerHarness, engine: str
) -> None:
    """SPEC T4: at 1000 tickets, as soon as there is a process that reads the day."""
    job = await running_harness.submit(fleet_body(1000), 60, engine)
    await running_harness.until_solving(job)
    await cancelled(running_harness, job)


@pytest.mark.parametrize("engine", ENGINES)
async def test_cancel_takes_effect_within_a_second_deep_in_the_search(
    running_harness: WorkerHarness, engine: str
) -> None:
    """SPEC T4: at 1000 tickets, when a plan has been told and improved; the best one stays readable."""
    job = await running_harness.submit(fleet_body(1000), 60, engine)
    seen = await running_harness.until(job, lambda event: (event.data.improvements or 0) >= IMPROVED)
    assert not seen[-1].is_final
    await cancelled(running_harness, job)
    plan = await running_harness.store.get_plan(OWNER, (await running_harness.job(job)).plan_id or "")
    assert (plan["penalty"], round(plan["cost"], 2)) <= (seen[-1].data.penalty or 0, seen[-1].data.cost)


@pytest.mark.slow
async def test_cancel_takes_effect_within_a_second_in_the_middle_of_a_proof(running_harness: WorkerHarness) -> None:
    """SPEC T4: while the routes of a large day are priced."""
    solved = await running_harness.submit(fleet_body(150), 2)
    await running_harness.until_end(solved)
    solved = await running_harness.job(solved)
    request = SolveRequest(solved.request.scenario_id, 60, engine=PROVE, warm_plan_id=solved.plan_id)
    proof = await running_harness.store.submit(OWNER, request, ids.random_id("job", 0))
    seen = await running_harness.until(proof, lambda event: event.data.lower_bound is not None)
    assert not seen[-1].is_final
    await cancelled(running_harness, proof)


async def test_cancelled_job_keeps_its_best_plan(running_harness: WorkerHarness) -> None:
    """SPEC T4: the best plan so far stays readable, the last improvement included."""
    job = await running_harness.submit(fleet_body(200), 60)
    await running_harness.until_planned(job)
    await cancelled(running_harness, job)
    ended = await running_harness.job(job)
    plan = await running_harness.store.get_plan(OWNER, ended.plan_id or "")
    assert round(plan["cost"], 2) == ended.progress.cost


async def test_finish_now_completes_with_the_best_plan(running_harness: WorkerHarness) -> None:
    """Our choice: beside cancel, finish now and keep the best; asked before there is a plan, it waits for the first."""
    job = await running_harness.submit(fleet_body(200), 60)
    await running_harness.until_solving(job)
    watch = Stopwatch()
    await running_harness.store.finish_now(OWNER, job.id)
    events = await running_harness.until_end(job)
    assert watch.spent_s < 5.0
    assert events[-1].kind is EventKind.COMPLETED
    assert events[-1].data.result.tickets_served > 0


async def test_engine_that_cannot_plan_the_day_fails_the_job_with_its_name(running_harness: WorkerHarness) -> None:
    """SPEC S2, T8: the reason in the caller's words, and no trace of ours."""
    body = fleet_body(9)
    body["agents"][0]["locked_tickets"] = ["t-1"]
    job = await running_harness.submit(body, 5, "pyvrp")
    events = await running_harness.until_end(job)
    error = events[-1].data.error
    assert events[-1].kind is EventKind.FAILED
    assert error.type == "UnsupportedFeature"
    assert "locks" in error.message
    assert "Traceback" not in str(events[-1].data)


async def test_stored_scenario_that_no_longer_holds_fails_with_its_faults(running_harness: WorkerHarness) -> None:
    """SPEC T7: the child reads the scenario by the rules of the day; what they refuse is told, not retried."""
    job = await running_harness.submit({**SMALLEST, "agents": []}, 5)
    events = await running_harness.until_end(job)
    assert kinds(events) == [EventKind.QUEUED, EventKind.STARTED, EventKind.FAILED]
    assert events[-1].data.error.faults[0].path == "/agents"


async def test_an_unforeseen_exception_fails_the_job_and_reveals_nothing(running_harness: WorkerHarness) -> None:
    """SPEC T8: a code and a trace id; the stack is in the log alone. It is not retried: it would only happen again."""
    job = await running_harness.submit(fleet_body(20), 5, "pyvrp", seed=-1)
    events = await running_harness.until_end(job)
    assert kinds(events) == [EventKind.QUEUED, EventKind.STARTED, EventKind.FAILED]
    error = events[-1].data.error
    assert (error.code, error.type) == (5010, "EngineFailed")
    assert error.details["traceId"]
    assert "TypeError" not in str(events[-1].data)
    assert (await running_harness.job(await _next(running_harness))).state is JobState.COMPLETED


async def _next(harness: WorkerHarness) -> Job:
    job = await harness.submit(SMALLEST, 5)
    await harness.until_end(job)
    return job


@pytest.mark.slow
async def test_memory_cap_ends_as_a_clean_failure(harness: WorkerHarness) -> None:
    """SPEC J6: a solve that needs too much memory fails with that reason and is not tried again."""
    async with harness.running_workers(solve_memory_mb=128):
        job = await harness.submit(fleet_body(2500), 20, "ortools")
        events = await harness.until_end(job)
    assert kinds(events) == [EventKind.QUEUED, EventKind.STARTED, EventKind.FAILED]
    assert events[-1].data.error.type == "EngineOutOfMemory"


@pytest.mark.slow
async def test_two_workers_solve_two_jobs_at_once(harness: WorkerHarness) -> None:
    """SPEC J6: one solve a worker process."""
    async with harness.running_workers(2):
        jobs = [await harness.submit(fleet_body(120), 2 * LONGEST_S) for _ in range(2)]
        for job in jobs:
            await harness.until_solving(job)
        assert [(await harness.job(job)).state for job in jobs] == [JobState.SOLVING] * 2
        for job in jobs:
            await harness.store.cancel(OWNER, job.id, keep_best=False)
            await harness.until_end(job)
