"""Fifteen tasks of a dispatcher, through the tools alone, with what they cost a model.

Each task is what an agent would call for one sentence of its user. A call counts whether or not it succeeds; tokens are
those of the arguments, and of the dearer form of each answer. `benchmarks/DISPATCH.md` records a run.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from mcp import Client

from examples.planner_server import running_server
from planner_mcp.text import Json
from tests.shared.tools.token_costs import tokens

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
DAY = "2025-07-15"


@dataclass
class Agent:
    """A client that counts."""

    client: Client
    calls: dict[str, int] = field(default_factory=dict)
    tokens_in: int = 0
    tokens_out: int = 0

    async def use(self, tool: str, **arguments: Any) -> Json:
        result = await self.client.call_tool(tool, arguments)
        self.calls[tool] = self.calls.get(tool, 0) + 1
        self.tokens_in += tokens(arguments)
        text = "\n".join(part.text for part in result.content if part.type == "text")
        self.tokens_out += max(tokens(result.structured_content), tokens(text))
        assert not result.is_error, text
        return {**result.structured_content, "text": text}

    async def plan(self, scenario: Json, solve_time: str = "PT2S") -> Json:
        answer = await self.use("plan_day", scenario=scenario, solve_time=solve_time)
        assert answer["status"] == "COMPLETED"
        return answer

    async def ended(self, job_id: str) -> Json:
        while (status := await self.use("query_vrp_status", job_id=job_id, wait_s=45))["status"] in (
            "QUEUED",
            "SOLVING",
        ):
            pass
        assert status["status"] == "COMPLETED"
        return status


def day(tickets: list[Json], agents: list[Json], **more: Any) -> Json:
    return {"name": "day", "planning_date": DAY, "tickets": tickets, "agents": agents, **more}


def city(count: int) -> list[Json]:
    """Return a depot and places around it."""
    places = [
        {"id": f"p{n}", "lat": 52.5 + 0.012 * (n % 7 - 3), "lon": 13.4 + 0.018 * (n % 5 - 2)} for n in range(count)
    ]
    return [{"id": "depot", "lat": 52.52, "lon": 13.4}, *places]


def vans(count: int, **more: Any) -> list[Json]:
    return [
        {"id": f"van {n + 1}", "capacity": 40, "shift_start": "08:00", "shift_end": "17:00"} | more
        for n in range(count)
    ]


def stops(count: int) -> list[Json]:
    return [{"id": f"t{n}", "location": f"p{n}", "demand": 2, "service_time_s": 600} for n in range(count)]


async def five_stops_without_coordinates(agent: Agent) -> None:
    answer = await agent.plan(day([{"id": f"t{n}", "location": f"stop {n}", "demand": 1} for n in range(5)], vans(1)))
    assert answer["result"]["tickets_served"] == 5
    assert "Travel is not known" in answer["text"]


async def thirty_stops_three_vans_lunch_and_a_lift(agent: Agent) -> None:
    lunch = [{"earliest": "12:00", "latest": "13:00", "duration_s": 1800}]
    agents = vans(3, breaks=lunch)
    agents[0]["skills"] = ["lift"]
    tickets = [ticket | ({"skills": ["lift"]} if n in (4, 17) else {}) for n, ticket in enumerate(stops(30))]
    answer = await agent.plan(day(tickets, agents, locations=city(30), depot="depot"))
    assert answer["result"]["tickets_served"] == 30
    with_lift = await agent.use("read_plan", job_id=answer["job_id"], view="visits", agent_ids=["van 1"], size=50)
    assert {"t4", "t17"} <= {row[1] for row in with_lift["rows"]}


async def pickups_and_deliveries_between_customers(agent: Agent) -> None:
    tickets = [
        part
        for n in range(3)
        for part in (
            {"id": f"from {n}", "location": f"p{n}", "demand": 5, "kind": "pickup"},
            {"id": f"to {n}", "location": f"p{n + 3}", "demand": 5, "pickup": f"from {n}"},
        )
    ]
    answer = await agent.plan(day(tickets, vans(2), locations=city(6), depot="depot"))
    assert answer["result"]["tickets_served"] == 6


async def a_van_broke_down_at_ten(agent: Agent) -> None:
    tickets = [ticket | {"service_time_s": 1800} for ticket in stops(12)]
    base = await agent.plan(day(tickets, vans(3, cost_per_hour=20), locations=city(12), depot="depot"))
    broken = base["visits"]["rows"][0][0]
    patch = {"agents": {broken: {"shift_end": "10:00"}}}
    again = await agent.use("resolve_vrp", warm_from=base["job_id"], patch=patch, keep_until="10:00", solve_time="PT2S")
    done = await agent.ended(again["job_id"])
    assert done["result"]["tickets_served"] == 12


async def why_is_ticket_seven_not_served(agent: Agent) -> None:
    tickets = [ticket | ({"demand": 99} if n == 7 else {}) for n, ticket in enumerate(stops(9))]
    answer = await agent.plan(day(tickets, vans(1), locations=city(9), depot="depot"))
    assert answer["unassigned"]["rows"][0][0] == "t7"
    why = await agent.use("explain_unassigned", plan=answer["job_id"], ticket_ids=["t7"])
    assert "CAPACITY" in why["text"]


async def two_alternatives(agent: Agent) -> None:
    # The quickest plan, by the van that is fast and dear, is not the cheapest.
    fast = {"id": "fast", "capacity": 12, "speed_factor": 2, "cost_per_km": 3}
    fleet = [*vans(2, capacity=12, cost_per_km=1), fast]
    base = await agent.plan(day(stops(16), fleet, locations=city(16), depot="depot"))
    found = await agent.use("solve_alternatives", plan=base["job_id"], k=2, solve_time="PT2S", wait_s=45)
    jobs = [each["job_id"] for each in found["alternatives"]]
    assert len(jobs) == 2, found["text"]
    weighed = await agent.use("weigh_plans", plans=[base["job_id"], *jobs])
    assert not weighed["duplicates"]
    assert [row[2] for row in weighed["rows"]] == [
        found["base_cost"],
        *(each["cost"] for each in found["alternatives"]),
    ]


async def a_chinese_customer_list(agent: Agent) -> None:
    content = (
        "客户编号,地址,经度,纬度,货量(件),最早送达,最晚送达,卸货时长(分钟)\n"
        "K1,朝阳区,116.45,39.92,3,08:30,10:00,15\nK2,海淀区,116.30,39.96,2,09:00,12:00,20\n"
    )
    file = {"format": "csv", "content": content, "planning_date": DAY, "agents": vans(1), "depot": "39.9,116.4"}
    answer = await agent.use("plan_day", file=file, solve_time="PT2S")
    columns = answer["visits"]["columns"]
    visits = [dict(zip(columns, row, strict=True)) for row in answer["visits"]["rows"]]
    first = next(each for each in visits if each["ticket_id"] == "K1")
    assert "08:30" <= first["start"] <= "10:00"


async def files_for_the_drivers_gps(agent: Agent) -> None:
    base = await agent.plan(day(stops(3), vans(1), locations=city(3), depot="depot"))
    gpx = await agent.use("read_resource", uri=f"plan://{base['job_id'].replace('job-', 'plan-', 1)}/routes.gpx")
    assert "<rtept" in gpx["text"]


async def three_days_of_technicians(agent: Agent) -> None:
    dates = ["2025-07-15", "2025-07-16", "2025-07-17"]
    agents = [{"id": f"ann {d}", "shift_start": f"{d} 08:00", "shift_end": f"{d} 17:00"} for d in dates]
    tickets = [
        {"id": f"job {n}", "location": f"p{n}", "service_time_s": 5400, "time_windows": [[f"{d} 08:00", f"{d} 12:00"]]}
        for n, d in enumerate(dates)
    ]
    answer = await agent.plan(day(tickets, agents, locations=city(3), depot="depot"))
    assert answer["result"]["tickets_served"] == 3
    assert all(f"{d} 0" in answer["text"] for d in dates[1:])


async def a_cvrplib_file(agent: Agent) -> None:
    nodes = "\n".join(f"{n + 1} {n * 7 % 20} {n * 3 % 20}" for n in range(8))
    demands = "\n".join(f"{n + 1} {0 if n == 0 else 3}" for n in range(8))
    content = (
        "NAME : small\nTYPE : CVRP\nDIMENSION : 8\nEDGE_WEIGHT_TYPE : EUC_2D\nCAPACITY : 12\n"
        f"NODE_COORD_SECTION\n{nodes}\nDEMAND_SECTION\n{demands}\nDEPOT_SECTION\n1\n-1\nEOF\n"
    )
    file = {"format": "vrplib", "content": content, "planning_date": DAY}
    answer = await agent.use("plan_day", file=file, solve_time="PT2S")
    assert answer["result"]["tickets_served"] == 7


async def an_urgent_order_and_nobody_else_moves(agent: Agent) -> None:
    tickets = stops(8)
    base = await agent.plan(day(tickets, vans(2, max_tickets=5), locations=[*city(8), PLACE], depot="depot"))
    urgent = {"urgent": {"location": "new", "demand": 1, "time_windows": [["09:15", "17:00"]], "priority": 9}}
    again = await agent.use(
        "resolve_vrp",
        warm_from=base["job_id"],
        patch={"tickets": urgent},
        keep_agents=True,
        keep_until="08:30",
        solve_time="PT2S",
    )
    done = await agent.ended(again["job_id"])
    assert done["result"]["tickets_served"] == 9


PLACE = {"id": "new", "lat": 52.53, "lon": 13.42}


async def weight_and_volume_with_reloads(agent: Agent) -> None:
    tickets = [
        {"id": f"t{n}", "location": f"p{n}", "demand": {"kg": 300, "m3": 1.5}, "service_time_s": 300} for n in range(9)
    ]
    van = vans(1, capacity={"kg": 1000, "m3": 6}, reload_locations=["depot"], max_reloads=3)
    answer = await agent.plan(day(tickets, van, locations=city(9), depot="depot"))
    assert answer["result"]["tickets_served"] == 9


async def addresses_alone(agent: Agent) -> None:
    places = [
        {"id": "depot", "address": "Alexanderplatz 1, 10178 Berlin"},
        {"id": "a", "address": "Karl-Marx-Allee 34, 10178 Berlin"},
        {"id": "b", "address": "Kantstraße 12, 10623 Berlin"},
    ]
    tickets = [{"id": each, "location": each, "demand": 1} for each in "ab"]
    answer = await agent.plan(day(tickets, vans(1), locations=places, depot="depot"))
    assert answer["text"].startswith("Travel is not known: all 3 addresses"), answer["text"]


async def a_map_and_driver_sheets(agent: Agent) -> None:
    base = await agent.plan(day(stops(6), vans(2), locations=city(6), depot="depot"))
    plan = f"plan://{base['job_id'].replace('job-', 'plan-', 1)}"
    await agent.use("read_resource", uri=f"{plan}/map.png")
    sheets = await agent.use("read_resource", uri=f"{plan}/sheets.html")
    assert "<html" not in sheets["text"], "no pages of HTML pass through the model"
    async with httpx.AsyncClient() as browser:
        assert "van 1" in (await browser.get(sheets["download"])).text


async def what_does_it_cost_balance_it_stop_now(agent: Agent) -> None:
    base = await agent.plan(day(stops(20), vans(3), locations=city(20), depot="depot"))
    assert base["result"]["cost"] > 0
    balanced = await agent.use("resolve_vrp", warm_from=base["job_id"], patch={"options": BALANCE}, solve_time="PT60S")
    ended = await agent.use("finish_vrp_job", job_id=balanced["job_id"])
    assert ended["status"] == "COMPLETED"


BALANCE = {"balance_cost_per_hour": 5000}
TASKS: tuple[Callable[[Agent], Awaitable[None]], ...] = (
    five_stops_without_coordinates,
    thirty_stops_three_vans_lunch_and_a_lift,
    pickups_and_deliveries_between_customers,
    a_van_broke_down_at_ten,
    why_is_ticket_seven_not_served,
    two_alternatives,
    a_chinese_customer_list,
    files_for_the_drivers_gps,
    three_days_of_technicians,
    a_cvrplib_file,
    an_urgent_order_and_nobody_else_moves,
    weight_and_volume_with_reloads,
    addresses_alone,
    a_map_and_driver_sheets,
    what_does_it_cost_balance_it_stop_now,
)
MOST_CALLS = 60
"""For all tasks together."""


async def test_a_dispatchers_tasks_take_few_calls(tmp_path: Path) -> None:
    """SPEC T9, T10: by the official client through the tools alone."""
    rows, failed = [], {}
    async with running_server(tmp_path, workers=1, settings={"PLANNER_TOOLSETS": "all"}) as server:
        for task in TASKS:
            async with Client(server.mcp) as client:
                agent = Agent(client)
                try:
                    await task(agent)
                except AssertionError as error:
                    failed[task.__name__] = str(error).splitlines()[0] if str(error) else "AssertionError"
                rows.append((task.__name__, sum(agent.calls.values()), agent.tokens_in, agent.tokens_out))
    for name, calls, tokens_in, tokens_out in rows:
        print(  # noqa: T201 the record of benchmarks/DISPATCH.md
            f"| {name.replace('_', ' ')} | {failed.get(name, 'yes')} | {calls} | {tokens_in:,} / {tokens_out:,} |"
        )
    assert not failed
    assert sum(calls for _name, calls, _in, _out in rows) <= MOST_CALLS


async def test_a_day_of_120_tickets_at_30_s_takes_three_calls(tmp_path: Path) -> None:
    """SPEC T3: the status is asked as the answers advise."""
    async with running_server(tmp_path, workers=1) as server, Client(server.mcp) as client:
        agent = Agent(client)
        scenario = day(stops(120), vans(8), locations=city(120), depot="depot")
        created = await agent.use("create_scenario", **scenario)
        job = await agent.use("solve_vrp", scenario_id=created["scenario_id"], solve_time="PT30S")
        await agent.ended(job["job_id"])
    assert agent.calls["query_vrp_status"] <= 3
