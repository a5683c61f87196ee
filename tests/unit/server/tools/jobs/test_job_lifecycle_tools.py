"""The life of a job as tools tell it, with the test as its worker."""

from dataclasses import replace
from typing import Any

import anyio
import jsonschema
import pytest

from planner_mcp.errors import Fault, TravelUnknownError
from planner_mcp.jobs import job_service
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.plan import NO_TRAVEL
from planner_mcp.server.resources.json_resources import job_row
from planner_mcp.server.tools.scenarios.create_scenario import EXAMPLE
from planner_mcp.server.tools.tool_definition import ToolContext, ToolResult
from planner_mcp.server.tools.tool_registry import REGISTRY
from tests.shared.scenarios.scenario_builders import agent, body, ticket
from tests.shared.scenarios.stored_plans import DAY, Call, claimed, created, finish, solved, stored_plan

pytestmark = pytest.mark.anyio
HALF = Progress(percent=50, cost=1234.5, tickets_served=98, tickets_total=100, improvements=7, elapsed_s=12.34)


async def submit(call: Call, **args: Any) -> str:
    """Create the smallest scenario, solve it, return the job id."""
    scenario = await call("create_scenario", EXAMPLE)
    job = await call("solve_vrp", {"scenario_id": scenario.structured["scenario_id"], **args})
    return str(job.structured["job_id"])


async def test_the_smallest_day_says_what_was_assumed(call: Call) -> None:
    """SPEC T1: complete as it stands; unknown positions are told."""
    result = await call("create_scenario", EXAMPLE)
    assert result.structured["scenario_id"].startswith("scn-0-")
    assert (result.structured["agents"], result.structured["tickets"]) == (1, 1)
    assert any("counts 1" in sentence for sentence in result.structured["assumptions"])
    assert result.links[0].uri == f"scenario://{result.structured['scenario_id']}"


async def test_the_same_call_gives_the_same_job(call: Call) -> None:
    """SPEC T2: idempotent until told otherwise."""
    scenario_id = (await call("create_scenario", EXAMPLE)).structured["scenario_id"]
    first = await call("solve_vrp", {"scenario_id": scenario_id, "solve_time": "PT9S"})
    again = await call("solve_vrp", {"scenario_id": scenario_id, "solve_time": "PT9S", "callback_url": None})
    other = await call("solve_vrp", {"scenario_id": scenario_id, "solve_time": "PT9S", "fresh": True})
    assert again.structured["job_id"] == first.structured["job_id"]
    assert other.structured["job_id"] != first.structured["job_id"]
    assert first.structured["status"] == "QUEUED"


async def test_a_key_with_other_arguments_is_a_conflict(call: Call) -> None:
    """SPEC T2: an explicit key means one call."""
    scenario_id = (await call("create_scenario", EXAMPLE)).structured["scenario_id"]
    await call("solve_vrp", {"scenario_id": scenario_id, "idempotency_key": "k"})
    refused = await call("solve_vrp", {"scenario_id": scenario_id, "idempotency_key": "k", "seed": 1})
    assert refused.structured["code"] == 4009


async def test_status_begins_with_the_three_facts(call: Call, store: RedisStore) -> None:
    """SPEC T3: job_id, status, progress first."""
    job_id = await submit(call)
    await store.report(await claimed(store), HALF, stored_plan(routes=2, visits=49))
    result = await call("query_vrp_status", {"job_id": job_id})
    assert list(result.structured.items())[:4] == [
        ("job_id", job_id),
        ("status", "SOLVING"),
        ("progress", 50),
        ("cost", 1234.5),
    ]
    assert (
        result.text == f"{job_id} SOLVING 50% · cost 1234.5 · cost_in metres · served 98/100 · 7 improvements · 12.34 s"
    )


async def test_a_call_that_waits_for_a_change_ends_with_it_and_returns_it(
    call: Call,
    store: RedisStore,
    progress_events: list[tuple[float, float | None, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SPEC T3: it stays open until something changes and sends true progress."""
    monkeypatch.setattr(job_service, "MIN_CHANGE_WAIT_S", 0)
    job_id = await submit(call)
    claim = await claimed(store)
    answers: list[Any] = []

    async def wait() -> None:
        answers.append(await call("query_vrp_status", {"job_id": job_id, "wait_s": 20, "wait_for": "change"}))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            cost = 1000
            while not answers:
                cost -= 1  # from the first the wait hears of, it ends
                await store.report(claim, replace(HALF, cost=float(cost)), None)
    progress, total, message = progress_events[0]
    assert len(progress_events) == 1
    assert (progress, total) == (50.0, 100.0)
    assert message.startswith("SOLVING 50% · cost ")
    assert answers[0].structured["progress"] == 50


async def test_a_finished_job_shows_its_figures(call: Call, store: RedisStore) -> None:
    """SPEC T3, T9: the summary, the reasons, and where more can be read."""
    job_id = await submit(call)
    await store.complete(await claimed(store), HALF, stored_plan(routes=2, visits=49, left_out=2))
    result = await call("query_vrp_status", {"job_id": job_id})
    assert result.structured["status"] == "COMPLETED"
    assert result.structured["progress"] == 100
    assert result.structured["result"]["unassigned_reasons"] == {"NO_ROOM_FOUND": 1, "ALL_CAPACITY_USED": 1}
    assert [link.uri for link in result.links] == [f"plan://{result.structured['plan_id']}", f"job://{job_id}"]


async def test_costs_say_what_they_are_in_wherever_they_are_listed(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T6: while a job is solved too; an answer that is read alone takes no metres for money."""
    agents = [agent(name, cost_per_km=1) for name in ("v", "w")]
    scenario_id = await created(call, DAY | {"agents": agents, "options": {"currency": "EUR"}})
    job_id = (await call("solve_vrp", {"scenario_id": scenario_id})).structured["job_id"]
    before = await call("read_progress", {"job_id": job_id})
    assert (before.structured["rows"], before.structured["cost_in"]) == ([], "EUR")
    assert "cost_in" not in (await call("read_progress", {"job_id": job_id, "bound": False})).structured
    await finish(store, ["a", "b"], ["c"], is_end=False)
    status = await call("query_vrp_status", {"job_id": job_id})
    assert (status.structured["cost_in"], status.text.count("cost_in EUR")) == ("EUR", 1)
    listed = (await call("list_jobs")).structured
    assert dict(zip(listed["columns"], listed["rows"][0], strict=True))["cost_in"] == "EUR"
    assert job_row(await ctx.job_service.job(ctx.principal, job_id))["cost_in"] == "EUR"


async def test_preferences_that_a_plan_does_not_keep_are_named(call: Call, store: RedisStore) -> None:
    """SPEC T3, T5: a price that was paid is told with its tickets, where a job ends and where its plan is read."""
    tickets = [ticket(name, preferred_agent="w", switch_cost=1) for name in ("a", "b", "c")]
    job_id = await solved(call, store, await created(call, DAY | {"tickets": tickets}), ["a", "b"], ["c"])
    status, plan = await call("query_vrp_status", {"job_id": job_id}), await call("read_plan", {"job_id": job_id})
    for answer, figures in ((status, status.structured["result"]), (plan, plan.structured)):
        assert (figures["not_preferred"], figures["not_preferred_ids"]) == (2, ["a", "b"])
        assert "not served by their preferred_agent: a, b" in answer.text.splitlines()


async def test_a_plan_without_known_travel_says_so_wherever_its_times_are_read(call: Call, store: RedisStore) -> None:
    """SPEC T6: whoever reads one answer alone takes no leg of 1 for a time."""
    job_id = await solved(call, store, await created(call, EXAMPLE), ["t-1"])
    assert NO_TRAVEL in (await call("query_vrp_status", {"job_id": job_id})).text.splitlines()
    for view in ("summary", "routes", "visits"):
        answer = await call("read_plan", {"job_id": job_id, "view": view})
        assert NO_TRAVEL in answer.structured["assumptions"], view
        assert NO_TRAVEL in answer.text.splitlines(), view


async def test_a_failed_job_says_why(call: Call, store: RedisStore) -> None:
    """SPEC T8: a code and a type."""
    job_id = await submit(call)
    await store.fail(await claimed(store), {"code": 5011, "type": "EngineCrashed", "message": "It died."})
    result = await call("query_vrp_status", {"job_id": job_id})
    assert result.structured["status"] == "FAILED"
    assert result.structured["progress"] < 100
    assert result.structured["error"]["code"] == 5011
    assert "5011 EngineCrashed: It died." in result.text


async def test_the_text_of_a_failed_job_names_its_faults(call: Call, store: RedisStore) -> None:
    """SPEC T6, T7: text is complete without the structured content: what failed, where, and what would be accepted."""
    job_id = await submit(call)
    faults = [Fault("/travel/matrix", "No.", "an id", "Upload it."), Fault("/agents/0", "Neither.")]
    await store.fail(await claimed(store), TravelUnknownError("Two.", errors=faults).as_json("trace"))
    text = (await call("query_vrp_status", {"job_id": job_id})).text
    assert text.splitlines()[1:4] == [
        "error 4044 TravelUnknown: Two.",
        "/travel/matrix: No. (accepted: an id) Upload it.",
        "/agents/0: Neither.",
    ]


async def test_a_queued_job_is_cancelled_at_once_and_once(call: Call) -> None:
    """SPEC T4: idempotent, with the time it happened."""
    job_id = await submit(call)
    first = await call("cancel_vrp_job", {"job_id": job_id})
    again = await call("cancel_vrp_job", {"job_id": job_id})
    assert first.structured["cancelled"] is True
    assert first.structured["cancelled_at"].endswith("Z")
    assert again.structured == first.structured


async def test_cancelling_waits_for_the_solver_to_stop(call: Call, store: RedisStore) -> None:
    """SPEC T4: the answer is given when the job has ended, with the plan that stays."""
    job_id = await submit(call)
    claim = await claimed(store)
    await store.report(claim, HALF, stored_plan(routes=1, visits=2))

    async def obey() -> None:
        while not (await store.renew(claim)).cancel:
            await store.wait_control(0.05)
        await store.settle_cancel(claim)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(obey)
            result = await call("cancel_vrp_job", {"job_id": job_id})
    assert result.structured["cancelled"] is True
    assert result.structured["status"] == "CANCELLED"
    plan = await call("read_plan", {"plan_id": result.structured["plan_id"]})
    assert plan.structured["tickets_served"] == 2


async def test_a_job_that_ended_otherwise_is_not_cancelled(call: Call, store: RedisStore) -> None:
    """SPEC T4, J1: no error, and the end stays what it was."""
    job_id = await submit(call)
    await store.complete(await claimed(store), HALF, stored_plan(routes=1, visits=1))
    result = await call("cancel_vrp_job", {"job_id": job_id})
    assert result.structured["cancelled"] is False
    assert result.structured["cancelled_at"].endswith("Z"), "when it ended"
    assert result.structured["status"] == "COMPLETED"


async def test_a_plan_can_be_read_while_it_is_sought(call: Call, store: RedisStore) -> None:
    """SPEC S3, T5: the best so far, by job or by plan."""
    job_id = await submit(call)
    swapped = await call("read_plan", {"plan_id": job_id})
    early = await call("read_plan", {"job_id": job_id})
    assert swapped.structured["type"] == early.structured["type"] == "PlanNotReady", "either id, in either place"
    assert early.structured["type"] == "PlanNotReady"
    await store.report(await claimed(store), HALF, stored_plan(routes=3, visits=5))
    routes = await call("read_plan", {"job_id": job_id, "view": "routes", "size": 2})
    assert routes.structured["rows"][0] == ["veh-0", 5, "08:00", "09:15", 42123.46, 42.12]
    assert routes.structured["next_page"] == 2
    assert routes.text.splitlines()[:2] == [
        "routes 2 of 3, page 1, more with page=2: agent_id tickets start end distance_m cost",
        "veh-0 5 08:00 09:15 42123.46 42.12",
    ]


async def test_agents_that_a_plan_does_not_know_are_refused(call: Call, store: RedisStore) -> None:
    """SPEC T7: as unknown fields are, with the name that was meant; an agent of the day without a route is told."""
    job_id = await submit(call)
    await store.complete(await claimed(store), HALF, stored_plan(routes=1, visits=1))
    asked = {"plan_id": job_id, "view": "visits"}
    refused = await call("read_plan", {**asked, "agent_ids": ["veh-0", "VEH-1", "nobody"]})
    assert [(fault["path"], fault["hint"]) for fault in refused.structured["errors"]] == [
        ("/agent_ids/1", "Did you mean veh-1?"),
        ("/agent_ids/2", "Leave agent_ids out for all of them."),
    ]
    assert refused.structured["errors"][1]["accepted"] == "an agent of the day: veh-0, veh-1"
    idle = await call("read_plan", {**asked, "agent_ids": ["veh-1", "veh-0"]})
    assert ([row[0] for row in idle.structured["rows"]], idle.structured["without_route"]) == (["veh-0"], ["veh-1"])
    assert idle.text.splitlines()[-1] == "without a route: veh-1"


@pytest.mark.parametrize("view", ["summary", "unassigned"])
async def test_agents_are_refused_where_a_view_has_none(call: Call, store: RedisStore, view: str) -> None:
    """SPEC T7: a filter that cannot apply would pass for an empty answer."""
    job_id = await submit(call)
    await store.complete(await claimed(store), HALF, stored_plan(routes=1, visits=1, left_out=2))
    refused = await call("read_plan", {"job_id": job_id, "view": view, "agent_ids": ["veh-0"]})
    assert [fault["path"] for fault in refused.structured["errors"]] == ["/agent_ids"]
    assert "routes or visits" in refused.structured["errors"][0]["accepted"]


async def test_strangers_find_nothing(call: Call, ctx: ToolContext) -> None:
    """SPEC A2: somebody else's id and an unknown one are the same answer."""
    job_id = await submit(call)
    bob = replace(ctx, principal=Principal("bob", ctx.principal.scopes))
    for name in ("query_vrp_status", "cancel_vrp_job", "read_plan"):
        foreign = await call(name, {"job_id": job_id}, bob)
        unknown = await call(name, {"job_id": "job-0-" + "z" * 26}, bob)
        assert foreign == unknown
        assert foreign.structured["code"] == 4004


async def test_answers_and_errors_fit_the_output_schema(call: Call, store: RedisStore) -> None:
    """SPEC T6: some clients check the structured content of errors as well."""
    job_id = await submit(call)
    await store.complete(await claimed(store), HALF, stored_plan(routes=1, visits=1))
    calls: dict[str, dict[str, Any]] = {
        "create_scenario": EXAMPLE,
        "query_vrp_status": {"job_id": job_id},
        "cancel_vrp_job": {"job_id": job_id},
        "read_plan": {"job_id": job_id, "view": "visits"},
    }
    for tool in REGISTRY:
        schema = tool.as_json()["outputSchema"]
        if tool.name in calls:
            result = await call(tool.name, calls[tool.name])
            assert isinstance(result, ToolResult), result.text
            jsonschema.validate(result.structured, schema)
            jsonschema.validate(result.structured, tool.output_schema)
        jsonschema.validate((await call(tool.name, {"x": 1})).structured, schema)


async def test_an_engine_that_cannot_plan_the_scenario_is_refused_with_the_table(call: Call) -> None:
    """SPEC T7: before it is queued, with what it lacks and who has that; the others take it."""
    scenario_id = await created(call, body([agent(breaks=[{"earliest": 0, "latest": 9, "duration_s": 1}])]))
    refused = await call("solve_vrp", {"scenario_id": scenario_id, "engine": "pyvrp"})
    assert refused.structured["type"] == "UnsupportedFeature"
    (fault,) = refused.structured["errors"]
    assert fault["path"] == "/engine"
    assert fault["accepted"] == "auto, sisr, ortools"
    assert fault["hint"] == "Engines that have them: breaks: sisr, ortools."
    assert not (await call("solve_vrp", {"scenario_id": scenario_id, "engine": "ortools"})).is_error
