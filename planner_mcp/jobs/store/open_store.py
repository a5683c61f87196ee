"""Opens the store that the settings name, or the embedded one, and checks that it can be trusted with jobs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.connection import parse_url
from redis.exceptions import ConnectionError as ConnectionLostError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as NoAnswerError
from typing_extensions import override

from planner_mcp.errors import StoreError, StoreUnavailableError
from planner_mcp.jobs.store.connection.cluster_client import Address, ClusterClient, ClusterNode, RoutedClient
from planner_mcp.jobs.store.connection.error_translation import explained_connect_errors, translated_errors
from planner_mcp.jobs.store.connection.script_client import ANSWER_S, BLOCK_S, ScriptClient
from planner_mcp.jobs.store.connection.shared_connection import (
    DedicatedConnections,
    SharedConnection,
    is_readonly_error,
)
from planner_mcp.jobs.store.embedded_server import EmbeddedServer
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from planner_mcp.task_cancellation import cancel_and_wait

BLOCKING_TIMEOUT_S: Final = BLOCK_S + 3.0
CONNECT_TIMEOUT_S: Final = 1.0
"""A connection is there by then, the wait for a free one included, or the store counts as away."""
FIRST_CONTACT_TRIES: Final = 5
"""At its start a process is patient: the machine may be busy with starting."""
CONFIRM_S: Final = 0.5
"""What a step that waits for a replica may take beyond that wait."""
RETRIES: Final = 1
"""A pooled connection may be stale after Redis came back; every step may be repeated."""
COMMAND_CONNECTIONS: Final = 64
REVIVE_EVERY_S: Final = 0.5
OLDEST: Final = (7, 0)
FIRST_WITH_WAITAOF: Final = (7, 2)


@asynccontextmanager
async def connect(settings: Settings) -> AsyncIterator[RedisStore]:
    """Yield the store, starting (and, should it die, reviving) the embedded server when no URL is set.

    Raises:
        StoreUnavailableError: Nobody answers at the URL.
        StoreError: The server is too old, may evict keys, or cannot confirm writes as the settings ask.
    """
    async with AsyncExitStack() as stack:
        url = settings.redis_url
        if not url:
            url = await stack.enter_async_context(_embedded(settings))
        script_client = await _open_client(url, settings)
        stack.push_async_callback(script_client.aclose)
        yield RedisStore(script_client, settings)


@asynccontextmanager
async def _embedded(settings: Settings) -> AsyncIterator[str]:
    if settings.replication != "none":
        raise StoreError("PLANNER_REPLICATION needs PLANNER_REDIS_URL: the bundled server has no replica.")
    server = EmbeddedServer(settings.data_dir, appendfsync=settings.appendfsync)
    url = await asyncio.to_thread(server.start)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(asyncio.to_thread, server.stop)
        stack.push_async_callback(cancel_and_wait, asyncio.create_task(_revive(server)))
        yield url


async def _revive(server: EmbeddedServer) -> None:
    while True:
        await asyncio.sleep(REVIVE_EVERY_S)
        if not server.is_alive():
            with suppress(StoreUnavailableError):
                await asyncio.to_thread(server.start)


async def _open_client(url: str, settings: Settings) -> ScriptClient:
    """Return a line to the server at a URL; of several, nodes of one cluster, to the first that answers."""
    *others, last = url.split(",")
    for each in others:
        with suppress(StoreUnavailableError):
            return await _open_client_at(each, settings)
    return await _open_client_at(last, settings)


async def _open_client_at(url: str, settings: Settings) -> ScriptClient:
    node = _node(url, settings)
    try:
        is_cluster = await _checked(node.commands, settings)
    except BaseException:
        await node.aclose()
        raise
    if not is_cluster:
        return ScriptClient(node.commands, node.blocking, node.shared, node.bulk, settings=settings, close=node.aclose)
    await node.aclose()
    return _open_cluster_client(url, settings)


def _open_cluster_client(url: str, settings: Settings) -> ScriptClient:
    """Return a line whose steps go to the nodes themselves; sessions, which have no pool, use redis-py."""
    named = parse_url(url)  # type: ignore[no-untyped-call]
    first = named.get("host", "localhost"), int(named.get("port", 6379))
    cluster_client = ClusterClient(first, lambda address: _node(_node_url(url, address), settings))
    sessions = RedisCluster.from_url(
        url,
        decode_responses=True,
        protocol=2,
        socket_timeout=ANSWER_S,
        socket_connect_timeout=CONNECT_TIMEOUT_S,
        require_full_coverage=False,
    )

    async def close() -> None:
        await cluster_client.aclose()
        with suppress(OSError):
            await sessions.aclose()

    blocking, bulk = (
        RoutedClient(cluster_client, lambda node: node.blocking),
        RoutedClient(cluster_client, lambda node: node.bulk),
    )
    shared = RoutedClient(cluster_client, lambda node: node.shared, ANSWER_S)
    return ScriptClient(
        sessions, blocking, shared, bulk, settings=settings, close=close, node_for=cluster_client.node_for
    )


def _node_url(url: str, address: Address) -> str:
    """Return the URL of another node of the same cluster."""
    parts = urlsplit(url)
    who, at, _place = parts.netloc.rpartition("@")
    host, port = address
    return urlunsplit(parts._replace(netloc=f"{who}{at}[{host}]:{port}" if ":" in host else f"{who}{at}{host}:{port}"))


def _node(url: str, settings: Settings) -> ClusterNode:
    caller = _client(url, None, 1)
    return ClusterNode(
        shared=SharedConnection(caller, answer_s=ANSWER_S),
        commands=_client(url, _answer_s(settings), COMMAND_CONNECTIONS),
        blocking=DedicatedConnections(caller, answer_s=BLOCKING_TIMEOUT_S),
        bulk=DedicatedConnections(caller, answer_s=ANSWER_S),
    )


def _answer_s(settings: Settings) -> float:
    """Return how long the answer to one command may take: longer where it waits for a replica."""
    is_confirmed = settings.replication != "none"
    return max(ANSWER_S, settings.replication_wait_s + CONFIRM_S) if is_confirmed else ANSWER_S


class _Pool(BlockingConnectionPool):
    """Connections that are there soon or not at all, greetings included: a server that is paused still accepts them.

    One that told of a primary become a replica is dialled anew once it is given back, as the shared lines are.
    """

    @override
    def make_connection(self) -> Any:
        connection = super().make_connection()  # type: ignore[no-untyped-call]
        read = connection.read_response

        async def heard(*args: Any, **options: Any) -> Any:
            try:
                return await read(*args, **options)
            except ResponseError as error:
                if is_readonly_error(error):
                    connection.mark_for_reconnect()
                raise

        connection.read_response = heard
        return connection

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


async def _server_info(client: Redis) -> dict[str, Any]:
    """Return what the server says of itself; one that is slow to answer is asked again, one that refuses is not."""
    for _try in range(FIRST_CONTACT_TRIES - 1):
        with suppress(TimeoutError, NoAnswerError):
            return dict(await client.info())
    return dict(await client.info())


async def _checked(client: Redis, settings: Settings) -> bool:
    """Refuse a server that cannot keep a promise; return whether it is a cluster."""
    with explained_connect_errors() if settings.redis_url else translated_errors():
        info = await _server_info(client)
    version = tuple(int(part) for part in str(info.get("redis_version", "0.0")).split(".")[:2])
    if version < OLDEST:
        raise StoreError(f"Redis {info.get('redis_version')} is too old; 7.0 or later is needed.")
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        raise StoreError(f"maxmemory-policy is {policy}, which deletes jobs; set it to noeviction.")
    if settings.replication == "waitaof" and version < FIRST_WITH_WAITAOF:
        raise StoreError(f"Redis {info.get('redis_version')} has no WAITAOF; set PLANNER_REPLICATION to wait.")
    if settings.replication == "waitaof" and info.get("aof_enabled") == 0:
        raise StoreError("The job store has no append-only file; set its appendonly, or PLANNER_REPLICATION to wait.")
    return bool(info.get("cluster_enabled"))
