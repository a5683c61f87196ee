"""Calls whose arguments are too large for the event loop (ADR 0036): the same answers as those of small ones."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2 as httpx
import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.http.bodies.json_reading import LARGE_BYTES
from planner_mcp.settings import Settings
from tests.shared.http.app_clients import client_of
from tests.shared.http.mcp_caller import HEADERS, Caller

pytestmark = pytest.mark.anyio


@pytest.fixture
async def http(store: RedisStore, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """The entry points of a server with one user and every tool."""
    allowed = settings.model_copy(update={"toolsets": "all", "max_values": 60_000})
    async with client_of(allowed) as http:
        yield http


def day(count: int, **last: Any) -> dict[str, Any]:
    tickets = [{"id": f"t-{number}", "location": f"L{number}", "demand": 1} for number in range(count)]
    tickets[-1] |= last
    return {"name": "a", "planning_date": "2025-07-15", "agents": [{"id": "v", "capacity": 9}], "tickets": tickets}


@pytest.mark.parametrize("has_session", [True, False], ids=["2025-11-25", "2026-07-28"])
async def test_a_large_day_is_answered_like_a_small_one(http: httpx.AsyncClient, has_session: bool) -> None:
    """SPEC T1, T7: kept, told with assumptions, read back; its mistakes with their places."""
    caller = Caller(http)
    if has_session:
        await caller.initialize()
    large, small = day(600), day(1)
    assert len(json.dumps(large)) > LARGE_BYTES
    kept = [(await caller.call("create_scenario", **each)).json()["result"] for each in (large, small)]
    assert [each["isError"] for each in kept] == [False, False]
    assert [each["structuredContent"]["tickets"] for each in kept] == [600, 1]
    assert kept[0]["structuredContent"].keys() == kept[1]["structuredContent"].keys()
    uri = f"scenario://{kept[0]['structuredContent']['scenario_id']}"
    read = await caller.request("resources/read", uri=uri)
    assert '"t-599"' in read.json()["result"]["contents"][0]["text"]
    wrong = (await caller.call("create_scenario", **day(600, demand="much", lcation="X"))).json()["result"]
    assert {fault["path"] for fault in wrong["structuredContent"]["errors"]} >= {
        "/tickets/599/demand",
        "/tickets/599/lcation",
    }


@pytest.mark.slow
async def test_tools_of_small_arguments_take_large_ones(http: httpx.AsyncClient) -> None:
    """SPEC T7: decoded for them, within bounds."""
    caller = Caller(http)
    report = (await caller.call("validate_scenario", scenario=day(600))).json()["result"]["structuredContent"]
    assert (report["valid"], report["tickets"]) == (True, 600)
    table = "id,location\n" + "".join(f"t-{number},L{number}\n" for number in range(2000))
    agents = [{"id": "v", "capacity": 9}]
    imported = await caller.call(
        "import_scenario", format="csv", content=table, planning_date="2025-07-15", agents=agents
    )
    assert imported.json()["result"]["structuredContent"]["tickets"] == 2000
    wrong = await caller.call(
        "import_scenario", format="csv", content=table + "t-1,X\n", planning_date="2025-07-15", agents=agents
    )
    assert [fault["path"] for fault in wrong.json()["result"]["structuredContent"]["errors"]] == ["/content/2002/id"]


async def test_an_uploaded_file_is_found_beside_many_agents(http: httpx.AsyncClient) -> None:
    """SPEC T5, T7: an import that is large for its agents reads the file that it names, and asks about its columns."""
    caller = Caller(http)
    await http.put("/files/orders.csv", content="id,location\na,X\n", headers={"content-type": "text/csv"})
    agents = [{"id": f"van {number}", "capacity": 9, "shift_end": "17:00"} for number in range(400)]
    day = {"file": "orders.csv", "planning_date": "2025-07-15", "agents": agents}
    assert len(json.dumps(day)) > LARGE_BYTES
    for tool, asked in (("import_scenario", day), ("plan_day", {"file": day, "wait_s": 0})):
        answer = (await caller.call(tool, **asked)).json()["result"]
        assert not answer["isError"], answer
    open_day = {**day, "file": "open.csv"}
    table = "id;lat;lon;Menge;Stop time\na;48,1371;11,5754;3;15\n"
    await http.put("/files/open.csv", content=table, headers={"content-type": "text/csv"})
    asked = {"tool": "import_scenario", "arguments": open_day, "answers": []}
    asks = (await http.post("/ui/call", json=asked)).json()["asks"]
    assert list(asks["schema"]["properties"]) == ["column_1"]


async def test_too_many_values_are_refused_before_they_are_decoded(http: httpx.AsyncClient) -> None:
    """SPEC X3: 413, in the form of the protocol."""
    answer = await Caller(http).call("create_scenario", tickets=[{}] * 60_001)
    assert answer.status_code == 413
    assert answer.json()["error"]["data"]["type"] == "TooLarge"


async def test_large_bodies_that_the_sdk_refuses_are_refused(http: httpx.AsyncClient) -> None:
    """SPEC X1: it sees an outline alone."""
    body = {"jsonrpc": "2.0", "id": [], "method": "tools/call", "params": {"name": "x", "arguments": day(600)}}
    headers = HEADERS | {"mcp-protocol-version": "2026-07-28"}
    answer = await http.post("/mcp", json=body, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["data"]["code"] == 4015


async def test_a_large_day_is_planned_in_one_call(http: httpx.AsyncClient) -> None:
    """SPEC T10, T7, T11: a day, a file, at both entry points; mistakes have their places; equal days are one."""
    caller, large = Caller(http), day(600, priority=1)
    asked = {"scenario": large, "solve_time": "PT1S", "wait_s": 0}
    answers = [(await caller.call("plan_day", **asked)).json()["result"]["structuredContent"] for _ in range(2)]
    answers.append((await http.post("/v1/plan", json=asked, headers={"prefer": "wait=0"})).json())
    assert {answer.get("status") for answer in answers} == {"QUEUED"}, answers
    assert len({answer["scenario_id"] for answer in answers}) == len({answer["job_id"] for answer in answers}) == 1
    wrong = await caller.call("plan_day", scenario=day(600, demand="much"), wait_s=99, nights=[{}] * 3_000)
    listed = [fault["path"] for fault in wrong.json()["result"]["structuredContent"]["errors"]]
    assert listed == ["/wait_s", "/nights", "/scenario/tickets/599/demand"]
    wrong = await caller.call("plan_day", scenario=day(600, demand="much"))
    assert [fault["path"] for fault in wrong.json()["result"]["structuredContent"]["errors"]] == [
        "/scenario/tickets/599/demand"
    ]
    table = "id,location\n" + "".join(f"t-{number},Loading place {number:09}\n" for number in range(600))
    assert len(table) > LARGE_BYTES
    file = {"content": table, "format": "csv", "planning_date": "2025-07-15", "agents": [{"id": "v", "capacity": 9}]}
    planned = await caller.call("plan_day", file=file, wait_s=0)
    assert planned.json()["result"]["structuredContent"]["status"] == "QUEUED"
