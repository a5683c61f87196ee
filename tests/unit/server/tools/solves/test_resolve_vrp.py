"""`resolve_vrp`: a day solved again from its plan, under a patch, with what is held (SPEC T5)."""

from typing import Any

import pytest

from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.scenario.scenario_patch import revise
from planner_mcp.routing.verification.plan_verification import verify
from planner_mcp.server.tools.tool_definition import ToolContext
from tests.shared.scenarios.scenario_builders import agent, body, compiled, ticket
from tests.shared.scenarios.stored_plans import DAY, Call, created, finish, solved

pytestmark = pytest.mark.anyio


async def test_a_route_is_opened_and_closed_by_a_patch(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5, S1: null, as a scenario has it; the plan ends at the last ticket, and at the depot again when named."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    opened = await call("resolve_vrp", {"warm_from": base, "patch": {"agents": {"v": {"end_location": None}}}})
    await finish(store, ["a", "b"], ["c"])
    plan = await ctx.job_service.plan_of_job(ctx.principal, opened.structured["job_id"])
    assert [(route.end_location, route.distance_m) for route in plan.routes] == [(None, 2), ("D", 6)]
    patch = {"agents": {"v": {"end_location": "D"}}}
    closed = await call("resolve_vrp", {"warm_from": opened.structured["job_id"], "patch": patch})
    await finish(store, ["a", "b"], ["c"])
    plan = await ctx.job_service.plan_of_job(ctx.principal, closed.structured["job_id"])
    assert [route.distance_m for route in plan.routes] == [4, 6]


async def test_a_warm_solve_starts_from_the_plan(call: Call, store: RedisStore) -> None:
    """SPEC T5: the worker gets the earlier plan; without changes the day is the same one."""
    scenario_id = await created(call)
    job_id = await solved(call, store, scenario_id, ["a", "b"], ["c"])
    result = await call("resolve_vrp", {"warm_from": job_id})
    assert result.structured["scenario_id"] == scenario_id
    claim = await finish(store, ["a", "b", "c"])
    assert claim.best_plan is not None
    assert [route["agent_id"] for route in claim.best_plan["routes"]] == ["v", "w"]


async def test_a_plan_that_may_still_be_improved_is_the_start_and_the_answer_says_so(
    call: Call, store: RedisStore
) -> None:
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
    plan = await ctx.job_service.plan_of_job(ctx.principal, job_id)
    await store.complete(claim, Progress(cost=1.0), plan.as_json())
    late = await resolved()
    assert late != early
    assert await resolved() == late
    assert await resolved(fresh=True) not in (early, late)


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
    held = {"prefer": {"a": "v", "b": "v", "c": "w"}, "switch_cost": 2.5, "promised": ["a", "b", "c"]}
    assert claim.scenario.body["held"] == held
    plan = await ctx.job_service.plan_of_job(ctx.principal, result.structured["job_id"])
    assert plan.cost == plan.distance_m + 2.5
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
    note = "What an earlier call held by keep_agents and switch_cost is not held now"
    assert free.structured["notes"][0].startswith(note)
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
    problem = compiled((await finish(store, [], ["a", "b", "c"])).scenario.body)
    assert verify(problem, build_plan(problem, Candidate.of_tickets({1: [0, 1, 2]}))) == []


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


async def test_an_hour_after_midnight_differs_from_that_of_the_next_day(call: Call, store: RedisStore) -> None:
    """SPEC T5: at half past one the night shift is out; 01:30 is before it, and the answer says what it meant."""
    job_id = await solved(call, store, await created(call, body([agent("v", shift_start="22:00")])), ["a", "b"])
    messages = "Nothing has begun by {}, the first start is at 22:00. The same hour of the next day is {}."
    for hour, meant in (("01:30", "25:30"), ("00:00", "24:00")):
        early = await call("resolve_vrp", {"warm_from": job_id, "keep_until": hour})
        assert early.structured["notes"] == [messages.format(hour, meant)]
        assert early.structured["notes"][0] in early.text
    hours = await call("resolve_vrp", {"warm_from": job_id, "keep_until": 14})
    assert hours.structured["notes"][1:] == ['14 is 00:00:14: numbers are seconds. Write "14:00".']
    soon = await call("resolve_vrp", {"warm_from": job_id, "keep_until": "21:00"})
    assert soon.structured["notes"] == ["Nothing has begun by 21:00, the first start is at 22:00."]
    assert (await call("resolve_vrp", {"warm_from": job_id, "keep_until": "25:30"})).structured["notes"] == []


async def test_an_hour_before_that_of_an_earlier_call_is_noticed(call: Call, store: RedisStore) -> None:
    """SPEC T10: what has begun is never rewritten in silence; whoever corrects a wrong hour may do so."""
    job_id = await solved(call, store, await created(call, body([agent("v", shift_start="08:00")])), ["a", "b"])
    later = (await call("resolve_vrp", {"warm_from": job_id, "keep_until": "08:30"})).structured
    assert later["notes"] == []
    await finish(store, ["a", "b"])
    back = {"warm_from": later["job_id"], "keep_until": "08:10"}
    note = "What began from 08:10 to 08:30 was held before, and is planned anew."
    assert (await call("resolve_vrp", back)).structured["notes"] == [note]
    assert (await call("resolve_vrp", {**back, "keep_until": "08:31"})).structured["notes"] == []


async def test_the_hour_of_one_date_is_not_laid_on_the_next(call: Call, store: RedisStore) -> None:
    """SPEC T5: its visits are no longer served and nothing is too late; a new hour is read on the new date."""
    day = body([agent("v", shift_start="08:00")], [ticket("a"), ticket("b", "B")])
    job_id = await solved(call, store, await created(call, day), ["a", "b"])
    held = await call("resolve_vrp", {"warm_from": job_id, "keep_until": "12:30"})
    await finish(store, ["a", "b"])
    patch = {"planning_date": "2025-07-16", "tickets": {"m": {"location": "A", "demand": 1}}}
    messages = "held is dropped: it was of 2025-07-15, and planning_date is another now."
    asked = {"scenario_id": held.structured["scenario_id"], "patch": patch}
    revised = (await call("revise_scenario", asked)).structured
    assert revised["changes"] == ["tickets: 1 added (m)", "changed: planning_date, held"]
    assert revised["warnings"] == (await call("validate_scenario", asked)).structured["warnings"] == [messages]
    next_day = await call("resolve_vrp", {"warm_from": held.structured["job_id"], "patch": patch})
    assert (next_day.structured["kept_tickets"], next_day.structured["warnings"]) == (0, [messages])
    assert "held" not in (await finish(store, ["m", "a", "b"])).scenario.body
    asked = {"warm_from": held.structured["job_id"], "patch": patch, "keep_until": "2025-07-16T09:00"}
    morning = await call("resolve_vrp", asked)
    assert morning.structured["notes"] == ["Nothing of the plan counts as done: its planning_date is another."]
    problem = compiled((await finish(store, ["m", "a", "b"])).scenario.body)
    assert problem.frozen_until == 9 * 3600 * problem.scale
    assert "Planned from 09:00: no new visit begins earlier." in problem.assumptions
    wrong = await call("resolve_vrp", {**asked, "patch": {"planning_date": "tomorrow"}})
    assert [fault["path"] for fault in wrong.structured["errors"]] == ["/patch/planning_date"]


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
    note = "w gone: 2 tickets no longer name it (a, b)"
    asked = {"scenario_id": scenario_id, "patch": patch}
    assert (await call("validate_scenario", asked)).structured["warnings"] == [note]
    revised = (await call("revise_scenario", asked)).structured
    assert (revised["warnings"], revised["changes"]) == ([note], ["agents: 1 removed (w)", "tickets: 2 changed (a, b)"])
    answer = await call("resolve_vrp", {"warm_from": job_id, "patch": patch, "keep_agents": True})
    assert answer.structured["warnings"] == [note]
    assert (await finish(store, ["b", "c", "a"])).scenario.body["held"]["stay"] == {"b": "v", "c": "v"}


@pytest.mark.parametrize("how", ["resolve_vrp", "revise_scenario", "validate_scenario"])
async def test_a_ticket_that_has_begun_is_not_taken_out_of_the_day(call: Call, store: RedisStore, how: str) -> None:
    """SPEC T5, T7: its agent would be planned from where it is not; every tool that takes the patch refuses it."""
    quick = body([agent("v"), agent("w")], [ticket(name, "A", time_windows=[[1, 1]]) for name in "abc"])
    job_id = await solved(call, store, await created(call, quick), ["a", "b"], ["c"])
    asked = {"warm_from": job_id, "keep_until": "00:01"}
    if how != "resolve_vrp":
        asked = {"scenario_id": (await call("resolve_vrp", asked)).structured["scenario_id"]}
    patch = {"tickets": {"a": None, "c": None, "d": ticket("d", demand=99)}, "agents": {"w": None}}
    refused = (await call(how, {**asked, "patch": patch})).structured
    assert [fault["path"] for fault in refused["errors"]] == ["/patch/tickets/a", "/patch/tickets/d/demand"]
    assert refused["errors"][0]["problem"] == "v began it at 00:00."
    assert refused["errors"][0]["hint"] == "Leave it in: what has begun stays."
    whole = {"tickets": [*quick["tickets"][1:], ticket("d", "E")]}
    (fault,) = (await call(how, {**asked, "patch": whole})).structured["errors"]
    assert (fault["path"], fault["problem"]) == ("/patch/tickets", "The list lacks what has begun: a.")
    let_go = await call(how, {**asked, "patch": {"tickets": {"a": None}, "planning_date": "2025-07-16"}})
    assert not let_go.structured.get("errors")


async def test_a_list_that_lacks_what_the_day_lacked_before_is_not_blamed_for_it(call: Call) -> None:
    """SPEC T5, T7: `held` may name a stranger; a patch that gives all tickets has not taken that one out."""
    visits = [{"ticket": name, "start_s": 0, "departure_s": 0} for name in ("stranger", "a")]
    held = {"until_s": 60, "routes": [{"agent": "v", "start_s": 0, "visits": visits}]}
    scenario_id = await created(call, body([agent("v")], [ticket("a"), ticket("b", "B")], held=held))
    asked = {"scenario_id": scenario_id, "patch": {"tickets": [ticket("a"), ticket("c", "C")]}}
    assert not (await call("revise_scenario", asked)).is_error
    (fault,) = (await call("revise_scenario", {**asked, "patch": {"tickets": [ticket("c", "C")]}})).structured["errors"]
    assert fault["problem"] == "The list lacks what has begun: a."


async def test_a_ticket_removed_before_the_hour_was_given_is_asked_back(call: Call, store: RedisStore) -> None:
    """SPEC T5, T7: the revision knew of no hour; by the plan that is named the ticket has begun at this one."""
    quick = body([agent("v"), agent("w")], [ticket(name, "A", time_windows=[[1, 1]]) for name in "abc"])
    scenario_id = await created(call, quick)
    job_id = await solved(call, store, scenario_id, ["a", "b"], ["c"])
    revised = await call("revise_scenario", {"scenario_id": scenario_id, "patch": {"tickets": {"a": None}}})
    asked = {"warm_from": job_id, "scenario_id": revised.structured["scenario_id"]}
    (fault,) = (await call("resolve_vrp", {**asked, "keep_until": "00:01"})).structured["errors"]
    assert fault["path"] == "/scenario_id"
    assert fault["problem"] == "This day lacks what the plan has begun by keep_until: a."
    back = {"tickets": {"a": {"location": "A", "demand": 1}}}
    again = await call("resolve_vrp", {**asked, "keep_until": "00:01", "patch": back})
    assert again.structured["kept_tickets"] == 3
    assert not (await call("resolve_vrp", asked)).is_error
