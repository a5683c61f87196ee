"""MCP Apps: who sees the page and the tool that it calls, in both eras (SPEC O2; ext-apps 2026-01-26)."""

from typing import Any

import pytest

from planner_mcp.server.mcp.methods.tool_listing import EXTENSION
from planner_mcp.server.resources.app_page import MIME_TYPE, page, page_uri
from tests.integration.server.mcp.app_replicas import Caller, Replica, Two
from tests.integration.server.mcp.test_resource_methods import UNKNOWN, caller

pytestmark = pytest.mark.anyio
ANNOUNCED = {EXTENSION: {"mimeTypes": [MIME_TYPE]}}
__all__ = ["caller"]


async def tools(caller: Caller, on: Replica) -> dict[str, dict[str, Any]]:
    """Return the tools listed, by name."""
    return {tool["name"]: tool for tool in (await caller.result(on, "tools/list"))["tools"]}


async def test_clients_without_apps_see_the_lists_as_before(app_replicas: Two, caller: Caller) -> None:
    """SPEC T9: neither a tool nor a word more, so no token."""
    listed = await tools(caller, app_replicas[0])
    assert "read_view" not in listed
    assert not any("ui" in tool["_meta"] for tool in listed.values())
    assert {each["uri"] for each in (await caller.result(app_replicas[0], "resources/list"))["resources"]} & {
        page_uri()
    } == set()


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_clients_with_apps_see_page_and_tool(app_replicas: Two, era: str, legacy: Caller, modern: Caller) -> None:
    """SPEC O2, ext-apps 2026-01-26: the page at the tools that hand over a job, the tool hidden from the model."""
    caller = legacy if era == "legacy" else modern
    caller.extensions = ANNOUNCED
    if caller is legacy:
        said = await legacy.initialize(app_replicas[0])
    else:
        said = await modern.result(app_replicas[0], "server/discover")
    assert said["capabilities"]["extensions"][EXTENSION] == {}
    listed = await tools(caller, app_replicas[1])
    shown = {name: tool["_meta"]["ui"] for name, tool in listed.items() if "ui" in tool["_meta"]}
    assert shown == {
        "query_vrp_status": {"resourceUri": page_uri()},
        "plan_day": {"resourceUri": page_uri()},
        "read_view": {"visibility": ["app"]},
    }


async def test_the_page_is_read_by_its_uri(app_replicas: Two, caller: Caller) -> None:
    """SPEC O2, ext-apps: profile, no origin; URIs of other versions are answered, so no upgrade breaks a chat."""
    for uri in (page_uri(), "ui://planner/plan-0123456789ab.html"):
        (contents,) = (await caller.result(app_replicas[0], "resources/read", uri, uri=uri))["contents"]
        assert (contents["uri"], contents["mimeType"], contents["text"]) == (uri, MIME_TYPE, page())
        assert set(map(tuple, contents["_meta"]["ui"]["csp"].values())) == {()}
    refused = await caller.error(app_replicas[0], "resources/read", "ui://planner/x.html", uri="ui://planner/x.html")
    assert refused["code"] in (-32002, -32602)


async def test_the_tool_is_called_without_a_tool_set(app_replicas: Two, caller: Caller) -> None:
    """SPEC O2: also through a gateway that does not announce the extension itself."""
    refused = await caller.call(app_replicas[0], "read_view", {"job_id": UNKNOWN})
    assert refused["structuredContent"]["errors"][0]["path"] == "/job_id"
    job_id = (await caller.solve(app_replicas[0]))["structuredContent"]["job_id"]
    found = await caller.call(app_replicas[1], "read_view", {"job_id": job_id})
    assert found["structuredContent"]["job"]["status"] == "QUEUED"
