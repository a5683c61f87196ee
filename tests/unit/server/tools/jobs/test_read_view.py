"""`read_view`: what the MCP App draws of a job, and then what has changed (SPEC O2)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.principals import READ, WRITE, Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import Candidate
from planner_mcp.server.tools.tool_definition import ToolContext
from tests.shared.roads.road_register import register
from tests.shared.scenarios.scenario_builders import compiled
from tests.shared.scenarios.stored_plans import DAY, Call, claimed, created, solved

pytestmark = pytest.mark.anyio
PLACED = {
    "name": "<b>Ada's day</b>",
    "planning_date": "2025-07-15",
    "depot": "D",
    "agents": [{"id": "v", "capacity": 10, "cost_per_km": 2}],
    "tickets": [{"id": "t-1", "location": "A", "demand": 2, "name": "Bob"}],
    "locations": [{"id": "D", "lat": 39.9042, "lon": 116.4074}, {"id": "A", "lat": 39.9089, "lon": 116.4112}],
}


async def view(call: Call, job_id: str, *context: ToolContext, **args: Any) -> dict[str, Any]:
    """Return what the page gets."""
    answer = await call("read_view", {"job_id": job_id, **args}, *context)
    assert not answer.is_error, answer.text
    return answer.structured


async def test_answers_contain_only_what_has_changed(call: Call, store: RedisStore) -> None:
    """SPEC O2: the day once, a plan when it is another, each event once, from any position."""
    job_id = (await call("solve_vrp", {"scenario_id": await created(call)})).structured["job_id"]
    first = await view(call, job_id)
    assert (first["job"]["status"], "plan" in first, [event["status"] for event in first["events"]]) == (
        "QUEUED",
        False,
        ["QUEUED"],
    )
    assert [ticket["id"] for ticket in first["day"]["tickets"]] == ["a", "b", "c"]
    claim = await claimed(store)
    problem, seen = compiled(DAY), first
    for improvements, order in ((1, [0, 2, 1]), (1, [0, 2, 1]), (2, [0, 1, 2])):
        plan = build_plan(problem, Candidate.of_tickets({0: order}))
        progress = Progress(10 * improvements, plan.cost, None, 3, 3, improvements=improvements)
        second = seen["events"][-1].get("elapsed_s", 0) + 1
        await store.report(claim, replace(progress, elapsed_s=float(second)), plan.as_json())
        is_new = seen["job"].get("improvements") != improvements
        seen = await view(call, job_id, since=seen["position"], wait_s=5)
        assert ("plan" in seen, "day" in seen) == (is_new, False)
        last = seen["events"][-1]
        assert (last["elapsed_s"], last["cost"], last["tickets_served"]) == (second, plan.cost, 3)
    again = await view(call, job_id, since=first["position"])
    assert [event["status"] for event in again["events"]] == ["SOLVING"] * 4
    assert [visit["ticket_id"] for visit in again["plan"]["routes"][0]["visits"]] == ["a", "b", "c"]
    nothing = await view(call, job_id, since=seen["position"])
    assert (nothing["events"], nothing["position"], "plan" in nothing) == ([], seen["position"], False)


async def test_a_route_is_sent_once(call: Call, store: RedisStore) -> None:
    """SPEC O2: of a changed plan the changed routes alone, by what the reader says it holds; all to any other."""
    day = {**DAY, "agents": [{**DAY["agents"][0], "id": name} for name in ("v", "w")]}
    job_id = (await call("solve_vrp", {"scenario_id": await created(call, day)})).structured["job_id"]
    claim = await claimed(store)
    problem = compiled(day)
    seen: list[dict[str, Any]] = []
    for improvements, orders in enumerate(({0: [0, 1], 1: [2]}, {0: [1, 0], 1: [2]}, {1: [2, 0, 1]}), 1):
        plan = build_plan(problem, Candidate.of_tickets(orders))
        progress = Progress(10 * improvements, plan.cost, None, 3, 3, improvements=improvements)
        await store.report(claim, replace(progress, elapsed_s=float(improvements)), plan.as_json())
        seen.append(await view(call, job_id, since=seen[-1]["position"] if seen else "0"))
    first, second, third = (answer["plan"]["routes"] for answer in seen)
    assert [type(route) for route in first] == [dict, dict]
    assert [second[0]["visits"][0]["ticket_id"], second[1]] == ["b", 1]
    assert [route["agent_id"] for route in third] == ["w"]
    assert ["unassigned" in answer["plan"] for answer in seen] == [True, False, False]
    whole = await view(call, job_id, since="0")
    assert (whole["plan"]["routes"], whole["position"]) == (third, seen[-1]["position"])
    bare = seen[0]["position"].partition(".")[0]
    assert (await view(call, job_id, since=bare))["plan"]["routes"] == third
    assert (await view(call, job_id, since=seen[0]["position"], parts=["events"]))["position"].endswith(
        seen[0]["position"].partition(".")[2]
    ), "who takes no plan holds the routes it held"


async def test_a_wait_ends_with_the_next_event(call: Call, store: RedisStore) -> None:
    """SPEC O2, J2: an event of any replica; a job that has ended is not waited for."""
    job_id = (await call("solve_vrp", {"scenario_id": await created(call)})).structured["job_id"]
    position = (await view(call, job_id))["position"]
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, "cancel_vrp_job", {"job_id": job_id})
            ended = await view(call, job_id, since=position, wait_s=20)
        assert ended["job"]["status"] == "CANCELLED"
        assert (await view(call, job_id, since=ended["position"], wait_s=20))["job"]["status"] == "CANCELLED"


async def test_an_ended_job_is_shown_from_its_id_alone(call: Call, store: RedisStore) -> None:
    """SPEC O2: what a page needs that was made anew; the bound when it asks."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    found = await view(call, job_id, parts=["day", "plan", "events", "bound"])
    assert found["job"]["result"]["tickets_served"] == 3
    assert (found["events"][-1]["status"], found["events"][-1]["cost"]) == ("COMPLETED", found["plan"]["cost"])
    assert 0 < found["lower_bound"] <= found["plan"]["cost"]
    assert "lower_bound" not in await view(call, job_id)


async def test_a_masked_view_hides_what_resources_hide(call: Call, store: RedisStore, ctx: ToolContext) -> None:
    """SPEC R3: names, exact positions and the costs of routes."""
    job_id = await solved(call, store, await created(call, PLACED), ["t-1"])
    open_view = await view(call, job_id)
    assert open_view["day"]["tickets"] == [{"id": "t-1", "name": "Bob", "location": "A"}]
    reader = replace(ctx, principal=replace(ctx.principal, scopes=frozenset({READ, WRITE})))
    masked = await view(call, job_id, reader, parts=["day", "plan", "events", "bound"])
    assert masked["day"]["locations"][1] == {"id": "A", "lat": 39.91, "lon": 116.41}
    assert masked["day"]["masked"] == ["agents.cost_per_km", "locations.lat", "locations.lon", "tickets.name"]
    assert "Bob" not in json.dumps(masked)
    assert masked["plan"]["routes"][0]["cost"] is None
    assert (
        [event for event in masked["events"] if "cost" in event],
        "lower_bound" in masked,
        "cost" in masked["job"],
    ) == ([], False, False)


async def test_reasons_are_in_the_language_of_the_reader(call: Call, store: RedisStore) -> None:
    """SPEC O2, T11: the page knows its reader's language, its host does not say it to the server."""
    day = {**PLACED, "tickets": [*PLACED["tickets"], {"id": "t-2", "location": "A", "demand": 99}]}
    job_id = await solved(call, store, await created(call, day), ["t-1"])
    english, chinese = [(await view(call, job_id, language=each))["plan"]["unassigned"] for each in ("en", "zh")]
    assert [(each["ticket_id"], each["code"]) for each in chinese] == [("t-2", english[0]["code"])]
    assert english[0]["detail"].isascii()
    assert "工单" in chinese[0]["detail"] or "车辆" in chinese[0]["detail"]


async def test_roads_show_a_masked_reader_no_more_than_the_positions_it_may_see(
    call: Call, store: RedisStore, ctx: ToolContext, tmp_path: Path
) -> None:
    """SPEC R3: days that round to the same positions have the same box, and so the same roads; none have lines."""
    streets = [(0, [(39.7 + n / 200, 116.0), (39.7 + n / 200, 116.9)]) for n in range(100)]
    roads = register(tmp_path / "streets.sqlite", streets)
    open_reader, masked_reader = (
        replace(ctx, principal=each, reading=replace(ctx.reading, principal=each, roads=roads))
        for each in (ctx.principal, replace(ctx.principal, scopes=frozenset({READ, WRITE})))
    )
    answers = []
    for shift in (0.0, 0.004):
        moved = [{**place, "lat": 39.906 + 0.02 * at + shift} for at, place in enumerate(PLACED["locations"])]
        job_id = await solved(call, store, await created(call, {**PLACED, "locations": moved}), ["t-1"])
        seen = await view(call, job_id, open_reader, parts=["roads"])
        masked = await view(call, job_id, masked_reader, parts=["roads"])
        answers.append((seen["roads"]["origin"], masked["roads"]))
    assert answers[0][0] != answers[1][0], "who may see positions has the box of them"
    assert answers[0][1] == answers[1][1]
    assert answers[0][1]["lines"] == {}
    again = (await view(call, job_id, masked_reader, parts=["lines"]))["roads"]
    assert again == {name: value for name, value in answers[1][1].items() if name != "roads"}, "the roads stay"
    assert 3 < len(answers[0][1]["roads"][0]) < 20
    bare = await view(call, job_id, parts=["roads"])
    assert bare["roads"] == {"roads": [], "lines": {}}, "without an extract a page draws a grid"


async def test_bad_calls_are_refused(call: Call, store: RedisStore, ctx: ToolContext) -> None:
    """SPEC T7, A2: unknown, malformed and somebody else's are one; every other fault names its place."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    stranger = replace(ctx, principal=Principal("eve", ctx.principal.scopes))
    unknown = (await call("read_view", {"job_id": f"job-0-{'a' * 26}"})).structured
    theirs = (await call("read_view", {"job_id": job_id}, stranger)).structured
    assert (unknown["code"], unknown["errors"]) == (theirs["code"], theirs["errors"])
    scopeless = replace(ctx, principal=replace(ctx.principal, scopes=frozenset()))
    assert (await call("read_view", {"job_id": job_id}, scopeless)).structured["type"] == "InsufficientScope"
    for args, path in (
        ({"since": "yesterday"}, "/since"),
        ({"since": 7}, "/since"),
        ({"since": "0."}, "/since"),
        ({"since": "0.short"}, "/since"),
        ({"since": f"0.{'a' * 12}é"}, "/since"),
        ({"since": "0." + "a" * 12_001}, "/since"),
        ({"wait_s": 21}, "/wait_s"),
        ({"parts": ["streets"]}, "/parts/0"),
        ({"parts": "plan"}, "/parts"),
        ({"more": 1}, "/more"),
    ):
        answer = (await call("read_view", {"job_id": job_id, **args})).structured
        assert [fault["path"] for fault in answer["errors"]] == [path]
