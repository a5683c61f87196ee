"""The planner's own routes behind the edge, served on a free loopback port."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2 as httpx
import pytest
import uvicorn
from starlette.applications import Starlette

from planner_mcp.jobs import ids
from planner_mcp.jobs.model import LOCAL, Job, SolveRequest
from planner_mcp.jobs.service import Planner
from planner_mcp.notify.feed import RedisFeed
from planner_mcp.protocol.revisions import REVISIONS
from planner_mcp.settings import Settings
from planner_mcp.store.redis_store import RedisStore
from planner_mcp.web.answers import HANDLERS
from planner_mcp.web.discovery import discovery_routes
from planner_mcp.web.edge import edge_layers
from planner_mcp.web.health import health_routes
from planner_mcp.web.jobs_api import JobsApi
from planner_mcp.web.manifest import manifest_routes
from planner_mcp.web.open_count import OpenStreams


@dataclass
class House:
    """What the routes ask for."""

    planner: Planner


def build(settings: Settings, planner: Planner, *, drain: anyio.Event | None = None) -> Starlette:
    """Return the app of a replica without MCP."""
    routes = [
        *JobsApi(OpenStreams(settings.max_streams), drain=drain).routes(),
        *manifest_routes(settings),
        *discovery_routes(settings, REVISIONS),
        *health_routes(),
    ]
    app = Starlette(routes=routes, middleware=edge_layers(settings), exception_handlers=HANDLERS)
    app.state.house = House(planner)
    return app


@contextlib.asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    """Serve an app on a free port; yield its base URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@pytest.fixture
def planner(store: RedisStore, feed: RedisFeed, settings: Settings) -> Planner:
    return Planner(store, feed, settings=settings)


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=10, trust_env=False) as http:
        yield http


@pytest.fixture
async def url(settings: Settings, planner: Planner) -> AsyncIterator[str]:
    async with serving(build(settings, planner)) as url:
        yield url


@pytest.fixture
async def job(planner: Planner) -> Job:
    """A queued job of the local user."""
    scenario = await planner.create_scenario(LOCAL, {"name": "a day"})
    job = await planner.submit(LOCAL, SolveRequest(scenario.id, 30))
    assert ids.pool_of("job", job.id) == 0
    return job
