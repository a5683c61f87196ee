"""Two replicas of the protocol edge on one store, and a client."""

from collections.abc import AsyncIterator

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.settings import Settings
from planner_mcp.store.connect import connect
from planner_mcp.store.redis_store import RedisStore
from tests.integration.protocol.client import Client
from tests.integration.protocol.edge import Replica, replica


@pytest.fixture(scope="module")
async def shared_store(store_url: str) -> AsyncIterator[RedisStore]:
    async with connect(Settings(redis_url=f"{store_url}?db=15")) as store:
        await store.redis.flushdb()
        yield store


@pytest.fixture(scope="module")
async def pair(shared_store: RedisStore) -> AsyncIterator[tuple[Replica, Replica]]:
    async with replica(shared_store) as one, replica(shared_store) as two:
        yield one, two
        one.server.should_exit = two.server.should_exit = True


@pytest.fixture
def store(shared_store: RedisStore) -> RedisStore:
    return shared_store


@pytest.fixture
async def replicas(pair: tuple[Replica, Replica], store: RedisStore) -> tuple[Replica, Replica]:
    """Two replicas as if fresh: servers are started once a module."""
    await store.redis.flushdb()
    for each in pair:
        each.desk.reset()
        each.front.drain = anyio.Event()
    return pair


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with httpx.AsyncClient(timeout=20, trust_env=False) as http:
        yield Client(http)
