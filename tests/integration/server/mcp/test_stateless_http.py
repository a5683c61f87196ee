"""A POST of 2026-07-28: what it must say of itself, and clients that leave or take nothing any more."""

import gc
import json
from typing import Any

import anyio
import pytest
from mcp.server.connection import Connection
from mcp.server.runner import ServerRunner
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.http.bodies.body_intake import BodyIntake
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.mcp.kernel import Kernel
from planner_mcp.server.mcp.transports.stateless_http import StatelessHttpTransport
from planner_mcp.settings import Settings
from tests.integration.server.mcp.raw_client import MODERN_META, Client, events
from tests.integration.server.mcp.slow_tool_replica import SlowToolHandler, Two, replica
from tests.shared.http.mcp_caller import HEADERS

pytestmark = pytest.mark.anyio
ROUTE = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "count"}

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def counting(**arguments: Any) -> dict[str, Any]:
    """Return a call of `count` that wants progress."""
    meta = {**MODERN_META, "progressToken": "token"}
    params = {"name": "count", "arguments": arguments, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


@pytest.mark.parametrize("said", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_a_body_not_declared_as_json_is_refused(replicas: Two, client: Client, said: str) -> None:
    """SPEC X3: a page of another site may send these without asking; nothing is begun for it."""
    headers = HEADERS | ROUTE | {"content-type": said}
    answer = await client.http.post(replicas[0].url, content=json.dumps(counting()), headers=headers)
    assert answer.status_code == 415
    assert not replicas[0].tool_handler.begun.is_set()


async def test_several_accept_headers_are_one(replicas: Two, client: Client) -> None:
    """RFC 9110, 5.3: whoever sends each type in a line of its own takes them all, in either era."""
    lines = [("accept", "application/json"), ("accept", "text/event-stream"), ("content-type", "application/json")]
    calls = [(counting(to=0), [*lines, *ROUTE.items()]), (INITIALIZE, lines)]
    for body, headers in calls:
        answer = await client.http.post(replicas[0].url, content=json.dumps(body), headers=headers)
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
async def test_a_number_that_json_has_not_is_refused(replicas: Two, client: Client, number: str) -> None:
    """SPEC X1: as in every revision with a handshake."""
    content = json.dumps(counting(to=0)).replace('"to": 0', f'"to": {number}')
    answer = await client.http.post(replicas[0].url, content=content, headers=HEADERS | ROUTE)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)
    assert not replicas[0].tool_handler.begun.is_set()


async def test_a_client_that_leaves_cancels_its_request(replicas: Two, client: Client) -> None:
    """Spec 2026-07-28, transports: a closed stream is a cancellation."""
    tool_handler = replicas[0].tool_handler
    body = counting(to=1, wait=True)
    async with client.http.stream("POST", replicas[0].url, json=body, headers=HEADERS | ROUTE) as stream:
        await anext(stream.aiter_lines())
    with anyio.fail_after(30):
        await tool_handler.over.wait()
    assert tool_handler.ended == ["cancelled"]


async def test_a_call_that_a_stop_leaves_unanswered_may_be_made_again(store: RedisStore, client: Client) -> None:
    """SPEC J7, T7: told once the grace is over, by a status while there is none yet."""
    body, headers = counting(to=1, wait=True), HEADERS | ROUTE
    async with (
        replica(store, grace_s=0.05) as edge,
        client.http.stream("POST", edge.url, json=body, headers=headers) as delivered,
    ):
        edge.streamable_http.drain.set()
        last = [event.message async for event in events(delivered)][-1]
    async with replica(store, grace_s=0.05) as edge:

        async def stop() -> None:
            await edge.tool_handler.begun.wait()
            edge.streamable_http.drain.set()

        async with anyio.create_task_group() as group:
            group.start_soon(stop)
            answer = await client.http.post(edge.url, json=counting(to=0, wait=True), headers=headers)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    for message in (last, answer.json()):
        assert (message["id"], message["error"]["data"]["type"]) == (1, "AbandonedRequest")
        assert message["error"]["data"]["retryable"]


async def test_what_a_request_made_is_gone_with_its_answer(replicas: Two, client: Client) -> None:
    """SPEC X3: nothing of it waits for the collector, which would hold up those who come after it."""
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            answer = await client.http.post(replicas[0].url, json=counting(to=0), headers=HEADERS | ROUTE)
            assert answer.status_code == 200
        left = [
            type(each).__name__ for each in gc.get_objects() if isinstance(each, Connection | ServerRunner | Request)
        ]
    finally:
        gc.enable()
    assert left == []


class Stalled:
    """An ASGI client that takes some messages and then no more, though it stays."""

    def __init__(self, takes: int) -> None:
        self.taken: list[Message] = []
        self._left = takes
        self._unread = [{"type": "http.request", "body": json.dumps(counting(to=9)).encode(), "more_body": False}]

    async def receive(self) -> Message:
        if not self._unread:
            await anyio.sleep_forever()
        return self._unread.pop()

    async def send(self, message: Message) -> None:
        if not self._left:
            await anyio.sleep_forever()
        self._left -= 1
        self.taken.append(message)


@pytest.mark.slow
@pytest.mark.parametrize("takes", [0, 1, 4])
async def test_a_client_that_takes_nothing_any_more_is_not_waited_for(takes: int) -> None:
    """SPEC X3: bounded time for a slow reader; without an end of body the connection closes."""

    async def nowhere(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise AssertionError

    tool_handler, client = SlowToolHandler(), Stalled(takes)
    entry = StatelessHttpTransport(Kernel([tool_handler]), nowhere, streams=StreamLimit(1), send_s=0.05)
    headers = [(name.encode(), value.encode()) for name, value in (HEADERS | ROUTE).items()]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers, "query_string": b""}
    with anyio.fail_after(30):
        await BodyIntake(entry, Settings(), {})(scope, client.receive, client.send)
    assert tool_handler.ended == ["cancelled"]
    assert len(client.taken) == takes
    assert all(message.get("more_body", True) for message in client.taken)
