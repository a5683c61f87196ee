"""The use cases over the real store and feed."""

from itertools import count
from typing import Any

import anyio
import pytest

from planner_mcp.errors import InputError, InvalidParameterError, NotFoundError, PlanNotReadyError
from planner_mcp.jobs.events import Event
from planner_mcp.jobs.lifecycle import JobState
from planner_mcp.jobs.model import LOCAL, Principal, Progress, SolveRequest
from planner_mcp.jobs.service import Planner
from planner_mcp.jobs.summary import summary_of
from planner_mcp.notify.feed import RedisFeed
from planner_mcp.settings import Settings
from planner_mcp.store.redis_store import RedisStore

pytestmark = pytest.mark.anyio

BODY = {"name": "a day", "planning_date": "2025-07-15", "agents": [], "tickets": []}


@pytest.fixture
def planner(store: RedisStore, feed: RedisFeed, settings: Settings) -> Planner:
    return Planner(store, feed, settings=settings)


async def solving(planner: Planner, store: RedisStore, **args: Any) -> Any:
    """Have a job in state solving; return its claim."""
    scenario = await planner.create_scenario(LOCAL, BODY)
    await store.register("w1", 1)
    await planner.submit(LOCAL, SolveRequest(scenario.id, 30, **args))
    claim = await store.claim("w1", 1)
    assert claim is not None
    return claim


async def test_a_job_goes_from_scenario_to_plan(planner: Planner, store: RedisStore, plan: dict[str, Any]) -> None:
    """SPEC T1-T3."""
    claim = await solving(planner, store)
    assert claim.scenario.body == BODY
    with pytest.raises(PlanNotReadyError):
        await planner.plan_of_job(LOCAL, claim.job.id)
    await store.complete(claim, Progress(cost=10.0), plan)
    job = await planner.job(LOCAL, claim.job.id)
    assert (job.state, job.progress.percent, job.progress.cost) == (JobState.COMPLETED, 100, 10.0)
    assert job.plan_id is not None
    assert job.summary == summary_of(plan)
    assert await planner.plan(LOCAL, job.plan_id) == await planner.plan_of_job(LOCAL, job.id) == plan


async def test_waiting_ends_with_a_better_cost_and_tells_every_event(planner: Planner, store: RedisStore) -> None:
    """SPEC T3: progress alone is told, a change of cost ends the wait."""
    claim = await solving(planner, store)
    told: list[Event] = []

    async def note(event: Event) -> None:
        told.append(event)

    async def worker() -> None:
        for percent in count(1):
            await store.report(claim, Progress(percent=percent, cost=7.0 if told else None), None)
            if told and told[-1].data.get("cost"):
                return

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(worker)
            job = await planner.wait(LOCAL, claim.job.id, 45, note)
    assert job.progress.cost == 7.0
    assert (told[-1].data["cost"], len(told) > 1) == (7.0, True)
    assert [event.data["progress"] - told[0].data["progress"] for event in told] == [*range(len(told))]
    assert [event.number for event in told] == list(range(told[0].number, told[-1].number + 1))


@pytest.mark.parametrize("end", ["complete", "fail", "cancel"])
async def test_waiting_ends_with_the_job(planner: Planner, store: RedisStore, plan: dict[str, Any], end: str) -> None:
    """SPEC T3."""
    claim = await solving(planner, store)

    async def worker() -> None:
        if end == "complete":
            await store.complete(claim, Progress(), plan)
        elif end == "fail":
            await store.fail(claim, {"code": 1})
        else:
            await planner.cancel(LOCAL, claim.job.id)
            await store.settle_cancel(claim)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(worker)
            job = await planner.wait(LOCAL, claim.job.id, 45)
        assert job.is_terminal
        assert await planner.wait(LOCAL, claim.job.id, 45) == job


async def test_waiting_returns_unchanged_when_the_time_is_up(planner: Planner, store: RedisStore) -> None:
    """SPEC T3."""
    claim = await solving(planner, store)
    before = await planner.job(LOCAL, claim.job.id)
    with anyio.fail_after(30):
        assert await planner.wait(LOCAL, claim.job.id, 0.05) == before


async def test_a_change_since_the_last_look_is_never_waited_past(planner: Planner, store: RedisStore) -> None:
    """SPEC T3: what happened between two calls ends the second at once; mere progress does not."""
    claim = await solving(planner, store)
    looked = await planner.job(LOCAL, claim.job.id)
    with anyio.fail_after(30):
        await store.report(claim, Progress(percent=5), None)
        assert (await planner.wait(LOCAL, claim.job.id, 0.05, since=looked.event_id)).progress.percent == 5
        await store.report(claim, Progress(percent=6, cost=3.0), None)
        changed = await planner.wait(LOCAL, claim.job.id, 45, since=looked.event_id)
    assert changed.progress.cost == 3.0
    with pytest.raises(InputError):
        await planner.wait(LOCAL, claim.job.id, 45, since="yesterday")


async def test_a_solve_outside_the_limits_lists_every_mistake(planner: Planner) -> None:
    """SPEC T7."""
    scenario = await planner.create_scenario(LOCAL, BODY)
    with pytest.raises(InvalidParameterError) as caught:
        await planner.submit(LOCAL, SolveRequest(scenario.id, 0, priority=10))
    assert [fault.path for fault in caught.value.errors] == ["/solve_time", "/priority"]


async def test_a_revision_knows_its_parent_and_starts_warm_from_its_plan(
    planner: Planner, store: RedisStore, plan: dict[str, Any]
) -> None:
    """SPEC T5."""
    claim = await solving(planner, store)
    await store.complete(claim, Progress(), plan)
    parent = await planner.scenario(LOCAL, claim.scenario.id)
    child = await planner.create_scenario(LOCAL, {**BODY, "name": "changed"}, parent)
    assert (child.revision, child.parent_id) == (2, parent.id)
    warm = claim.job.id.replace("job", "plan", 1)
    await planner.submit(LOCAL, SolveRequest(child.id, 30, warm_plan_id=warm))
    warm_claim = await store.claim("w1", 1)
    assert warm_claim is not None
    assert warm_claim.best_plan == plan
    with pytest.raises(NotFoundError):
        await planner.submit(Principal("eve"), SolveRequest(child.id, 30, warm_plan_id=warm))


async def test_ready_counts_the_queue_and_proves_a_write(planner: Planner, store: RedisStore) -> None:
    """SPEC O3."""
    await solving(planner, store)
    stats = await planner.ready()
    assert (stats.queued, stats.solving, stats.live_workers, stats.live_slots) == (0, 1, 1, 1)
