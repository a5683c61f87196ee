"""Two whole replicas on one store, a client that names its replica, and a test that plays the worker."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import uvicorn

from planner_mcp.http_app import open_app
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.integration.server.mcp.raw_client import Sse, events
from tests.shared.http.mcp_caller import HEADERS
from tests.shared.scenarios.empty_plan import empty_plan

PLAN = empty_plan()
DAY: dict[str, Any] = {
    "name": "a day",
    "planning_date": "2025-07-15",
    "agents": [{"id": "veh-1", "capacity": 100}],
    "tickets": [{"id": "t-1", "location": "LOC_A", "demand": 20}],
}
MODERN = "2026-07-28"


@dataclass
class Replica:
    """A server of this process."""

    url: str
    drain: anyio.Event
    query: str = ""

    @property
    def mcp(self) -> str:
        return f"{self.url}/mcp{self.query}"

    def with_sets(self, names: str) -> "Replica":
        """Return the same replica by a URL that asks for tool sets."""
        return replace(self, query=f"?toolsets={names}")


Two = tuple[Replica, Replica]


@contextlib.asynccontextmanager
async def replica(url: str, data_dir: Path, **settings: Any) -> AsyncIterator[Replica]:
    """Run the app on a free port."""
    drain = anyio.Event()
    async with open_app(Settings(redis_url=url, data_dir=data_dir, **settings), drain=drain) as app:
        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            app, http="h11", log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=2
        )
        server = uvicorn.Server(config)
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:  # noqa: ASYNC110 uvicorn has no event for it
            await anyio.sleep(0.005)
        try:
            yield Replica(f"http://127.0.0.1:{listener.getsockname()[1]}", drain)
        finally:
            drain.set()
            server.should_exit = True
            await serving


@dataclass
class Worker:
    """Does by hand what a worker does, when the test says so."""

    store: RedisStore
    cost: "count[int]" = field(default_factory=lambda: count(1000, -1))

    async def take(self) -> Claim:
        await self.store.register("w1", 8)
        claim = await self.store.claim("w1", 5)
        assert claim is not None
        return claim

    async def improve(self, claim: Claim, percent: int) -> None:
        progress = Progress(percent, float(next(self.cost)), 1, 1, 1, percent / 10)
        await self.store.report(claim, progress, PLAN)

    async def complete(self, claim: Claim) -> None:
        await self.store.complete(claim, Progress(99, 10.0, 1, 1, 2, 1.0), PLAN)

    async def fail(self, claim: Claim) -> None:
        await self.store.fail(claim, {"code": 5010, "type": "EngineFailed", "message": "It broke."})

    async def obey(self, claim: Claim) -> None:
        """Wait until a cancel is asked, then settle it."""
        while not (await self.store.renew(claim)).cancel:  # noqa: ASYNC110 the worker's own poll
            await anyio.sleep(0.01)
        await self.store.settle_cancel(claim)


@dataclass
class Caller:
    """A client written from the specification, in either era."""

    http: httpx.AsyncClient
    version: str
    extensions: dict[str, Any] = field(default_factory=dict)
    session: dict[str, str] = field(default_factory=dict)
    ids: "count[int]" = field(default_factory=lambda: count(1))

    async def initialize(self, on: Replica) -> dict[str, Any]:
        """Open a session and return what the server says of itself."""
        capabilities = {"extensions": self.extensions} if self.extensions else {}
        info = {"name": "test", "version": "1"}
        params = {"protocolVersion": self.version, "capabilities": capabilities, "clientInfo": info}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        answer = await self.http.post(on.mcp, json=body, headers=HEADERS)
        result = dict(answer.json()["result"])
        self.session = {"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": self.version}
        return result

    def request(self, method: str, name: str | None = None, /, **params: Any) -> tuple[dict[str, Any], dict[str, str]]:
        """Return body and headers of a request; `name` goes into `Mcp-Name`."""
        body = {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": params}
        if self.version != MODERN:
            return body, HEADERS | self.session
        body["params"]["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {"extensions": self.extensions},
        } | params.get("_meta", {})
        headers = {"mcp-protocol-version": MODERN, "mcp-method": method}
        return body, HEADERS | headers | ({"mcp-name": name} if name is not None else {})

    async def ask(self, on: Replica, method: str, name: str | None = None, /, **params: Any) -> dict[str, Any]:
        """Return the answer to a request, whatever form it comes in."""
        body, headers = self.request(method, name, **params)
        answer = await self.http.post(on.mcp, json=body, headers=headers)
        if answer.headers["content-type"].startswith("application/json"):
            return dict(answer.json())
        lines = [line for line in answer.text.splitlines() if line.startswith("data: {")]
        return dict(json.loads(lines[-1].removeprefix("data: ")))

    async def result(self, on: Replica, method: str, name: str | None = None, /, **params: Any) -> dict[str, Any]:
        """Return the result of a request that succeeds."""
        answer = await self.ask(on, method, name, **params)
        assert "result" in answer, answer
        return dict(answer["result"])

    async def error(self, on: Replica, method: str, name: str | None = None, /, **params: Any) -> dict[str, Any]:
        """Return the error of a request that is refused."""
        answer = await self.ask(on, method, name, **params)
        assert "error" in answer, answer
        return dict(answer["error"])

    async def call(self, on: Replica, tool: str, arguments: dict[str, Any], **params: Any) -> dict[str, Any]:
        """Return the result of a tool call."""
        return await self.result(on, "tools/call", tool, name=tool, arguments=arguments, **params)

    async def scenario(self, on: Replica) -> str:
        """Return a new scenario."""
        return str((await self.call(on, "create_scenario", DAY))["structuredContent"]["scenario_id"])

    async def solve(self, on: Replica, **params: Any) -> dict[str, Any]:
        """Return the answer to a `solve_vrp` of a new scenario."""
        return await self.call(on, "solve_vrp", {"scenario_id": await self.scenario(on)}, **params)

    def stream(self, on: Replica, method: str, name: str | None = None, /, **params: Any) -> Any:
        """Open the stream that answers a request."""
        body, headers = self.request(method, name, **params)
        return self.http.stream("POST", on.mcp, json=body, headers=headers)

    def standalone(self, on: Replica, after: str = "") -> Any:
        """Open the session's standalone stream."""
        resume = {"last-event-id": after} if after else {}
        return self.http.stream("GET", on.mcp, headers={"accept": "text/event-stream"} | self.session | resume)


async def messages(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """Yield the messages of a stream."""
    async for event in events(response):
        if event.data:
            yield event.message


__all__ = ["Caller", "Replica", "Sse", "Worker", "events", "messages", "replica"]
