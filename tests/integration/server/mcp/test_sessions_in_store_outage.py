"""Redis goes away under the protocol edge: told as such, and nothing is lost when it is back (SPEC J7)."""

import os
import signal
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.jobs.store.embedded_server import EmbeddedServer
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.settings import Settings
from tests.integration.server.mcp.app_replicas import MODERN, Caller
from tests.integration.server.mcp.app_replicas import replica as app_replica
from tests.integration.server.mcp.raw_client import Client, events
from tests.integration.server.mcp.slow_tool_replica import replica
from tests.shared.http.mcp_caller import TASKS

pytestmark = pytest.mark.anyio
JOB = "job-0-" + "a" * 26
LIST = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}


async def test_outage_is_503_and_session_and_stream_survive_it(client: Client, tmp_path: Path) -> None:
    """SPEC J7: 503 with Retry-After, then resume."""
    server = EmbeddedServer(tmp_path)
    await anyio.to_thread.run_sync(server.start)
    async with connect(Settings(redis_url=server.url)) as store, replica(store) as edge:
        await client.initialize(edge)
        async with client.stream(edge, to=2) as stream:
            received = [event async for event in events(stream)]
        await anyio.to_thread.run_sync(server.stop)
        away = await client.post(edge, LIST)
        assert (away.status_code, away.headers["retry-after"]) == (503, "2")
        assert away.json()["error"]["data"]["type"] == "StoreUnavailable"
        await anyio.to_thread.run_sync(server.start)
        assert (await client.post(edge, LIST)).status_code == 200
        with anyio.fail_after(30):
            async with client.listen(edge, received[0].id) as rest:
                assert [event.data async for event in events(rest)] == [event.data for event in received[1:]]
    await anyio.to_thread.run_sync(server.stop)


async def test_a_store_that_does_not_answer_is_reported_to_all_who_ask(client: Client, tmp_path: Path) -> None:
    """SPEC J7: a session's call is 503 with Retry-After, many at once too; the session goes on afterwards."""
    with EmbeddedServer(tmp_path) as server:
        async with connect(Settings(redis_url=server.url)) as store, replica(store) as edge:
            await client.initialize(edge)
            assert server.pid is not None
            os.kill(server.pid, signal.SIGSTOP)
            statuses = list[int]()

            async def ask() -> None:
                statuses.append((await client.post(edge, LIST)).status_code)

            try:
                with anyio.fail_after(30):  # a bound against hanging; how long it takes is measured elsewhere
                    async with anyio.create_task_group() as callers:
                        for _ in range(100):
                            callers.start_soon(ask)
            finally:
                os.kill(server.pid, signal.SIGCONT)
            assert statuses == [503] * 100
            assert (await client.post(edge, LIST)).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "params"), [("resources/list", {}), ("subscriptions/listen", {"notifications": {"taskIds": [JOB]}})]
)
async def test_a_store_that_is_away_is_reported_alike_without_a_session(
    web: httpx.AsyncClient, tmp_path: Path, method: str, params: dict[str, Any]
) -> None:
    """SPEC J7: 503 with Retry-After in 2026-07-28 too, where no session is looked up first."""
    with EmbeddedServer(tmp_path) as server:
        async with app_replica(server.url, tmp_path) as replica:
            body, headers = Caller(web, MODERN, {TASKS: {}}).request(method, **params)
            assert server.pid is not None
            os.kill(server.pid, signal.SIGSTOP)
            try:
                away = await web.post(replica.mcp, json=body, headers=headers)
            finally:
                os.kill(server.pid, signal.SIGCONT)
    assert (away.status_code, away.headers["retry-after"]) == (503, "2")
    assert (away.json()["id"], away.json()["error"]["data"]["type"]) == (body["id"], "StoreUnavailable")
