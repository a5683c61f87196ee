"""The whole app in this process on a real store, with API keys; no workers."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
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
from tests.shared.caller import recent_days

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
