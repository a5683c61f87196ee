"""Caps of a principal hold across entry points, and when everything is asked for at once (SPEC A3)."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2 as httpx
import pytest

from tests.shared.http.mcp_caller import Caller
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.system.auth.conftest import Fort, fort_with_keys

pytestmark = pytest.mark.anyio
MOST = 3


@pytest.fixture(scope="module")
async def narrow(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fort]:
    """A planner that grants each principal three streams and three sessions beside those of the old transport.

    Nobody works there: a job waits, and its channel stays open. Each test has principals of its own.
    """
    caps = {"MAX_STREAMS": str(MOST), "MAX_SESSIONS": "8"}
    async with fort_with_keys(tmp_path_factory.mktemp("narrow"), workers=0, **caps) as fort:
        yield fort


async def test_streams_of_all_endpoints_together_are_capped_when_opened_at_once(narrow: Fort) -> None:
    """SPEC A3: of a dozen streams at four entry points, opened at once, three are served and the rest refused."""
    async with narrow.caller("ann") as ann, narrow.caller("ben") as ben:
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


async def test_sessions_are_capped_when_opened_at_once(narrow: Fort) -> None:
    """SPEC A3: of twenty handshakes at the same moment eight succeed."""
    statuses: list[int] = []
    async with narrow.caller("eve") as eve:

        async def shake() -> None:
            statuses.append((await Caller(eve.http, eve.authorization).initialize()).status_code)

        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(shake)
    assert Counter(statuses) == {200: 8, 429: 12}
