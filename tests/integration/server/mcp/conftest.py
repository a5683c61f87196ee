"""Two replicas of the protocol edge on one store, and a client."""

from collections.abc import AsyncIterator

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.integration.server.mcp import app_replicas as whole
from tests.integration.server.mcp.raw_client import Client
from tests.integration.server.mcp.slow_tool_replica import Two, replica
from tests.shared.http.http_clients import http_client
from tests.shared.http.mcp_caller import TASKS


@pytest.fixture(scope="module")
async def shared_store(store_url: str) -> AsyncIterator[RedisStore]:
    async with connect(Settings(redis_url=f"{store_url}?db=15")) as store:
        await store.redis.flushdb()
        yield store


@pytest.fixture(scope="module")
async def pair(shared_store: RedisStore) -> AsyncIterator[Two]:
    async with replica(shared_store) as one, replica(shared_store) as two:
        yield one, two
        one.server.should_exit = two.server.should_exit = True


@pytest.fixture
def store(shared_store: RedisStore) -> RedisStore:
    return shared_store


@pytest.fixture
async def replicas(pair: Two, store: RedisStore) -> Two:
    """Two replicas as if fresh: servers are started once a module."""
    await store.redis.flushdb()
    for each in pair:
        each.tool_handler.reset()
        each.streamable_http.drain = anyio.Event()
    return pair


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with http_client(timeout=20) as http:
        yield Client(http)


@pytest.fixture(scope="module")
async def shared_app_replicas(
    store_url: str, shared_store: RedisStore, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[whole.Two]:
    url, folder = f"{store_url}?db=15", tmp_path_factory.mktemp("houses")
    async with whole.replica(url, folder) as one, whole.replica(url, folder) as two:
        yield one, two


@pytest.fixture
async def app_replicas(shared_app_replicas: whole.Two, store: RedisStore) -> whole.Two:
    """Two whole replicas as if fresh."""
    await store.redis.flushdb()
    return shared_app_replicas


@pytest.fixture
def worker(store: RedisStore) -> whole.Worker:
    return whole.Worker(store)


@pytest.fixture
async def web() -> AsyncIterator[httpx.AsyncClient]:
    async with http_client(timeout=20) as web:
        yield web


@pytest.fixture
def legacy(web: httpx.AsyncClient) -> whole.Caller:
    """A client of revision 2025-11-25."""
    return whole.Caller(web, "2025-11-25")


@pytest.fixture
def modern(web: httpx.AsyncClient) -> whole.Caller:
    """A client of revision 2026-07-28 that can take tasks."""
    return whole.Caller(web, whole.MODERN, {TASKS: {}})
