"""A day that goes on: orders come in, a vehicle breaks down; with real workers and engines (SPEC T5, S1)."""

from typing import Any

import pytest

from planner_mcp.text import Json
from tests.integration.server.tools.conftest import ToolClient
from tests.shared.scenarios.scenario_builders import body, plane

pytestmark = pytest.mark.anyio
PLACES = {"D": (0, 0), "A": (1000, 0), "B": (2000, 0), "N": (1500, 500), "F": (72000, 0)}
"""A is 100 s from the depot, F two hours."""


def van(name: str, **fields: Any) -> Json:
    return {"id": name, "capacity": 10, "shift_start": "08:00", "shift_end": "18:00", **fields}


def order(place: str, *window: str, **fields: Any) -> Json:
    return {"location": place, "demand": 1, **({"time_windows": [list(window)]} if window else {}), **fields}


def day(agents: list[Json], orders: dict[str, Json], **fields: Any) -> Json:
    tickets = [{"id": name, **entry} for name, entry in orders.items()]
    return body(agents, tickets, locations=plane(PLACES), **{"travel": {"plane_speed": 10}, **fields})


async def after(tools_client: ToolClient, job_id: str, hour: str, patch: Json, **how: Any) -> tuple[Json, Json]:
    """Return the answer and the plan of a change at an hour: the first that serves every ticket, where one does."""
    answer = await tools_client.use(
        "resolve_vrp", warm_from=job_id, patch=patch, keep_until=hour, solve_time="PT1S", **how
    )
    return answer, await tools_client.plan(answer["job_id"])


def clock(plan: Json) -> dict[tuple[str, str], str]:
    """Return when each visit starts, by agent and ticket."""
    return {
        (route["agent_id"], visit["ticket_id"] or visit["kind"]): _hhmm(visit["start_s"])
        for route in plan["routes"]
        for visit in route["visits"]
    }


def _hhmm(seconds: float) -> str:
    return f"{int(seconds) // 3600:02d}:{int(seconds) // 60 % 60:02d}"


def left_out(plan: Json) -> dict[str, str]:
    return {entry["ticket_id"]: entry["code"] for entry in plan["unassigned"]}


async def test_who_waits_since_nine_reaches_what_was_ordered_at_half_past_ten_two_hours_later(
    tools_client: ToolClient,
) -> None:
    """SPEC T5: not at 11:08, as if the vehicle had known at nine; where the window closes before, it is left out."""
    body = day([van("v1")], {"x": order("A", "09:00", "09:10"), "z": order("A", "16:00", "17:00")})
    before = await tools_client.solve(body)
    _, plan = await after(tools_client, before, "10:30", {"tickets": {"n": order("F", "11:00", "11:15")}})
    assert left_out(plan) == {"n": "TIME_WINDOW"}
    answer, plan = await after(tools_client, before, "10:30", {"tickets": {"n": order("F", "11:00", "13:00")}})
    assert clock(plan) == {("v1", "x"): "09:10", ("v1", "n"): "12:28", ("v1", "z"): "16:00"}
    again, plan = await after(tools_client, answer["job_id"], "11:00", {"tickets": {"z": {"notes": "ring twice"}}})
    assert clock(plan) == {("v1", "x"): "09:10", ("v1", "n"): "12:28", ("v1", "z"): "16:00"}
    assert again["kept_tickets"] == 2


async def test_nobody_on_the_first_leg_is_called_back(tools_client: ToolClient) -> None:
    """SPEC T5, S1: v1 left at nine; at half past ten nobody else leaves in its place at ten past nine."""
    orders = {"far": order("F", "11:00", "11:15"), "x": order("A", "09:00", "09:10"), "z": order("A", "16:00", "17:00")}
    before = await tools_client.solve(day([van("v1"), van("v2")], orders))
    old = clock(await tools_client.plan(before))
    (who,) = (agent for agent, name in old if name == "far")
    answer, plan = await after(tools_client, before, "10:30", {"tickets": {"n": order("N")}})
    new = clock(plan)
    assert new[who, "far"] == old[who, "far"]
    assert answer["kept_tickets"] == 2
    assert not left_out(plan)


async def test_what_a_vehicle_that_broke_down_has_done_is_not_done_again(tools_client: ToolClient) -> None:
    """SPEC T5: taken out of the day, or sent home; the others take over what is left, and the past stays as it was."""
    orders = {name: order(place, service_time_s=3000) for name, place in zip("abckno", "ABNBNA", strict=True)}
    vans = [van("v1", max_tickets=5), van("v2", max_tickets=5)]
    before = await tools_client.solve(day(vans, orders, options={"balance_cost_per_hour": 100000}))
    old = await tools_client.plan(before)
    lost = old["routes"][0]["agent_id"]
    done = {key: when for key, when in clock(old).items() if when < "09:30"}
    its = {name for agent, name in done if agent == lost}
    assert its
    answer, plan = await after(tools_client, before, "09:30", {"agents": {lost: None}})
    assert f"left out of the day: {', '.join(name for name in orders if name in its)}" in answer["notes"][0]
    assert {name for _, name in clock(plan)} | left_out(plan).keys() == orders.keys() - its
    answer, plan = await after(tools_client, before, "09:30", {"agents": {lost: {"shift_end": "09:30"}}})
    assert {key: when for key, when in clock(plan).items() if when < "09:30"} == done
    assert any(note.startswith("shift_end is set to") and f"for {lost}:" in note for note in answer["notes"])
    assert plan["assumptions"][-1] == answer["notes"][-1]
    assert {name for _, name in clock(plan)} | left_out(plan).keys() == orders.keys()


async def test_a_ticket_that_was_too_late_once_is_planned_when_it_has_time_again(tools_client: ToolClient) -> None:
    """SPEC T5, T6: its code says why it is out; a later patch of its window, or its removal, is all it takes."""
    orders = {"a": order("A", "09:00", "09:20", service_time_s=1800), "b": order("B", "12:00", "13:00")}
    orders |= {"m": order("N", "09:00", "09:20", service_time_s=1800)}
    before = await tools_client.solve(day([van("v1")], orders))
    (late,) = left_out(await tools_client.plan(before))
    first, plan = await after(tools_client, before, "11:00", {"tickets": {"n": order("N")}})
    assert left_out(plan) == {late: "TIME_WINDOW"}
    _, plan = await after(
        tools_client, first["job_id"], "11:30", {"tickets": {late: {"time_windows": [["14:00", "16:00"]]}}}
    )
    assert not left_out(plan)
    assert clock(plan)["v1", late] >= "14:00"
    _, plan = await after(tools_client, first["job_id"], "11:30", {"tickets": {late: None}})
    assert not left_out(plan)


async def test_a_break_that_was_taken_stays_and_one_ahead_is_not_taken_in_the_past(tools_client: ToolClient) -> None:
    """SPEC T5, S1: at 11:00 a wider window leaves room in the morning, where nobody can rest any more."""
    orders = {
        "a": order("A", "09:00", "09:05"),
        "g": order("A", "10:00", "10:05", service_time_s=2400),
        "p": order("A", "10:45", "10:50", service_time_s=1800),
        "r": order("A", "12:15", "12:20", service_time_s=2400),
        "q": order("A", "13:00", "13:05"),
    }
    rest = {"earliest": "10:00", "latest": "13:00", "duration_s": 1800}
    before = await tools_client.solve(day([van("v1", breaks=[rest])], orders))
    assert clock(await tools_client.plan(before))["v1", "break"] == "11:15"
    new = order("A", "11:40", "11:45", service_time_s=2000)
    early = {"breaks": [{**rest, "earliest": "09:00"}]}
    _, plan = await after(tools_client, before, "11:00", {"tickets": {"n": new}, "agents": {"v1": early}})
    assert clock(plan)["v1", "break"] >= "11:00"
    _, plan = await after(tools_client, before, "11:20", {"tickets": {"r": None}})
    assert clock(plan)["v1", "break"] == "11:15"
