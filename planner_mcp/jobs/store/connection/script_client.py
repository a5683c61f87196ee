"""Runs Lua steps and plain commands, and translates what Redis refuses.

Owns how long a command may take, and which client runs it: commands that answer at once share one connection pool;
blocking reads and large answers have another, so that nobody waits behind them. The job engine calls Redis only here.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import NoScriptError, ResponseError

from planner_mcp.errors import NotFoundError
from planner_mcp.jobs import ids
from planner_mcp.jobs.store.connection.error_translation import translated_errors
from planner_mcp.jobs.store.connection.replication import Replication
from planner_mcp.jobs.store.connection.shard_cluster import ShardCluster
from planner_mcp.jobs.store.lua_scripts import load_steps
from planner_mcp.jobs.store.store_keys import UNSHARDED, key, tag
from planner_mcp.settings import Settings
from planner_mcp.task_cancellation import cancel_until_done
from planner_mcp.text import Json

BLOCK_S: Final = 10.0
"""Longest single blocking read."""
ANSWER_S: Final = 2.0
"""Longest wait for a command, the wait for a connection and the retries included."""
FETCHES: Final = 4
"""Large answers read at the same time by one process: Redis keeps each in memory until it is sent."""
FETCH_TURN_S: Final = 10.0
"""Longest wait until fewer than `FETCHES` are being read."""
ScriptReply = list[Any]
StreamEntry = tuple[str, dict[str, str]]
Client = Redis | ShardCluster


class ScriptClient:
    """The steps and commands of the job engine.

    Args:
        commands: Runs what answers at once. `decode_responses=True`, RESP2, and a socket timeout below `ANSWER_S`.
        blocking: Runs blocking reads and large answers, each on a connection of its own.
        settings: Limits and lives that the steps are loaded with.
    """

    def __init__(self, commands: Client, blocking: Client, settings: Settings) -> None:
        self.commands: Any = commands
        self.pools = settings.pools
        self._blocking: Any = blocking
        self._fetching = asyncio.Semaphore(FETCHES)
        self._steps = load_steps(settings)
        self._replication = Replication(settings)

    async def aclose(self) -> None:
        """Close all connections."""
        for client in (self.commands, self._blocking):
            await (client.close_connections() if isinstance(client, ShardCluster) else client.aclose())

    async def step(self, name: str, shard: int, args: Json, *blobs: str) -> ScriptReply:
        """Run one atomic step; its reply starts with a word."""
        return await self._evaluated(name, self._execute, *_arguments(shard, args, blobs))

    async def safe_step(self, name: str, shard: int, args: Json) -> ScriptReply:
        """Run one atomic step and return when it is as safe as the settings ask: with a replica, or at once.

        Raises:
            StoreUnavailableError: Also when no replica confirmed in time. The step may stand; repeating it waits again.
        """
        if not self._replication.is_wanted:
            return await self.step(name, shard, args)
        confirm = partial(self._replication.confirm, self.commands, shard)
        return await self._evaluated(name, confirm, *_arguments(shard, args, ()))

    async def _evaluated(self, name: str, run: Callable[..., Awaitable[Any]], *arguments: str | int) -> ScriptReply:
        """Run a step by its hash, or by its text in a store that does not know it yet."""
        step = self._steps[name]
        with translated_errors():
            try:
                return list(await run("EVALSHA", step.sha, *arguments))
            except NoScriptError:
                return list(await run("EVAL", step.text, *arguments))

    async def command(self, *words: str | int | float) -> Any:
        """Run one plain command."""
        with translated_errors():
            return await self._execute(*words)

    def shard_of(self, kind: ids.IdKind, name: str) -> int:
        """Return the shard that a name lies in; raise `NotFoundError` where there is none."""
        if (shard := ids.shard_of(kind, name)) >= self.pools:
            raise NotFoundError
        return shard

    def key_of(self, kind: ids.IdKind, name: str) -> str:
        """Return the key of a record; raises as `shard_of`."""
        return key(self.shard_of(kind, name), kind, name)

    async def owned(self, kind: ids.IdKind, name: str, principal: str, *fields: str) -> list[Any]:
        """Return fields of a record of a principal; read first, so that no time reveals whether others have it.

        Raises:
            NotFoundError: There is none, or it is somebody else's.
        """
        found: list[Any] = await self.command("HMGET", self.key_of(kind, name), "principal", *fields)
        if found[0] != principal:
            raise NotFoundError
        return found[1:]

    async def put_fields(
        self,
        key: str,
        fields: Mapping[str, str | int],
        *,
        life_s: float,
        is_least: bool = False,
        shard: int = UNSHARDED,
    ) -> None:
        """Set fields of a hash, and how long the hash lives, in one step: neither is there alone.

        Args:
            key: Of the hash.
            fields: Values by name; one at least.
            life_s: How long the hash lives from now.
            is_least: Whether a longer life that it has stays.
            shard: Where the hash lies.
        """
        args = {"key": key, "life_ms": round(life_s * 1000), "is_least": is_least}
        await self.step("put_fields", shard, args, *(str(word) for pair in fields.items() for word in pair))

    async def has_room(self, key: str, name: str, most: int) -> bool:
        """Return whether a hash that may have so many fields takes one: it has it already, or fewer."""
        return bool(await self.command("HEXISTS", key, name)) or int(await self.command("HLEN", key)) < most

    async def fetch(self, *words: str | int | float) -> Any:
        """Run one plain command whose answer is large: it may take longer, and nobody waits behind it.

        Raises:
            StoreUnavailableError: Also when `FETCHES` others are being read for longer than `FETCH_TURN_S`.
        """
        with translated_errors():
            async with asyncio.timeout(FETCH_TURN_S):
                await self._fetching.acquire()
            try:
                return await self._blocking.execute_command(*words)
            finally:
                self._fetching.release()

    async def read_group(
        self, stream: str, *, group: str, consumer: str, block_s: float, count: int = 1
    ) -> list[StreamEntry]:
        """Return the next entries of a consumer group, waiting for the first at most `block_s` (0: not at all).

        There are none while the group does not exist: the first worker to register creates it.
        """
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

    async def end_of_stream(self, stream: str) -> str:
        """Return the id of the last entry of a stream, `0` where there is none."""
        last = await self.command("XREVRANGE", stream, "+", "-", "COUNT", 1)
        return str(last[0][0]) if last else "0"

    async def read_stream(self, stream: str, after: str, *, count: int, block_s: float) -> list[StreamEntry]:
        """Return entries of a stream after an id, waiting for the first at most `block_s`."""
        words = ("XREAD", "COUNT", count, "BLOCK", max(1, int(block_s * 1000)), "STREAMS", stream, after)
        with translated_errors():
            return _entries(await _stoppable(self._blocking.execute_command(*words), block_s))

    async def _execute(self, *words: str | int | float) -> Any:
        async with asyncio.timeout(ANSWER_S):
            return await self.commands.execute_command(*words)


def _arguments(shard: int, args: Json, blobs: tuple[str, ...]) -> tuple[str | int, ...]:
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
