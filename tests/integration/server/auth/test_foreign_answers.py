"""Questions and uploads of one principal, and what others or a broken connection do to them (SPEC A2, X3)."""

import logging
from typing import Any

import httpx2 as httpx
import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.sessions.elicitation_store import ElicitationStore
from tests.integration.server.auth.conftest import Key, Served
from tests.shared.http.mcp_caller import HEADERS
from tests.shared.scenarios.client_scenarios import CHOICES, OPEN

pytestmark = pytest.mark.anyio
VERSION = "2025-11-25"
MODERN = "2026-07-28"
ANSWER = {"jsonrpc": "2.0", "id": "q1", "result": {"action": "accept", "content": {"depot": "mine"}}}


async def _session(http: httpx.AsyncClient, key: str) -> dict[str, str]:
    """Return the headers of a new session whose user can be asked."""
    params = {
        "protocolVersion": VERSION,
        "capabilities": {"elicitation": {"form": {}}},
        "clientInfo": {"name": "test", "version": "1"},
    }
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    answer = await http.post("/mcp", json=body, headers=HEADERS | {"authorization": key})
    session = answer.headers["mcp-session-id"]
    return HEADERS | {"authorization": key, "mcp-session-id": session, "mcp-protocol-version": VERSION}


async def test_a_question_is_answered_by_its_own_principal_alone(served: Served, key: Key, store: RedisStore) -> None:
    """SPEC A2: who knows the session and the question of another is told that there is no such session."""
    questions = ElicitationStore(store.redis)
    async with served() as http:
        ann, bob = await key("ann"), await key("bob")
        hers, his = await _session(http, ann), await _session(http, bob)
        await questions.expect(hers["mcp-session-id"], "q1", 60)
        for headers in (hers | {"authorization": bob}, his):
            answer = await http.post("/mcp", json=ANSWER, headers=headers)
            assert answer.status_code == (202 if headers is his else 404)
            assert await questions.answer(hers["mcp-session-id"], "q1") == ""
        assert (await http.post("/mcp", json=ANSWER, headers=hers)).status_code == 202
        assert "mine" in await questions.answer(hers["mcp-session-id"], "q1")


async def test_a_state_is_good_for_its_own_principal_alone(served: Served, key: Key) -> None:
    """SPEC A2: who overheard the sealed state of another's question can neither answer it nor read it."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    }
    method = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "create_scenario"}

    async def call(http: httpx.AsyncClient, key: str, **params: Any) -> dict[str, Any]:
        params |= {"name": "create_scenario", "arguments": OPEN, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = await http.post("/mcp", json=body, headers=HEADERS | method | {"authorization": key})
        return dict(answer.json())

    async with served() as http:
        ann, bob = await key("ann"), await key("bob")
        asked = (await call(http, ann))["result"]
        (question,) = asked["inputRequests"]
        answer = {
            "inputResponses": {question: {"action": "accept", "content": CHOICES}},
            "requestState": asked["requestState"],
        }
        refused = (await call(http, bob, **answer))["error"]
        assert (refused["code"], refused["data"]["errors"][0]["path"]) == (-32602, "/requestState")
        assert "scenario_id" in (await call(http, ann, **answer))["result"]["structuredContent"]


@pytest.mark.parametrize("path", ["/files/orders.csv", "/matrices"])
async def test_an_upload_that_breaks_off_leaves_nothing_behind(
    served: Served, key: Key, store: RedisStore, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    """SPEC X3, A4: one quiet line, nothing stored, and the bytes count as open no longer."""
    caplog.set_level(logging.INFO)
    async with served(max_open_body_bytes=4096) as http:
        ann = await key("ann")
        for _ in range(5):  # together more than may be open
            await _break_off(http, path, {"authorization": ann, "content-length": "2000"})
        assert [name async for name in store.redis.scan_iter("*:files:*")] == []
        assert [name async for name in store.redis.scan_iter("*:mat*")] == []
        assert {record.exc_info for record in caplog.records} <= {None}
        assert sum("left in mid-request" in record.message for record in caplog.records) == 5
        stored = await http.put("/files/orders.csv", content=b"x" * 2000, headers={"authorization": ann})
    assert stored.status_code == 201


async def _break_off(http: httpx.AsyncClient, path: str, headers: dict[str, str]) -> None:
    """Send half of a body and leave."""
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": b"x" * 1000, "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> dict[str, Any]:
        return messages.pop(0) if len(messages) > 1 else messages[0]

    async def send(_message: Any) -> None:
        pass

    raw = [(name.encode(), value.encode()) for name, value in {"host": "localhost:8080", **headers}.items()]
    scope = {"type": "http", "http_version": "1.1", "method": "PUT", "path": path, "raw_path": path.encode()}
    scope |= {"query_string": b"", "headers": raw, "client": ("127.0.0.1", 1), "server": ("localhost", 8080)}
    await http._transport.app(scope | {"scheme": "http", "root_path": ""}, receive, send)  # type: ignore[attr-defined]
