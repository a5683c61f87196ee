"""Opens the store that the settings name, or the embedded one, and checks that it can be trusted with jobs."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from subprocess import SubprocessError
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import TimeoutError as NoAnswerError

from planner_mcp.errors import StoreError, StoreUnavailableError
from planner_mcp.jobs.store.connection.error_translation import explained_connect_errors, translated_errors
from planner_mcp.jobs.store.connection.redis_clients import cluster_client, single_client
from planner_mcp.jobs.store.connection.script_client import ANSWER_S, BLOCK_S, ScriptClient
from planner_mcp.jobs.store.embedded_server import EmbeddedServer
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from planner_mcp.task_cancellation import cancel_and_wait

log = logging.getLogger("planner.store")
SOCKET_TIMEOUT_S: Final = 1.5
"""Below `ANSWER_S`, so that redis-py itself notices a node that does not answer and reads the slot map again."""
BLOCKING_TIMEOUT_S: Final = BLOCK_S + 3.0
COMMAND_CONNECTIONS: Final = 64
BLOCKING_CONNECTIONS: Final = 1024
"""One for each read that blocks: jobs, flags and outbox of each shard."""
FIRST_CONTACT_TRIES: Final = 5
"""Tries of a process that starts: the machine may be busy with starting."""
CONFIRM_S: Final = 0.5
"""What a step that waits for a replica may take beyond that wait."""
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
    """Look after the server until cancelled; what fails, as where no file is left to open, is tried again.

    Calls say no more than that the store is away: why it is stands in the log, once for as long as it is the same.
    """
    logged = ""
    while True:
        await asyncio.sleep(REVIVE_EVERY_S)
        try:
            event = await _look_after(server)
        except (StoreUnavailableError, OSError, SubprocessError) as error:
            event = str(error)
        if event and event != logged:
            log.warning(event)
        logged = event


async def _look_after(server: EmbeddedServer) -> str:
    """Return what happened to the server, if anything that nothing else logs."""
    if not server.is_alive():
        await asyncio.to_thread(server.start)
        return "the embedded store had ended and is started again"
    if server.must_switch:
        await asyncio.to_thread(server.switch)
    elif server.must_resume:
        await asyncio.to_thread(server.resume_rewriting)
    return ""


async def _open_client(url: str, settings: Settings) -> ScriptClient:
    """Return a client for the server at a URL; of several URLs, nodes of one cluster, the first that answers counts."""
    *others, last = url.split(",")
    for each in others:
        with suppress(StoreUnavailableError):
            return await _open_client_at(each, settings)
    return await _open_client_at(last, settings)


async def _open_client_at(url: str, settings: Settings) -> ScriptClient:
    async with aclosing(single_client(url, timeout_s=ANSWER_S, connections=1)) as first:
        make = cluster_client if await _checked(first, settings) else single_client
    commands = make(url, timeout_s=_socket_timeout_s(settings), connections=COMMAND_CONNECTIONS)
    blocking = make(url, timeout_s=BLOCKING_TIMEOUT_S, connections=BLOCKING_CONNECTIONS)
    script_client = ScriptClient(commands, blocking, settings)
    try:
        with translated_errors():
            for client in (commands, blocking):
                await client.initialize()  # a cluster's slot map is read before the first command waits for it
    except BaseException:
        await script_client.aclose()
        raise
    return script_client


def _socket_timeout_s(settings: Settings) -> float:
    """Return how long the answer to one command may take: longer where it waits for a replica."""
    is_confirmed = settings.replication != "none"
    return max(SOCKET_TIMEOUT_S, settings.replication_wait_s + CONFIRM_S) if is_confirmed else SOCKET_TIMEOUT_S


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
