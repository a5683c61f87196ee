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

from manifest.server_identity import PLANNER
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_model import Job, SolveRequest
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import LOCAL
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.http.middleware.request_validation import http_middleware
from planner_mcp.server.http.responses.http_responses import HANDLERS
from planner_mcp.server.http.routes.discovery_routes import discovery_routes, manifest_routes
from planner_mcp.server.http.routes.health_probes import health_routes
from planner_mcp.server.http.routes.jobs_api import JobsApi
from planner_mcp.server.mcp.jsonrpc.http_envelope import REVISIONS
from planner_mcp.settings import Settings
from tests.shared.http.http_clients import http_client


@dataclass
class AppServices:
    """What the routes ask for."""

    job_service: JobService


def build(settings: Settings, job_service: JobService, *, drain: anyio.Event | None = None) -> Starlette:
    """Return the app of a replica without MCP."""
    routes = [
        *JobsApi(StreamLimit(settings.max_streams), drain=drain or anyio.Event()).routes(),
        *manifest_routes(settings),
        *discovery_routes(settings, REVISIONS, PLANNER),
        *health_routes(),
    ]
    app = Starlette(routes=routes, middleware=http_middleware(settings), exception_handlers=HANDLERS)
    app.state.services = AppServices(job_service)
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
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with http_client(timeout=10) as http:
        yield http


@pytest.fixture
async def url(settings: Settings, job_service: JobService) -> AsyncIterator[str]:
    async with serving(build(settings, job_service)) as url:
        yield url


@pytest.fixture
async def job(job_service: JobService) -> Job:
    """A queued job of the local user."""
    scenario = await job_service.create_scenario(LOCAL, {"name": "a day"})
    job = await job_service.submit(LOCAL, SolveRequest(scenario.id, 30))
    assert ids.shard_of("job", job.id) == 0
    return job
