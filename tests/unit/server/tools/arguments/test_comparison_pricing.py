"""By whose prices plans compare: a day both come from, never an alternative's (SPEC T5)."""

import json
from typing import Any

import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.tools.tool_definition import ToolContext
from tests.shared.scenarios.scenario_builders import agent, body, plane, ticket
from tests.shared.scenarios.stored_plans import Call, created, finish, revised, solved

pytestmark = pytest.mark.anyio
NEW = {"tickets": {"d": {"location": "E", "demand": 1}}}
DEAR = {"agents": {"v": {"fixed_cost": 1000}, "w": {"fixed_cost": 1000}}}


async def day_of(ctx: ToolContext, job_id: str) -> str:
    """Return the scenario a job solved."""
    return (await ctx.job_service.job(ctx.principal, job_id)).request.scenario_id


async def styled(call: Call, store: RedisStore, job_id: str, *routes: list[str]) -> str:
    """Solve the alternative with the fewest agents, with a worker that finds just these routes; return the job id."""
    answer = await call("solve_alternatives", {"plan": job_id, "styles": ["fewest_agents"]})
    await finish(store, *routes)
    return str(answer.structured["alternatives"][0]["job_id"])


async def compared(call: Call, a: str, b: str) -> dict[str, Any]:
    """Return what `compare_plans` answers."""
    return (await call("compare_plans", {"plan_a": a, "plan_b": b})).structured


async def test_an_alternative_is_compared_by_the_prices_of_the_day_it_comes_from(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: its own are made up; the day between knows the inserted ticket, in whichever order they are named."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    new = await revised(call, store, base, NEW, ["a", "b"], ["c", "d"])
    other = await styled(call, store, new, ["a", "b", "c", "d"])
    there, back = await compared(call, base, other), await compared(call, other, base)
    assert (there["cost_delta"], back["cost_delta"]) == (-2, 2)
    assert there["priced_on"] == back["priced_on"] == await day_of(ctx, new)
    assert (there["priced_on_is"], back["priced_on_is"]) == ("a day plan_b comes from", "a day plan_a comes from")
    text = (await call("compare_plans", {"plan_a": base, "plan_b": other})).text
    assert f"costs by the prices of {there['priced_on']}, a day plan_b comes from" in text


async def test_plans_of_one_alternative_are_compared_by_the_prices_of_the_day_it_comes_from(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: that they share a day does not make its prices true."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    other = await styled(call, store, base, ["a", "b", "c"])
    again = await revised(call, store, other, {}, ["a"], ["b", "c"])
    found = await compared(call, other, again)
    assert (found["cost_delta"], found["priced_on"]) == (2, await day_of(ctx, base))
    assert {entry["agent_id"]: entry["cost"] for entry in found["agents"]} == {"v": -4, "w": 6}


async def test_what_is_left_out_costs_as_much_by_the_prices_of_an_alternative_as_by_its_days(
    call: Call, store: RedisStore
) -> None:
    """SPEC T5, S1: a style wants what the plan serves and calls the rest worthless; a table led by it does not."""
    tickets = [ticket("a", penalty=30), ticket("b", "B"), ticket("c", "C", penalty=3), ticket("e", "E"), ticket("f")]
    groups = [{"kind": "one_of", "tickets": ["e", "f"], "penalty": 20}]
    day = body([agent("v"), agent("w")], tickets, groups=groups)
    base = await solved(call, store, await created(call, day), ["a", "b"], ["e"])
    other = await styled(call, store, base, ["b"])
    again = await revised(call, store, other, {}, ["a", "b", "c", "f"])
    costs = {base: 4 + 8 + 3, other: 4 + 30 + 3 + 20, again: 6}
    for plans in ([base, other, again], [other, again, base], [again, base, other]):
        table = (await call("weigh_plans", {"plans": plans})).structured
        assert [row[table["columns"].index("cost")] for row in table["rows"]] == [costs[each] for each in plans]
    assert (await compared(call, other, again))["cost_delta"] == costs[again] - costs[other]


async def test_evidence_of_an_alternative_has_the_prices_of_its_day(call: Call, store: RedisStore) -> None:
    """SPEC T5: what serving a ticket would cost is no price of a style; a fix, which is proved by those, says so."""
    day = body([agent("v"), agent("w")], [ticket("a"), ticket("b", "B"), ticket("c", "C", penalty=1)])
    base = await solved(call, store, await created(call, day), ["a"], ["b"])
    other = await styled(call, store, base, ["a", "b"])
    for plan in (base, other):
        answered = (await call("explain_unassigned", {"plan": plan})).structured["tickets"]
        assert [entry["nearest"][0]["fits_at_cost"] for entry in answered] == [2]
        (note,) = (await call("suggest_fixes", {"plan": plan})).structured["notes"] or [""]
        assert ("made up for its style" in note) is (plan == other)


async def searched_again(call: Call, store: RedisStore, job_id: str) -> str:
    """Solve the alternative that is another search, with a worker that finds [a], [b]; return the job id."""
    answer = await call("solve_alternatives", {"plan": job_id, "styles": ["other_search"]})
    await finish(store, ["a"], ["b"])
    return str(answer.structured["alternatives"][0]["job_id"])


async def test_another_search_is_by_the_days_own_prices(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5: it has no style, so no fix is told as priced by one; also of a tied day, and of an alternative."""
    tickets = [ticket("a"), ticket("b", "B"), ticket("c", "C", penalty=1)]
    groups = [{"kind": "all", "tickets": ["a", "b"]}]
    day = body([agent("v"), agent("w", fixed_cost=None)], tickets, groups=groups)
    base = await solved(call, store, await created(call, day), ["a"], ["b"])
    asked = {"warm_from": base, "keep_agents": True, "switch_cost": 50}
    tied = str((await call("resolve_vrp", asked)).structured["job_id"])
    await finish(store, ["a"], ["b"])
    of_tied = await searched_again(call, store, tied)
    few = await styled(call, store, base, ["a", "b"])
    of_style = await searched_again(call, store, few)
    for plan, is_noted in ((of_tied, False), (of_style, False), (few, True)):
        answered = (await call("suggest_fixes", {"plan": plan})).structured
        assert (answered["fixes"] != [], answered["notes"] != []) == (True, is_noted)
    await store.redis.delete(f"{{p0}}:scn:{await day_of(ctx, base)}")
    assert (await call("suggest_fixes", {"plan": few})).structured["notes"], "its true prices are not known any more"


async def test_what_is_planned_on_from_an_alternative_is_priced_without_its_style(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: a revision of a style has its prices too; a ticket that only it knows is priced all the same."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    other = await styled(call, store, base, ["a", "b", "c"])
    onward = await revised(call, store, other, NEW, ["a", "b"], ["c", "d"])
    found = await compared(call, other, onward)
    assert (found["cost_delta"], found["newly_served"]) == (6, ["d"])
    assert (found["priced_on"], found["priced_on_is"]) == (await day_of(ctx, base), "the day both come from")
    second = await styled(call, store, onward, ["a", "b", "c", "d"])
    found = await compared(call, base, second)
    assert (found["cost_delta"], found["priced_on"]) == (-2, await day_of(ctx, base))


async def test_prices_of_an_alternative_whose_scenario_is_gone_are_left_out(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: made-up prices are no better where the true ones have expired."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    other = await styled(call, store, base, ["a", "b", "c"])
    again = await revised(call, store, other, {}, ["a"], ["b", "c"])
    await store.redis.delete(f"{{p0}}:scn:{await day_of(ctx, base)}")
    found = await compared(call, other, again)
    assert (found["cost_delta"], found["priced_on"], found["moved"]) == (None, None, 2)


async def test_a_day_further_back_prices_all_that_came_of_it(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5: through the whole chain of parents, in whichever order the plans are named."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    dear = await revised(call, store, base, DEAR, ["a", "b"], ["c"])
    third = await revised(call, store, dear, {"name": "later"}, ["a", "b", "c"])
    cousin = await revised(call, store, base, {"name": "aside"}, ["a"], ["b", "c"])
    first = await day_of(ctx, base)
    for plan_a, plan_b, delta in ((base, third, -4), (third, base, 4), (third, cousin, 2), (cousin, third, -2)):
        found = await compared(call, plan_a, plan_b)
        assert (found["cost_delta"], found["priced_on"]) == (delta, first)
    assert (await compared(call, third, cousin))["priced_on_is"] == "the day both come from"
    assert (await compared(call, base, third))["priced_on_is"] == "the day of plan_a"
    assert (await compared(call, dear, third))["priced_on"] == await day_of(ctx, dear)


async def test_the_price_of_a_call_for_changes_of_agent_is_in_no_comparison(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: between plans made after it, or twice on its day, as little as with the plan before."""
    first = await solved(call, store, await created(call), ["a", "b"], ["c"])
    priced = []
    for seed, routes in enumerate(([["a", "b", "c"]], [["a"], ["b", "c"]])):
        answer = await call("resolve_vrp", {"warm_from": first, "switch_cost": 100, "seed": seed})
        await finish(store, *routes)
        priced.append(str(answer.structured["job_id"]))
    second, twin = priced
    third = await revised(call, store, second, {"name": "later"}, ["a", "b"], ["c"])
    for plan_a, plan_b, delta in ((first, second, -4), (second, third, 4), (second, twin, 2), (twin, third, 2)):
        assert (await compared(call, plan_a, plan_b))["cost_delta"] == delta
    assert (await compared(call, second, third))["priced_on"] == await day_of(ctx, second)
    table = (await call("weigh_plans", {"plans": [second, twin, third]})).structured
    assert [row[table["columns"].index("cost")] for row in table["rows"]] == [6, 8, 10]
    assert table["own_costs"] == {}
    gone = await revised(call, store, third, {"agents": {"w": None}}, ["a", "b", "c"])
    table = (await call("weigh_plans", {"plans": [gone, second, twin]})).structured
    assert [row[table["columns"].index("cost")] for row in table["rows"]] == [6, 6, None]
    assert table["own_costs"] == {twin.replace("job", "plan", 1): 8}


async def test_a_plan_made_at_noon_is_not_timed_as_if_it_had_been_made_in_the_morning(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: v breaks down on its way at 10:40; w leaves then, is 70 min late, and every table says so."""
    places = plane({"D": (0, 0), "A": (1000, 0), "F": (72_000, 0)})
    shift = {"shift_start": "08:00", "shift_end": "12:00", "overtime_s": 36_000, "overtime_cost_per_hour": 60}
    tickets = [
        ticket("a", time_windows=[["09:00", "09:10"]], service_time_s=600),
        ticket("s", "F", soft_close="11:30", lateness_cost_per_hour=600),
    ]
    fleet = [agent("v", cost_per_km=1, **shift), agent("w", cost_per_km=1, fixed_cost=5, **shift)]
    day = body(fleet, tickets, locations=places, travel={"plane_speed": 10})
    morning = await solved(call, store, await created(call, day), ["a", "s"], [])
    asked = {"warm_from": morning, "keep_until": "10:40", "patch": {"agents": {"v": {"shift_end": "10:40"}}}}
    noon = str((await call("resolve_vrp", asked)).structured["job_id"])
    await finish(store, ["a"], ["s"])
    before, after = [(await ctx.job_service.plan_of_job(ctx.principal, each)).cost for each in (morning, noon)]
    assert after == 2 + 5 + 144 + 10 * 70 + 160  # ways, the second vehicle, lateness, overtime until 14:40
    for plan_a, plan_b, delta in ((morning, noon, after - before), (noon, morning, before - after)):
        assert (await compared(call, plan_a, plan_b))["cost_delta"] == pytest.approx(delta, abs=0.01)
    more_overtime = 80  # by the shift of v that ends at 10:40
    for plans, costs, late in (
        ([morning, noon], [before, after], [0, 70]),
        ([noon, morning], [after, before + more_overtime], [70, 0]),
    ):
        table = (await call("weigh_plans", {"plans": plans})).structured
        rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        assert [row["cost"] for row in rows] == pytest.approx(costs, abs=0.01)
        assert [row["late_min"] for row in rows] == late
    own = {morning.replace("job", "plan", 1): round(before, 2)}
    assert table["own_costs"] == own, "what the morning cost in the morning"
    answered = (await call("weigh_plans", {"plans": [noon, morning]})).text.splitlines()
    assert {f"{name} costs {cost} on its own day" for name, cost in own.items()} <= {*answered}


async def test_a_table_led_by_an_alternative_has_the_prices_of_its_day(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: all rows are priced alike, and truly; which day's prices they are is said."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    other = await styled(call, store, base, ["a", "b", "c"])
    result = await call("weigh_plans", {"plans": [other, base]})
    rows = [dict(zip(result.structured["columns"], row, strict=True)) for row in result.structured["rows"]]
    assert [row["cost"] for row in rows] == [6, 10]
    assert result.structured["priced_on"] == await day_of(ctx, base)
    assert f"costs by the prices of {await day_of(ctx, base)}" in result.text
    assert "priced_on" not in (await call("weigh_plans", {"plans": [base, other]})).structured
    await store.redis.delete(f"{{p0}}:scn:{await day_of(ctx, base)}")
    again = await revised(call, store, other, {}, ["a"], ["b", "c"])
    alone = await call("weigh_plans", {"plans": [other, again]})
    assert (alone.structured["priced_on"], "made up" in alone.text) == (None, True)


async def test_an_alternative_is_read_with_its_cost_by_the_prices_of_the_day_it_comes_from(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: in every view of it, so that a model never sees two costs of one plan."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    other = await styled(call, store, base, ["a", "b", "c"])
    difference = (await compared(call, base, other))["cost_delta"]
    stated = (await call("read_plan", {"job_id": base})).structured["cost"] + difference
    assert (await call("read_plan", {"job_id": other})).structured["cost"] == stated
    routes = (await call("read_plan", {"job_id": other, "view": "routes", "fields": ["cost"]})).structured["rows"]
    assert routes == [[stated]]
    plan, result = f"plan://{other.replace('job', 'plan', 1)}", f"scenario://{await day_of(ctx, other)}/result"
    for uri in (plan, f"job://{other}", result):
        found = json.loads((await call("read_resource", {"uri": uri})).structured["text"])
        assert {part["cost"] for part in (found, found.get("result"), found.get("plan")) if part} == {stated}, uri


async def test_a_plan_that_starts_from_another_says_what_changes_when_it_stands(call: Call, store: RedisStore) -> None:
    """SPEC T10: the status answers with cost, who is served, who gains and who loses, the most important first."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    running = await call("resolve_vrp", {"warm_from": base, "patch": NEW})
    job_id = running.structured["job_id"]
    assert "changes" not in (await call("query_vrp_status", {"job_id": job_id})).structured
    await finish(store, ["a"], ["c", "b", "d"])
    ended = await call("query_vrp_status", {"job_id": job_id})
    changes = ended.structured["changes"]
    assert changes[0].startswith("In all ")
    assert "cost" in changes[0]
    assert changes[1] == "Served now: d."
    assert any(each.startswith("w gains b, d: ") for each in changes)
    assert any(each.startswith("v loses b: ") for each in changes)
    assert ended.text.endswith("\n".join(changes))
    assert "changes" not in (await call("query_vrp_status", {"job_id": base})).structured
    for tool in ("finish_vrp_job", "cancel_vrp_job"):  # it had ended; a job that these end says the same
        again = await call(tool, {"job_id": job_id})
        assert again.structured["changes"] == changes
        assert "\n".join(changes) in again.text
