"""The transport of 2024-11-05 on the same kernel, posted to one replica and heard on another (SPEC X1)."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.sessions.request_leases import RequestLeases
from planner_mcp.server.mcp.transports import http_sse_requests
from planner_mcp.server.tools.tool_registry import REGISTRY
from tests.integration.server.mcp.app_replicas import DAY, Replica, Two, Worker, replica

pytestmark = pytest.mark.anyio


@dataclass
class OldClient:
    """A client of one stream."""

    http: httpx.AsyncClient
    path: str
    lines: AsyncIterator[str]
    ids: "count[int]" = field(default_factory=count)

    async def event(self) -> tuple[str, str]:
        """Return name and data of the next event."""
        name = ""
        async for line in self.lines:
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                return name, line[6:]
        raise EOFError

    async def received_messages(self) -> dict[str, Any]:
        """Return the next message."""
        name, data = await self.event()
        assert name == "message"
        return dict(json.loads(data))

    async def post(self, on: Replica, body: Any) -> httpx.Response:
        """Post something."""
        return await self.http.post(f"{on.url}{self.path}", json=body)

    async def ask(self, on: Replica, method: str, **params: Any) -> dict[str, Any]:
        """Post a request and return its answer, which comes on the stream."""
        request_id = next(self.ids)
        answer = await self.post(on, {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        assert (answer.status_code, answer.content) == (202, b"")
        while (message := await self.received_messages()).get("id") != request_id:
            pass
        return message

    async def call(self, on: Replica, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured content."""
        return dict((await self.ask(on, "tools/call", name=tool, arguments=arguments))["result"]["structuredContent"])

    async def initialize(self, on: Replica) -> dict[str, Any]:
        info = {"name": "old", "version": "1"}
        answer = await self.ask(on, "initialize", protocolVersion="2024-11-05", capabilities={}, clientInfo=info)
        await self.post(on, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        return dict(answer["result"])


@asynccontextmanager
async def opened(http: httpx.AsyncClient, on: Replica, query: str = "") -> AsyncIterator[OldClient]:
    """Open a stream; its first event says where to post."""
    with anyio.fail_after(30):
        async with http.stream("GET", f"{on.url}/sse{query}") as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            client = OldClient(http, "", response.aiter_lines())
            name, client.path = await client.event()
            assert name == "endpoint"
            yield client


async def test_old_client_plans_through_a_replica_that_does_not_hold_its_stream(
    app_replicas: Two, web: httpx.AsyncClient, worker: Worker
) -> None:
    """SPEC X1: every message goes to the other replica, every answer comes on the stream."""
    async with opened(web, app_replicas[0]) as client:
        assert (await client.initialize(app_replicas[1]))["protocolVersion"] == "2024-11-05"
        scenario_id = (await client.call(app_replicas[1], "create_scenario", **DAY))["scenario_id"]
        job_id = (await client.call(app_replicas[1], "solve_vrp", scenario_id=scenario_id))["job_id"]
        await client.ask(app_replicas[1], "resources/subscribe", uri=f"job://{job_id}")
        claim = await worker.take()
        assert (await client.received_messages())["params"] == {"uri": f"job://{job_id}"}
        await worker.complete(claim)
        await client.received_messages()
        assert (await client.call(app_replicas[0], "query_vrp_status", job_id=job_id))["status"] == "COMPLETED"


async def test_tool_sets_of_the_url_are_those_of_the_session(app_replicas: Two, web: httpx.AsyncClient) -> None:
    """SPEC X1, T9: a client of this transport names them once, where it opens the stream; nothing else is taken on."""
    async with opened(web, app_replicas[0], "?toolsets=data,admin&session_id=x%0Adata:y") as client:
        await client.initialize(app_replicas[1])
        tools = (await client.ask(app_replicas[1], "tools/list"))["result"]["tools"]
    sets = {tool.name: tool.toolset for tool in REGISTRY}
    assert {sets[tool["name"]] for tool in tools} == {"data", "admin"}


async def test_progress_of_a_call_comes_before_its_answer(
    app_replicas: Two, web: httpx.AsyncClient, worker: Worker
) -> None:
    """Spec 2024-11-05, progress: on the one stream there is."""
    async with opened(web, app_replicas[0]) as client:
        await client.initialize(app_replicas[1])
        scenario_id = (await client.call(app_replicas[1], "create_scenario", **DAY))["scenario_id"]
        job_id = (await client.call(app_replicas[1], "solve_vrp", scenario_id=scenario_id))["job_id"]
        body = {
            "name": "query_vrp_status",
            "arguments": {"job_id": job_id, "wait_s": 1},
            "_meta": {"progressToken": "t"},
        }
        await client.post(app_replicas[1], {"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": body})
        while (await client.post(app_replicas[1], {"jsonrpc": "2.0", "id": "p", "method": "ping"})).status_code != 202:
            pass
        assert (await client.received_messages())["id"] == "p"  # answered while the call waits
        await worker.take()
        first, second = await client.received_messages(), await client.received_messages()
    assert (first["method"], first["params"]["progressToken"]) == ("notifications/progress", "t")
    assert (second["id"], second["result"]["structuredContent"]["status"]) == ("w", "SOLVING")


async def test_waiting_call_is_cancelled_and_its_job_goes_on(app_replicas: Two, web: httpx.AsyncClient) -> None:
    """Spec 2024-11-05, cancellation: no answer follows."""
    async with opened(web, app_replicas[0]) as client:
        await client.initialize(app_replicas[1])
        scenario_id = (await client.call(app_replicas[1], "create_scenario", **DAY))["scenario_id"]
        job_id = (await client.call(app_replicas[1], "solve_vrp", scenario_id=scenario_id))["job_id"]
        params = {"name": "query_vrp_status", "arguments": {"job_id": job_id, "wait_s": 40}}
        await client.post(app_replicas[1], {"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": params})
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "w"}}
        await client.post(app_replicas[0], note)
        assert (await client.call(app_replicas[0], "query_vrp_status", job_id=job_id))["status"] == "QUEUED"


async def test_call_of_a_stopped_replica_is_answered_with_an_error(
    app_replicas: Two, web: httpx.AsyncClient, store_url: str, tmp_path: Path
) -> None:
    """SPEC J7, X1: it says so itself, on the stream another replica holds."""
    async with opened(web, app_replicas[0]) as client:
        await client.initialize(app_replicas[0])
        scenario_id = (await client.call(app_replicas[1], "create_scenario", **DAY))["scenario_id"]
        job_id = (await client.call(app_replicas[1], "solve_vrp", scenario_id=scenario_id))["job_id"]
        async with replica(f"{store_url}?db=15", tmp_path) as third:
            params = {"name": "query_vrp_status", "arguments": {"job_id": job_id, "wait_s": 40}}
            await client.post(third, {"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": params})
        delivered = await client.received_messages()
    assert (delivered["id"], delivered["error"]["data"]["type"]) == ("w", "AbandonedRequest")


async def test_call_of_a_dead_replica_is_answered_by_the_holder_of_the_stream(
    app_replicas: Two, web: httpx.AsyncClient, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J4, X1: its lease ran out; the error comes once, and a late answer of the dead comes to nothing."""
    monkeypatch.setattr(http_sse_requests, "ORPHAN_CHECK_S", 0.05)
    work = RequestLeases(store.redis)
    async with opened(web, app_replicas[0]) as client:
        await client.initialize(app_replicas[0])
        session_id = client.path.partition("=")[2]
        await work.begin(session_id, '"w"', "dead")
        await client.ask(app_replicas[1], "ping")
        await store.redis.delete("mcp:r:dead")
        delivered = await client.received_messages()
        assert (delivered["id"], delivered["error"]["data"]["type"]) == ("w", "AbandonedRequest")
        assert await work.end(session_id, '"w"', "dead") is False
        assert "result" in await client.ask(app_replicas[1], "ping")


async def test_an_answer_is_sent_though_its_work_is_removed_twice(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J2: after a lost connection the client library removes it again; the client waited for ever."""
    work, remove = RequestLeases(store.redis), store.redis.hdel

    async def remove_twice(*given: str) -> int:
        await remove(*given)
        return int(await remove(*given))

    await work.begin("s", "1", "replica")
    monkeypatch.setattr(store.redis, "hdel", remove_twice)
    assert await work.end("s", "1", "replica")
    assert not await work.end("s", "1", "replica")


async def test_session_ends_with_its_stream(app_replicas: Two, web: httpx.AsyncClient, store: RedisStore) -> None:
    """SPEC J9: nothing of it stays, and its address is no longer one."""
    async with opened(web, app_replicas[0]) as client:
        await client.initialize(app_replicas[0])
    with anyio.fail_after(30):
        while await store.redis.keys("mcp:{*"):  # noqa: ASYNC110 the server notices the end by itself
            await anyio.sleep(0.01)
    assert (await client.post(app_replicas[1], {"jsonrpc": "2.0", "id": 1, "method": "ping"})).status_code == 404


async def test_a_head_opens_no_session_and_no_stream(app_replicas: Two, web: httpx.AsyncClient) -> None:
    """SPEC X1: who asks for the head of a stream that never ends is told that there is none."""
    with anyio.fail_after(5):
        answer = await web.request("HEAD", f"{app_replicas[0].url}/sse")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET"


async def test_nothing_but_ping_before_initialize(app_replicas: Two, web: httpx.AsyncClient) -> None:
    """Spec 2024-11-05, lifecycle."""
    async with opened(web, app_replicas[0]) as client:
        assert "result" in await client.ask(app_replicas[1], "ping")
        assert (await client.ask(app_replicas[1], "tools/list"))["error"]["code"] == -32600


async def test_sessions_of_the_two_transports_are_not_exchanged(app_replicas: Two, web: httpx.AsyncClient) -> None:
    """SPEC X3: an address of one transport serves no other."""
    async with opened(web, app_replicas[0]) as client:
        await client.initialize(app_replicas[0])
        headers = {
            "mcp-session-id": client.path.partition("=")[2],
            "accept": "application/json, text/event-stream",
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert (await web.post(app_replicas[0].mcp, json=body, headers=headers)).status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"), [({"host": "evil.example"}, 421), ({"origin": "https://evil.example"}, 403)]
)
async def test_old_transports_stand_behind_the_same_middleware(
    app_replicas: Two, web: httpx.AsyncClient, headers: dict[str, str], status: int
) -> None:
    """SPEC X3: Host and Origin."""
    assert (await web.get(f"{app_replicas[0].url}/sse", headers=headers)).status_code == status
    assert (await web.post(f"{app_replicas[0].url}/messages", json={}, headers=headers)).status_code == status


@pytest.mark.parametrize(
    ("content", "status"), [(b"{", 400), (b"[]", 400), (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400)]
)
async def test_body_that_is_no_message_is_refused_at_once(
    app_replicas: Two, web: httpx.AsyncClient, content: bytes, status: int
) -> None:
    """SPEC T7: by the answer to the POST, since it belongs to no request."""
    async with opened(web, app_replicas[0]) as client:
        url, headers = f"{app_replicas[1].url}{client.path}", {"content-type": "application/json"}
        assert (await web.post(url, content=content, headers=headers)).status_code == status


async def test_what_is_notified_before_the_handshake_is_passed_over(
    app_replicas: Two, web: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC X1, T8: no revision is agreed on that it could be read by; the session goes on, and no bug is logged."""
    async with opened(web, app_replicas[0]) as client:
        note = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
        assert (await client.post(app_replicas[1], note)).status_code == 202
        assert (await client.initialize(app_replicas[1]))["protocolVersion"] == "2024-11-05"
    assert [each.message for each in caplog.records if each.levelname == "ERROR"] == []
