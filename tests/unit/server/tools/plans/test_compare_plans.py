"""`compare_plans`: what changes from one plan to another (SPEC T5)."""

import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from tests.shared.scenarios.scenario_builders import agent, body, ticket
from tests.shared.scenarios.stored_plans import Call, created, finish, revised, solved

pytestmark = pytest.mark.anyio


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
    assert "No longer served: a" in result.text
    assert (await call("compare_plans", {"plan_a": a, "plan_b": "scn-0-x"})).structured["type"] == "NotFound"


@pytest.mark.parametrize(("options", "unit"), [({"currency": "EUR"}, "EUR"), ({}, "metres")])
async def test_whoever_shows_a_cost_says_what_it_is_in(
    call: Call, store: RedisStore, options: dict[str, str], unit: str
) -> None:
    """SPEC T6: a cost without its unit is read as one of another."""
    scenario_id = await created(call, body([agent("v"), agent("w")], options=options))
    a = await solved(call, store, scenario_id, ["a", "b"])
    b = await solved(call, store, scenario_id, ["b"])
    for tool, asked in (
        ("compare_plans", {"plan_a": a, "plan_b": b}),
        ("weigh_plans", {"plans": [a, b]}),
        ("explain_unassigned", {"plan": b}),
        ("suggest_fixes", {"plan": b}),
        ("read_progress", {"job_id": a}),
        ("what_if", {"plan": a, "cases": {"without a": {"cancelled_ticket": ["a"]}}, "wait_s": 0}),
        ("solve_alternatives", {"plan": a, "styles": ["quickest"]}),
    ):
        answer = await call(tool, asked)
        assert (answer.structured.get("cost_in"), f"cost_in {unit}" in answer.text) == (unit, True), tool


async def test_a_ticket_that_was_cancelled_is_not_called_unserved(call: Call, store: RedisStore) -> None:
    """SPEC T5: the day of plan b does not know it; another that it knows and leaves out is told apart."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    new = await revised(call, store, base, {"tickets": {"a": None}}, ["b"])
    result = await call("compare_plans", {"plan_a": base, "plan_b": new})
    assert (result.structured["gone"], result.structured["newly_unserved"]) == (["a"], ["c"])
    assert {"No longer served: c.", "no longer on the day: a"} <= {*result.text.splitlines()}


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


async def test_costs_that_no_scenario_determines_are_left_out(call: Call, store: RedisStore) -> None:
    """SPEC T5: one agent is gone, one ticket is new: neither day knows both plans; all else is told."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    patch = {"tickets": {"d": {"location": "E", "demand": 1}}, "agents": {"w": None}}
    new = await revised(call, store, base, patch, ["a", "b", "c", "d"])
    result = await call("compare_plans", {"plan_a": base, "plan_b": new})
    found = result.structured
    assert (found["cost_delta"], found["priced_on"], found["moves"]) == (None, None, [["c", "w", "v"]])
    assert all("cost" not in entry for entry in found["agents"])
    assert "costs do not compare" in result.text
    assert "cost_delta - ·" in result.text
    answer = await call("weigh_plans", {"plans": [base, new]})
    assert "Next: the same with a later plan first" in answer.text
    weighed = answer.structured
    rows = [dict(zip(weighed["columns"], row, strict=True)) for row in weighed["rows"]]
    assert [row["cost"] for row in rows] == [10, None]
    assert [row["served"] for row in rows] == [3, 4]
    assert weighed["invalid"] == [rows[1]["plan_id"]]


async def test_a_vehicle_that_broke_down_on_its_way_home_saves_neither_cost_nor_distance(
    call: Call, store: RedisStore
) -> None:
    """SPEC T5: all figures are of the same day, on which its stops are the same as before."""
    places = [{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": 600, "y": 0}]
    day = body([agent("v", shift_start="08:00", shift_end="17:00")], [ticket("a")], locations=places)
    base = await solved(call, store, await created(call, day), ["a"])
    answer = await call("resolve_vrp", {"warm_from": base, "breakdown": {"agent": "v", "at": "08:15"}})
    await finish(store, ["a"])
    job_id = answer.structured["job_id"]
    found = (await call("compare_plans", {"plan_a": base, "plan_b": job_id})).structured
    assert (found["cost_delta"], found["distance_delta_m"], found["agents"]) == (0, 0, [])
    job = (await call("query_vrp_status", {"job_id": job_id})).structured
    words = ["In all +0 m, cost +0.", "On the day that both are priced on, the plan after costs 1200, not 600."]
    assert found["in_words"] == job["changes"] == words


async def test_a_price_that_no_agent_has_is_listed_by_itself(call: Call, store: RedisStore) -> None:
    """SPEC T6: serving b costs its way and saves its penalty; the figures of the agents did not add up."""
    scenario_id = await created(call, body([agent("v")], [ticket("a"), ticket("b", "B", penalty=40)]))
    a, b = await solved(call, store, scenario_id, ["a"]), await solved(call, store, scenario_id, ["a", "b"])
    found = (await call("compare_plans", {"plan_a": a, "plan_b": b})).structured
    assert (found["cost_delta"], found["agents"][0]["cost"]) == (-38, 2)
    assert "Of the cost -40 is of no route: prices of tickets left out, or balance." in found["in_words"]


async def test_a_summary_of_changes_that_is_cut_says_where_the_rest_is(call: Call, store: RedisStore) -> None:
    """SPEC T6: what one agent gains was missing where others lose it."""
    names = [f"order-{n}" for n in range(9)]
    vans = [agent(f"van-{n}") for n in range(9)]
    base = await solved(call, store, await created(call, body(vans, [ticket(name) for name in names])), names)
    new = await revised(call, store, base, {"agents": {"van-0": {"max_tickets": 5}}}, *([name] for name in names))
    changes = (await call("query_vrp_status", {"job_id": new})).structured["changes"]
    assert changes[-1] == "compare_plans has the rest."
    assert len(changes) < 9
    compared = (await call("compare_plans", {"plan_a": base, "plan_b": new})).structured["in_words"]
    assert changes[:-1] == compared[: len(changes) - 1]


async def test_a_comparison_whose_names_are_cut_says_where_they_all_are(call: Call, store: RedisStore) -> None:
    """SPEC T6: "1 more" was the end of the text, which is all that some hosts show."""
    names = [f"t{n}" for n in range(6)]
    scenario_id = await created(call, body([agent("v"), agent("w")], [ticket(name) for name in names]))
    a, b = await solved(call, store, scenario_id, names), await solved(call, store, scenario_id, [], names)
    lines = (await call("compare_plans", {"plan_a": a, "plan_b": b})).text.splitlines()
    assert any("t4, 1 more" in line for line in lines)
    assert lines[-1] == "Next: read_plan of both, view=visits agent_ids=…, has every ticket."
    less = await solved(call, store, scenario_id, names[1:], names[:1])
    assert "Next:" not in (await call("compare_plans", {"plan_a": a, "plan_b": less})).text


async def test_where_travel_is_not_known_a_comparison_counts_legs(call: Call, store: RedisStore) -> None:
    """SPEC T6: "+1 m" was said of a leg more, of which nobody knows the length."""
    agents = [{"id": name, "capacity": 9} for name in "vw"]
    tickets = [{"id": name, "location": name, "demand": 1} for name in "abc"]
    scenario_id = await created(
        call, {"name": "day", "planning_date": "2025-07-15", "agents": agents, "tickets": tickets}
    )
    a, b = (
        await solved(call, store, scenario_id, ["a", "b"], ["c"]),
        await solved(call, store, scenario_id, ["a", "b", "c"]),
    )
    words = (await call("compare_plans", {"plan_a": a, "plan_b": b})).structured["in_words"]
    assert words[0] == "In all +1 leg, cost +1."
    assert not any(" m," in sentence for sentence in words)
