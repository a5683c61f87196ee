"""A client written from the specification, that names its replica at each request."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx2 as httpx

from tests.integration.server.mcp.slow_tool_replica import Replica
from tests.shared.http.mcp_caller import HEADERS

MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass
class Sse:
    """One SSE event as received."""

    id: str = ""
    data: str = ""
    retry: str = ""

    @property
    def message(self) -> dict[str, Any]:
        return dict(json.loads(self.data))


async def events(response: httpx.Response) -> AsyncIterator[Sse]:
    """Yield the events of a stream; a block without data is none, though what it says of `retry` is kept."""
    event, has_data = Sse(), False
    async for line in response.aiter_lines():
        name, _, value = line.partition(":")
        if name in ("id", "data", "retry"):
            setattr(event, name, value.removeprefix(" "))
            has_data |= name == "data"
        elif not line and has_data:
            yield event
            event, has_data = Sse(), False


@dataclass
class Client:
    """A client written from the specification, that names its replica at each request."""

    http: httpx.AsyncClient
    session: dict[str, str] = field(default_factory=dict)
    version: str = "2025-11-25"

    async def initialize(self, on: Replica, version: str = "2025-11-25", **headers: str) -> dict[str, Any]:
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        answer = await self.post(on, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, **headers)
        result = dict(answer.json()["result"])
        self.version = result["protocolVersion"]
        self.session = {
            "mcp-session-id": answer.headers["mcp-session-id"],
            "mcp-protocol-version": self.version,
            **headers,
        }
        return result

    async def post(self, on: Replica, body: Any, **headers: str) -> httpx.Response:
        return await self.http.post(on.url, json=body, headers=HEADERS | self.session | headers)

    async def call(self, on: Replica, request_id: int | str = 1, **arguments: Any) -> httpx.Response:
        return await self.post(on, call(request_id, **arguments))

    def stream(self, on: Replica, request_id: int | str = 1, **arguments: Any) -> Any:
        body = call(request_id, **arguments)
        return self.http.stream("POST", on.url, json=body, headers=HEADERS | self.session)

    def listen(self, on: Replica, after: str = "") -> Any:
        resume = {"last-event-id": after} if after else {}
        headers = {"accept": "text/event-stream"} | self.session | resume
        return self.http.stream("GET", on.url, headers=headers)

    async def cancel(self, on: Replica, request_id: int | str) -> httpx.Response:
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
        return await self.post(on, note)


def call(request_id: int | str, **arguments: Any) -> dict[str, Any]:
    """Return a call of `count` that wants progress."""
    params = {"name": "count", "arguments": arguments, "_meta": {"progressToken": "token"}}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}
