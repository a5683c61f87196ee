"""The use cases over the real store and feed."""

from itertools import count
from typing import Any

import anyio
import pytest

from planner_mcp.errors import NotFoundError, PlanNotReadyError
from planner_mcp.jobs import job_service as job_service_module
from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Progress, SolveRequest
from planner_mcp.jobs.job_service import JobService, WaitFor
from planner_mcp.jobs.plan_summary import summary_of
from planner_mcp.jobs.principals import LOCAL, Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.plan import Plan

pytestmark = pytest.mark.anyio

BODY = {"name": "a day", "planning_date": "2025-07-15", "agents": [], "tickets": []}


async def solving(job_service: JobService, store: RedisStore, **args: Any) -> Any:
    """Have a job in state solving; return its claim."""
    scenario = await job_service.create_scenario(LOCAL, BODY)
    await store.register("w1", 1)
    await job_service.submit(LOCAL, SolveRequest(scenario.id, 30, **args))
    claim = await store.claim("w1", 1)
    assert claim is not None
    return claim


async def test_a_job_goes_from_scenario_to_plan(
    job_service: JobService, store: RedisStore, plan: dict[str, Any]
) -> None:
    """SPEC T1-T3."""
    claim = await solving(job_service, store)
    assert claim.scenario.body == BODY
    with pytest.raises(PlanNotReadyError):
        await job_service.plan_of_job(LOCAL, claim.job.id)
    await store.complete(claim, Progress(cost=10.0), plan)
    job = await job_service.job(LOCAL, claim.job.id)
    assert (job.state, job.progress.percent, job.progress.cost) == (JobState.COMPLETED, 100, 10.0)
    assert job.plan_id is not None
    assert job.summary == summary_of(plan)
    found = [await job_service.plan(LOCAL, job.plan_id), await job_service.plan_of_job(LOCAL, job.id)]
    assert found == [Plan.from_json(plan)] * 2


async def test_a_wait_for_a_change_ends_with_a_better_cost_and_returns_every_event(
    job_service: JobService, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T3: progress alone is told, a change of cost ends the wait."""
    monkeypatch.setattr(job_service_module, "MIN_CHANGE_WAIT_S", 0)
    claim = await solving(job_service, store)
    received: list[Event] = []

    async def note(event: Event) -> None:
        received.append(event)

    async def worker() -> None:
        for percent in count(1):
            await store.report(claim, Progress(percent=percent, cost=7.0 if received else None), None)
            if received and received[-1].data.cost:
                return

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(worker)
            job = await job_service.wait(LOCAL, claim.job.id, 45, note, "change")
    assert job.progress.cost == 7.0
    assert (received[-1].data.cost, len(received) > 1) == (7.0, True)
    assert [event.data.progress - received[0].data.progress for event in received] == [*range(len(received))]
    assert [event.number for event in received] == list(range(received[0].number, received[-1].number + 1))


@pytest.mark.parametrize("wait_for", ["end", "change"])
async def test_changes_of_the_first_seconds_cost_no_call_of_their_own(
    job_service: JobService,
    store: RedisStore,
    plan: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    wait_for: WaitFor,
) -> None:
    """SPEC T3: at most one return in 5 s (here 60) while the job goes on; its end is told at once."""
    monkeypatch.setattr(job_service_module, "MIN_CHANGE_WAIT_S", 60)
    claim = await solving(job_service, store)
    received: list[Event] = []

    async def note(event: Event) -> None:
        received.append(event)

    async def worker() -> None:
        cost = 1000
        while not received:
            await store.report(claim, Progress(cost=float(cost := cost - 1)), None)
        await store.complete(claim, Progress(cost=10.0), plan)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(worker)
            seen = await job_service.wait(LOCAL, claim.job.id, 45, note, wait_for)
    assert seen.state is JobState.COMPLETED


@pytest.mark.parametrize("end", ["complete", "fail", "cancel"])
async def test_waiting_ends_with_the_job(
    job_service: JobService, store: RedisStore, plan: dict[str, Any], end: str
) -> None:
    """SPEC T3."""
    claim = await solving(job_service, store)

    async def worker() -> None:
        if end == "complete":
            await store.complete(claim, Progress(), plan)
        elif end == "fail":
            await store.fail(claim, {"code": 1})
        else:
            await job_service.cancel(LOCAL, claim.job.id)
            await store.settle_cancel(claim)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(worker)
            job = await job_service.wait(LOCAL, claim.job.id, 45)
        assert job.is_terminal
        assert await job_service.wait(LOCAL, claim.job.id, 45) == job


async def test_waiting_returns_unchanged_when_the_time_is_up(job_service: JobService, store: RedisStore) -> None:
    """SPEC T3."""
    claim = await solving(job_service, store)
    before = await job_service.job(LOCAL, claim.job.id)
    with anyio.fail_after(30):
        assert await job_service.wait(LOCAL, claim.job.id, 0.05) == before


async def test_a_revision_knows_its_parent_and_starts_warm_from_its_plan(
    job_service: JobService, store: RedisStore, plan: dict[str, Any]
) -> None:
    """SPEC T5."""
    claim = await solving(job_service, store)
    await store.complete(claim, Progress(), plan)
    parent = await job_service.scenario(LOCAL, claim.scenario.id)
    child = await job_service.create_scenario(LOCAL, {**BODY, "name": "changed"}, parent)
    assert (child.revision, child.parent_id) == (2, parent.id)
    warm = claim.job.id.replace("job", "plan", 1)
    await job_service.submit(LOCAL, SolveRequest(child.id, 30, warm_plan_id=warm))
    warm_claim = await store.claim("w1", 1)
    assert warm_claim is not None
    assert warm_claim.best_plan == plan
    with pytest.raises(NotFoundError):
        await job_service.submit(Principal("eve"), SolveRequest(child.id, 30, warm_plan_id=warm))


async def test_ready_counts_the_queue_and_proves_a_write(job_service: JobService, store: RedisStore) -> None:
    """SPEC O3."""
    await solving(job_service, store)
    stats = await job_service.ready()
    assert (stats.queued, stats.solving, stats.live_workers, stats.live_slots) == (0, 1, 1, 1)
