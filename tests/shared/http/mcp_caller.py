"""A principal that speaks to the endpoints of the app, message by message."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2 as httpx

HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
TASKS = "io.modelcontextprotocol/tasks"


def recent_dates() -> list[str]:
    """Return yesterday and today: midnight may have passed since a test, or a fixture of many, did something."""
    now = datetime.now(UTC)
    return [f"{day:%Y-%m-%d}" for day in (now - timedelta(days=1), now)]


@dataclass
class Caller:
    """A principal that speaks to the endpoints of the app, in one era of MCP."""

    http: httpx.AsyncClient
    authorization: str | None = None
    session: str | None = None
    """Set by `initialize`: revision 2025-11-25. None: revision 2026-07-28."""
    extensions: tuple[str, ...] = ()
    """What a client of 2026-07-28 declares on each request."""

    @property
    def meta(self) -> dict[str, Any]:
        """What every request of revision 2026-07-28 says of its client."""
        return {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {name: {} for name in self.extensions}},
        }

    @property
    def headers(self) -> dict[str, str]:
        """What every request of the caller has."""
        shown = {"authorization": self.authorization} if self.authorization else {}
        session = {"mcp-session-id": self.session, "mcp-protocol-version": "2025-11-25"} if self.session else {}
        return HEADERS | shown | session

    async def initialize(self) -> httpx.Response:
        """Open a session of revision 2025-11-25."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        answer = await self.http.post("/mcp", json=body, headers=self.headers)
        self.session = answer.headers.get("mcp-session-id")
        return answer

    async def request(self, method: str, **params: Any) -> httpx.Response:
        """Send one request."""
        headers, name = self.headers, params.get("name") or params.get("uri") or params.get("taskId")
        if self.session is None:
            params["_meta"] = self.meta
            headers |= {"mcp-protocol-version": "2026-07-28", "mcp-method": method}
            headers |= {"mcp-name": name} if name else {}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return await self.http.post("/mcp", json=body, headers=headers)

    async def call(self, tool: str, **arguments: Any) -> httpx.Response:
        """Call a tool."""
        return await self.request("tools/call", name=tool, arguments=arguments)

    async def get(self, path: str) -> httpx.Response:
        """Read a page."""
        return await self.http.get(path, headers=self.headers)
