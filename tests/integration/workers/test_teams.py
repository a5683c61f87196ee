"""One job on several workers (SPEC O8, ADR 54)."""

import asyncio

import anyio
import pytest

from benchmarks.process_stats import descendants, is_alive
from planner_mcp.jobs.job_events import Event, EventKind
from planner_mcp.jobs.job_model import Job
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.verification.plan_verification import verify
from tests.integration.workers.conftest import OWNER, WorkerHarness, check_plans_improve, kinds
from tests.shared.processes.process_tree import LONGEST_S, children, kill, until_gone
from tests.shared.scenarios.scenario_builders import compiled
from tests.shared.scenarios.seeded_fleet import fleet_body
from workers.supervisor import Supervisor

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def _searching(supervisor: Supervisor, workers: int) -> dict[int, list[int]]:
    """Return the processes that search, by worker, once so many workers have any."""
    with anyio.fail_after(LONGEST_S):
        while True:
            found = {
                worker: [pid for each in children(worker) for pid in descendants(each)] for worker in supervisor.pids
            }
            if sum(map(bool, found.values())) == workers:
                return {worker: pids for worker, pids in found.items() if pids}
            await asyncio.sleep(0.02)


async def test_a_cancel_stops_every_search_of_a_team(harness: WorkerHarness) -> None:
    """SPEC T4, O8: within the bound of a job of one worker."""
    async with harness.running_workers(2) as supervisor:
        job = await harness.submit(fleet_body(120), 60, cores=2)
        await harness.until_planned(job)
        searching = [pid for pids in (await _searching(supervisor, 2)).values() for pid in pids]
        await harness.store.cancel(OWNER, job.id, keep_best=True)
        await until_gone(searching, within_s=5)
        events = await harness.until_end(job)
    assert kinds(events) == [EventKind.QUEUED, EventKind.STARTED, EventKind.CANCELLED]


async def test_a_killed_seat_costs_its_seat_alone_and_its_worker_solves_on(harness: WorkerHarness) -> None:
    """SPEC O8, J6: the job completes in its first attempt, and leaves nothing in the queue."""
    async with harness.running_workers(2) as supervisor:
        job = await harness.submit(fleet_body(120), 60, cores=2)
        await harness.until_planned(job)
        owner = await harness.holder(job)
        ((seat, searching),) = (
            (pid, found) for pid, found in (await _searching(supervisor, 2)).items() if pid != owner
        )
        kill(seat)
        await until_gone([seat, *searching])
        await harness.store.finish_now(OWNER, job.id)
        events = await harness.until_end(job)
        assert kinds(events) == [EventKind.QUEUED, EventKind.STARTED, EventKind.COMPLETED]
        with anyio.fail_after(LONGEST_S):
            while await harness.store.redis.xlen("{p0}:ready"):  # noqa: ASYNC110
                await asyncio.sleep(0.02)


async def test_the_death_of_the_owner_lets_another_worker_lead_the_team(harness: WorkerHarness) -> None:
    """SPEC J6, O8: the seat ends, the job is claimed anew with its best plan."""
    async with harness.running_workers(2, lease_s=2.0) as supervisor:
        job = await harness.submit(fleet_body(120), 20, cores=2)
        await harness.until_planned(job)
        await _searching(supervisor, 2)
        kill(await harness.holder(job))
        await harness.until_attempt(job, 2)
        await harness.store.finish_now(OWNER, job.id)
        events = await harness.until_end(job)
    check_plans_improve(events)
    assert events[-1].kind is EventKind.COMPLETED


async def _other_best(harness: WorkerHarness, job: Job, known: str = "") -> str:
    """Return penalty and cost of the best plan of a team's seats once it is not the one known; empty after the end."""
    with anyio.fail_after(LONGEST_S):
        while (found := await harness.store.redis.hget(f"{{p0}}:team:{job.id}", "best") or "") == known:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return str(found)


async def test_a_large_day_is_planned_by_a_team_in_regions(harness: WorkerHarness) -> None:
    """SPEC O8, S3: of three members; a seat that dies in mid-solve costs its region of a round, and no ticket."""
    body = fleet_body(2100)
    async with harness.running_workers(3) as supervisor:
        job = await harness.submit(body, 30, cores=3)  # rounds begin after 9 s
        await harness.until_planned(job)
        owner = await harness.holder(job)
        seat, other = set(await _searching(supervisor, 3)) - {owner}
        found = await _other_best(harness, job)
        best = tuple(map(float, found.split()))
        kill(seat)
        assert any(map(is_alive, descendants(other)))

        def has_best(event: Event) -> bool:
            return event.data.cost is not None and (event.data.penalty or 0.0, event.data.cost) <= best

        await harness.until(job, has_best)
        await _other_best(harness, job, known=found)
        await harness.store.finish_now(OWNER, job.id)
        events = await harness.until_end(job)
    assert kinds(events) == [EventKind.QUEUED, EventKind.STARTED, EventKind.COMPLETED]
    plan = Plan.from_json(await harness.store.get_plan(OWNER, (await harness.job(job)).plan_id or ""))
    assert verify(compiled(body), plan) == []
    assert plan.tickets_served == 2100 and plan.engine == "sisr"
    assert (plan.penalty, plan.cost) <= best
