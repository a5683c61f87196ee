"""The planner with the named test tools, resources and prompts of the official conformance suite added.

Owns nothing a deployment uses: the suite asks any server for `test_simple_text`, `test://static-text` and their like,
so this room adds them to the same kernel behind the same front. `python -m tests.conformance.fixture_server serve`
runs it with the options of `planner-mcp serve`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from starlette.applications import Starlette

from planner_mcp.app import open_application
from planner_mcp.http_app import open_routes
from planner_mcp.jobs.store.sessions.subscription_store import SubscriptionStore
from planner_mcp.settings import Settings
from tests.conformance.fixture_server.fixture_feature import Fixture

__all__ = ["conformance_app"]


@asynccontextmanager
async def conformance_app(settings: Settings, *, drain: anyio.Event) -> AsyncIterator[Starlette]:
    """Open one replica as `planner_mcp.app.open_application` does, with the fixtures added."""
    async with open_application(settings, drain) as services:
        services.kernel.add(Fixture(services.store.redis, SubscriptionStore(services.store.redis).announce))
        async with open_routes(services, drain) as app:
            yield app
