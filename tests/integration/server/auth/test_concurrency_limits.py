"""Caps of a principal hold across entry points, and when everything is asked for at once (SPEC A3)."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.settings import Settings
from tests.integration.server.auth.conftest import Key
from tests.integration.server.mcp.app_replicas import replica
from tests.shared.http.http_clients import http_client
from tests.shared.http.mcp_caller import Caller
from tests.shared.scenarios.client_scenarios import SMALLEST

pytestmark = pytest.mark.anyio
MOST = 3


@pytest.fixture
async def http(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a planner that grants each principal three streams and eight sessions.

    Nobody works there: a job waits, and its channel stays open.
    """
    caps = {"auth_api_keys": True, "max_streams": MOST, "max_sessions": 8}
    async with (
        replica(str(settings.redis_url), settings.data_dir, **caps) as served,
        http_client(base_url=served.url, timeout=60) as http,
    ):
        yield http


async def test_streams_of_all_endpoints_together_are_capped_when_opened_at_once(
    http: httpx.AsyncClient, key: Key
) -> None:
    """SPEC A3: of a dozen streams at four entry points, opened at once, three are served and the rest refused."""
    ann, ben = [Caller(http, await key(name)) for name in ("ann", "ben")]
    made = await ann.call("create_scenario", **SMALLEST)
    scenario = made.json()["result"]["structuredContent"]["scenario_id"]
    job = (await ann.call("solve_vrp", scenario_id=scenario)).json()
    channel = f"/jobs/{job['result']['structuredContent']['job_id']}/events"
    olds = [await session(ann) for _ in range(3)]
    listen = {"notifications": {"toolsListChanged": True}, "_meta": ann.meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": listen}
    modern = ann.headers | {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
    asked: list[tuple[str, str, dict[str, Any]]] = [
        *[("GET", channel, {"headers": ann.headers}) for _ in range(3)],
        *[("GET", "/sse", {"headers": ann.headers}) for _ in range(3)],
        *[("GET", "/mcp", {"headers": old.headers}) for old in olds],
        *[("POST", "/mcp", {"headers": modern, "json": body}) for _ in range(3)],
    ]
    send, answers = anyio.create_memory_object_stream[int](len(asked) + 1)
    with anyio.fail_after(60), send, answers:
        async with anyio.create_task_group() as tasks:
            for method, path, more in asked:
                tasks.start_soon(hold, ann.http, method, path, more, send)
            statuses = [await answers.receive() for _ in asked]
            tasks.start_soon(hold, ben.http, "GET", "/sse", {"headers": ben.headers}, send)
            assert await answers.receive() == 200, "ben has streams of his own"
            tasks.cancel_scope.cancel()
    assert Counter(statuses)[200] == MOST, Counter(statuses)
    assert set(statuses) == {200, 429}


async def session(owner: Caller) -> Caller:
    """Return a caller of the same principal with a session of its own."""
    caller = Caller(owner.http, owner.authorization)
    await caller.initialize()
    return caller


async def hold(http: httpx.AsyncClient, method: str, path: str, more: dict[str, Any], send: Any) -> None:
    """Open a stream, send the status it is answered with, and keep it open."""
    async with http.stream(method, path, **more) as stream:
        lines = stream.aiter_lines()  # to leave its loop would close the stream
        first = await anext(lines) if stream.status_code == 200 else ""
        while first.startswith(("event:", ":", "id:")) or (first == "" and stream.status_code == 200):
            first = await anext(lines)
        await send.send(429 if '"QuotaExceeded"' in first else stream.status_code)
        await anyio.sleep_forever()


async def test_sessions_are_capped_when_opened_at_once(http: httpx.AsyncClient, key: Key) -> None:
    """SPEC A3: of twenty handshakes at the same moment eight succeed."""
    statuses: list[int] = []
    eve = await key("eve")

    async def shake() -> None:
        statuses.append((await Caller(http, eve).initialize()).status_code)

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(shake)
    assert Counter(statuses) == {200: 8, 429: 12}
