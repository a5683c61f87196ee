"""Chinese texts over the wire: by the setting, and by the language of a request where answers may vary."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp import Client
from mcp_types import ElicitResult

from planner_mcp.jobs.store.redis_store import RedisStore
from tests.integration.server.mcp.app_replicas import Replica, Two, replica
from tests.integration.server.mcp.raw_client import MODERN_META
from tests.shared.http.http_clients import http_client
from tests.shared.tools.token_costs import tokens

pytestmark = pytest.mark.anyio
UNKNOWN = "这里没有此 id 的内容。"


@pytest.fixture(scope="module")
async def chinese(
    store_url: str, shared_store: RedisStore, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Replica]:
    async with replica(f"{store_url}?db=15", tmp_path_factory.mktemp("zh"), lang="zh") as server:
        yield server


async def result(server: Replica, language: str, method: str, **params: Any) -> Any:
    """Return the result of a request of revision 2026-07-28 whose client sends `Accept-Language`."""
    headers = {
        "Accept": "application/json, text/event-stream",
        "Accept-Language": language,
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
    }
    headers |= {"Mcp-Name": params["name"]} if "name" in params else {}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": MODERN_META}}
    async with http_client(timeout=20) as http:
        return (await http.post(server.mcp, json=body, headers=headers)).json()["result"]


async def test_a_server_with_the_setting_lists_and_answers_in_chinese(chinese: Replica) -> None:
    """SPEC T9, T11: tools, prompts, resources and errors, to a client that says nothing of languages."""
    async with Client(chinese.mcp) as client:
        tools = (await client.list_tools()).tools
        prompts = (await client.list_prompts()).prompts
        resources = (await client.list_resource_templates()).resource_templates
        prompt = await client.get_prompt("plan_a_day", {"date": "2026-07-15"})
        refused = (await client.call_tool("read_plan", {"job_id": "job-0-none"})).structured_content or {}
    solve = next(tool for tool in tools if tool.name == "solve_vrp")
    assert (solve.title, (solve.description or "")[:7]) == ("求解", "让方案排队求解")
    assert (prompts[0].title, resources[0].title) == ("一次排完一天", "方案")
    assert "，日期：2026-07-15" in str(prompt.messages[0].content)
    assert (refused["type"], UNKNOWN in refused["message"]) == ("NotFound", True)


async def test_an_answer_follows_the_language_of_its_request_and_a_list_does_not(chinese: Replica) -> None:
    """SPEC T9, T11: 2026-07-28 has lists kept by clients, so they do not vary from connection to connection."""
    languages = ("zh-CN", "en;q=0.9", "*")
    lists = [await result(chinese, each, "tools/list") for each in languages]
    wanted = {"name": "read_plan", "arguments": {"job_id": "job-0-none"}}
    refusals = [await result(chinese, each, "tools/call", **wanted) for each in languages]
    messages = [each["structuredContent"]["message"] for each in refusals]
    assert [UNKNOWN in each for each in messages] == [True, False, True]
    assert lists[0] == lists[1] == lists[2]
    assert tokens(lists[0]) <= 2400


async def test_a_server_without_the_setting_answers_in_chinese_where_asked(
    app_replicas: Two,
) -> None:
    """SPEC T11: English is the default."""
    server, _ = app_replicas
    async with http_client(timeout=20) as http:
        answers = [
            (await http.get(f"{server.url}/jobs/job-0-none", headers=headers)).json()["message"]
            for headers in ({}, {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"})
        ]
    assert [UNKNOWN in each for each in answers] == [False, True]


async def test_problem_details_are_in_one_language(app_replicas: Two) -> None:
    """SPEC T11; RFC 9457, 3.1.3: the title of a problem varies by language alone."""
    titles, (server, _) = [], app_replicas
    async with http_client(timeout=20) as http:
        for language in ("zh-CN", "en"):
            answer = await http.post(f"{server.url}/v1/scenarios", json={}, headers={"Accept-Language": language})
            titles.append((answer.json()["title"], answer.json()["errors"][0]["problem"]))
    assert titles == [
        ("缺少必需的参数。", "缺少必需的参数 name。"),
        ("A required parameter is missing.", "The required parameter name is missing."),
    ]


async def test_a_question_follows_the_language_of_its_request(chinese: Replica) -> None:
    """SPEC T7, T11: on the page and in both eras of MCP; what stands in the day stays as it was written."""
    address = "荣华中路"
    day = {
        "name": "d",
        "planning_date": "2026-07-15",
        "agents": [{"id": "v", "capacity": 9}],
        "tickets": [{"id": "a", "address": address, "demand": 1}, {"id": "b", "location": "b", "demand": 1}],
        "locations": [{"id": "b", "lat": 39.9, "lon": 116.4}],
        "depot": "b",
    }
    asked = []

    async def answer(_context: Any, params: Any) -> ElicitResult:
        asked.append((params.message, params.requested_schema["properties"]["address_1"]))
        return ElicitResult(action="decline")

    for mode in ("legacy", "auto"):
        async with Client(chinese.mcp, mode=mode, elicitation_callback=answer) as client:
            await client.call_tool("create_scenario", day)
    async with http_client(timeout=20) as http:
        call = {"tool": "create_scenario", "arguments": day, "answers": []}
        shown = (await http.post(f"{chinese.url}/ui/call", json=call)).json()["asks"]
    asked.append((shown["message"], shown["schema"]["properties"]["address_1"]))
    assert {message for message, _field in asked} == {"有些地址不确定。留空的保持未定。"}
    for _message, field in asked:
        assert (field["title"], field["description"]) == (address, "带城市的更完整的地址，或纬度, 经度")
    assert len(asked) == 3


async def test_a_missing_parameter_is_asked_for_in_the_language_of_the_server(chinese: Replica) -> None:
    """SPEC T7, T11: in both eras of MCP, with the title that the tool has in the list."""
    asked: list[str] = []

    async def answer(_context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="decline")

    for mode in ("legacy", "auto"):
        async with Client(chinese.mcp, mode=mode, elicitation_callback=answer) as client:
            await client.call_tool("query_vrp_status", {})
    assert asked == ["请给出 job_id，用于“查询任务状态”。"] * 2
