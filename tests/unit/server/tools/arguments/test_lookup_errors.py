"""Plans that nobody knows, that are another's or not there yet, told alike by every tool (SPEC A2, T7)."""

import json
from dataclasses import replace

import pytest

from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.tools.arguments.lookup_errors import OF_A_JOB, OF_A_SCENARIO
from planner_mcp.server.tools.tool_definition import ToolContext
from tests.shared.scenarios.stored_plans import Call, created, solved

pytestmark = pytest.mark.anyio


async def test_a_plan_that_is_not_there_yet_is_reported_where_it_was_asked_for(call: Call, store: RedisStore) -> None:
    """SPEC T7: each at its place, beside what nobody knows; the resource likewise."""
    scenario_id = await created(call)
    base = await solved(call, store, scenario_id, ["a", "b"], ["c"])
    queued = str((await call("solve_vrp", {"scenario_id": scenario_id, "fresh": True})).structured["job_id"])
    for tool, args, path in (
        ("resolve_vrp", {"warm_from": queued}, "/warm_from"),
        ("explain_unassigned", {"plan": queued}, "/plan"),
        ("read_plan", {"job_id": queued}, "/job_id"),
        ("compare_plans", {"plan_a": base, "plan_b": queued}, "/plan_b"),
        ("weigh_plans", {"plans": [base, queued]}, "/plans/1"),
    ):
        early = (await call(tool, args)).structured
        (fault,) = early["errors"]
        assert (early["type"], fault["path"]) == ("PlanNotReady", path), tool
        assert (fault["problem"], fault["hint"].split()[0]) == ("This job has no plan yet.", "query_vrp_status")
    both = (await call("weigh_plans", {"plans": [queued, "job-0-x"]})).structured
    assert (both["type"], [fault["path"] for fault in both["errors"]]) == ("NotFound", ["/plans/0", "/plans/1"])


async def test_a_plan_names_its_job(call: Call, store: RedisStore) -> None:
    """SPEC T7: the id that the last answer gave will do; one of another kind is not found."""
    scenario_id = await created(call)
    job_id = await solved(call, store, scenario_id, ["a"])
    for tool in ("query_vrp_status", "cancel_vrp_job", "finish_vrp_job"):
        asked = {"job_id": job_id.replace("job-", "plan-", 1)}
        assert (await call(tool, asked)).structured["job_id"] == job_id, tool
        (fault,) = (await call(tool, {"job_id": scenario_id})).structured["errors"]
        assert (fault["path"], fault["accepted"]) == ("/job_id", "a job_id of yours (job-…)"), tool


async def test_an_id_of_another_kind_is_answered_by_what_takes_it(call: Call, ctx: ToolContext) -> None:
    """SPEC T7, A2: by its form alone, so that nobody learns whether it is known."""
    scenario_id, job_id = "scn-0-" + "z" * 26, "job-0-" + "z" * 26
    for name, args in (
        ("query_vrp_status", {"job_id": scenario_id}),
        ("read_plan", {"job_id": scenario_id}),
        ("cancel_vrp_job", {"job_id": scenario_id}),
        ("resolve_vrp", {"warm_from": await created(call)}),
    ):
        (fault,) = (await call(name, args, ctx)).structured["errors"]
        assert fault["hint"] == OF_A_SCENARIO, name
    faults = (await call("weigh_plans", {"plans": [scenario_id, job_id]}, ctx)).structured["errors"]
    assert [fault["hint"] == OF_A_SCENARIO for fault in faults] == [True, False]
    for name, args in (("solve_vrp", {"scenario_id": job_id}), ("plan_day", {"scenario_id": job_id})):
        (fault,) = (await call(name, args, ctx)).structured["errors"]
        assert fault["hint"] == OF_A_JOB, name


async def test_anothers_plan_is_not_found(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC A2: for every tool of the set."""
    scenario_id = await created(call)
    job_id = await solved(call, store, scenario_id, ["a"])
    stranger = replace(ctx, principal=Principal("other", ctx.principal.scopes))
    unknown, nowhere = "job-0-" + "z" * 26, "scn-0-" + "z" * 26
    for name, args in {
        "revise_scenario": {"scenario_id": scenario_id, "patch": {"name": "mine"}},
        "resolve_vrp": {"warm_from": job_id},
        "compare_plans": {"plan_a": job_id, "plan_b": job_id},
        "weigh_plans": {"plans": [job_id, job_id]},
        "solve_alternatives": {"plan": job_id},
        "what_if": {"plan": job_id, "cases": {"late": {}}},
        "explain_unassigned": {"plan": job_id},
        "suggest_fixes": {"plan": job_id},
    }.items():
        foreign = await call(name, args, stranger)
        assert foreign.structured["type"] == "NotFound", name
        messages = json.dumps(args).replace(job_id, unknown).replace(scenario_id, nowhere)
        assert foreign == await call(name, json.loads(messages), stranger), name


async def test_each_unknown_plan_is_reported_with_its_place(call: Call, store: RedisStore) -> None:
    """SPEC T7: all at once, also where others are known."""
    job_id = await solved(call, store, await created(call), ["a"])
    unknown, nowhere = "plan-0-" + "z" * 26, "scn-0-" + "z" * 26
    for name, args, paths in (
        ("weigh_plans", {"plans": [job_id, unknown, nowhere]}, ["/plans/1", "/plans/2"]),
        ("compare_plans", {"plan_a": job_id, "plan_b": unknown}, ["/plan_b"]),
        ("resolve_vrp", {"warm_from": job_id, "scenario_id": nowhere}, ["/scenario_id"]),
        ("resolve_vrp", {"warm_from": unknown, "scenario_id": nowhere}, ["/warm_from", "/scenario_id"]),
    ):
        refused = (await call(name, args)).structured
        assert (refused["type"], [fault["path"] for fault in refused["errors"]]) == ("NotFound", paths), name
