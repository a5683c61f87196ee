"""Opens the store that the settings name, or the embedded one, and checks that it can be trusted with jobs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError as ConnectionLostError
from typing_extensions import override

from planner_mcp.errors import StoreError, StoreUnavailableError
from planner_mcp.settings import Settings
from planner_mcp.store.border import border
from planner_mcp.store.embedded import EmbeddedStore
from planner_mcp.store.line import Line
from planner_mcp.store.link import ANSWER_S, BLOCK_S, Link
from planner_mcp.store.redis_store import RedisStore

BLOCKING_TIMEOUT_S: Final = BLOCK_S + 3.0
CONNECT_TIMEOUT_S: Final = 1.0
"""A connection is there by then, the wait for a free one included, or the store counts as away."""
CONFIRM_S: Final = 0.5
"""What a step that waits for a replica may take beyond that wait."""
RETRIES: Final = 1
"""A pooled connection may be stale after Redis came back; every step may be repeated."""
COMMAND_CONNECTIONS: Final = 64
BLOCKING_CONNECTIONS: Final = 512
"""One for each slot that waits for a job and each feed that is read."""
REVIVE_EVERY_S: Final = 0.5
OLDEST: Final = (7, 0)
FIRST_WITH_WAITAOF: Final = (7, 2)


@asynccontextmanager
async def connect(settings: Settings) -> AsyncIterator[RedisStore]:
    """Yield the store, starting (and, should it die, reviving) the embedded server when no URL is set.

    Raises:
        StoreUnavailableError: Nobody answers at the URL.
        StoreError: The server is too old or may evict keys.
    """
    async with AsyncExitStack() as stack:
        url = settings.redis_url
        if not url:
            url = await stack.enter_async_context(_embedded(settings))
        link = await _link(url, settings)
        stack.push_async_callback(link.aclose)
        yield RedisStore(link, settings)


@asynccontextmanager
async def _embedded(settings: Settings) -> AsyncIterator[str]:
    server = EmbeddedStore(settings.data_dir, appendfsync=settings.appendfsync)
    url = await asyncio.to_thread(server.start)
    keeper = asyncio.create_task(_revive(server))
    try:
        yield url
    finally:
        keeper.cancel()
        with suppress(asyncio.CancelledError):
            await keeper
        await asyncio.to_thread(server.stop)


async def _revive(server: EmbeddedStore) -> None:
    while True:
        await asyncio.sleep(REVIVE_EVERY_S)
        if not server.is_alive():
            with suppress(StoreUnavailableError):
                await asyncio.to_thread(server.start)


async def _link(url: str, settings: Settings) -> Link:
    client = _client(url, _answer_s(settings), COMMAND_CONNECTIONS)
    try:
        is_cluster = await _checked(client, settings)
    except BaseException:
        await _close(client)
        raise
    if not is_cluster:
        line = Line(_client(url, None, 1), answer_s=ANSWER_S)
        return _joined(client, _client(url, BLOCKING_TIMEOUT_S, BLOCKING_CONNECTIONS), line, settings)
    await _close(client)
    cluster = _cluster(url, ANSWER_S)
    return _joined(cluster, _cluster(url, BLOCKING_TIMEOUT_S), cluster, settings)


def _answer_s(settings: Settings) -> float:
    """Return how long the answer to one command may take: longer where it waits for a replica."""
    is_confirmed = settings.replication != "none"
    return max(ANSWER_S, settings.replication_wait_s + CONFIRM_S) if is_confirmed else ANSWER_S


def _joined(commands: Any, blocking: Any, line: Any, settings: Settings) -> Link:
    async def close() -> None:
        for client in (line, commands, blocking):
            await _close(client)

    return Link(commands, blocking, line, settings=settings, close=close)


class _Pool(BlockingConnectionPool):
    """Connections that are there soon or not at all, greetings included: a server that is paused still accepts them."""

    @override
    async def get_connection(self, command_name: Any = None, *keys: Any, **options: Any) -> Any:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            return await super().get_connection()  # type: ignore[no-untyped-call]


def _client(url: str, timeout_s: float | None, connections: int) -> Redis:
    pool = _Pool.from_url(
        url,
        max_connections=connections,
        timeout=CONNECT_TIMEOUT_S,
        decode_responses=True,
        protocol=2,
        socket_timeout=timeout_s,
        socket_connect_timeout=CONNECT_TIMEOUT_S,
        retry=Retry(ConstantBackoff(0.02), RETRIES, supported_errors=(ConnectionLostError,)),
        client_name="planner-mcp",
    )
    return Redis(connection_pool=pool)


def _cluster(url: str, timeout_s: float) -> RedisCluster:
    return RedisCluster.from_url(
        url, decode_responses=True, protocol=2, socket_timeout=timeout_s, socket_connect_timeout=CONNECT_TIMEOUT_S
    )


async def _checked(client: Redis, settings: Settings) -> bool:
    """Refuse a server that cannot keep a promise; return whether it is a cluster."""
    with border():
        info = await client.info()
    version = tuple(int(part) for part in str(info.get("redis_version", "0.0")).split(".")[:2])
    if version < OLDEST:
        raise StoreError(f"Redis {info.get('redis_version')} is too old; 7.0 or later is needed.")
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        raise StoreError(f"maxmemory-policy is {policy}, which deletes jobs; set it to noeviction.")
    is_cluster = bool(info.get("cluster_enabled"))
    if is_cluster and settings.replication != "none":
        raise StoreError("Waiting for replicas is not supported on Redis Cluster; set PLANNER_REPLICATION to none.")
    if settings.replication == "waitaof" and version < FIRST_WITH_WAITAOF:
        raise StoreError(f"Redis {info.get('redis_version')} has no WAITAOF; set PLANNER_REPLICATION to wait.")
    return is_cluster


async def _close(client: Any) -> None:
    with suppress(OSError):
        await client.aclose()
        if isinstance(client, Redis):
            await client.connection_pool.disconnect()
