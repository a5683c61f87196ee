"""Nothing a client holds depends on which replica answered: two servers, another one at each request."""

import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from mcp import Client

from examples.planner_server import PlannerServer, running_server
from tests.shared.http.load_balancer import balancing
from tests.shared.scenarios.client_scenarios import ring, submit, use, wait_for
from tests.shared.workers.patient_lease import PATIENT_LEASE

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_client_is_served_through_a_balancer_that_changes_replica_each_time(
    server: PlannerServer, second: PlannerServer, mode: str
) -> None:
    """SPEC J4, X1: initialize on one, call on the next, wait on the third."""
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with balancing(server.url, second.url) as (url, switch), Client(f"{url}/mcp", mode=mode) as client:
        with anyio.fail_after(60):
            job_id = await submit(client, ring(), "PT2S", fresh=True)
            await client.call_tool("query_vrp_status", {"job_id": job_id, "wait_s": 10}, progress_callback=hear)
            done = await wait_for(client, job_id, "COMPLETED")
            plan = await use(client, "read_plan", job_id=job_id)
        assert switch.served >= 5
    assert heard and heard == sorted(heard)
    assert done["progress"] == 100
    assert plan["plan_id"] == job_id.replace("job-", "plan-", 1)


PROGRESS = {"progressToken": "p"}


class RawClient:
    """One session of revision 2025-11-25, request by request."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}

    async def initialize(self, url: str) -> None:
        info = {"name": "raw", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        answer = await self._http.post(url, json=body, headers=self._headers)
        self._headers["mcp-session-id"] = answer.headers["mcp-session-id"]

    def call(self, url: str, params: dict[str, Any]) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self._http.stream("POST", url, json=body, headers=self._headers)

    def resume(self, url: str, event_id: str) -> Any:
        return self._http.stream("GET", url, headers={**self._headers, "last-event-id": event_id})


async def lines_of(stream: httpx.Response) -> AsyncIterator[tuple[str, str]]:
    """Yield `(event id, data)` of a stream."""
    event_id = ""
    async for line in stream.aiter_lines():
        if line.startswith("id:"):
            event_id = line[3:].strip()
        elif line.startswith("data:"):
            yield event_id, line[5:].strip()


@pytest.mark.slow
async def test_a_client_of_a_stopped_replica_is_notified_and_its_job_goes_on(
    server: PlannerServer, server_dir: Path, http: httpx.AsyncClient
) -> None:
    """SPEC J4, J7: the stream ends properly; its rest, an error that says to call again, is on any replica."""
    async with Client(server.mcp) as client:
        job_id = await submit(client, ring(), "PT60S", fresh=True)
        async with running_server(server_dir, workers=0, log=server_dir / "third.log", settings=PATIENT_LEASE) as third:
            raw = RawClient(http)
            await raw.initialize(third.mcp)
            ask = {"name": "query_vrp_status", "arguments": {"job_id": job_id, "wait_s": 45}, "_meta": PROGRESS}
            async with raw.call(third.mcp, ask) as stream:
                received = lines_of(stream)
                heard = [await anext(received)]
                os.kill(third.pid, signal.SIGTERM)
                with anyio.fail_after(60):
                    heard += [line async for line in received]
        async with raw.resume(server.mcp, heard[-1][0]) as rest:
            heard += [line async for line in lines_of(rest)]
        await wait_for(client, job_id, "SOLVING")
        await use(client, "cancel_vrp_job", job_id=job_id)
    answer = json.loads(heard[-1][1])
    assert answer["id"] == 1
    assert "result" in answer or answer["error"]["data"]["type"] == "AbandonedRequest"
    assert len({event_id for event_id, _ in heard}) == len(heard)
