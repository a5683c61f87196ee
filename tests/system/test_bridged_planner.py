"""The planner's own REST through a bridge: its document becomes tools that answer as the planner's do (SPEC O5)."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from examples.planner_server import PlannerServer
from planner_mcp.text import Json
from tests.shared.bridge.bridge_documents import written
from tests.shared.http.http_clients import http_client
from tests.shared.scenarios.client_scenarios import SMALLEST

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
WITHOUT_JSON = {"follow_job", "follow_jobs"}
"""Operations that answer event streams; those of PUT take files, which a bridge refuses."""
METHODS = ("get", "post", "patch")


@asynccontextmanager
async def bridged(server: PlannerServer, folder: Path) -> AsyncIterator[tuple[Client, list[str]]]:
    """Serve the operations of the planner's document by `planner-mcp bridge`; yields a client and their names."""
    async with http_client() as http:
        document = (await http.get(f"{server.url}/openapi.json")).json()
    operations = [
        (item[method]["operationId"], method)
        for item in document["paths"].values()
        for method in METHODS
        if method in item
    ]
    tools = [
        {"operation": name, "max_tokens": 8000} | ({} if method == "get" else {"effect": "write"})
        for name, method in operations
        if name not in WITHOUT_JSON
    ]
    further = {"base_url": server.url, "allow_networks": ["127.0.0.0/8"], "timeout_s": 20}
    config = written(folder, document, {"document": "document.json", "name": "planner-rest", "tools": tools, **further})
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "planner_mcp", "bridge", "--config", str(config), "--data-dir", str(folder / "data")],
        env=dict(os.environ),
    )
    async with Client(stdio_client(parameters)) as client:
        yield client, [tool["operation"] for tool in tools]


async def content(client: Client, tool: str, **arguments: Any) -> Json:
    """Return the structured content of a call."""
    answer = await client.call_tool(tool, arguments)
    assert answer.structured_content is not None, answer
    return answer.structured_content


@pytest.mark.timeout(240)
async def test_the_planners_own_document_bridged_back_answers_as_the_tools_do(
    server: PlannerServer, tmp_path: Path
) -> None:
    """SPEC O5: each operation becomes a tool; answers are the same, refusals carry the planner's code and place."""
    async with (
        bridged(server, tmp_path) as (bridge, names),
        Client(f"{server.mcp}?toolsets=all", mode="legacy") as planner,
    ):
        assert sorted(tool.name for tool in (await bridge.list_tools()).tools) == sorted(names)
        validated = await content(bridge, "validate_scenario", scenario=SMALLEST)
        assert validated["data"] == await content(planner, "validate_scenario", scenario=SMALLEST)
        made = (await content(bridge, "create_scenario", **SMALLEST))["data"]
        asked = {"scenario_id": made["scenario_id"], "solve_time": "PT1S"}
        job = (await content(bridge, "solve_vrp", **asked))["data"]
        assert (await content(planner, "solve_vrp", **asked))["job_id"] == job["job_id"]
        ended = (await content(bridge, "query_vrp_status", job_id=job["job_id"], wait_s=15))["data"]
        assert ended["status"] == "COMPLETED"
        for tool in ("query_vrp_status", "read_plan", "read_progress"):
            own = await content(planner, tool, job_id=job["job_id"])
            assert (await content(bridge, tool, job_id=job["job_id"]))["data"] == own, tool
        left_out = await content(planner, "explain_unassigned", plan=job["job_id"])
        assert (await content(bridge, "explain_unassigned", job_id=job["job_id"]))["data"] == left_out
        plan = (await content(bridge, "get_plan", job_id=job["job_id"]))["data"]
        assert plan["routes"][0]["visits"][0]["ticket_id"] == SMALLEST["tickets"][0]["id"]
        unknown = "job-0-" + "a" * 26
        refused = await content(bridge, "query_vrp_status", job_id=unknown)
        own = await content(planner, "query_vrp_status", job_id=unknown)
        assert refused["code"] == 5062
        assert f'"code":{own["code"]}' in json.dumps(refused["errors"]).replace(" ", "").replace("\\", "")
        wrong = await content(bridge, "solve_vrp", scenario_id=made["scenario_id"], solve_time=3)
        assert (wrong["code"], wrong["errors"][0]["path"]) == (4001, "/solve_time")
