"""Planning on from a plan, through the tools, with real workers and engines."""

import contextlib
import json
from typing import Any

import anyio
import pytest

from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.routing.analysis.alternative_plans import DUPLICATE_BELOW
from planner_mcp.routing.analysis.plan_comparison import compare
from planner_mcp.routing.analysis.plan_repricing import candidate_on
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.verification.plan_verification import verify
from tests.integration.server.tools.conftest import LONGEST_S, ToolClient
from tests.shared.scenarios.scenario_builders import compiled
from tests.shared.scenarios.seeded_fleet import fleet_body
from workers.solver_processes.solver_child import MADE_UP_PRICES

pytestmark = pytest.mark.anyio
NEW = {"id": "t-new", "location": "P3", "demand": 1, "service_time_s": 10}


def fleet(tickets: int = 40, **agent: Any) -> dict[str, Any]:
    """Return a day with room to choose."""
    body = fleet_body(tickets)
    return body | {"agents": [each | agent for each in body["agents"]]}


def drivers(plan: dict[str, Any]) -> dict[str, str]:
    """Return who serves each ticket."""
    return {
        visit["ticket_id"]: route["agent_id"]
        for route in plan["routes"]
        for visit in route["visits"]
        if visit["ticket_id"]
    }


async def scenario_of(tools_client: ToolClient, job_id: str) -> dict[str, Any]:
    """Return the body a job solved."""
    job = await tools_client.ctx.job_service.job(tools_client.ctx.principal, job_id)
    return (await tools_client.ctx.job_service.scenario(tools_client.ctx.principal, job.request.scenario_id)).body


async def test_new_tickets_are_inserted_and_nobody_changes_agents(tools_client: ToolClient) -> None:
    """SPEC T5, S1: least change; every planned ticket stays with its agent, the new one is served."""
    before = await tools_client.solve_once(fleet())
    patch = {"tickets": {"t-new": {key: value for key, value in NEW.items() if key != "id"}}}
    answer = await tools_client.use("resolve_vrp", warm_from=before, patch=patch, keep_agents=True, solve_time="PT1S")
    old, new = await tools_client.plan(before), await tools_client.full_plan(answer["job_id"])
    assert answer["kept_tickets"] == 40
    assert drivers(new).keys() - drivers(old).keys() == {"t-new"}
    found = await tools_client.use("compare_plans", plan_a=before, plan_b=answer["job_id"])
    assert (found["moved"], found["newly_served"], found["newly_unserved"]) == (0, ["t-new"], [])


async def test_what_has_begun_stays_first_and_in_order(tools_client: ToolClient) -> None:
    """SPEC T5, S1: vehicles are out; visits before the hour are history."""
    before = await tools_client.solve_once(fleet())
    answer = await tools_client.use("resolve_vrp", warm_from=before, keep_until="00:04", solve_time="PT1S", seed=5)
    old, new = await tools_client.plan(before), await tools_client.full_plan(answer["job_id"])
    begun = {
        route["agent_id"]: [visit["ticket_id"] for visit in route["visits"] if visit["start_s"] < 240]
        for route in old["routes"]
    }
    ahead = sum(route["start_s"] < 240 for route in old["routes"])
    assert 0 < sum(map(len, begun.values())) <= answer["kept_tickets"] <= sum(map(len, begun.values())) + ahead
    now = {route["agent_id"]: [visit["ticket_id"] for visit in route["visits"]] for route in new["routes"]}
    assert all(now[agent][: len(tickets)] == tickets for agent, tickets in begun.items() if tickets)
    when = [{v["ticket_id"]: v["start_s"] for r in plan["routes"] for v in r["visits"]} for plan in (old, new)]
    assert all(when[0][ticket] == when[1][ticket] for tickets in begun.values() for ticket in tickets)


async def test_what_has_begun_is_not_moved_in_time_where_what_follows_is(tools_client: ToolClient) -> None:
    """SPEC T5: a visit before an appointment was made when it was, though the appointment is put off."""
    places = [{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": 60, "y": 0}]
    tickets = [
        {"id": "a", "location": "A", "demand": 1, "time_windows": [["09:00", "09:50"]]},
        {"id": "b", "location": "A", "demand": 1, "time_windows": [["10:00", "11:00"]]},
    ]
    day = {"name": "put off", "planning_date": "2025-07-15", "depot": "D", "locations": places, "tickets": tickets}
    before = await tools_client.solve(day | {"agents": [{"id": "v", "capacity": 9, "cost_per_hour": 1}]})
    patch = {"tickets": {"a": {"time_windows": []}, "b": {"time_windows": [["15:00", "16:00"]]}}}
    answer = await tools_client.use("resolve_vrp", warm_from=before, patch=patch, keep_until="10:00", solve_time="PT1S")
    old, new = await tools_client.plan(before), await tools_client.plan(answer["job_id"])
    first = [plan["routes"][0]["visits"][0] for plan in (old, new)]
    assert [visit["ticket_id"] for visit in first] == ["a", "a"]
    assert first[0]["start_s"] == first[1]["start_s"] < 36_000
    assert new["routes"][0]["visits"][1]["start_s"] == 54_000


async def test_nothing_new_is_planned_into_the_past(tools_client: ToolClient) -> None:
    """SPEC T5: at four minutes past, who is still at the depot leaves then at the earliest, and a new ticket waits."""
    day = fleet()
    day["agents"].append(day["agents"][0] | {"id": "idle", "fixed_cost": 10_000})
    before = await tools_client.solve(day)
    patch = {"tickets": {"t-new": {"location": "P3", "demand": 1, "agents": ["idle"]}}}
    answer = await tools_client.use("resolve_vrp", warm_from=before, patch=patch, keep_until="00:04", solve_time="PT1S")
    old, new = await tools_client.plan(before), await tools_client.full_plan(answer["job_id"])
    began = {visit["ticket_id"] for route in old["routes"] for visit in route["visits"] if visit["start_s"] < 240}
    starts = {v["ticket_id"]: v["start_s"] for route in new["routes"] for v in route["visits"] if v["ticket_id"]}
    assert "t-new" in starts
    assert "idle" not in {route["agent_id"] for route in old["routes"]}
    assert min(start for name, start in starts.items() if name not in began) >= 240
    assert min(route["start_s"] for route in new["routes"] if route["agent_id"] == "idle") >= 240


@pytest.mark.slow
async def test_who_can_be_served_no_more_does_not_keep_the_rest_from_being_planned(tools_client: ToolClient) -> None:
    """SPEC T5: an hour at which a ticket has missed its window, or the shift has no time left for it, is no error."""
    day = fleet(max_tickets=3)
    before = await tools_client.solve(day)
    left_out = {entry["ticket_id"] for entry in (await tools_client.plan(before))["unassigned"]}
    assert left_out
    patch = {"tickets": {"t-new": {"location": "P3", "demand": 1}}}
    for hour in ("00:09", "20:00"):
        answer = await tools_client.use(
            "resolve_vrp", warm_from=before, patch=patch, keep_until=hour, solve_time="PT1S"
        )
        new = await tools_client.plan(answer["job_id"])
        assert answer["kept_tickets"] == 40 - len(left_out)
        assert {entry["ticket_id"] for entry in new["unassigned"]} == left_out | {"t-new"}


async def test_a_warm_solve_is_never_worse_than_where_it_began(tools_client: ToolClient) -> None:
    """SPEC S3: more time never returns a worse plan; the plan says seed, versions and input."""
    before = await tools_client.solve_once(fleet(60))
    answer = await tools_client.use("resolve_vrp", warm_from=before, solve_time="PT1S", seed=7)
    old, new = await tools_client.plan(before), await tools_client.plan(answer["job_id"])
    assert new["cost"] <= old["cost"]
    assert new["input_hash"] == old["input_hash"] != ""
    assert (new["seed"], new["versions"]["planner-mcp"]) == (7, old["versions"]["planner-mcp"])


async def test_a_plan_that_no_longer_holds_is_repaired_not_dropped(tools_client: ToolClient) -> None:
    """SPEC T5: an agent breaks down; the others go on as they are, in a day that is planned from there."""
    before = await tools_client.solve_once(fleet())
    old = await tools_client.plan(before)
    lost = old["routes"][0]["agent_id"]
    patch = {"agents": {lost: None}}
    answer = await tools_client.use("resolve_vrp", warm_from=before, patch=patch, keep_agents=True, solve_time="PT1S")
    new = await tools_client.full_plan(answer["job_id"])
    kept = {ticket for ticket, agent in drivers(old).items() if agent != lost}
    assert answer["kept_tickets"] == len(kept)
    assert all(drivers(new)[ticket] == drivers(old)[ticket] for ticket in kept)


@pytest.mark.slow
async def test_a_fix_is_proved_by_solving_again(tools_client: ToolClient) -> None:
    """SPEC T5: with a suggested patch more is served, and that ticket itself where no other waits for the room."""
    body = fleet(20, capacity=40)
    body["agents"] = body["agents"][:2]
    before = await tools_client.solve(body)
    why = await tools_client.use("explain_unassigned", plan=before, size=3)
    assert why["total"] > 0
    assert all(entry["nearest"][0]["in_the_way"] for entry in why["tickets"])
    answer = await tools_client.use("suggest_fixes", plan=before)
    assert answer["fixes"]
    assert not answer["not_examined"]
    plan = await tools_client.plan(before)
    old, left_out = drivers(plan), [entry["ticket_id"] for entry in plan["unassigned"]]
    for fix in answer["fixes"][:2]:
        again = await tools_client.use(
            "resolve_vrp", warm_from=before, patch=fix["patch"], keep_agents=True, solve_time="PT1S"
        )
        served = drivers(await tools_client.plan(again["job_id"]))
        assert len(served) > len(old)
        others = {entry: None for entry in left_out if entry != fix["ticket_id"]}
        alone = {**fix["patch"], "tickets": {**fix["patch"].get("tickets", {}), **others}}
        again = await tools_client.use(
            "resolve_vrp", warm_from=before, patch=alone, keep_agents=True, solve_time="PT1S"
        )
        assert fix["ticket_id"] in drivers(await tools_client.plan(again["job_id"]))


@pytest.mark.slow
async def test_alternatives_really_differ_and_keep_the_day(tools_client: ToolClient) -> None:
    """SPEC T5: up to five plans, each caring for something else; all hold on the day itself, and differ."""
    body = fleet(40, cost_per_km=1, fixed_cost=0)
    for number, agent in enumerate(body["agents"]):  # each lives where a ticket is: on the day's own terms all drive
        agent["start_location"] = agent["end_location"] = f"P{number}"
    base = await tools_client.solve(body)
    asked = await tools_client.use("solve_alternatives", plan=base, k=4, solve_time="PT1S")
    jobs = {each["style"]: each["job_id"] for each in asked["alternatives"]}
    assert set(jobs) == {"fewest_agents", "balanced", "quickest", "shortest"}
    problem = compiled(body)
    plans = {style: await tools_client.plan(job_id) for style, job_id in jobs.items()}
    table = await tools_client.use("weigh_plans", plans=[base, *jobs.values()])
    assert table["invalid"] == []
    rows = {row[0]: dict(zip(table["columns"], row, strict=True)) for row in table["rows"]}
    of = {style: rows[job_id.replace("job", "plan", 1)] for style, job_id in jobs.items()}
    first = rows[base.replace("job", "plan", 1)]
    assert of["fewest_agents"]["agents"] < first["agents"]
    assert of["balanced"]["longest_h"] < first["longest_h"]
    assert of["fewest_agents"]["difference"] > DUPLICATE_BELOW
    assert of["balanced"]["difference"] > DUPLICATE_BELOW
    assert (
        compare(*(Plan.from_json(plans[style]) for style in ("balanced", "fewest_agents"))).difference > DUPLICATE_BELOW
    )
    assert verify(problem, Plan.from_json(await tools_client.plan(base))) == []


async def test_the_costs_of_an_alternative_use_the_prices_of_its_base(tools_client: ToolClient) -> None:
    """SPEC T5, J2: in its events, and so in webhooks and streams, in lists, the curve and the plan alike."""
    body = fleet(6, cost_per_km=1_000, fixed_cost=0)
    base = await tools_client.solve_once(body)
    asked = await tools_client.use("solve_alternatives", plan=base, styles=["quickest"], solve_time="PT1S")
    job_id = asked["alternatives"][0]["job_id"]
    with anyio.fail_after(LONGEST_S):
        events = [event.data async for event in tools_client.ctx.job_service.follow(tools_client.ctx.principal, job_id)]
    problem = compiled(body)
    plan = Plan.from_json(await tools_client.plan(job_id))
    candidate = candidate_on(problem, plan)
    assert candidate is not None
    cost = build_plan(problem, candidate).cost
    assert plan.cost == pytest.approx(cost)
    assert [data.cost for data in events if data.cost is not None][-1] == round(cost, 2)
    listed = await tools_client.use("list_jobs")
    (row,) = (row for row in listed["rows"] if job_id in row)
    assert pytest.approx(cost, rel=1e-3) in [each for each in row if isinstance(each, float | int)]
    curve = await tools_client.use("read_progress", job_id=job_id)
    assert curve["rows"][-1][1] == pytest.approx(cost, rel=1e-3)
    assert curve["lower_bound"] <= cost


async def test_a_plan_says_that_the_prices_of_its_base_are_gone(tools_client: ToolClient) -> None:
    """SPEC T5: its costs then follow from prices that were made up to find it."""
    base = await tools_client.solve_once(fleet(6, cost_per_km=1_000, fixed_cost=0))
    jobs, ann = tools_client.ctx.job_service, tools_client.ctx.principal
    asked = await tools_client.use("solve_alternatives", plan=base, styles=["quickest"], solve_time="PT1S")
    first = asked["alternatives"][0]["job_id"]
    assert MADE_UP_PRICES not in (await tools_client.full_plan(first))["assumptions"]
    based_on = (await jobs.job(ann, base)).request.scenario_id
    async with connect(tools_client.ctx.settings) as store:
        await store.redis.delete(store_keys.key(0, "scn", based_on))
    day = (await jobs.job(ann, first)).request.scenario_id
    again = await tools_client.use("solve_vrp", scenario_id=day, solve_time="PT1S", seed=2)
    assert MADE_UP_PRICES in (await tools_client.full_plan(again["job_id"]))["assumptions"]


@pytest.mark.slow
async def test_the_webhook_of_an_alternative_states_the_prices_of_its_base(tools_client: ToolClient) -> None:
    """SPEC T5, J4: whoever solves the day of an alternative again with a callback reads there what the plan costs."""
    receiver = tools_client.receiver
    assert receiver is not None
    base = await tools_client.solve(fleet(6, cost_per_km=1_000, fixed_cost=0))
    queued = await tools_client.use("solve_alternatives", plan=base, styles=["quickest"], solve_time="PT1S")
    asked = {"scenario_id": queued["alternatives"][0]["scenario_id"], "callback_url": receiver.url("/hook")}
    job_id = (await tools_client.use("solve_vrp", **asked, solve_time="PT1S"))["job_id"]
    (received,) = await receiver.wait_for(1, "/hook")
    payload = json.loads(received.body)["params"]
    assert payload["job_id"] == job_id
    plan = await tools_client.use("read_plan", job_id=job_id)
    compared = await tools_client.use("compare_plans", plan_a=base, plan_b=job_id)
    before = (await tools_client.use("read_plan", job_id=base))["cost"]
    assert payload["result"]["cost"] == pytest.approx(plan["cost"], abs=0.006)
    assert plan["cost"] - before == pytest.approx(compared["cost_delta"], abs=0.02)


@pytest.mark.parametrize(("tool", "status"), [("finish_vrp_job", "COMPLETED"), ("cancel_vrp_job", "CANCELLED")])
async def test_who_stops_a_running_search_reads_what_its_plan_changes(
    tools_client: ToolClient, tool: str, status: str
) -> None:
    """SPEC T10: in the answer that stops it, without another call; the plan that it tells of is the one that stays."""
    before = await tools_client.solve_once(fleet())
    patch = {"tickets": {"t-new": {"location": "P3", "demand": 1}}}
    job_id = (await tools_client.use("resolve_vrp", warm_from=before, patch=patch, solve_time="PT60S"))["job_id"]
    service, principal = tools_client.ctx.job_service, tools_client.ctx.principal
    with anyio.fail_after(LONGEST_S):
        async with contextlib.aclosing(service.follow(principal, job_id)) as events:
            async for event in events:
                assert not event.is_final
                if event.data.tickets_served == len(fleet()["tickets"]) + 1:
                    break
    answer = await tools_client.use(tool, job_id=job_id)
    assert answer["status"] == status
    assert answer["changes"][0].startswith("In all ")
    assert any(each.startswith("Served now: ") and "t-new" in each for each in answer["changes"])
    assert (await tools_client.use("query_vrp_status", job_id=job_id))["changes"] == answer["changes"]


@pytest.mark.slow
async def test_the_curve_of_a_real_search_falls_to_its_plan(tools_client: ToolClient) -> None:
    """SPEC T5, J5: from the first plan to the last; the bound lies below."""
    job_id = await tools_client.solve(fleet(80), "PT2S")
    plan = await tools_client.plan(job_id)
    progress = await tools_client.use("read_progress", job_id=job_id)
    costs = [row[1] for row in progress["rows"]]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == pytest.approx(plan["cost"], abs=0.01)
    assert 0 < progress["lower_bound"] < plan["cost"]
    assert progress["gap"] == pytest.approx(1 - progress["lower_bound"] / plan["cost"], abs=0.01)
    again = await tools_client.use("validate_scenario", scenario=fleet(80))
    assert again["lower_bound"] == progress["lower_bound"]
    assert (await scenario_of(tools_client, job_id))["name"] == "80 tickets"


async def test_a_plan_that_leaves_tickets_out_has_no_gap_and_its_curve_never_turns_back(
    tools_client: ToolClient,
) -> None:
    """SPEC T5, J5: the bound is that of plans serving all; what serves less may cost less, which is no gap."""
    for tickets in (2, 40):  # enumerated in an instant, and searched
        job_id = await tools_client.solve(fleet(tickets, max_tickets=1), "PT1S")
        progress = await tools_client.use("read_progress", job_id=job_id)
        times = [row[0] for row in progress["rows"]]
        assert times == sorted(times)
        assert len({tuple(row[1:]) for row in progress["rows"]}) == len(times)
        if (await tools_client.plan(job_id))["unassigned"]:
            assert "gap" not in progress


async def test_a_solve_is_ended_with_the_best_plan_it_has(tools_client: ToolClient) -> None:
    """SPEC T5: finish now; completed, not cancelled, and a second asking changes nothing."""
    scenario_id = (await tools_client.use("create_scenario", **fleet(120)))["scenario_id"]
    job_id = (await tools_client.use("solve_vrp", scenario_id=scenario_id, solve_time="PT50S"))["job_id"]
    with anyio.fail_after(LONGEST_S):
        status: dict[str, Any] = {}
        while "cost" not in status:
            status = await tools_client.use("query_vrp_status", job_id=job_id, wait_s=0.2)
    ended = await tools_client.use("finish_vrp_job", job_id=job_id)
    assert (ended["status"], ended["progress"]) == ("COMPLETED", 100)
    assert ended["cost"] <= status["cost"]
    assert await tools_client.use("finish_vrp_job", job_id=job_id) == ended
    assert (await tools_client.plan(job_id))["tickets_served"] == ended["tickets_served"]
