"""Resources, prompts and questions with the official Python client, over HTTP and stdio (SPEC R1, R4, T7, X2)."""

import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from examples.planner_server import PlannerServer
from tests.shared.scenarios.client_scenarios import CHOICES, OPEN, use

pytestmark = pytest.mark.anyio


async def choose(_ctx: Any, _params: types.ElicitRequestParams) -> types.ElicitResult:
    """Answer as a person would."""
    return types.ElicitResult(action="accept", content=CHOICES)


async def listed_resources(client: Client) -> list[str]:
    """Return the resources of every page: other tests leave jobs and scenarios on the same server."""
    page = await client.list_resources()
    found = [resource.uri for resource in page.resources]
    while page.next_cursor is not None:
        page = await client.list_resources(cursor=page.next_cursor)
        found += [resource.uri for resource in page.resources]
    return found


async def look_around(client: Client) -> None:
    """Create the open day, answer the question, and read what came of it."""
    created = await use(client, "create_scenario", **OPEN)
    uri = f"scenario://{created['scenario_id']}"
    (contents,) = (await client.read_resource(uri)).contents
    assert isinstance(contents, types.TextResourceContents)
    assert '"depot":"depot"' in contents.text
    assert uri in await listed_resources(client)
    assert len((await client.list_prompts()).prompts) == 5
    prompt = await client.get_prompt("plan_a_day", {"date": "2026-11-21"})
    assert "for 2026-11-21" in prompt.messages[0].content.text  # type: ignore[union-attr]
    ref = types.ResourceTemplateReference(uri="scenario://{scenario_id}")
    completed = await client.complete(ref, {"name": "scenario_id", "value": "scn-"})
    assert created["scenario_id"] in completed.completion.values


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_over_http(server: PlannerServer, mode: str) -> None:
    """SPEC R1, R4, T7: in both eras."""
    with anyio.fail_after(60):
        async with Client(server.mcp, mode=mode, elicitation_callback=choose) as client:
            await look_around(client)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_over_stdio(tmp_path: Path, mode: str) -> None:
    """SPEC R1, R4, T7: the same through a pipe."""
    env = {"PLANNER_DATA_DIR": str(tmp_path / "data"), "PLANNER_WORKERS": "0"}
    stdio_server = StdioServerParameters(command=sys.executable, args=["-m", "planner_mcp"], env=env)
    with anyio.fail_after(90):
        async with Client(stdio_client(stdio_server), mode=mode, elicitation_callback=choose) as client:
            await look_around(client)
