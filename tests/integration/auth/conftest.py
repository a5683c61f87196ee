"""The whole app in this process on a real store, with API keys; no workers."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.app import House, open_app
from planner_mcp.auth.api_keys import new_key
from planner_mcp.jobs.model import READ, WRITE
from planner_mcp.settings import Settings
from planner_mcp.store.api_keys import RedisKeyRing
from planner_mcp.store.audit_log import AuditLog
from planner_mcp.store.redis_store import RedisStore

BASE = "http://localhost:8080"
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
TASKS = "io.modelcontextprotocol/tasks"
Served = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def houses() -> list[House]:
    """What stands behind the apps that were served."""
    return []


@pytest.fixture
def served(settings: Settings, store: RedisStore, houses: list[House]) -> Served:
    """Serve the app with further settings and yield a client of it."""

    @asynccontextmanager
    async def serve(**further: Any) -> AsyncIterator[httpx.AsyncClient]:
        given = settings.model_dump(exclude_unset=True) | {"auth_api_keys": True, **further}
        async with open_app(Settings(**given), drain=anyio.Event()) as app:
            houses.append(app.state.house)
            server = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=server, base_url=BASE, headers={"host": "localhost:8080"}) as http:
                yield http

    return serve


@pytest.fixture
def key(store: RedisStore) -> Callable[..., Awaitable[str]]:
    """Make an API key; returns the value of an Authorization header."""

    async def make(subject: str = "ann", *scopes: str, tenant: str = "") -> str:
        secret, record = new_key(subject, tenant, scopes or (READ, WRITE), now=datetime.now(UTC))
        await RedisKeyRing(store.link).add(record)
        return f"Bearer {secret}"

    return make


@pytest.fixture
def audited(
    store: RedisStore, settings: Settings, houses: list[House]
) -> Callable[[], Awaitable[list[dict[str, Any]]]]:
    """Read the audit log of today, and of yesterday if the test began then, with every line that was on its way."""

    async def read() -> list[dict[str, Any]]:
        for house in houses:
            await house.audit.settled()
        log = AuditLog(store.link, settings)
        return [line for day in recent_days() for line in (await log.read(day, count=1000)).entries]

    return read


def recent_days() -> list[str]:
    """Return yesterday and today: midnight may have passed since a test, or a fixture of many, did something."""
    now = datetime.now(UTC)
    return [f"{day:%Y-%m-%d}" for day in (now - timedelta(days=1), now)]


@dataclass
class Caller:
    """A principal at the doors of the app, in one era of MCP."""

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
