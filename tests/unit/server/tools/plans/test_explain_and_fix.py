"""`explain_unassigned` and `suggest_fixes`: why tickets are left out, and what would let them in (SPEC T5)."""

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.tools.arguments.plan_context import load_plan_context
from planner_mcp.server.tools.plans import suggest_fixes
from planner_mcp.server.tools.plans.explain_unassigned import explained, explanation_lines
from planner_mcp.server.tools.plans.suggest_fixes import fix_entries, proposed
from planner_mcp.server.tools.tool_definition import ToolContext
from planner_mcp.text import compact
from tests.shared.scenarios.scenario_builders import agent, body, ticket
from tests.shared.scenarios.stored_plans import DAY, Call, created, finish, solved

pytestmark = pytest.mark.anyio


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
    assert f"patch={compact(patch)}" in answer.text, "for hosts that show the text alone"
    again = await call("resolve_vrp", {"warm_from": job_id, "patch": patch})
    assert not again.is_error
    await finish(store, ["a", "b", "c"])
    whole = await call("suggest_fixes", {"plan": again.structured["job_id"]})
    assert (whole.structured["fixes"], whole.text.partition(": ")[2]) == ([], "nothing is unassigned")


async def test_no_agent_is_proposed_beyond_those_the_deployment_lets_in(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: a fix is one that resolve_vrp takes; with as many agents as a day may have, other fixes are told."""
    day = body([agent("v", capacity=2), agent("w", shift_end=3)], DAY["tickets"])
    job_id = await solved(call, store, await created(call, day), ["a", "b"])
    for max_agents, kinds in ((3, {"SHIFT_END", "CAPACITY", "ADD_AGENT"}), (2, {"SHIFT_END", "CAPACITY"})):
        no_spare_agents = replace(ctx, settings=ctx.settings.model_copy(update={"max_agents": max_agents}))
        fixes = (await call("suggest_fixes", {"plan": job_id}, no_spare_agents)).structured["fixes"]
        assert {kind for fix in fixes for kind in fix["kinds"]} == kinds
        for fix in fixes:
            again = await call("resolve_vrp", {"warm_from": job_id, "patch": fix["patch"]}, no_spare_agents)
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


async def test_what_serving_a_ticket_would_cost_is_a_price(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC R3: the detour is known, so the cost of one more stop tells the price of a kilometre."""
    job_id = await solved(call, store, await created(call, body([agent("v")], DAY["tickets"])), ["a", "b"])
    reader = replace(ctx, principal=replace(ctx.principal, scopes=frozenset({"planner:read"})))
    nearest = [
        (await call("explain_unassigned", {"plan": job_id}, who)).structured["tickets"][0]["nearest"][0]
        for who in (ctx, reader)
    ]
    assert (nearest[0]["in_the_way"], "fits_at_cost" in nearest[0]) == ([], True)
    assert (nearest[1]["in_the_way"], "fits_at_cost" in nearest[1]) == ([], False)


async def test_a_change_beside_a_hidden_price_is_reported(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC R3, T5: that a price must rise is said, what it is and what the change is worth are not.

    Of a day that its principal wrote without the scope: in another's, prices are left out of all that is computed.
    """
    day = body([agent("v", capacity=2)], [*DAY["tickets"][:2], {**DAY["tickets"][2], "penalty": 1}])
    reader = replace(ctx, principal=replace(ctx.principal, scopes=frozenset({"planner:read", "planner:write"})))
    scenario_id = (await call("create_scenario", day, reader)).structured["scenario_id"]
    job_id = await solved(call, store, scenario_id, ["a", "b"])
    first = (await call("suggest_fixes", {"plan": job_id}, reader)).structured["fixes"][0]
    assert first["kinds"] == ["CAPACITY", "PENALTY"]
    assert first["change"] == "raise the capacity (load) of v to 3; raise its penalty"
    assert "patch" not in first


async def test_the_text_says_what_a_page_leaves_out(call: Call, store: RedisStore) -> None:
    """SPEC T6: the next page, and the tickets of this one that have no room."""
    long = [ticket(f"{'x' * 90}{n}") for n in range(18)]
    scenario_id = (await call("create_scenario", body([agent("v", capacity=1)], [ticket("a"), *long]))).structured
    job_id = await solved(call, store, scenario_id["scenario_id"], ["a"])
    answer = await call("explain_unassigned", {"plan": job_id, "size": 16})
    left = answer.structured["not_shown"]
    assert answer.structured["next_page"] == 2
    assert ", more with page=2" in answer.text.splitlines()[0]
    assert f"{left} more of this page have no room here" in answer.text


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
    assert "e: nothing to change: a of its group is served" in answer.text
    assert "1 more unassigned; name them in ticket_ids" in answer.text
    asked = (await call("suggest_fixes", {"plan": job_id, "ticket_ids": ["e"]})).structured
    assert (asked["fixes"], asked["without_fix"], asked["nothing_to_mend"]) == ([], [], {"e": "a"})
    why = await call("explain_unassigned", {"plan": job_id, "ticket_ids": ["e", "z"]})
    assert "e GROUP_OTHER_CHOSEN: nothing to change: a of its group is served" in why.text
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
    answered = {fix["ticket_id"] for fix in answer["fixes"]}
    assert answered | set(answer["not_examined"]) | set(answer["without_fix"]) == set(names[2:])
    assert answered == set(names[2:])


def suggested(ticket_id: str, change: str, patch: dict[str, Any] | None = None) -> suggest_fixes.SuggestedFix:
    """Return a fix as it stands in a result."""
    return suggest_fixes.SuggestedFix(ticket_id=ticket_id, kinds=[], agent_id="", change=change, patch=patch)


def test_what_does_not_fit_is_left_out_from_the_end() -> None:
    """SPEC T5, T9: first fixes, then their patches, then second fixes; a patch too long makes room for a short one."""
    long, short = {"agents": "x" * 2500}, {"tickets": {}}
    fixes = {
        "a": [suggested("a", "1", long), suggested("a", "2", long)],
        "b": [suggested("b", "1", long), suggested("b", "2", short)],
    }
    answered = [(fix.ticket_id, fix.change, fix.patch) for fix in fix_entries(fixes)]
    assert answered == [("a", "1", long), ("a", "2", None), ("b", "1", None), ("b", "2", short)]
    many_fixes = {name: [suggested(name, "x" * 2000)] for name in "ab"}
    assert [fix.ticket_id for fix in fix_entries(many_fixes)] == ["a"]


async def test_the_time_of_an_answer_is_divided_and_its_end_is_reported(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5, T6: each ticket has its share; text and structure say what was not looked at."""
    orders = [*DAY["tickets"], ticket("d"), ticket("e")]
    job_id = await solved(call, store, await created(call, body([agent(n, capacity=1) for n in "vwx"], orders)), ["a"])
    found = await load_plan_context(ctx, job_id, "/plan")
    entries = found.unassigned(["c", "d", "e"])
    enough, scarce = count(0, 0.001), count(0, 0.25)
    whole = explained(found, entries, lambda: next(enough))
    assert [(entry.agents, bool(entry.is_cut_short)) for entry in whole] == [(3, False)] * 3
    cut = explained(found, entries, lambda: next(scarce))
    assert [(entry.agents, entry.agents_in_all) for entry in cut] == [(2, 3), (1, 3), (0, 3)]
    heads = [explanation_lines(entry, is_alone=False)[0].partition("; ")[2] for entry in (whole[0], *cut)]
    assert heads == [
        "of 3 agents: CAPACITY 1",
        "of 2 of 3 agents looked at (no time for all places: ask for it alone): CAPACITY 1",
        "of 1 of 3 agents looked at (no time for all places: ask for it alone): CAPACITY 1",
        "of 0 of 3 agents looked at (no time for all places: ask for it alone)",
    ]
    assert "looked at (no time for all places): CAPACITY 1" in explanation_lines(cut[1], is_alone=True)[0]


async def test_where_the_time_runs_out_nobody_says_that_there_is_no_fix(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: each ticket has its share; one that was not looked at to the end is named, by whether it has a fix."""
    orders = [*DAY["tickets"], ticket("d"), ticket("e")]
    job_id = await solved(call, store, await created(call, body([agent(n, capacity=1) for n in "vw"], orders)), ["a"])
    found = await load_plan_context(ctx, job_id, "/plan")
    names, enough, scarce = ["c", "d", "e"], count(0, 0.001), count(0, 0.5)
    fixes, hurried = proposed(found, names, 9, lambda: next(enough))
    assert (list(fixes), hurried) == (names, [])
    fixes, hurried = proposed(found, names, 9, lambda: next(scarce))
    assert (list(fixes), hurried) == (["c"], ["c"])
    (note,) = suggest_fixes._hurried(hurried, names)
    assert note == "The time ran out at c: a smaller change may exist; ask for each alone."
    nobody = suggest_fixes.SuggestFixesResult(
        plan_id="", fixes=[], without_fix=[], not_examined=["d"], nothing_to_mend={}, notes=[], not_asked=0
    )
    for is_alone, why in ((True, "no time left to look at all places"), (False, "ask for it alone")):
        assert why in suggest_fixes._lines(nobody, is_alone=is_alone, in_no_plan=())[1]


async def test_only_unassigned_tickets_can_be_asked_about(call: Call, store: RedisStore) -> None:
    """SPEC T7."""
    job_id = await solved(call, store, await created(call), ["a", "b"])
    for name, field in (("explain_unassigned", "ticket_ids"), ("suggest_fixes", "ticket_ids")):
        result = await call(name, {"plan": job_id, field: ["c", "a", "zz", "C"]})
        answered = [(fault["path"], fault["problem"], fault["hint"]) for fault in result.structured["errors"]]
        assert answered == [
            ("/ticket_ids/1", "The plan serves this ticket.", "Leave ticket_ids out for all of them."),
            ("/ticket_ids/2", "There is no ticket of this id here.", "Leave ticket_ids out for all of them."),
            ("/ticket_ids/3", "There is no ticket of this id here.", "Did you mean c?"),
        ]


async def test_a_ticket_left_out_by_its_price_is_reported_so(call: Call, store: RedisStore) -> None:
    """SPEC T5: nothing is in its way; its penalty is less than the way there."""
    day = body([agent("v")], [ticket("a"), ticket("e", "E", penalty=1)])
    job_id = await solved(call, store, await created(call, day), ["a"])
    text = (await call("explain_unassigned", {"plan": job_id})).text
    assert "It has a price, and the search found no plan in which serving it is worth more." in text


async def test_an_agent_that_may_not_serve_a_ticket_has_its_missing_skill_listed(call: Call, store: RedisStore) -> None:
    """SPEC T5: the skill that an agent lacks is the evidence; others are kept away by the ticket."""
    agents = [agent("v", skills=["cold"]), agent("w"), agent("x", skills=["cold", "lift"])]
    day = body(agents, [ticket("a"), ticket("b", "B", skills=["cold", "lift"], not_agents=["w", "x"])])
    job_id = await solved(call, store, await created(call, day), ["a"])
    answer = await call("explain_unassigned", {"plan": job_id})
    (entry,) = answer.structured["tickets"]
    assert {near["agent_id"]: near["in_the_way"] for near in entry["nearest"]} == {
        "v": ["SKILL_OR_AGENT lacks lift of b"],
        "w": ["SKILL_OR_AGENT lacks cold, lift of b, and may not serve it"],
        "x": ["SKILL_OR_AGENT may not serve b"],
    }
    assert "  w: SKILL_OR_AGENT lacks cold, lift of b, and may not serve it" in answer.text.splitlines()


async def test_nothing_fits_into_a_group_whose_partner_gave_way(call: Call, store: RedisStore) -> None:
    """SPEC T5: no agent is shown as able, and no fix is proposed that is none."""
    groups = [{"kind": "one_of", "tickets": ["t0", "t2"]}, {"kind": "all", "tickets": ["t2", "t3"]}]
    tickets = [ticket("t0"), ticket("t2", "B"), ticket("t3", "C")]
    day = body([agent("v", locked_tickets=["t0"])], tickets, groups=groups)
    job_id = await solved(call, store, await created(call, day), ["t0"])
    await check_nothing_fits(call, job_id, "t3")


async def test_a_partner_that_gave_way_by_choice_may_be_served_by_another_plan(call: Call, store: RedisStore) -> None:
    """SPEC T5: of t0 and t2 this plan serves t0, another may serve t2, and t3 with it; nothing says that it cannot."""
    groups = [{"kind": "one_of", "tickets": ["t0", "t2"]}, {"kind": "all", "tickets": ["t2", "t3"]}]
    day = body([agent("v")], [ticket("t0"), ticket("t2", "B"), ticket("t3", "C")], groups=groups)
    job_id = await solved(call, store, await created(call, day), ["t0"])
    fixes = await call("suggest_fixes", {"plan": job_id, "ticket_ids": ["t3"]})
    gave_way = "gave way to an alternative, which is served; a new solve may choose otherwise."
    assert fixes.structured["notes"] == [f"t3: A ticket that is served only together with it {gave_way}"]
    assert "t3: no small change found; resolve_vrp may find one by moving others" in fixes.text.splitlines()
    assert "cannot" not in fixes.text + (await call("explain_unassigned", {"plan": job_id})).text


async def check_nothing_fits(call: Call, job_id: str, name: str) -> None:
    """Check that a ticket is said to be kept out by groups, and sent neither to an agent nor to another search."""
    why = await call("explain_unassigned", {"plan": job_id, "ticket_ids": [name]})
    (entry,) = why.structured["tickets"]
    assert (entry["code"], entry["nearest"]) == ("GROUP_INCOMPLETE", [])
    assert "no time" not in why.text
    assert "a one_of group leaves another of it out" in why.text
    fixes = await call("suggest_fixes", {"plan": job_id, "ticket_ids": [name]})
    assert (fixes.structured["fixes"], fixes.structured["without_fix"]) == ([], [name])
    assert "resolve_vrp" not in fixes.text


@pytest.mark.parametrize("capacity", [9, 1])
async def test_groups_that_contradict_each_other_are_the_reason(call: Call, store: RedisStore, capacity: int) -> None:
    """SPEC T5: a is served only with b, and b only without a; neither room nor its lack is the reason."""
    groups = [{"kind": kind, "tickets": ["a", "b"]} for kind in ("all", "one_of")]
    day = body([agent("v", capacity=capacity)], [ticket("a"), ticket("b", "B"), ticket("c", "C")], groups=groups)
    job_id = await solved(call, store, await created(call, day), ["c"])
    await check_nothing_fits(call, job_id, "a")


async def test_a_ticket_without_a_position_is_not_sent_to_another_search(call: Call, store: RedisStore) -> None:
    """SPEC T5: no agent is nearer and no search helps, so both answers say that its place is to be named."""
    places = [{"id": "D", "lat": 52.5, "lon": 13.4}, {"id": "B", "lat": 52.6, "lon": 13.4}]
    lost = {"id": "lost", "address": "Xyzgasse 99, Nirgendwo", "demand": 1, "time_windows": [["08:00", "08:01"]]}
    day = body([agent("v"), agent("w")], [ticket("b", "B"), lost], locations=places)
    job_id = await solved(call, store, await created(call, day), ["b"])
    why = await call("explain_unassigned", {"plan": job_id})
    (entry,) = why.structured["tickets"]
    assert (entry["code"], entry["in_the_way"], entry["nearest"]) == ("NO_POSITION", {"NO_POSITION": 2}, [])
    assert "Ask the user for lat and lon" in why.text
    assert "suggest_fixes" not in why.text
    answer = await call("suggest_fixes", {"plan": job_id})
    assert answer.structured["without_fix"] == ["lost"]
    assert "Ask the user for lat and lon" in answer.structured["notes"][0]
    assert answer.structured["notes"][0] in answer.text
    assert "resolve_vrp" not in answer.text


async def test_no_search_is_advised_for_what_no_agent_could_serve(call: Call, store: RedisStore) -> None:
    """SPEC T5: moving other tickets does not help one that breaks too many limits, however empty the route."""
    far = ticket("far", "F", demand=99, skills=["crane"], time_windows=[[5, 6]])
    places = [{"id": "D", "x": 0, "y": 0}, {"id": "B", "x": 1, "y": 0}, {"id": "F", "x": 9000, "y": 0}]
    day = body([agent("v", capacity=2, shift_end=20)], [ticket("b", "B"), far], locations=places)
    job_id = await solved(call, store, await created(call, day), ["b"])
    answer = await call("suggest_fixes", {"plan": job_id})
    assert answer.structured["fixes"] == []
    assert answer.structured["notes"][0].startswith("far: No agent can serve it, even with nothing else to do")
    assert "moving others" not in answer.text
