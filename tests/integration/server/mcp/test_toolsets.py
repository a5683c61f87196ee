"""Tool sets by setting, by scope and by URL, over the wire (SPEC T9)."""

import base64
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.server.mcp.methods.tool_methods import way_to
from planner_mcp.server.tools.tool_registry import REGISTRY, shown_tools
from planner_mcp.settings import Settings
from tests.integration.server.mcp.app_replicas import Caller, Replica, Two, Worker, events, replica
from tests.integration.server.mcp.test_resource_methods import caller, solved

pytestmark = pytest.mark.anyio
__all__ = ["caller"]


def asking(on: Replica) -> Replica:
    """Return the same replica by a URL that asks for tool sets."""
    return on.with_sets("core,data")


async def names(caller: Caller, on: Replica) -> list[str]:
    """Return the names of the tools shown."""
    return [tool["name"] for tool in (await caller.result(on, "tools/list"))["tools"]]


async def test_a_client_switches_sets_on_by_its_url(app_replicas: Two, caller: Caller) -> None:
    """SPEC T9: what is not asked for costs no tokens; the order is one."""
    hidden = set() if caller.session else {"enable_toolset"}
    core = [tool.name for tool in REGISTRY if tool.toolset == "core" and tool.name not in hidden]
    more = [tool.name for tool in REGISTRY if tool.toolset in ("core", "data") and tool.name not in hidden]
    assert await names(caller, app_replicas[0]) == core
    assert await names(caller, asking(app_replicas[1])) == more


async def test_a_session_gets_a_set_by_a_tool(app_replicas: Two, legacy: Caller) -> None:
    """SPEC T9: at every replica, for this session alone; `list_changed` follows once."""
    first, second = app_replicas
    await legacy.initialize(first)
    assert "compare_plans" not in await names(legacy, first)
    with anyio.fail_after(30):
        async with legacy.standalone(second) as response, aclosing(events(response)) as received:
            on = (await legacy.call(first, "enable_toolset", {"toolset": "planning"}))["structuredContent"]
            async for event in received:
                if event.data:
                    break
    assert event.message["method"] == "notifications/tools/list_changed"
    assert "compare_plans" in on["tools"]
    assert set(on["tools"]) <= {*await names(legacy, second)}
    refused = await legacy.call(second, "compare_plans", {})
    assert refused["structuredContent"]["type"] == "MissingParameter"


async def test_lists_of_a_revision_without_sessions_stay_one(app_replicas: Two, modern: Caller) -> None:
    """SPEC T9: the tool is not offered, and says where to ask."""
    assert "enable_toolset" not in await names(modern, app_replicas[0])
    refused = await modern.call(app_replicas[0], "enable_toolset", {"toolset": "planning"})
    assert "?toolsets=" in refused["structuredContent"]["errors"][0]["hint"]


async def test_a_set_that_the_deployment_withholds_stays_off(legacy: Caller, store_url: str, tmp_path: Path) -> None:
    """SPEC T9: the deployment has the last word."""
    async with replica(f"{store_url}?db=15", tmp_path, toolsets_allowed="data") as closed:
        await legacy.initialize(closed)
        refused = await legacy.call(closed, "enable_toolset", {"toolset": "planning"})
        assert refused["isError"]
        assert "compare_plans" not in await names(legacy, closed)


async def test_a_set_that_is_off_cannot_be_called(app_replicas: Two, caller: Caller) -> None:
    """SPEC T9: off means off, for the list and for the call; a client with a session may switch it on itself."""
    asked: dict[str, Any] = {"name": "list_jobs", "arguments": {}}
    refused = await caller.error(app_replicas[0], "tools/call", "list_jobs", **asked)
    assert (refused["data"]["type"], refused["data"]["errors"][0]["path"]) == ("UnknownTool", "/name")
    assert "tool set data" in refused["message"]
    way = "?toolsets=core,data" if caller.version == "2026-07-28" else "Call enable_toolset with toolset data."
    assert way in refused["message"]
    named = await caller.error(
        asking(app_replicas[0]), "tools/call", "compare_plans", name="compare_plans", arguments={}
    )
    way = way.replace("core,", "core,planning,").replace("toolset data", "toolset planning")
    assert way in named["message"]
    strange = await caller.error(app_replicas[0], "tools/call", "xyzzy", name="xyzzy", arguments={})
    assert strange["message"] == "No tool has this name."
    elsewhere = await caller.error(
        app_replicas[0], "tools/call", "resolve_addresses", name="resolve_addresses", arguments={}
    )
    assert elsewhere["message"] == "The tool resolve_addresses is one of the address server."
    assert "resolve_vrp" not in str(elsewhere), "a name that resembles it"
    assert strange["data"]["errors"][0]["accepted"] == "a tool of tools/list"
    review = await caller.error(app_replicas[0], "tools/call", "review_plan", name="review_plan", arguments={})
    assert (review["data"]["type"], "PLANNER_APPROVAL" in review["message"]) == ("UnknownTool", True), "no set has it"
    approve = await caller.error(app_replicas[0], "tools/call", "approve_plan", name="approve_plan", arguments={})
    assert approve["message"] == "No tool has this name. The nearest is review_plan.", "and not prove_plan"
    assert (await caller.result(asking(app_replicas[0]), "tools/call", "list_jobs", **asked))["structuredContent"]


@pytest.mark.parametrize(
    ("allowed", "asked", "advice"),
    [
        ("all", "", "?toolsets=core,data on the URL or PLANNER_TOOLSETS=core,data at the server"),
        ("all", "planning", "?toolsets=planning,data on the URL"),
        ("planning", "", "PLANNER_TOOLSETS=core,data at the server"),
        ("planning", "planning", "PLANNER_TOOLSETS=core,data at the server and ?toolsets=planning,data on the URL"),
        ("planning", "planning,data", "PLANNER_TOOLSETS=core,data at the server"),
    ],
)
def test_an_error_names_what_switches_a_tool_set_on(allowed: str, asked: str, advice: str) -> None:
    """SPEC T7, T9: who does as told has the set and keeps those there are; a URL that names sets has to name it."""
    assert way_to(Settings(toolsets="core", toolsets_allowed=allowed), "data", asked, has_url=True) == advice


def test_a_client_without_a_url_learns_the_server_option_alone() -> None:
    """SPEC T7, T9: over standard input and output."""
    assert way_to(Settings(toolsets="core"), "data", "", has_url=False) == "PLANNER_TOOLSETS=core,data at the server"


async def test_a_misspelt_tool_set_is_reported(app_replicas: Two, caller: Caller) -> None:
    """SPEC T7, T9: an empty list would say nothing; the names there are come with the refusal."""
    on = app_replicas[0].with_sets("core,typo")
    call: dict[str, Any] = {"name": "list_jobs", "arguments": {}}
    for refused in (await caller.error(on, "tools/list"), await caller.error(on, "tools/call", "list_jobs", **call)):
        assert (refused["code"], refused["data"]["type"]) == (-32602, "InvalidParameter")
        assert refused["data"]["errors"][0]["accepted"] == "core, planning, data, admin, all"


def test_the_deployment_has_the_last_word() -> None:
    """SPEC T9: a URL switches on what is allowed, nothing else."""
    closed = Settings(toolsets="core", toolsets_allowed="")
    assert {tool.toolset for tool in shown_tools(closed, "all")} == {"core"}
    assert {tool.toolset for tool in shown_tools(closed, "admin,data")} == set()
    assert {tool.toolset for tool in shown_tools(Settings(), "data,,")} == {"data"}
    assert {tool.toolset for tool in shown_tools(Settings(toolsets="core,admin"))} == {"core", "admin"}


async def test_callback_support_reaches_clients(app_replicas: Two, caller: Caller) -> None:
    """SPEC T2: an annotation the SDK does not know travels all the same, on every page."""
    tools = (await caller.result(app_replicas[0], "tools/list"))["tools"]
    assert [tool["name"] for tool in tools if tool["annotations"].get("callbackSupport")] == ["solve_vrp"]
    assert all("readOnlyHint" in tool["annotations"] for tool in tools)


async def test_what_resources_offer_tools_offer_too(app_replicas: Two, caller: Caller, worker: Worker) -> None:
    """SPEC T6: for hosts that show their model no resources."""
    on = asking(app_replicas[1])
    job_id = await solved(caller, app_replicas[0], worker)
    jobs = (await caller.call(on, "list_jobs", {"status": "COMPLETED"}))["structuredContent"]
    assert [row[0] for row in jobs["rows"]] == [job_id]
    scenarios = (await caller.call(on, "list_scenarios", {}))["structuredContent"]
    assert scenarios["rows"][0][3] == job_id
    plan = f"plan://{job_id.replace('job-', 'plan-', 1)}"
    for uri in (f"scenario://{scenarios['rows'][0][0]}", f"job://{job_id}", plan, f"{plan}/stops.csv"):
        found = await caller.call(on, "read_resource", {"uri": uri})
        (contents,) = (await caller.result(on, "resources/read", uri, uri=uri))["contents"]
        assert contents["text"].startswith(found["structuredContent"]["text"])
        assert found["content"][0]["text"].startswith(found["structuredContent"]["text"])
    picture = (await caller.call(on, "read_resource", {"uri": f"{plan}/map.png"}))["content"][1]
    assert (picture["type"], picture["mimeType"]) == ("image", "image/png")
    assert base64.b64decode(picture["data"]).startswith(b"\x89PNG")


async def test_a_page_for_people_is_a_url_that_every_replica_serves(
    app_replicas: Two, caller: Caller, worker: Worker, web: httpx.AsyncClient
) -> None:
    """SPEC T5, T9: driver sheets as a link, never as pages of HTML through a model."""
    plan = f"plan://{(await solved(caller, app_replicas[0], worker)).replace('job-', 'plan-', 1)}"
    for name in ("sheets.html", "report.html"):
        answer = await caller.call(asking(app_replicas[0]), "read_resource", {"uri": f"{plan}/{name}"})
        url = answer["structuredContent"]["download"]
        assert "text" not in answer["structuredContent"]
        assert url in answer["content"][0]["text"]
        if caller.version >= "2025-06-18":
            link = {"type": "resource_link", "uri": url, "name": name, "mimeType": "text/html"}
            assert answer["content"][1] == link
        assert url.startswith(app_replicas[0].url)
        for at in app_replicas:
            page = await web.get(at.url + url.removeprefix(app_replicas[0].url))
            assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
            assert page.text.endswith("</html>\n")
            assert page.headers["content-disposition"] == f'inline; filename="{name}"'


async def test_an_unknown_resource_is_a_tool_error(app_replicas: Two, caller: Caller) -> None:
    """SPEC T7, A2."""
    result = await caller.call(asking(app_replicas[0]), "read_resource", {"uri": "job://nothing"})
    assert result["isError"]
    assert result["structuredContent"]["errors"][0]["path"] == "/uri"
