"""What happens on a day in progress, in a dispatcher's words: `resolve_vrp` and the best plan after it (SPEC T5)."""

from typing import Any

import pytest

from planner_mcp.jobs.plan_summary import summary_of
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility.unassigned_reasons import with_reasons
from planner_mcp.routing.feasibility.verified_fixes import UnassignedAnalysis
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.shown_scenario import as_shown
from planner_mcp.routing.verification.plan_verification import verify
from planner_mcp.server.prompts.prompt_registry import PROMPTS
from planner_mcp.server.tools.arguments.day_changes import DayChanges
from planner_mcp.server.tools.tool_definition import ToolContext
from planner_mcp.translation import Language
from tests.shared.scenarios.plan_enumeration import cheapest
from tests.shared.scenarios.scenario_builders import agent, body, compiled, ticket
from tests.shared.scenarios.stored_plans import Call, created, finish, solved

pytestmark = pytest.mark.anyio
HOURS = {"shift_start": "08:00", "shift_end": "17:00"}
PLACES = [{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": 600, "y": 0}, {"id": "B", "x": 1800, "y": 0}]
"""Ten minutes from the depot, and half an hour."""
AT = 8 * 3600
MORNING = [["08:00", "08:30"]]
X = {"skills": ["x"]}


def day(*tickets: dict[str, Any], **agents: dict[str, Any]) -> dict[str, Any]:
    """Return a day of some agents, on duty from 08:00 to 17:00; a unit takes a second."""
    drivers = [agent(name, **{**HOURS, **fields}) for name, fields in agents.items()]
    return body(drivers, list(tickets), locations=PLACES)


async def best(ctx: ToolContext, scenario_id: str) -> Plan:
    """Return the cheapest plan there is of a stored scenario, proved."""
    stored = await ctx.job_service.scenario(ctx.principal, scenario_id)
    problem = compiled(stored.body)
    plan = build_plan(problem, cheapest(problem))
    assert verify(problem, plan) == []
    return plan


def served(plan: Plan) -> dict[str, list[str | None]]:
    """Return the tickets of each agent, in order."""
    return {route.agent_id: [v.ticket_id for v in route.visits if v.ticket_id] for route in plan.routes}


async def test_van_2_broke_down_and_the_van_that_is_home_takes_its_stops(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: no van stands idle at the depot with hours of its shift left."""
    late = [["10:00", "16:00"]]
    early = [ticket(name, time_windows=MORNING) for name in ("a", "b")]
    tickets = [*early, *(ticket(name, "B", time_windows=late) for name in ("c", "d"))]
    scenario_id = await created(call, day(*tickets, van1={"capacity": 2}, van2={}))
    base = await solved(call, store, scenario_id, ["a"], ["b", "c", "d"])
    breakdown = {"agent": "van2", "at": "09:00"}
    asked = {"warm_from": base, "breakdown": breakdown, "keep_until": 9 * 3600, "keep_agents": False}
    answer = await call("resolve_vrp", asked)  # the same hour twice, in two forms
    assert answer.structured["changes"][0] == "van2 broke down at 09:00, visits ahead: c, d."
    assert "van1 may set out again from D at 09:00, as van1 tour 2." in answer.structured["notes"]
    plan = await best(ctx, answer.structured["scenario_id"])
    assert served(plan) == {"van1": ["a"], "van2": ["b"], "van1 tour 2": ["c", "d"]} or served(plan) == {
        "van1": ["a"],
        "van2": ["b"],
        "van1 tour 2": ["d", "c"],
    }
    (tour,) = (route for route in plan.routes if route.agent_id == "van1 tour 2")
    assert tour.start_s >= 9 * 3600
    (broken,) = (route for route in plan.routes if route.agent_id == "van2")
    assert broken.end_location is None


async def test_a_second_tour_of_the_preferred_agent_costs_no_switch(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: what has begun prefers the agent that began it; what is ahead, the tour that can yet serve it."""
    wish = {"preferred_agent": "van1", "switch_cost": 5000}
    late = ticket("c", "B", time_windows=[["10:00", "16:00"]], **wish)
    tickets = [*(ticket(name, time_windows=MORNING, **wish) for name in ("a", "b")), late]
    scenario_id = await created(call, day(*tickets, van1={}, van2={}, van3={}))
    base = await solved(call, store, scenario_id, ["a"], ["b"], ["c"])
    asked = {"warm_from": base, "keep_until": 9 * 3600, "keep_agents": False}
    answer = await call("resolve_vrp", asked)
    stored = await ctx.job_service.scenario(ctx.principal, answer.structured["scenario_id"])
    preferred = {each["id"]: each["preferred_agent"] for each in stored.body["tickets"]}
    assert preferred == {"a": "van1", "b": "van1", "c": "van1 tour 2"}
    plan = await best(ctx, stored.id)
    figures = summary_of(plan.as_json(), as_shown(stored.body))
    assert (served(plan)["van1 tour 2"], figures.not_preferred_ids) == (["c"], ["b"])


@pytest.mark.parametrize("hour", [{}, {"keep_until": 9 * 3600 + 60}])
async def test_a_ticket_that_comes_after_the_first_tour_prefers_the_second(
    call: Call, ctx: ToolContext, store: RedisStore, hour: dict[str, Any]
) -> None:
    """SPEC T5: who names the agent means the vehicle, by whichever tool the ticket comes."""
    late = ticket("c", "B", time_windows=[["10:00", "16:00"]])
    scenario_id = await created(call, day(ticket("a", time_windows=MORNING), late, van1={}, van2={}))
    base = await solved(call, store, scenario_id, ["a"], ["c"])
    first = await call("resolve_vrp", {"warm_from": base, "keep_until": 9 * 3600})
    new = {
        "p": {"preferred_agent": "van1", "switch_cost": 5000},
        "o": {"agents": ["van1"]},
        "n": {"not_agents": ["van1"]},
    }
    patch = {"tickets": {name: ticket(name, **fields) for name, fields in new.items()}}
    revised = await call("revise_scenario", {"scenario_id": first.structured["scenario_id"], "patch": patch})
    asked = {"warm_from": base, "scenario_id": first.structured["scenario_id"], "patch": patch, **hour}
    for answer in (revised, await call("resolve_vrp", asked)):
        stored = await ctx.job_service.scenario(ctx.principal, answer.structured["scenario_id"])
        p, o, n = stored.body["tickets"][2:]
        both = ["van1", "van1 tour 2"]
        assert (p["preferred_agent"], o["agents"], n["not_agents"]) == ("van1 tour 2", both, both)
    plan = served(await best(ctx, stored.id))
    assert {"p", "o"} <= {*plan["van1 tour 2"]}


async def test_a_ticket_names_each_tour_of_its_agent_once(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5: also the third one, which follows two that it names."""
    hours = {"c": ["10:00", "11:00"], "d": ["13:00", "15:00"]}
    ahead = [ticket(name, time_windows=[each], agents=["van1"]) for name, each in hours.items()]
    scenario_id = await created(call, day(ticket("a", time_windows=MORNING), *ahead, van1={}, van2={}))
    base = await solved(call, store, scenario_id, ["a"])
    second = await call("resolve_vrp", {"warm_from": base, "keep_until": 9 * 3600})
    await finish(store, ["a"], [], ["c"])
    asked = {"warm_from": second.structured["job_id"], "keep_until": 12 * 3600}
    stored = await ctx.job_service.scenario(ctx.principal, (await call("resolve_vrp", asked)).structured["scenario_id"])
    assert stored.body["tickets"][2]["agents"] == ["van1", "van1 tour 2", "van1 tour 3"]
    assert served(await best(ctx, stored.id)) == {"van1": ["a"], "van1 tour 2": ["c"], "van1 tour 3": ["d"]}


async def test_a_van_that_broke_down_at_home_has_driven_home(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T10: what has been driven stays; it goes out no more."""
    late = ticket("c", time_windows=[["10:00", "16:00"]])
    base = await solved(call, store, await created(call, day(ticket("a"), late, van1={}, van2={})), ["a"], ["c"])
    asked = {"warm_from": base, "breakdown": {"agent": "van1", "at": "09:30"}}
    before = await ctx.job_service.plan_of_job(ctx.principal, base)
    plan = await best(ctx, (await call("resolve_vrp", asked)).structured["scenario_id"])
    assert served(plan) == {"van1": ["a"], "van2": ["c"]}
    was, now = (next(route for route in each.routes if route.agent_id == "van1") for each in (before, plan))
    assert (now.end_location, now.end_s, now.distance_m) == (was.end_location, was.end_s, was.distance_m)


async def test_what_the_broken_van_alone_could_do_is_not_put_down_to_lack_of_time(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5, S2: whoever may serve it has ended the route, which no longer search changes."""
    tickets = [ticket("a", time_windows=MORNING), ticket("c", "B", skills=["x"], time_windows=[["10:00", "11:00"]])]
    base = await solved(call, store, await created(call, day(*tickets, van1={}, van2=X)), [], ["a", "c"])
    answer = await call("resolve_vrp", {"warm_from": base, "breakdown": {"agent": "van2", "at": "09:00"}})
    stored = await ctx.job_service.scenario(ctx.principal, answer.structured["scenario_id"])
    plan = with_reasons(compiled(stored.body), await best(ctx, stored.id))
    assert [(entry.ticket_id, entry.code) for entry in plan.unassigned] == [("c", "ROUTE_OVER")]


async def test_no_fix_sends_the_broken_van_out_again(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5: neither a longer shift of it nor a copy."""
    tickets = [ticket("a"), ticket("c", "B", time_windows=[["10:00", "11:00"]])]
    base = await solved(
        call, store, await created(call, day(*tickets, van1={}, van2={"skills": ["x"]})), [], ["a", "c"]
    )
    patch = {"tickets": {"c": {"skills": ["x"]}}}
    answer = await call(
        "resolve_vrp", {"warm_from": base, "breakdown": {"agent": "van2", "at": "09:00"}, "patch": patch}
    )
    stored = await ctx.job_service.scenario(ctx.principal, answer.structured["scenario_id"])
    plan = await best(ctx, answer.structured["scenario_id"])
    assert [entry.ticket_id for entry in plan.unassigned] == ["c"]
    analysis = UnassignedAnalysis(stored.body, plan)
    fixes = analysis.fixes(analysis.index["c"], lambda: False)
    assert fixes
    assert {fix.agent_id for fix in fixes}.isdisjoint({"van2", "van2-2"})


async def test_a_broken_van_leaves_no_warning_of_its_overtime(call: Call, store: RedisStore) -> None:
    """SPEC T5, T7: the words took the overtime away, so nobody is told to set it."""
    van2 = {"overtime_s": 3600, "overtime_cost_per_hour": 50}
    scenario_id = await created(call, day(ticket("a"), ticket("c", "B"), van1={}, van2=van2))
    base = await solved(call, store, scenario_id, [], ["a", "c"])
    answer = await call("resolve_vrp", {"warm_from": base, "breakdown": {"agent": "van2", "at": "08:15"}})
    assert answer.structured["warnings"] == []


async def test_a_new_ticket_with_a_position_of_its_own_is_referred_to_the_patch(call: Call, store: RedisStore) -> None:
    """SPEC T7: this tool has no locations; those of its patch hold a place that the day does not have."""
    base = await solved(call, store, await created(call, day(ticket("a"), van1={})), ["a"])
    new = {"id": "u", "x": 5, "y": 0, "demand": 1}
    refused = await call("resolve_vrp", {"warm_from": base, "new_ticket": [new]})
    hints = {fault["path"]: fault["hint"] for fault in refused.structured["errors"]}
    assert "under /patch/locations and" in hints["/new_ticket/0/x"]


@pytest.mark.parametrize(
    ("load", "left"),
    [("at_depot", ["a", "c"]), ("lost", ["a"]), ("in_vehicle", ["a", "c from van2", "c"])],
)
async def test_what_happens_with_the_load_of_a_broken_van(
    call: Call, ctx: ToolContext, store: RedisStore, load: str, left: list[str]
) -> None:
    """SPEC T5: other goods from the depot, the same from the vehicle, or none."""
    tickets = [ticket("a", time_windows=MORNING), ticket("c", "B", time_windows=[["10:00", "16:00"]])]
    base = await solved(call, store, await created(call, day(*tickets, van1={}, van2={})), [], ["a", "c"])
    answer = await call("resolve_vrp", {"warm_from": base, "breakdown": {"agent": "van2", "at": "09:00", "load": load}})
    plan = await best(ctx, answer.structured["scenario_id"])
    assert sorted(name for names in served(plan).values() for name in names if name) == sorted(left)
    assert served(plan)["van2"] == ["a"]
    if load == "in_vehicle":
        assert served(plan)["van1"] == ["c from van2", "c"]


async def test_the_load_of_a_van_that_starts_at_its_first_stop_is_there(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: it broke down before it had begun anything, and has no other place."""
    stop = ticket("c", "B", time_windows=[["10:00", "16:00"]])
    base = await solved(call, store, await created(call, day(stop, van1={}, van2={"start_location": None})), [], ["c"])
    words = {"breakdown": {"agent": "van2", "at": "09:00", "load": "in_vehicle"}}
    answer = await call("resolve_vrp", {"warm_from": base, **words})
    assert served(await best(ctx, answer.structured["scenario_id"])) == {"van1": ["c from van2", "c"]}


async def test_a_promised_stop_is_not_dropped_for_a_new_order(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5: whatever the priority of the new one, unless the caller says otherwise."""
    window = [["10:00", "10:00"]]
    base_day = day(ticket("a", time_windows=window), van1={})
    base = await solved(call, store, await created(call, base_day), ["a"])
    new = [ticket("urgent", "B", time_windows=window, priority=9), ticket("too", "B", time_windows=window)]
    for promises, kept in ((True, ["a"]), (False, ["urgent", "too"])):
        asked = {"warm_from": base, "new_ticket": new, "keep_agents": True, "promises": promises, "fresh": True}
        answer = await call("resolve_vrp", asked)
        plan = await best(ctx, answer.structured["scenario_id"])
        assert sorted(served(plan)["van1"], key=str) == sorted(kept)


async def test_an_absent_driver_a_late_one_and_a_cancelled_stop(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: each is one word; all of them may come in one call."""
    tickets = [ticket("a"), ticket("b", "B"), ticket("c", "B")]
    base = await solved(call, store, await created(call, day(*tickets, van1={}, van2={}, van3={})), ["a"], ["b"], ["c"])
    asked = {"warm_from": base, "absent": ["van1"], "late_by": {"van2": 1800}, "cancelled_ticket": ["c"]}
    answer = await call("resolve_vrp", asked)
    assert answer.structured["changes"][:3] == [
        "van1 is absent: others get its tickets.",
        "van2 is 30 min late.",
        "Cancelled: c.",
    ]
    plan = await best(ctx, answer.structured["scenario_id"])
    assert "van1" not in served(plan)
    assert sorted(str(name) for names in served(plan).values() for name in names) == ["a", "b"]
    assert all(route.start_s >= AT + 1800 for route in plan.routes if route.agent_id == "van2")


async def test_a_locked_ticket_waits_for_its_agent_until_it_is_free_again(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5, S1, O2: the page locks by `agents`, which later calls keep, as `keep_agents` of one call does not."""
    tickets = [ticket("a"), ticket("b")]
    job_id = await solved(
        call, store, await created(call, day(*tickets, van1={}, van2={"fixed_cost": 9})), ["a"], ["b"]
    )
    found = []
    for asked, routes in (
        ({"patch": {"tickets": {"b": {"agents": ["van2"]}}}}, (["a"], ["b"])),
        ({"absent": ["van2"]}, (["a"],)),
        ({"patch": {"tickets": {"b": {"agents": None}}}}, (["a", "b"],)),
    ):
        answer = await call("resolve_vrp", {"warm_from": job_id, **asked})
        plan = await best(ctx, answer.structured["scenario_id"])
        found.append([name for name, names in served(plan).items() if "b" in names])
        job_id = answer.structured["job_id"]
        await finish(store, *routes)
    assert found == [["van2"], [], ["van1"]]


async def test_goods_fetched_at_a_new_place_are_two_new_tickets(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5, O2: the page sends both halves at once, and the window of the first says from when they are there."""
    job_id = await solved(call, store, await created(call, day(ticket("a"), van1={})), ["a"])
    new = [
        ticket("n pickup", "B", time_windows=[["10:00", "47:59"]]),
        ticket("n", "A", pickup="n pickup"),
    ]
    answer = await call("resolve_vrp", {"warm_from": job_id, "new_ticket": new, "keep_until": "07:00"})
    plan = await best(ctx, answer.structured["scenario_id"])
    assert [name for name in served(plan)["van1"] if name != "a"] == ["n pickup", "n"]
    assert next(v.start_s for v in plan.routes[0].visits if v.ticket_id == "n pickup") >= 10 * 3600


async def test_a_delay_below_a_minute_is_reported_in_seconds(call: Call, store: RedisStore) -> None:
    """SPEC T10: whoever meant minutes sees it; `0 min late` would say that nothing was given."""
    base = await solved(call, store, await created(call, day(ticket("a"), van1={})), ["a"])
    answer = await call("resolve_vrp", {"warm_from": base, "late_by": {"van1": 30}})
    assert answer.structured["changes"][0] == "van1 is 30 s late."


async def test_nobody_was_there_and_the_driver_is_late(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5: the visit stays in the history and ends now; the delay moves what comes next."""
    tickets = [ticket("a", service_time_s=3600), ticket("b", "B")]
    base = await solved(call, store, await created(call, day(*tickets, van1={})), ["a", "b"])
    asked = {"warm_from": base, "no_show": ["a"], "late_by": {"van1": 600}, "keep_until": "08:20"}
    plan = await best(ctx, (await call("resolve_vrp", asked)).structured["scenario_id"])
    first, second = plan.routes[0].visits
    assert (first.start_s, first.departure_s) == (AT + 600, AT + 1800)
    assert second.start_s == AT + 1800 + 1200


async def test_goods_of_a_visit_where_nobody_was_stay_on_board(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5: what is collected afterwards must fit beside them, until they are delivered after all."""
    tickets = [ticket("a", demand=6), ticket("b", "B", demand=4), ticket("c", "B", kind="pickup", demand=8)]
    base = await solved(call, store, await created(call, day(*tickets, van1={"capacity": 10})), ["a", "b", "c"])
    asked = {"warm_from": base, "no_show": ["a"], "keep_until": "08:20"}
    answer = await call("resolve_vrp", asked)
    plan = await best(ctx, answer.structured["scenario_id"])
    assert "Goods stay on board, unless a new_ticket has as its pickup: a." in answer.structured["changes"]
    assert [visit.load for visit in plan.routes[0].visits] == [{"load": 10}, {"load": 6}]
    assert [left.ticket_id for left in plan.unassigned] == ["c"]
    again = ticket("a2", demand=6, pickup="a")
    plan = await best(ctx, (await call("resolve_vrp", {**asked, "new_ticket": [again]})).structured["scenario_id"])
    assert plan.unassigned == ()


async def test_a_cancelled_stop_may_be_locked_grouped_or_kept_apart(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: one word is enough; the answer says where the day named the stop."""
    tickets = [ticket("a"), ticket("b", "B"), ticket("c", "B")]
    beside = {"incompatible": [["b", "c"]], "groups": [{"kind": "all", "tickets": ["a", "c"]}]}
    created_day = {**day(*tickets, van1={"locked_tickets": ["c"]}, van2={}), **beside}
    base = await solved(call, store, await created(call, created_day), ["c", "a"], ["b"])
    answer = await call("resolve_vrp", {"warm_from": base, "cancelled_ticket": ["c"]})
    plan = await best(ctx, answer.structured["scenario_id"])
    assert sorted(str(name) for names in served(plan).values() for name in names) == ["a", "b"]
    assert "c gone: no longer in locked_tickets, groups or incompatible" in answer.structured["warnings"]


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ({"breakdown": {"agent": "van1", "at": "09:00"}}, {"van1": ["p"], "van2": ["q"]}),
        ({"breakdown": {"agent": "van1", "at": "09:00", "load": "in_vehicle"}}, {"van1": ["p"], "van2": ["q"]}),
        ({"breakdown": {"agent": "van1", "at": "09:00", "load": "lost"}}, {"van1": ["p"]}),
        ({"no_show": ["p"], "keep_until": "09:00"}, {"van1": ["p"]}),
        ({"late_by": {"van1": 10800}, "keep_until": "09:00"}, {"van1": ["p", "q"]}),
    ],
)
async def test_what_becomes_of_a_shipment_that_is_on_board(
    call: Call, ctx: ToolContext, store: RedisStore, words: dict[str, Any], left: dict[str, list[str]]
) -> None:
    """SPEC T5: a broken van delivers nothing more, goods nobody handed over are not delivered, late ones are."""
    halves = [ticket("p", kind="pickup", time_windows=MORNING)]
    halves.append(ticket("q", "B", pickup="p", time_windows=[["10:00", "11:00"]]))
    base = await solved(call, store, await created(call, day(*halves, van1={}, van2={})), ["p", "q"])
    answer = await call("resolve_vrp", {"warm_from": base, **words})
    plan = await best(ctx, answer.structured["scenario_id"])
    found = {name: [each for each in tickets if each in ("p", "q")] for name, tickets in served(plan).items()}
    assert found == left
    assert plan.unassigned == ()


async def test_a_broken_van_of_technicians_hands_over_what_it_carries(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5, T8: a day in which nobody counts amounts has none to hand over, and is planned all the same."""
    plain = day(
        ticket("a", time_windows=MORNING), ticket("c", "B", time_windows=[["10:00", "16:00"]]), van1={}, van2={}
    )
    plain["agents"] = [{name: value for name, value in each.items() if name != "capacity"} for each in plain["agents"]]
    plain["tickets"] = [{name: value for name, value in each.items() if name != "demand"} for each in plain["tickets"]]
    base = await solved(call, store, await created(call, plain), [], ["a", "c"])
    words = {"breakdown": {"agent": "van2", "at": "09:00", "load": "in_vehicle"}}
    answer = await call("resolve_vrp", {"warm_from": base, **words})
    plan = await best(ctx, answer.structured["scenario_id"])
    assert served(plan) == {"van1": ["c from van2", "c"], "van2": ["a"]}


async def test_a_driver_late_beyond_its_shift_serves_nothing(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5: the shift has no time left, which is no contradiction of the day."""
    base = await solved(call, store, await created(call, day(ticket("a"), van1={}, van2={})), ["a"])
    answer = await call("resolve_vrp", {"warm_from": base, "late_by": {"van1": 36_000}})
    assert served(await best(ctx, answer.structured["scenario_id"])) == {"van2": ["a"]}


async def test_a_late_driver_is_not_on_time_at_the_stop_it_is_driving_to(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T5: the stop closes before it arrives; the delay is not forgotten, and others are reached later."""
    tickets = [ticket("a", time_windows=MORNING), ticket("b", "B", time_windows=[["08:00", "09:10"]])]
    tickets.append(ticket("c", "A"))
    base = await solved(call, store, await created(call, day(*tickets, van1={})), ["a", "b", "c"])
    answer = await call("resolve_vrp", {"warm_from": base, "late_by": {"van1": 3600}, "keep_until": "08:15"})
    plan = await best(ctx, answer.structured["scenario_id"])
    assert [entry.ticket_id for entry in plan.unassigned] == ["b"]
    assert next(visit.start_s for visit in plan.routes[0].visits if visit.ticket_id == "c") >= AT + 3600


async def test_the_setup_of_a_begun_visit_stays_in_its_history(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5: the route starts when it started, and waits no longer."""
    tickets = [ticket("a", setup_time_s=900, time_windows=[["09:00", "10:00"]]), ticket("b", "B")]
    scenario_id = await created(call, day(*tickets, van1={}))
    base = await solved(call, store, scenario_id, ["a", "b"])
    before = (await ctx.job_service.plan_of_job(ctx.principal, base)).routes[0]
    answer = await call("resolve_vrp", {"warm_from": base, "keep_until": "09:05"})
    after = (await best(ctx, answer.structured["scenario_id"])).routes[0]
    assert (after.start_s, after.waiting_s, after.end_s) == (before.start_s, before.waiting_s, before.end_s)


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        ({"breakdown": {"agent": "vann", "at": "09:00"}}, ["/breakdown/agent"]),
        ({"breakdown": {"agent": "van1"}}, ["/keep_until"]),
        ({"breakdown": {"agent": "van1", "at": "09:00"}, "keep_until": "10:00"}, ["/breakdown/at"]),
        ({"absent": ["van1"], "keep_until": "08:15"}, ["/absent/0"]),
        ({"absent": ["x"], "cancelled_ticket": ["y"]}, ["/absent/0", "/cancelled_ticket/0"]),
        ({"late_by": {"van1": 0}}, ["/late_by/van1"]),
        ({"late_by": {"van1": 1e308}}, ["/late_by/van1"]),
        ({"late_by": {"van1": 60}, "breakdown": {"agent": "van1", "at": "09:00"}}, ["/late_by/van1"]),
        ({"new_ticket": [{"location": "A"}, {"id": "a"}]}, ["/new_ticket/0/id", "/new_ticket/1/id"]),
        ({"new_ticket": [{"id": "n", "location": "A"}, {"id": "n", "location": "B"}]}, ["/new_ticket/1/id"]),
        ({"cancelled_ticket": ["a"], "keep_until": "08:15"}, ["/cancelled_ticket/0"]),
        ({"no_show": ["b"], "keep_until": "08:15"}, ["/no_show/0"]),
        ({"no_show": ["b"]}, ["/keep_until"]),
        ({"absent": ["van1"], "patch": {"agents": []}}, ["/patch/agents"]),
        ({"absent": ["van1"], "patch": {"agents": "van1"}}, ["/patch/agents"]),
        ({"new_ticket": [{"id": "n/1", "location": "A", "demand": -1}]}, ["/new_ticket/0/demand"]),
    ],
)
async def test_what_cannot_have_happened_is_refused_at_its_word(
    call: Call, store: RedisStore, words: dict[str, Any], paths: list[str]
) -> None:
    """SPEC T7: with the place of each."""
    base = await solved(call, store, await created(call, day(ticket("a"), ticket("b", "B"), van1={})), ["a", "b"])
    answer = await call("resolve_vrp", {"warm_from": base, **words})
    assert answer.is_error
    assert [fault["path"] for fault in answer.structured["errors"]] == paths


async def test_a_delay_at_a_stop_explains_the_change_of_its_ticket(call: Call, store: RedisStore) -> None:
    """SPEC T10: the ticket takes longer, which nobody asked for in these words."""
    scenario_id = await created(call, day(ticket("a", service_time_s=1800), ticket("b", "B"), van1={}))
    base = await solved(call, store, scenario_id, ["a", "b"])
    asked = {"warm_from": base, "late_by": {"van1": 1200}, "keep_until": "08:20"}
    changes = (await call("resolve_vrp", asked)).structured["changes"]
    assert changes == ["van1 leaves a at 09:00.", "van1 is 20 min late.", "tickets: 1 changed (a)"]


async def test_an_hour_with_an_offset_is_not_compared_with_one_that_was_never_given(
    call: Call, store: RedisStore
) -> None:
    """SPEC T7: times of a call are local, and the fault says so."""
    base = await solved(call, store, await created(call, day(ticket("a"), van1={})), ["a"])
    answer = await call("resolve_vrp", {"warm_from": base, "keep_until": "2025-07-15T08:20:00+08:00"})
    (fault,) = answer.structured["errors"]
    assert (fault["path"], fault["problem"]) == ("/keep_until", "The date-time has a UTC offset.")
    assert fault["hint"] == "Write all times as local times of the planning date."


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_prompt_for_a_changed_day_names_each_word(language: Language) -> None:
    """SPEC T10, R4: a patch that takes a broken vehicle away would lose what it has done."""
    (prompt,) = (each for each in PROMPTS if each.name == "replan_after_change")
    text = prompt.text({"job_id": "job-0-x", "change": "…"}, language)
    assert [name for name in ("keep_until", *DayChanges.model_fields) if name not in text] == []


async def test_goods_that_an_agent_on_its_way_has_not_loaded_are_spoken_of(call: Call, store: RedisStore) -> None:
    """SPEC T10: a plan may give an order of 09:00 to a van that left at 08:00, and the goods of one van to another."""
    early = [ticket(name, "A", time_windows=MORNING) for name in ("a", "b")]
    late = [ticket(name, "B", time_windows=[["10:00", "16:00"]]) for name in ("c", "d", "e")]
    scenario_id = await created(call, day(*early, *late, van1={}, van2={}))
    base = await solved(call, store, scenario_id, ["a", "c", "e"], ["b", "d"])
    asked: dict[str, Any] = {"warm_from": base, "keep_until": "09:00", "keep_agents": True}
    parcel = {"id": "rush", "location": "A", "demand": 1}

    async def notes(**changes: Any) -> list[str]:
        answer = await call("resolve_vrp", {**asked, **changes})
        return [note for note in answer.structured["notes"] if "oods " in note]

    new = (
        "The goods for rush are assumed to be on vehicles already under way (van1, van2). "
        "If they are at the depot, set release_time to 09:00."
    )
    moved = "Goods on board of one agent may be given to another as if it had them: keep_agents=true prevents it."
    assert await notes(new_ticket=[parcel]) == [new]
    assert await notes(new_ticket=[parcel], keep_agents=False) == [new, moved]
    assert await notes(new_ticket=[{**parcel, "release_time": "09:00"}]) == []
    assert await notes(new_ticket=[{**parcel, "demand": 0}]) == []
    assert await notes(new_ticket=[{**parcel, "kind": "pickup"}]) == []
    assert await notes(new_ticket=[{**parcel, "pickup": "fetch"}, {**parcel, "id": "fetch", "location": "D"}]) == []
    assert await notes(new_ticket=[parcel], keep_until="07:00") == []
    broken = {"agent": "van1", "at": "09:00"}
    assert await notes(breakdown=broken) == [new.replace("rush", "c, e").replace("van1, ", "")]
    assert await notes(breakdown={**broken, "load": "in_vehicle"}) == []


async def test_a_breakdown_without_its_hour_names_unknown_ids_too(call: Call, store: RedisStore) -> None:
    """SPEC T7: the missing hour alone was told, and the agent in the next turn."""
    base = await solved(call, store, await created(call, day(ticket("a"), van1={})), ["a"])
    asked = {"warm_from": base, "breakdown": {"agent": "van9"}, "no_show": ["z", "a"]}
    refused = (await call("resolve_vrp", asked)).structured["errors"]
    assert [fault["path"] for fault in refused] == ["/keep_until", "/breakdown/agent", "/no_show/0"]


async def test_the_hour_of_a_breakdown_that_is_seconds_gets_a_hint(call: Call, store: RedisStore) -> None:
    """SPEC T7: as for keep_until; at 14 seconds past midnight nothing has been done, and all is planned anew."""
    base = await solved(call, store, await created(call, day(ticket("a"), van1={}, van2={})), ["a"])
    asked = {"warm_from": base, "breakdown": {"agent": "van1", "at": 14}}
    (note,) = (await call("resolve_vrp", asked)).structured["notes"][-1:]
    assert note == '14 is 00:00:14: numbers are seconds. Write "14:00".'
