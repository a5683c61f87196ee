"""Revisions, warm solves and comparisons as tools tell them, with the test as the worker."""

import json
from dataclasses import replace
from typing import Any

import pytest

from planner_mcp.jobs.model import Principal, Progress
from planner_mcp.jobs.ports import Claim
from planner_mcp.store.redis_store import RedisStore
from planner_mcp.tools.base import ToolContext
from planner_mcp.tools.suggest_fixes import told_of
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.day.patch import revise
from planner_mcp.vrp.layout.schedule import lay_out
from planner_mcp.vrp.problem import Candidate
from planner_mcp.vrp.proof.verify import verify
from planner_mcp.vrp.scenario import parse_scenario
from tests.unit.tools.conftest import Call
from tests.unit.tools.plans import DAY, created, finish, revised, solved
from tests.unit.vrp.days import agent, body, ticket

pytestmark = pytest.mark.anyio


async def test_a_patch_makes_a_revision(call: Call, ctx: ToolContext) -> None:
    """SPEC T5: a new scenario that knows its parent; the old one stays as it was."""
    scenario_id = await created(call)
    patch = {"tickets": {"a": {"demand": 2}, "b": None, "d": {"location": "E", "demand": 1}}, "depot": "A"}
    result = await call("revise_scenario", {"scenario_id": scenario_id, "patch": patch})
    assert result.structured["revision"] == 2
    assert result.structured["parent_id"] == scenario_id
    assert result.structured["changes"] == ["tickets: 1 added (d), 1 removed (b), 1 changed (a)", "changed: depot"]
    new = await ctx.planner.scenario(ctx.principal, result.structured["scenario_id"])
    assert [entry["id"] for entry in new.body["tickets"]] == ["a", "c", "d"]
    assert (await ctx.planner.scenario(ctx.principal, scenario_id)).body == DAY
    assert new.parent_id == scenario_id


async def test_a_revision_is_checked_like_a_scenario(call: Call) -> None:
    """SPEC T7: all faults at once, at the ids the caller knows."""
    scenario_id = await created(call)
    patch = {"tickets": {"c": {"demand": 99}, "a": {"location": "nowhere"}}}
    result = await call("revise_scenario", {"scenario_id": scenario_id, "patch": patch})
    assert {fault["path"] for fault in result.structured["errors"]} == {"/tickets/c/demand", "/tickets/a/location"}
    nothing = await call("revise_scenario", {"scenario_id": scenario_id, "patch": {"tickets": {"z": None}}})
    assert nothing.structured["errors"][0]["path"] == "/patch/tickets/z"
    same = await call("revise_scenario", {"scenario_id": scenario_id, "patch": {"name": "day"}})
    assert same.structured["errors"][0]["problem"] == "The patch changes nothing."
    assert f"scenario://{scenario_id}" in same.structured["errors"][0]["hint"]
    typo = await call(
        "revise_scenario", {"scenario_id": scenario_id, "patch": {"agents": {"v": {"end_locaton": None}}}}
    )
    assert [(fault["path"], fault["hint"]) for fault in typo.structured["errors"]] == [
        ("/agents/v/end_locaton", "Did you mean end_location?")
    ]


async def test_a_route_is_opened_and_closed_by_a_patch(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5, S1: null, as a scenario has it; the plan ends at the last ticket, and at the depot again when named."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    opened = await call("resolve_vrp", {"warm_from": base, "patch": {"agents": {"v": {"end_location": None}}}})
    await finish(store, ["a", "b"], ["c"])
    plan = await ctx.planner.plan_of_job(ctx.principal, opened.structured["job_id"])
    assert [(route["end_location"], route["distance_m"]) for route in plan["routes"]] == [(None, 2), ("D", 6)]
    patch = {"agents": {"v": {"end_location": "D"}}}
    closed = await call("resolve_vrp", {"warm_from": opened.structured["job_id"], "patch": patch})
    await finish(store, ["a", "b"], ["c"])
    plan = await ctx.planner.plan_of_job(ctx.principal, closed.structured["job_id"])
    assert [route["distance_m"] for route in plan["routes"]] == [4, 6]


@pytest.mark.parametrize("name", ["agents", "tickets", "locations"])
@pytest.mark.parametrize("entry", [7, "an id of", None, [], {"id": ["a"]}, {"id": None}, {"id": {}}])
async def test_a_list_of_anything_is_refused_at_its_place(call: Call, name: str, entry: object) -> None:
    """SPEC T7: whatever a patch puts in place of a list, the answer tells where it is wrong."""
    scenario_id = await created(call)
    result = await call("revise_scenario", {"scenario_id": scenario_id, "patch": {name: [entry]}})
    assert result.structured["errors"], result.structured
    assert result.structured["errors"][0]["path"].startswith(f"/{name}/")


async def test_null_in_place_of_a_list_is_none_at_all(call: Call) -> None:
    """SPEC T5, T7: null stands for absent, in a revision too."""
    day = {
        "name": "day",
        "planning_date": "2025-07-15",
        "agents": [{"id": "v", "capacity": 9}],
        "tickets": [{"id": "a", "location": "A", "demand": 1}],
        "locations": None,
        "groups": None,
        "options": None,
    }
    scenario_id = await created(call, day)
    patch = {"locations": {"A": {"x": 1, "y": 1}}, "options": {"backhaul": True}}
    added = await call("revise_scenario", {"scenario_id": scenario_id, "patch": patch})
    assert added.structured["changes"] == ["locations: 1 added (A)", "changed: options"]
    again = await call("revise_scenario", {"scenario_id": scenario_id, "patch": {"tickets": {"a": {"demand": 2}}}})
    assert again.structured["changes"] == ["tickets: 1 changed (a)"]
    none = await call("revise_scenario", {"scenario_id": scenario_id, "patch": {"locations": {"B": None}}})
    assert none.structured["errors"][0]["path"] == "/patch/locations/B"


async def test_alternatives_of_a_day_with_nulls_are_queued(call: Call, store: RedisStore) -> None:
    """SPEC T5: every style of a day whose prices are null, and the same plan named twice is one row."""
    nulls = {"fixed_cost": None, "cost_per_km": None, "cost_per_hour": None}
    tickets = [ticket("a", penalty=None, soft_close=1, lateness_cost_per_hour=None), ticket("b", penalty=5)]
    day = body([agent("v", **nulls), agent("w", **nulls)], tickets, options=None, groups=None)
    job_id = await solved(call, store, await created(call, day), ["a"], ["b"])
    answer = await call("solve_alternatives", {"plan": job_id, "k": 5})
    styles = [each["style"] for each in answer.structured["alternatives"]]
    assert styles == ["fewest_agents", "balanced", "quickest", "punctual", "other_search"]
    twice = (await call("weigh_plans", {"plans": [job_id, job_id.replace("job", "plan", 1)]})).structured
    assert (len(twice["rows"]), twice["duplicates"]) == (1, {})


async def alternative(call: Call, store: RedisStore, plan: str, style: str) -> Claim:
    """Solve one alternative of a plan, with a worker that finds the routes [a, b] and [c]."""
    answer = await call("solve_alternatives", {"plan": plan, "styles": [style]})
    assert not answer.is_error, answer.text
    return await finish(store, ["a", "b"], ["c"])


async def test_alternatives_of_an_alternative_leave_its_style_behind(call: Call, store: RedisStore) -> None:
    """SPEC T5: the balanced one is not looked for with few agents at any price, whichever plan it is asked of."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    first = (await alternative(call, store, base, "fewest_agents")).job.id
    of_base, of_first = [(await alternative(call, store, plan, "balanced")).scenario.body for plan in (base, first)]
    assert of_base == of_first
    anew = await alternative(call, store, first, "other_search")
    assert not any("fixed_cost" in entry for entry in anew.scenario.body["agents"])
    assert (anew.job.request.seed, anew.job.request.warm_plan_id) == (1, None)


async def test_alternatives_are_free_of_what_a_call_before_tied_to_agents(call: Call, store: RedisStore) -> None:
    """SPEC T5: keep_agents holds for its own call; all alternatives held by it would be the plan there is."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    asked = {"warm_from": base, "keep_agents": True, "switch_cost": 5, "keep_until": "00:01"}
    kept = str((await call("resolve_vrp", asked)).structured["job_id"])
    await finish(store, ["a", "b"], ["c"])
    for style in ("balanced", "other_search"):
        day = (await alternative(call, store, kept, style)).scenario.body
        assert set(day["held"]) == {"until_s", "routes"}, style


async def test_a_warm_solve_starts_from_the_plan(call: Call, store: RedisStore) -> None:
    """SPEC T5: the worker gets the earlier plan; without changes the day is the same one."""
    scenario_id = await created(call)
    job_id = await solved(call, store, scenario_id, ["a", "b"], ["c"])
    result = await call("resolve_vrp", {"warm_from": job_id})
    assert result.structured["scenario_id"] == scenario_id
    claim = await finish(store, ["a", "b", "c"])
    assert claim.best_plan is not None
    assert [route["agent_id"] for route in claim.best_plan["routes"]] == ["v", "w"]


async def test_a_plan_that_may_still_be_bettered_is_started_from_and_told_so(call: Call, store: RedisStore) -> None:
    """SPEC S3, T5: what is held is of the plan so far, which the job may leave for a better one."""
    job = str((await call("solve_vrp", {"scenario_id": await created(call)})).structured["job_id"])
    await finish(store, ["a", "b"], ["c"], is_end=False)
    answer = await call("resolve_vrp", {"warm_from": job, "keep_until": "00:01"})
    assert answer.structured["kept_tickets"] == 3
    assert answer.structured["notes"] == [f"{job} is still solving: this starts from its plan so far."]


async def test_a_solve_from_a_plan_that_was_bettered_is_another_call(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T2, T5: a job is found again while the plan it began from is the same; `fresh` finds none."""
    job_id = str((await call("solve_vrp", {"scenario_id": await created(call)})).structured["job_id"])
    claim = await finish(store, ["a", "b"], ["c"], is_end=False)

    async def resolved(**more: Any) -> str:
        return str((await call("resolve_vrp", {"warm_from": job_id, **more})).structured["job_id"])

    early = await resolved()
    assert await resolved() == early
    await store.complete(claim, Progress(cost=1.0), await ctx.planner.plan_of_job(ctx.principal, job_id))
    late = await resolved()
    assert late != early
    assert await resolved() == late
    assert await resolved(fresh=True) not in (early, late)


async def test_a_plan_that_is_not_there_yet_is_told_where_it_was_asked_for(call: Call, store: RedisStore) -> None:
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


async def test_a_curve_outlives_the_day_it_belongs_to(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5, T7: what is kept is told, without the bound that only the day could tell."""
    scenario_id = await created(call)
    base = await solved(call, store, scenario_id, ["a", "b"], ["c"])
    await store.redis.delete(f"{{p0}}:scn:{scenario_id}")
    told = (await call("read_progress", {"job_id": base})).structured
    assert (told["status"], len(told["rows"]), "lower_bound" in told) == ("COMPLETED", 1, False)


async def test_what_is_held_stands_beside_what_the_caller_wrote(call: Call, store: RedisStore) -> None:
    """SPEC T5, S1: planned tickets stay with their agents, what has begun stays first, new ones are free."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    patch = {"tickets": {"d": {"location": "E", "demand": 1}}}
    asked = {"warm_from": job_id, "patch": patch, "keep_agents": True, "keep_until": "00:01"}
    result = await call("resolve_vrp", asked)
    assert result.structured["kept_tickets"] == 3
    claim = await finish(store, ["a", "b"], ["c", "d"])
    day = claim.scenario.body
    assert day["held"]["stay"] == {"a": "v", "b": "v", "c": "w"}
    first, second = day["held"]["routes"]
    assert (first["agent"], [visit["ticket"] for visit in first["visits"]], first["end_s"]) == ("v", ["a", "b"], 4)
    assert (second["agent"], [visit["ticket"] for visit in second["visits"]], second["end_s"]) == ("w", ["c"], 6)
    assert {name: value for name, value in day.items() if name != "held"} == revise(DAY, patch)
    assert claim.scenario.id == result.structured["scenario_id"]
    again = await call("resolve_vrp", {"warm_from": job_id, "scenario_id": claim.scenario.id, "patch": {"held": None}})
    assert again.structured["kept_tickets"] == 0


async def test_a_price_of_switching_is_written_into_a_revision(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5: few changes instead of none; what is planned keeps its agent as far as that is worth the price."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    patch = {"tickets": {"d": {"location": "E", "demand": 1}}}
    result = await call("resolve_vrp", {"warm_from": job_id, "patch": patch, "switch_cost": 2.5})
    assert result.structured["kept_tickets"] == 0
    claim = await finish(store, ["a", "b", "c", "d"])
    assert claim.scenario.body["held"] == {"prefer": {"a": "v", "b": "v", "c": "w"}, "switch_cost": 2.5}
    plan = await ctx.planner.plan_of_job(ctx.principal, result.structured["job_id"])
    assert plan["cost"] == plan["distance_m"] + 2.5
    found = await call("compare_plans", {"plan_a": job_id, "plan_b": result.structured["job_id"]})
    assert found.structured["moved"] == 1


async def test_what_the_change_forbids_is_not_held(call: Call, store: RedisStore) -> None:
    """SPEC T5: an agent that is gone keeps nothing, and the rest is held all the same."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    result = await call("resolve_vrp", {"warm_from": job_id, "patch": {"agents": {"w": None}}, "keep_agents": True})
    assert result.structured["kept_tickets"] == 2
    assert (await finish(store, ["a", "b", "c"])).scenario.body["held"]["stay"] == {"a": "v", "b": "v"}


async def test_an_agent_may_go_that_an_earlier_call_has_held_on_to(call: Call, store: RedisStore) -> None:
    """SPEC T5: tickets held with it, or at a price, are no words of the caller that a patch could contradict."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    held = await call("resolve_vrp", {"warm_from": job_id, "keep_agents": True, "switch_cost": 2.5})
    patch = {"agents": {"w": None}}
    revised = await call("revise_scenario", {"scenario_id": held.structured["scenario_id"], "patch": patch})
    assert revised.structured["changes"] == ["agents: 1 removed (w)"]
    await finish(store, ["a", "b"], ["c"])
    again = await call("resolve_vrp", {"warm_from": held.structured["job_id"], "patch": patch, "keep_agents": True})
    assert again.structured["kept_tickets"] == 2


async def test_each_call_says_anew_who_keeps_whom(call: Call, store: RedisStore) -> None:
    """SPEC T5: what an earlier call tied to agents is free in one that does not ask for it, and the answer says so."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    tied = await call("resolve_vrp", {"warm_from": job_id, "keep_agents": True, "switch_cost": 2.5})
    await finish(store, ["a", "b"], ["c"])
    patch = {"agents": {"v": {"shift_end": 3}}}
    free = await call("resolve_vrp", {"warm_from": tied.structured["job_id"], "patch": patch, "keep_until": "00:01"})
    assert free.structured["notes"][0].startswith("What an earlier call held by keep_agents and switch_cost is free")
    held = (await finish(store, ["a", "b"], ["c"])).scenario.body["held"]
    assert set(held) == {"until_s", "routes"}
    plain = await call("resolve_vrp", {"warm_from": tied.structured["job_id"]})
    assert (await finish(store, ["a", "b", "c"])).scenario.body == DAY
    assert plain.structured["kept_tickets"] == 0
    again = await call("resolve_vrp", {"warm_from": free.structured["job_id"], "keep_agents": True})
    assert not [note for note in again.structured["notes"] if "earlier call" in note]
    assert (await finish(store, ["a", "b"], ["c"])).scenario.body["held"]["routes"] == held["routes"]


async def test_an_agent_that_kept_its_tickets_gives_them_to_others_when_its_shift_is_cut(
    call: Call, store: RedisStore
) -> None:
    """SPEC T5: no agent but v could serve them while they stayed with it; now w may, and the proof says so."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    tied = await call("resolve_vrp", {"warm_from": job_id, "keep_agents": True})
    await finish(store, ["a", "b"], ["c"])
    patch = {"agents": {"v": {"shift_end": 1}}}
    await call("resolve_vrp", {"warm_from": tied.structured["job_id"], "patch": patch})
    problem = compile_scenario(parse_scenario((await finish(store, [], ["a", "b", "c"])).scenario.body))
    assert verify(problem, lay_out(problem, Candidate.of_tickets({1: [0, 1, 2]}))) == []


async def test_an_hour_may_have_any_form_of_a_time(call: Call, store: RedisStore) -> None:
    """SPEC T5: as a scenario has it, or as plans show it, on the third day too; what is no time is a fault."""
    long = body([agent("v", shift_start=201_600)], [ticket("a"), ticket("b", "B")])
    job_id = await solved(call, store, await created(call, long), ["a", "b"])
    for hour in ("56:01", "2025-07-17T08:01", "2025-07-17T08:01:00", 201_660):
        result = await call("resolve_vrp", {"warm_from": job_id, "keep_until": hour})
        assert result.structured["kept_tickets"] == 2, hour
        assert (await finish(store, ["a", "b"])).scenario.body["held"]["until_s"] == 201_660
    for wrong in ("noon", "25:61", -1, [], True, "2025-07-14T08:00", "2025-07-17T08:01Z", "9999:00"):
        refused = await call("resolve_vrp", {"warm_from": job_id, "keep_until": wrong})
        assert [fault["path"] for fault in refused.structured["errors"]] == ["/keep_until"], wrong
        assert refused.structured["errors"][0]["accepted"]


async def test_names_written_for_the_rows_of_a_matrix_are_told(call: Call) -> None:
    """SPEC T5: new tables come with names from then on, so who patches hears of it."""
    table = [[0, 9, 9], [9, 0, 9], [9, 9, 0]]
    day = body(tickets=[ticket("a")], locations=[{"id": name} for name in "DAB"], travel={"durations": table})
    asked = {"scenario_id": await created(call, day), "patch": {"locations": {"B": None}}}
    revised = (await call("revise_scenario", asked)).structured
    assert ["matrix_locations" in said for said in revised["warnings"]] == [True]


async def test_an_hour_after_midnight_is_told_apart_from_that_of_the_next_day(call: Call, store: RedisStore) -> None:
    """SPEC T5: at half past one the night shift is out; 01:30 is before it, and the answer says what it meant."""
    job_id = await solved(call, store, await created(call, body([agent("v", shift_start="22:00")])), ["a", "b"])
    said = "Nothing has begun by {}, the first start is at 22:00. The same hour of the next day is {}."
    for hour, meant in (("01:30", "25:30"), ("00:00", "24:00")):
        early = await call("resolve_vrp", {"warm_from": job_id, "keep_until": hour})
        assert early.structured["notes"] == [said.format(hour, meant)]
        assert early.structured["notes"][0] in early.text
    soon = await call("resolve_vrp", {"warm_from": job_id, "keep_until": "21:00"})
    assert soon.structured["notes"] == ["Nothing has begun by 21:00, the first start is at 22:00."]
    assert (await call("resolve_vrp", {"warm_from": job_id, "keep_until": "25:30"})).structured["notes"] == []


async def test_the_hour_of_one_date_is_not_laid_on_the_next(call: Call, store: RedisStore) -> None:
    """SPEC T5: its visits are no longer served and nothing is too late; a new hour is read on the new date."""
    day = body([agent("v", shift_start="08:00")], [ticket("a"), ticket("b", "B")])
    job_id = await solved(call, store, await created(call, day), ["a", "b"])
    held = await call("resolve_vrp", {"warm_from": job_id, "keep_until": "12:30"})
    await finish(store, ["a", "b"])
    patch = {"planning_date": "2025-07-16", "tickets": {"m": {"location": "A", "demand": 1}}}
    said = "held is let go: it was of 2025-07-15, and planning_date is another now."
    asked = {"scenario_id": held.structured["scenario_id"], "patch": patch}
    revised = (await call("revise_scenario", asked)).structured
    assert revised["changes"] == ["tickets: 1 added (m)", "changed: planning_date, held"]
    assert revised["warnings"] == (await call("validate_scenario", asked)).structured["warnings"] == [said]
    next_day = await call("resolve_vrp", {"warm_from": held.structured["job_id"], "patch": patch})
    assert (next_day.structured["kept_tickets"], next_day.structured["warnings"]) == (0, [said])
    assert "held" not in (await finish(store, ["m", "a", "b"])).scenario.body
    asked = {"warm_from": held.structured["job_id"], "patch": patch, "keep_until": "2025-07-16T09:00"}
    morning = await call("resolve_vrp", asked)
    assert morning.structured["notes"] == ["Nothing of the plan counts as done: planning_date is another than its own."]
    problem = compile_scenario(parse_scenario((await finish(store, ["m", "a", "b"])).scenario.body))
    assert problem.since == 9 * 3600 * problem.scale
    assert "It is 09:00: nothing new begins before." in problem.assumptions
    wrong = await call("resolve_vrp", {**asked, "patch": {"planning_date": "tomorrow"}})
    assert [fault["path"] for fault in wrong.structured["errors"]] == ["/planning_date"]


async def test_a_warm_solve_says_what_its_patch_did(call: Call, store: RedisStore) -> None:
    """SPEC T5, T6: what was added, removed and changed, and what is odd about it now, as revise_scenario does."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    patch = {"tickets": [{"id": "t99", "location": "A", "demand": 1, "penalty": 0}], "agents": {"w": {"capacity": 20}}}
    result = await call("resolve_vrp", {"warm_from": job_id, "patch": patch, "keep_agents": True})
    revised = await call("revise_scenario", {"scenario_id": await created(call), "patch": patch})
    assert result.structured.get("changes") == revised.structured.get("changes")
    assert result.structured["changes"][1] == "tickets: 1 added (t99), 3 removed (a, b, c)"
    assert result.structured["warnings"] == revised.structured["warnings"] != []
    assert result.structured["changes"][1] in result.text
    assert f"Warning: {result.structured['warnings'][0]}" in result.text


async def test_what_an_agent_that_is_gone_has_done_leaves_the_day_and_the_answer_says_so(
    call: Call, store: RedisStore
) -> None:
    """SPEC T5: by 00:01 all is done; w breaks down, and nobody visits its customer again."""
    quick = body([agent("v"), agent("w")], [ticket(name, "A", time_windows=[[1, 1]]) for name in "abc"])
    job_id = await solved(call, store, await created(call, quick), ["a", "b"], ["c"])
    result = await call("resolve_vrp", {"warm_from": job_id, "patch": {"agents": {"w": None}}, "keep_until": "00:01"})
    assert result.structured["kept_tickets"] == 2
    assert result.structured["notes"] == ["Begun by agents that are gone, left out of the day: c"]
    assert result.structured["notes"][0] in result.text
    assert [entry["id"] for entry in (await finish(store, ["a", "b"])).scenario.body["tickets"]] == ["a", "b"]


async def test_a_breakdown_that_leaves_nothing_to_plan_is_refused_at_the_agent(call: Call, store: RedisStore) -> None:
    """SPEC T5, T7: in the evening all is begun; the answer says by whom and what to do, not that a list is empty."""
    job_id = await solved(call, store, await created(call), [], ["c", "a", "b"])
    for patch, path in (
        ({"agents": {"w": None}}, "/patch/agents/w"),
        ({"agents": [agent("v", shift_end=20)]}, "/patch/agents"),
    ):
        refused = await call("resolve_vrp", {"warm_from": job_id, "keep_until": "10:00", "patch": patch})
        (fault,) = refused.structured["errors"]
        assert fault["path"] == path
        assert fault["problem"] == "All tickets of the day were begun by w; nothing is left to plan."
        assert fault["hint"] == "Keep it: set its shift_end to now, or add the tickets still to do."
    for patch in ({"agents": {"w": {"shift_end": 10}}}, {"agents": {"w": None}, "tickets": {"d": ticket("d", "E")}}):
        kept = await call("resolve_vrp", {"warm_from": job_id, "keep_until": "10:00", "patch": patch})
        assert not kept.is_error, kept.text


async def test_a_breakdown_is_planned_though_tickets_prefer_or_forbid_the_agent(call: Call, store: RedisStore) -> None:
    """SPEC T5: their words of it go with it, and every tool that takes the patch says so."""
    tickets = [ticket("a", preferred_agent="w", switch_cost=2), ticket("b", "B", not_agents=["w"]), ticket("c", "C")]
    scenario_id = await created(call, body([agent("v"), agent("w")], tickets))
    job_id = await solved(call, store, scenario_id, ["b", "c"], ["a"])
    patch = {"agents": {"w": None}}
    note = "w gone: preferred or forbidden no longer by 2 tickets (a, b)"
    asked = {"scenario_id": scenario_id, "patch": patch}
    assert (await call("validate_scenario", asked)).structured["warnings"] == [note]
    revised = (await call("revise_scenario", asked)).structured
    assert (revised["warnings"], revised["changes"]) == ([note], ["agents: 1 removed (w)", "tickets: 2 changed (a, b)"])
    answer = await call("resolve_vrp", {"warm_from": job_id, "patch": patch, "keep_agents": True})
    assert answer.structured["warnings"] == [note]
    assert (await finish(store, ["b", "c", "a"])).scenario.body["held"]["stay"] == {"b": "v", "c": "v"}


async def test_whatever_a_patch_makes_of_what_is_held_is_an_answer(call: Call, store: RedisStore) -> None:
    """SPEC Q1, T7: broken parts of a day under way are told as faults, never as an error of ours."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    held = await call("resolve_vrp", {"warm_from": job_id, "keep_until": "00:01"})
    lost: dict[str, Any] = {"agents": {"w": None}}
    wrong = [
        {"held": 5},
        {"held": {"routes": [[]]}},
        {"groups": [5], **lost},
        {"agents": [{"id": []}]},
        {"tickets": [5]},
    ]
    for patch in wrong:
        answer = await call("revise_scenario", {"scenario_id": held.structured["scenario_id"], "patch": patch})
        assert answer.structured["type"] in ("InvalidInput", "InvalidParameter")
        assert answer.structured["errors"]
    anew = await call("resolve_vrp", {"warm_from": job_id, "keep_until": "00:01", "patch": {"held": 5}})
    assert anew.structured["kept_tickets"] == 3


async def test_plans_are_compared(call: Call, store: RedisStore) -> None:
    """SPEC T5: stops moved, cost delta, who gains; by job or plan id."""
    scenario_id = await created(call)
    a = await solved(call, store, scenario_id, ["a", "b"], ["c"])
    b = await solved(call, store, scenario_id, ["b", "c"])
    result = await call("compare_plans", {"plan_a": a, "plan_b": b.replace("job", "plan", 1)})
    found = result.structured
    assert found["moves"] == [["c", "w", "v"]]
    assert (found["moved"], found["newly_unserved"], found["agents_used_delta"]) == (1, ["a"], -1)
    assert [(entry["agent_id"], entry["tickets"], entry["distance_m"]) for entry in found["agents"]] == [
        ("w", -1, -6),
        ("v", 0, 2),
    ]
    assert "no longer served: a" in result.text
    assert (await call("compare_plans", {"plan_a": a, "plan_b": "scn-0-x"})).structured["type"] == "NotFound"


async def test_a_ticket_that_was_cancelled_is_not_called_unserved(call: Call, store: RedisStore) -> None:
    """SPEC T5: the day of plan b does not know it; another that it knows and leaves out is told apart."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    new = await revised(call, store, base, {"tickets": {"a": None}}, ["b"])
    result = await call("compare_plans", {"plan_a": base, "plan_b": new})
    assert (result.structured["gone"], result.structured["newly_unserved"]) == (["a"], ["c"])
    assert {"no longer served: c", "no longer on the day: a"} <= {*result.text.splitlines()}


async def test_a_comparison_refuses_agents_that_neither_day_has(call: Call, store: RedisStore) -> None:
    """SPEC T7: one that only one of two revisions has is known; a name close to one is offered."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    new = await revised(call, store, base, {"agents": {"w": None}}, ["a", "b", "c"])
    asked = {"plan_a": base, "plan_b": new}
    assert (await call("compare_plans", {**asked, "agent_ids": ["w"]})).structured["moves"] == [["c", "w", "v"]]
    refused = (await call("compare_plans", {**asked, "agent_ids": ["v", "W"]})).structured["errors"]
    assert [(fault["path"], fault["hint"]) for fault in refused] == [("/agent_ids/1", "Did you mean w?")]


async def test_plans_of_revisions_are_compared_by_the_same_prices(call: Call, store: RedisStore) -> None:
    """SPEC T5: those of the day both come from, whatever the revisions say, for the plan and for each agent."""
    scenario_id = await created(call)
    base = await solved(call, store, scenario_id, ["a", "b"], ["c"])
    dear = {"agents": {"v": {"fixed_cost": 1000}, "w": {"fixed_cost": 1000}}}
    same = await revised(call, store, base, dear, ["a", "b"], ["c"])
    found = (await call("compare_plans", {"plan_a": base, "plan_b": same})).structured
    assert (found["cost_delta"], found["agents"], found["priced_on"]) == (0, [], scenario_id)
    other = await revised(call, store, base, {"tickets": {"a": {"penalty": 7}}}, ["a", "b", "c"])
    for plan_a, sign in ((base, 1), (same, 1), (other, -1)):
        plan_b = other if plan_a != other else same
        result = await call("compare_plans", {"plan_a": plan_a, "plan_b": plan_b})
        assert (result.structured["cost_delta"], result.structured["priced_on"]) == (-4 * sign, scenario_id)
        assert {entry["agent_id"]: entry["cost"] for entry in result.structured["agents"]} == {
            "v": 2 * sign,
            "w": -6 * sign,
        }
        assert f"costs by the prices of {scenario_id}" in result.text


async def test_an_inserted_ticket_is_priced_on_the_day_that_knows_it(call: Call, store: RedisStore) -> None:
    """SPEC T5: the later day knows both plans, in whichever order they are named."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    new = await revised(call, store, base, {"tickets": {"d": {"location": "E", "demand": 1}}}, ["a", "b"], ["c", "d"])
    there = (await call("compare_plans", {"plan_a": base, "plan_b": new})).structured
    back = (await call("compare_plans", {"plan_a": new, "plan_b": base})).structured
    assert (there["cost_delta"], there["newly_served"]) == (2, ["d"])
    assert back["cost_delta"] == -2
    assert there["priced_on"] == back["priced_on"]


async def test_costs_that_no_day_can_tell_are_not_told(call: Call, store: RedisStore) -> None:
    """SPEC T5: one agent is gone, one ticket is new: neither day knows both plans; all else is told."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    patch = {"tickets": {"d": {"location": "E", "demand": 1}}, "agents": {"w": None}}
    new = await revised(call, store, base, patch, ["a", "b", "c", "d"])
    result = await call("compare_plans", {"plan_a": base, "plan_b": new})
    found = result.structured
    assert (found["cost_delta"], found["priced_on"], found["moves"]) == (None, None, [["c", "w", "v"]])
    assert all("cost" not in entry for entry in found["agents"])
    assert "costs do not compare" in result.text
    weighed = (await call("weigh_plans", {"plans": [base, new]})).structured
    rows = [dict(zip(weighed["columns"], row, strict=True)) for row in weighed["rows"]]
    assert [row["cost"] for row in rows] == [10, None]
    assert [row["served"] for row in rows] == [3, 4]
    assert weighed["invalid"] == [rows[1]["plan_id"]]


async def test_anothers_plan_is_not_found(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC A2: for every tool of the set."""
    scenario_id = await created(call)
    job_id = await solved(call, store, scenario_id, ["a"])
    stranger = ToolContext(
        Principal("other", ctx.principal.scopes), ctx.planner, ctx.settings, ctx.notify_progress, ctx.trace_id
    )
    unknown, nowhere = "job-0-" + "z" * 26, "scn-0-" + "z" * 26
    for name, args in {
        "revise_scenario": {"scenario_id": scenario_id, "patch": {"name": "mine"}},
        "resolve_vrp": {"warm_from": job_id},
        "compare_plans": {"plan_a": job_id, "plan_b": job_id},
        "weigh_plans": {"plans": [job_id, job_id]},
        "solve_alternatives": {"plan": job_id},
        "explain_unassigned": {"plan": job_id},
        "suggest_fixes": {"plan": job_id},
    }.items():
        foreign = await call(name, args, stranger)
        assert foreign.structured["type"] == "NotFound", name
        said = json.dumps(args).replace(job_id, unknown).replace(scenario_id, nowhere)
        assert foreign == await call(name, json.loads(said), stranger), name


async def test_each_plan_that_is_not_known_is_told_by_its_place(call: Call, store: RedisStore) -> None:
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


async def test_what_is_left_out_is_explained_and_fixed(call: Call, store: RedisStore) -> None:
    """SPEC T5: codes, evidence per agent, and a patch that lets the ticket in when the day is solved again."""
    day = body([agent("v", capacity=2), agent("w", shift_end=3)], DAY["tickets"])
    job_id = await solved(call, store, await created(call, day), ["a", "b"])
    why = (await call("explain_unassigned", {"plan": job_id})).structured
    assert why["total"] == 1
    (entry,) = why["tickets"]
    assert (entry["ticket_id"], entry["agents"]) == ("c", 2)
    assert entry["in_the_way"] == {"SHIFT_END": 1, "CAPACITY": 1}
    assert entry["nearest"][0] == {"agent_id": "w", "in_the_way": ["SHIFT_END 1 min over"]}
    answer = await call("suggest_fixes", {"plan": job_id})
    assert {tuple(fix["kinds"]) for fix in answer.structured["fixes"]} == {
        ("SHIFT_END",),
        ("CAPACITY",),
        ("ADD_AGENT",),
    }
    assert "raise the capacity (load) of v to 3" in answer.text
    patch = next(fix["patch"] for fix in answer.structured["fixes"] if fix["kinds"] == ["CAPACITY"])
    again = await call("resolve_vrp", {"warm_from": job_id, "patch": patch})
    assert not again.is_error
    await finish(store, ["a", "b", "c"])
    assert (await call("suggest_fixes", {"plan": again.structured["job_id"]})).structured["fixes"] == []


async def test_no_agent_is_proposed_beyond_those_the_deployment_lets_in(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: a fix is one that resolve_vrp takes; with as many agents as a day may have, other fixes are told."""
    day = body([agent("v", capacity=2), agent("w", shift_end=3)], DAY["tickets"])
    job_id = await solved(call, store, await created(call, day), ["a", "b"])
    for max_agents, kinds in ((3, {"SHIFT_END", "CAPACITY", "ADD_AGENT"}), (2, {"SHIFT_END", "CAPACITY"})):
        house = replace(ctx, settings=ctx.settings.model_copy(update={"max_agents": max_agents}))
        fixes = (await call("suggest_fixes", {"plan": job_id}, house)).structured["fixes"]
        assert {kind for fix in fixes for kind in fix["kinds"]} == kinds
        for fix in fixes:
            again = await call("resolve_vrp", {"warm_from": job_id, "patch": fix["patch"]}, house)
            assert not again.is_error, again.text


async def test_prices_stay_hidden_in_fixes(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC R3: the copy of an agent would tell its prices."""
    day = body([agent("v", capacity=2, fixed_cost=7)], DAY["tickets"])
    job_id = await solved(call, store, await created(call, day), ["a", "b"])
    reader = replace(ctx, principal=replace(ctx.principal, scopes=frozenset({"planner:read"})))
    shown = {
        tuple(fix["kinds"]): fix for fix in (await call("suggest_fixes", {"plan": job_id}, reader)).structured["fixes"]
    }
    assert "patch" in shown[("CAPACITY",)]
    assert "patch" not in shown[("ADD_AGENT",)]
    assert all("cost_delta" not in fix for fix in shown.values())


async def test_a_change_beside_a_hidden_price_is_told(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC R3, T5: that a price must rise is said, what it is and what the change is worth are not."""
    day = body([agent("v", capacity=2)], [*DAY["tickets"][:2], {**DAY["tickets"][2], "penalty": 1}])
    job_id = await solved(call, store, await created(call, day), ["a", "b"])
    reader = replace(ctx, principal=replace(ctx.principal, scopes=frozenset({"planner:read"})))
    first = (await call("suggest_fixes", {"plan": job_id}, reader)).structured["fixes"][0]
    assert first["kinds"] == ["CAPACITY", "PENALTY"]
    assert first["change"] == "raise the capacity (load) of v to 3; raise its penalty"
    assert "patch" not in first


async def test_an_alternative_that_is_rightly_left_out_takes_nobodys_place(call: Call, store: RedisStore) -> None:
    """SPEC T5: the first three are such as could be served; of the others it is said which of the group is."""
    places = dict(zip("abcdefgh", "ABCEABCE", strict=True))
    tickets = [ticket(name, place) for name, place in places.items()] + [ticket(name, "E") for name in "wxyz"]
    groups = [{"kind": "one_of", "tickets": list(pair)} for pair in ("ae", "bf", "cg", "dh")]
    day = body([agent("v", capacity=4)], tickets, groups=groups)
    job_id = await solved(call, store, await created(call, day), ["a", "b", "c", "d"])
    answer = await call("suggest_fixes", {"plan": job_id})
    assert {fix["ticket_id"] for fix in answer.structured["fixes"]} == {"w", "x", "y"}
    assert (answer.structured["without_fix"], answer.structured["not_examined"]) == ([], [])
    assert answer.structured["nothing_to_mend"] == {"e": "a", "f": "b", "g": "c"}
    assert answer.structured["not_asked"] == 1
    assert "e: nothing to mend: a of its group is served" in answer.text
    assert "1 more unassigned; name them in ticket_ids" in answer.text
    asked = (await call("suggest_fixes", {"plan": job_id, "ticket_ids": ["e"]})).structured
    assert (asked["fixes"], asked["without_fix"], asked["nothing_to_mend"]) == ([], [], {"e": "a"})
    why = await call("explain_unassigned", {"plan": job_id, "ticket_ids": ["e", "z"]})
    assert "e GROUP_OTHER_CHOSEN: nothing to mend: a of its group is served" in why.text
    first, second = why.structured["tickets"]
    assert (first["served_instead"], first["nearest"]) == ("a", [])
    assert second["in_the_way"] == {"CAPACITY": 1}


async def test_each_ticket_asked_for_stands_somewhere_in_the_answer(call: Call, store: RedisStore) -> None:
    """SPEC T5: agents of many fields make long patches; the first fix of every ticket goes before the second of any."""
    van = {
        "capacity": {"pallets": 1},
        "shift_end": 600,
        "skills": [f"skill-of-a-driver-number-{n}" for n in range(20)],
        "max_tickets": 1,
        "max_duration_s": 600,
    }
    names = [f"order-{n}-of-a-customer-with-a-rather-long-name-{'x' * 40}" for n in range(7)]
    tickets = [ticket(name, "A", demand={"pallets": 1}) for name in names]
    day = body([agent("van-north-1", **van), agent("van-north-2", **{**van, "max_tickets": 9})], tickets)
    job_id = await solved(call, store, await created(call, day), names[:1], names[1:2])
    answer = (await call("suggest_fixes", {"plan": job_id, "ticket_ids": names[2:]})).structured
    told = {fix["ticket_id"] for fix in answer["fixes"]}
    assert told | set(answer["not_examined"]) | set(answer["without_fix"]) == set(names[2:])
    assert told == set(names[2:])


def test_what_does_not_fit_is_left_out_from_the_end() -> None:
    """SPEC T5, T9: first fixes, then their patches, then second fixes; a patch too long makes room for a short one."""
    long, short = {"agents": "x" * 2500}, {"tickets": {}}
    fixes = {
        "a": [{"ticket_id": "a", "change": "1", "patch": long}, {"ticket_id": "a", "change": "2", "patch": long}],
        "b": [{"ticket_id": "b", "change": "1", "patch": long}, {"ticket_id": "b", "change": "2", "patch": short}],
    }
    told = [(fix["ticket_id"], fix["change"], fix.get("patch")) for fix in told_of(fixes)]
    assert told == [("a", "1", long), ("a", "2", None), ("b", "1", None), ("b", "2", short)]
    crowd = {name: [{"ticket_id": name, "change": "x" * 2000}] for name in "ab"}
    assert [fix["ticket_id"] for fix in told_of(crowd)] == ["a"]


async def test_only_unassigned_tickets_can_be_asked_about(call: Call, store: RedisStore) -> None:
    """SPEC T7."""
    job_id = await solved(call, store, await created(call), ["a", "b"])
    for name, field in (("explain_unassigned", "ticket_ids"), ("suggest_fixes", "ticket_ids")):
        result = await call(name, {"plan": job_id, field: ["c", "a", "zz"]})
        told = [(fault["path"], fault["problem"]) for fault in result.structured["errors"]]
        assert told == [
            ("/ticket_ids/1", "The plan serves this ticket."),
            ("/ticket_ids/2", "There is no ticket of this id here."),
        ]


async def test_progress_is_told_as_a_curve_with_a_bound(call: Call, store: RedisStore) -> None:
    """SPEC T5, J5: the best cost over time, also while solving; a gap only where every wanted ticket is served."""
    scenario_id = await created(call)
    job = await call("solve_vrp", {"scenario_id": scenario_id})
    job_id = job.structured["job_id"]
    await store.register("w1", 1)
    claim = await store.claim("w1", 1.0)
    assert claim is not None
    problem = compile_scenario(parse_scenario(DAY))
    for second, order in enumerate(([2, 1, 0], [0, 2, 1], [0, 1, 2]), start=1):
        plan = lay_out(problem, Candidate.of_tickets({0: order[:1], 1: order[1:]} if second == 1 else {0: order}))
        progress = Progress(10 * second, plan.cost, tickets_served=3, tickets_total=3, elapsed_s=second)
        await store.report(claim, progress, plan.as_json())
    solving = (await call("read_progress", {"job_id": job_id})).structured
    assert solving["status"] == "SOLVING"
    assert solving["columns"] == ["elapsed_s", "cost", "tickets_served"]
    assert solving["rows"] == [[1, 10, 3], [2, 6, 3]]
    assert 0 < solving["lower_bound"] <= 6
    assert 0 <= solving["gap"] < 1
    assert solving["rows"][-1][1] * (1 - solving["gap"]) <= solving["lower_bound"] + 0.01  # both away from the claim
    plain = await call("read_progress", {"job_id": job_id, "bound": False})
    assert "lower_bound" not in plain.structured


async def test_a_gap_is_that_of_the_plan_there_is(call: Call, store: RedisStore) -> None:
    """SPEC T5, J5: none where the job's own plan leaves a wanted ticket out, whatever stood before it."""
    job_id = (await call("solve_vrp", {"scenario_id": await created(call)})).structured["job_id"]
    await store.register("w1", 1)
    claim = await store.claim("w1", 1.0)
    assert claim is not None
    problem = compile_scenario(parse_scenario(DAY))
    for second, order in enumerate(([0, 1, 2], [0, 1]), start=1):
        plan = lay_out(problem, Candidate.of_tickets({0: order}))
        progress = Progress(10 * second, plan.cost, plan.penalty or None, len(order), 3, elapsed_s=second)
        await store.report(claim, progress, plan.as_json())
    told = (await call("read_progress", {"job_id": job_id})).structured
    assert told["lower_bound"] > 0
    assert "gap" not in told


async def test_large_matrices_never_pass_through_a_call(call: Call, ctx: ToolContext) -> None:
    """SPEC T1: neither in a day nor in a patch, and told with what else is wrong; 200 rows do."""
    names = [f"L{n}" for n in range(201)]
    travel = {"distances": [[0] * 201] * 201, "matrix_locations": names}
    large = body([agent(shift_start=9, shift_end=8)], [ticket("a", "L0")], depot="L1", locations=[], travel=travel)
    refused = await call("create_scenario", large)
    told = {fault["path"]: fault for fault in refused.structured["errors"]}
    assert told.keys() == {"/travel/distances", "/agents/0/shift_end"}
    assert "/matrices" in told["/travel/distances"]["hint"]
    judged = await call("validate_scenario", {"scenario": large})
    assert {fault["path"] for fault in judged.structured["errors"]} == told.keys()
    patch = {"scenario_id": await created(call), "patch": {"travel": travel}}
    assert (await call("revise_scenario", patch)).structured["errors"][0]["path"] == "/patch/travel/distances"
    small = {"distances": [[0] * 200] * 200, "matrix_locations": names[:200]}
    assert not (await call("create_scenario", {**large, "agents": [agent()], "travel": small})).is_error


async def test_faults_that_are_not_listed_are_counted(call: Call) -> None:
    """SPEC T7, T9: the same number in every tool, however few of them it has room for."""
    wrong = body(tickets=[{"id": f"t{n}", "location": "A"} for n in range(100)])
    refused = (await call("create_scenario", wrong)).structured
    kept = len(refused["errors"])
    assert refused["message"] == f"100 problems; the first {kept} are listed."
    assert kept + refused["errors_omitted"] == 100
    judged = (await call("validate_scenario", {"scenario": wrong})).structured["errors"]
    assert judged[10]["problem"] == "90 more problems are not listed."


async def test_a_day_is_judged_without_being_kept(call: Call, ctx: ToolContext) -> None:
    """SPEC T5, T7: faults are the answer; conflicts and bounds come with a sound day."""
    wrong = await call("validate_scenario", {"scenario": {**DAY, "depot": "nowhere"}})
    assert not wrong.is_error
    assert (wrong.structured["valid"], wrong.structured["errors"][0]["path"]) == (False, "/depot")
    full = body([agent(capacity=2)], [ticket("a"), ticket("b", "B"), ticket("c", "C")])
    right = (await call("validate_scenario", {"scenario": full})).structured
    assert (right["valid"], right["conflict"]["kind"], right["conflict"]["tickets"]) == (True, "CAPACITY", 3)
    assert (await ctx.planner.scenarios(ctx.principal))[1] == 0
    scenario_id = await created(call)
    patched = await call("validate_scenario", {"scenario_id": scenario_id, "patch": {"tickets": {"a": {"demand": 99}}}})
    assert patched.structured["errors"][0]["path"] == "/tickets/a/demand"
    assert (await call("validate_scenario", {})).structured["errors"][0]["path"] == "/scenario"
