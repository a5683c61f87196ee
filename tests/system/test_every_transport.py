"""The smallest call of SPEC T1 runs to COMPLETED exactly as it stands, over every transport."""

import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client

from examples.planner_server import PlannerServer
from tests.shared.scenarios.client_scenarios import SMALLEST, submit, use, wait_for

pytestmark = pytest.mark.anyio


async def smallest_call_completes(client: Client) -> None:
    with anyio.fail_after(60):
        created = await use(client, "create_scenario", **SMALLEST)
        assert created["assumptions"], "where positions are unknown the answer says so"
        job_id = await submit(client, SMALLEST)
        done = await wait_for(client, job_id, "COMPLETED")
    assert list(done)[:3] == ["job_id", "status", "progress"]
    assert (done["job_id"], done["progress"]) == (job_id, 100)


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
async def test_smallest_call_completes_over_http(server: PlannerServer, mode: str, version: str) -> None:
    """SPEC T1, X1: the official Python client, in both eras."""
    async with Client(server.mcp, mode=mode) as client:
        assert client.session.protocol_version == version
        await smallest_call_completes(client)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
async def test_smallest_call_completes_over_stdio(tmp_path: Path, mode: str, version: str) -> None:
    """SPEC O1, X1: `planner-mcp` without a command, as a client's configuration starts it."""
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "planner_mcp"], env={"PLANNER_DATA_DIR": str(tmp_path)}
    )
    async with Client(started, mode=mode) as client:
        assert client.session.protocol_version == version
        await smallest_call_completes(client)


async def test_smallest_call_completes_over_the_old_transport(server: PlannerServer) -> None:
    """SPEC X1: HTTP+SSE by the official Python client."""
    async with Client(sse_client(f"{server.url}/sse"), mode="legacy") as client:
        await smallest_call_completes(client)
