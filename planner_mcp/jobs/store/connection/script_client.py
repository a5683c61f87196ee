"""The line to Redis: runs steps and the few plain commands, each inside the border.

Owns the shared connection for what is answered at once or fails, those for blocking reads, each of which holds one of
its own, and the few for what is large. Nothing else in the engine talks to Redis.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Final

from redis.exceptions import NoScriptError, ResponseError

from planner_mcp.jobs.store.connection.error_translation import translated_errors
from planner_mcp.jobs.store.connection.replication import Replication
from planner_mcp.jobs.store.lua_scripts import load_steps
from planner_mcp.jobs.store.store_keys import tag
from planner_mcp.settings import Settings
from planner_mcp.task_cancellation import cancel_until_done

BLOCK_S: Final = 10.0
"""Longest single blocking read."""
ANSWER_S: Final = 2.0
"""A command not answered by then has failed, the wait for a free connection included: a caller is told in time."""
FETCHES: Final = 4
"""Large answers on their way to a process at the same time: Redis holds each whole until it is sent."""
FETCH_TURN_S: Final = 10.0
"""Longest wait for a turn to fetch one."""
ScriptReply = list[Any]
StreamEntry = tuple[str, dict[str, str]]


class ScriptClient:
    """A connection to the store and the steps it can run.

    Args:
        commands: Client with `decode_responses=True`, RESP2, and a short socket timeout.
        blocking: Runs what blocks: each read on a connection of its own.
        line: Runs what answers at once, or fails within `ANSWER_S`: a shared connection.
        bulk: Runs what brings much: each on a connection of its own.
        settings: Limits and lives the steps are loaded with.
        close: Closes all of them.
        holder: Names the server that holds the keys of a tag, where there are several; its `commands` are waited on.
    """

    def __init__(
        self,
        commands: Any,
        blocking: Any,
        shared: Any,
        bulk: Any,
        *,
        settings: Settings,
        close: Callable[[], Awaitable[None]] | None = None,
        node_for: Callable[[str], AbstractAsyncContextManager[Any]] | None = None,
    ) -> None:
        self.commands = commands
        self._shared_connection = shared
        self._bulk = bulk
        self._fetching = asyncio.Semaphore(FETCHES)
        self.pools = settings.pools
        self._blocking = blocking
        self._steps = load_steps(settings)
        self._replication = Replication(settings)
        self._close = close
        self._node_for = node_for or (lambda _tag: nullcontext(self))

    async def aclose(self) -> None:
        """Close all connections."""
        if self._close is not None:
            await self._close()

    async def step(self, name: str, shard: int, args: dict[str, Any], *blobs: str) -> ScriptReply:
        """Run one atomic step; its reply starts with a word."""
        step, arguments = self._steps[name], _arguments(shard, args, blobs)
        with translated_errors():
            try:
                reply = await self._shared_connection.execute_command("EVALSHA", step.sha, *arguments)
            except NoScriptError:
                reply = await self._shared_connection.execute_command("EVAL", step.text, *arguments)
        return list(reply)

    async def safe_step(self, name: str, shard: int, args: dict[str, Any]) -> ScriptReply:
        """Run one atomic step and return when it is as safe as the settings ask: with a replica, or at once.

        Raises:
            StoreUnavailableError: Also when no replica confirmed in time; the step may stand, repeating it waits again.
        """
        if not self._replication.is_wanted:
            return await self.step(name, shard, args)
        step, arguments = self._steps[name], _arguments(shard, args, ())
        with translated_errors():
            async with self._node_for(tag(shard)) as server:
                try:
                    return await self._replication.confirm(server.commands, shard, "EVALSHA", step.sha, *arguments)
                except NoScriptError:
                    return await self._replication.confirm(server.commands, shard, "EVAL", step.text, *arguments)

    async def command(self, *words: str | int | float) -> Any:
        """Run one plain command."""
        with translated_errors():
            return await self._shared_connection.execute_command(*words)

    async def fetch(self, *words: str | int | float) -> Any:
        """Run one plain command whose answer is large: slow as it may come, nobody else waits behind it.

        Raises:
            StoreUnavailableError: Also when its turn does not come within `FETCH_TURN_S`.
        """
        with translated_errors():
            async with asyncio.timeout(FETCH_TURN_S):
                await self._fetching.acquire()
            try:
                return await self._bulk.execute_command(*words)
            finally:
                self._fetching.release()

    async def read_group(self, stream: str, *, group: str, consumer: str, block_s: float) -> StreamEntry | None:
        """Return the next entry of a consumer group, waiting for one at most `block_s` (0: not at all).

        A group that is not there yet gives None: the first worker to register makes it.
        """
        entries = await self.read_group_many(stream, group=group, consumer=consumer, count=1, block_s=block_s)
        return entries[0] if entries else None

    async def read_group_many(
        self, stream: str, *, group: str, consumer: str, count: int, block_s: float
    ) -> list[StreamEntry]:
        """Return up to `count` entries of a consumer group, waiting for the first like `read_group`."""
        wait = ("BLOCK", max(1, int(block_s * 1000))) if block_s > 0 else ()
        words = ("XREADGROUP", "GROUP", group, consumer, "COUNT", count, *wait, "STREAMS", stream, ">")
        with translated_errors():
            try:
                reply = await _stoppable(self._blocking.execute_command(*words), block_s)
            except ResponseError as error:
                if str(error).startswith(("NOGROUP", "UNBLOCKED")):
                    return []
                raise
        return _entries(reply)

    async def read_stream(self, stream: str, after: str, *, count: int, block_s: float) -> list[StreamEntry]:
        """Return entries of a stream after an id, waiting for the first at most `block_s`."""
        words = ("XREAD", "COUNT", count, "BLOCK", max(1, int(block_s * 1000)), "STREAMS", stream, after)
        with translated_errors():
            return _entries(await _stoppable(self._blocking.execute_command(*words), block_s))


def _arguments(shard: int, args: dict[str, Any], blobs: tuple[str, ...]) -> tuple[str | int, ...]:
    return (1, tag(shard), json.dumps(args, ensure_ascii=False), *blobs)


async def _stoppable(reading: Coroutine[Any, Any, Any], block_s: float) -> Any:
    """Await a blocking read that ends when its caller is cancelled, or when the answer is overdue.

    Before Python 3.12 `asyncio.wait_for`, which redis-py connects and sends with, can swallow a cancellation; the read
    would then go on for its full time.
    """
    task = asyncio.ensure_future(reading)
    try:
        async with asyncio.timeout(block_s + ANSWER_S):
            return await asyncio.shield(task)
    except (asyncio.CancelledError, TimeoutError):
        await cancel_until_done([task])
        if not task.cancelled():
            task.exception()
        raise


def _entries(reply: Any) -> list[StreamEntry]:
    return [(entry[0], entry[1]) for _stream, entries in reply or () for entry in entries if entry[1]]
