"""One call from a day to its plan, with the test as the worker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.principals import LOCAL, WRITE, Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility.unassigned_reasons import with_reasons
from planner_mcp.routing.plan import NO_TRAVEL
from planner_mcp.routing.problem import Candidate
from planner_mcp.server.tools.tool_definition import ToolContext
from planner_mcp.translation import translated, use_language
from tests.shared.scenarios.scenario_builders import compiled
from tests.shared.scenarios.stored_plans import DAY, Call, created, finish, solved
from tests.shared.tools.token_costs import dearer_form_tokens

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def worker_of(store: RedisStore, *tickets: int) -> AsyncIterator[None]:
    """Complete the next job with one agent serving these tickets."""

    async def work() -> None:
        await store.register("w1", 1)
        while (claim := await store.claim("w1", 1.0)) is None:
            pass
        problem = compiled(claim.scenario.body)
        plan = with_reasons(problem, build_plan(problem, Candidate.of_tickets({0: [*tickets]})))
        await store.complete(claim, Progress(100, plan.cost, len(tickets), plan.tickets_total), plan.as_json())

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(work)
            yield


async def test_a_day_comes_back_as_its_plan(call: Call, store: RedisStore) -> None:
    """SPEC T10: figures, visits and what is left out with its reason, and ids for what follows."""
    async with worker_of(store, 0, 1):
        answer = (await call("plan_day", {"scenario": DAY})).structured
    assert answer["status"] == "COMPLETED"
    assert answer["result"]["tickets_served"] == 2
    assert [row[1] for row in answer["visits"]["rows"] if row[1]] == ["a", "b"]
    assert answer["unassigned"]["rows"][0][0] == "c"
    again = (await call("read_plan", {"job_id": answer["job_id"], "view": "visits"})).structured
    assert again == answer["visits"]


@pytest.mark.parametrize(
    ("prices", "options", "unit"),
    [({}, {}, "metres"), ({"cost_per_km": 1}, {"currency": "EUR"}, "EUR"), ({"cost_per_hour": 1}, {}, None)],
)
async def test_a_plan_says_what_its_cost_is_in(
    call: Call, store: RedisStore, prices: dict[str, Any], options: dict[str, Any], unit: str | None
) -> None:
    """SPEC T10, T6: the currency is shown with costs, and metres are not told a customer as money."""
    day = {**DAY, "agents": [{**each, **prices} for each in DAY["agents"]], "options": options}
    async with worker_of(store, 0, 1):
        answer = await call("plan_day", {"scenario": day})
    again = await call("read_plan", {"job_id": answer.structured["job_id"]})
    status = await call("query_vrp_status", {"job_id": answer.structured["job_id"]})
    figures = (answer.structured["result"], again.structured, status.structured["result"])
    for each, found in zip((answer, again, status), figures, strict=True):
        assert found.get("cost_in") == unit
        assert (f"cost_in {unit}" in each.text) == bool(unit)


async def test_a_stored_day_says_again_what_is_assumed_of_it(call: Call, store: RedisStore) -> None:
    """SPEC T10: who plans it may be another than who stored it."""
    places = [{"id": name, "lat": 52.5 + at / 100, "lon": 13.4} for at, name in enumerate("DABC")]
    scenario_id = await created(call, {**DAY, "locations": places})
    async with worker_of(store, 0, 1):
        answer = await call("plan_day", {"scenario_id": scenario_id})
    (roads,) = answer.structured["assumptions"]
    assert roads.startswith("Roads are not known")
    assert roads in answer.text.splitlines()


async def test_a_day_that_takes_longer_is_handed_over_by_its_job_id(call: Call) -> None:
    """SPEC T10: nothing is lost; the same scenario_id finds the same job."""
    first = await call("plan_day", {"scenario": DAY, "wait_s": 0})
    assert first.structured["status"] == "QUEUED"
    assert f"Next: query_vrp_status job_id={first.structured['job_id']} wait_s=45" in first.text
    again = await call("plan_day", {"scenario_id": first.structured["scenario_id"], "wait_s": 0})
    assert again.structured["job_id"] == first.structured["job_id"]


async def test_a_day_without_a_time_is_solved_as_long_as_the_deployment_allows(call: Call, ctx: ToolContext) -> None:
    """SPEC T1, T10: a default is no time that somebody asked for."""
    short = replace(ctx, settings=ctx.settings.model_copy(update={"max_solve_time_s": 5}))
    queued = await call("plan_day", {"scenario": DAY, "wait_s": 0}, short)
    job = await ctx.job_service.job(LOCAL, queued.structured["job_id"])
    assert job.request.solve_time_s == 5


async def test_a_chinese_answer_does_not_advise_to_solve_what_is_being_solved(call: Call) -> None:
    """SPEC T10, T11: the advice of the step before is left out in either language."""
    use_language("zh")
    try:
        text = (await call("plan_day", {"scenario": DAY, "wait_s": 0})).text
    finally:
        use_language("en")
    assert "solve_vrp" not in text
    assert "query_vrp_status" in text


async def test_technicians_over_three_days_carry_nothing_and_have_dates(call: Call, store: RedisStore) -> None:
    """SPEC S1, T10: neither capacity nor demand; a shift a date, and times that say which."""
    dates = ["2025-07-15", "2025-07-16", "2025-07-17"]
    day = {
        **DAY,
        "agents": [
            {"id": f"ann {each}", "shift_start": f"{each} 08:00", "shift_end": f"{each} 17:00"}
            for each in reversed(dates)
        ],
        "tickets": [{"id": "a", "location": "A", "time_windows": [["2025-07-17 09:00", "2025-07-17 11:00"]]}],
    }
    async with worker_of(store, 0):
        answer = await call("plan_day", {"scenario": day})
    assert answer.structured["visits"]["rows"][0][:4] == ["ann 2025-07-17", "a", "A", "2025-07-17 09:00"]
    assert "2025-07-17 09:00" in answer.text
    mixed = {**day, "agents": [*day["agents"], {"id": "van", "capacity": 5}]}
    refused = await call("plan_day", {"scenario": mixed})
    assert [fault["path"] for fault in refused.structured["errors"]] == [
        *(f"/scenario/agents/{n}/capacity" for n in range(3)),
        "/scenario/tickets/0/demand",
    ]


async def test_an_answer_of_a_day_with_long_ids_keeps_its_budget(call: Call, store: RedisStore) -> None:
    """SPEC T9: a summary and two pages."""
    name = "customer-order-北京朝阳区-{}".format
    tickets = [{"id": name(n), "location": "A", "demand": 1} for n in range(80)]
    day = {**DAY, "agents": [{"id": name("v"), "capacity": 40}], "tickets": tickets}
    async with worker_of(store, *range(40)):
        answer = await call("plan_day", {"scenario": day})
    assert answer.structured["result"]["unassigned"] == 40
    assert dearer_form_tokens(answer) <= 350 + 2 * 900


async def test_a_file_is_planned_like_a_day(call: Call, store: RedisStore) -> None:
    """SPEC T10: what its columns were taken for is told too."""
    file = {
        "format": "csv",
        "content": "id,location,demand\na,A,1\nb,B,1",
        "planning_date": "2025-07-15",
        "agents": [{"id": "v", "capacity": 9}],
    }
    async with worker_of(store, 0, 1):
        answer = await call("plan_day", {"file": file})
    assert answer.structured["result"]["tickets_served"] == 2
    assert "demand → demand" in answer.text


@pytest.mark.parametrize(
    ("args", "path"),
    [
        ({}, "/scenario"),
        ({"scenario": DAY, "scenario_id": "scn-0-x"}, "/scenario"),
        ({"scenario": {**DAY, "agents": []}}, "/scenario/agents"),
        (
            {"file": {"format": "csv", "content": "id\na", "planning_date": "soon", "agents": DAY["agents"]}},
            "/file/planning_date",
        ),
        ({"file": "orders.csv"}, "/file"),
        ({"scenario_id": "scn-0-x"}, "/scenario_id"),
        ({"scenario": DAY, "solve_time": "PT999999S"}, "/solve_time"),
        ({"scenario": DAY, "wait_s": 46}, "/wait_s"),
    ],
)
async def test_a_fault_is_reported_with_its_place_and_nothing_is_stored(call: Call, args: Any, path: str) -> None:
    """SPEC T7."""
    refused = await call("plan_day", args)
    assert refused.is_error
    assert refused.structured["errors"][0]["path"] == path
    assert (await call("list_scenarios")).structured["total"] == 0


FILE = {"format": "csv", "planning_date": "2025-07-15", "agents": DAY["agents"]}


@pytest.mark.parametrize(
    ("day", "paths"),
    [
        ({"scenario": {**DAY, "agents": []}}, ["/scenario/agents"]),
        ({"scenario": {**DAY, "planning_date": "soon"}}, ["/scenario/planning_date"]),
        ({"file": {**FILE, "planning_date": "soon", "content": "id\na"}}, ["/file/planning_date"]),
        ({"file": {**FILE, "content": "id,lat,lon\na,52.5,13.4\nb,9x,13.4"}}, ["/file/content/3/lat"]),
        ({"scenario": DAY}, []),
        ({"scenario": "soon"}, ["/scenario"]),
    ],
)
async def test_mistakes_of_the_call_and_of_its_day_are_listed_at_once(call: Call, day: Any, paths: list[str]) -> None:
    """SPEC T7: so that a model corrects them in one turn; nothing is stored."""
    refused = await call("plan_day", {**day, "solve_time": "5s", "wait_s": 99})
    listed = [fault["path"] for fault in refused.structured["errors"]]
    assert sorted(listed) == sorted(["/solve_time", "/wait_s", *paths])
    assert (await call("list_scenarios")).structured["total"] == 0


async def test_a_principal_that_may_not_read_gets_no_plan(call: Call, ctx: ToolContext) -> None:
    """SPEC A3: each step needs the scope of its tool."""
    writer = replace(ctx, principal=Principal("writer", frozenset({WRITE})))
    refused = await call("plan_day", {"scenario": DAY, "wait_s": 0}, writer)
    assert (refused.is_error, refused.structured["code"]) == (True, 4012)


async def test_the_same_day_twice_is_one_scenario_and_one_job(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T2, T10: a client that lost the answer calls again and stores nothing twice; others get ids of their own."""
    first = (await call("plan_day", {"scenario": DAY, "wait_s": 0})).structured
    again = (await call("plan_day", {"scenario": DAY, "wait_s": 0})).structured
    assert (again["scenario_id"], again["job_id"]) == (first["scenario_id"], first["job_id"])
    assert (await call("list_scenarios", {})).structured["total"] == 1
    other = (await call("plan_day", {"scenario": {**DAY, "name": "other"}, "wait_s": 0})).structured
    assert other["scenario_id"] != first["scenario_id"]
    bob = replace(ctx, principal=Principal("u-bob", LOCAL.scopes))
    assert (await call("plan_day", {"scenario": DAY, "wait_s": 0}, bob)).structured["scenario_id"] not in (
        first["scenario_id"],
        other["scenario_id"],
    )
    await finish(store, ["a", "b"], ["c"])
    planned = (await call("plan_day", {"scenario": DAY, "wait_s": 5})).structured
    assert (planned["job_id"], planned["status"]) == (first["job_id"], "COMPLETED")


async def test_each_tool_that_queues_a_solve_takes_cores(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC O8: with more than a worker has, several workers search; another number is another job."""
    scenario_id = await created(call)
    base = await solved(call, store, scenario_id, ["a", "b"], ["c"])
    calls: list[tuple[str, dict[str, Any]]] = [
        ("solve_vrp", {"scenario_id": scenario_id}),
        ("plan_day", {"scenario_id": scenario_id, "wait_s": 0, "solve_time": "PT31S"}),
        ("resolve_vrp", {"warm_from": base}),
    ]
    for tool, arguments in calls:
        jobs = {cores: (await call(tool, {**arguments, "cores": cores})).structured["job_id"] for cores in (2, 3)}
        for cores, job_id in jobs.items():
            job = await ctx.job_service.job(ctx.principal, job_id)
            assert (job.request.cores, job.seats) == (cores, cores)
        assert jobs[2] != jobs[3]


async def test_unknown_travel_stands_once_in_an_answer(call: Call, store: RedisStore) -> None:
    """SPEC T9, T10: each step says it, and one answer said it three times."""
    places = {"agents": [{"id": "v", "capacity": 5}], "tickets": [{"id": "a", "location": "A", "demand": 1}]}
    day = {"name": "day", "planning_date": "2025-07-15", **places}
    async with worker_of(store, 0):
        answer = await call("plan_day", {"scenario": day})
    assert answer.structured["status"] == "COMPLETED"
    assert answer.text.startswith(f"{NO_TRAVEL}\n") and answer.text.count(NO_TRAVEL) == 1
    use_language("zh")
    try:
        again = await call("plan_day", {"scenario": day})
        assert again.text.count(translated(NO_TRAVEL)) == 1 and NO_TRAVEL not in again.text
    finally:
        use_language("en")
