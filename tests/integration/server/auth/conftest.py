"""The whole app in this process on a real store, with API keys; no workers."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.app import AppServices
from planner_mcp.http_app import open_app
from planner_mcp.jobs.principals import READ, WRITE
from planner_mcp.jobs.records.audit_records import AuditEntry
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.jobs.store.security.audit_log import AuditLog
from planner_mcp.server.auth.api_key_auth import new_key
from planner_mcp.settings import Settings
from tests.shared.http.app_clients import app_client
from tests.shared.http.mcp_caller import recent_dates

Key = Callable[..., Awaitable[str]]
Served = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def apps_services() -> list[AppServices]:
    """What stands behind the apps that were served."""
    return []


@pytest.fixture
def served(settings: Settings, store: RedisStore, apps_services: list[AppServices]) -> Served:
    """Serve the app with further settings and yield a client of it."""

    @asynccontextmanager
    async def serve(**further: Any) -> AsyncIterator[httpx.AsyncClient]:
        given = settings.model_dump(exclude_unset=True) | {"auth_api_keys": True, **further}
        async with open_app(Settings(**given), drain=anyio.Event()) as app:
            apps_services.append(app.state.services)
            async with app_client(app) as http:
                yield http

    return serve


@pytest.fixture
def key(store: RedisStore) -> Key:
    """Make an API key; returns the value of an Authorization header."""

    async def make(subject: str = "ann", *scopes: str, tenant: str = "") -> str:
        secret, record = new_key(subject, tenant, scopes or (READ, WRITE), now=datetime.now(UTC))
        await ApiKeyStore(store.script_client).add(record)
        return f"Bearer {secret}"

    return make


@pytest.fixture
def audited(
    store: RedisStore, settings: Settings, apps_services: list[AppServices]
) -> Callable[[], Awaitable[list[AuditEntry]]]:
    """Read the audit log of today, and of yesterday if the test began then, with every line that was on its way."""

    async def read() -> list[AuditEntry]:
        for services in apps_services:
            await services.audit.until_written()
        log = AuditLog(store.script_client, settings)
        return [line for day in recent_dates() for line in (await log.read(day, count=1000)).entries]

    return read
