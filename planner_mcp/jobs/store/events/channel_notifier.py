"""Wakes the tasks that wait for a Redis channel, through one subscription per replica.

Owns the connection and the waiters of each channel. A wake-up carries no data: waiters read the store after it. They
are also woken when the connection was lost, so that they miss nothing; what was cancelled meanwhile is read from a log.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster

from planner_mcp.errors import StoreError, StoreUnavailableError
from planner_mcp.jobs.events.pubsub_channels import CANCEL_LOG, CANCELS, ChannelWaiter
from planner_mcp.jobs.store.connection.error_translation import translated_errors
from planner_mcp.task_cancellation import cancel_until_done

POLL_S: Final = 5.0
"""Longest one read of the subscription blocks."""
RETRY_S: Final = 0.5
"""Pause before a lost connection is tried again."""


class ChannelNotifier:
    """Fans wake-ups of Redis channels out to waiters of this process.

    Args:
        redis: A client with `decode_responses=True`; one connection of it is held for as long as `run` runs.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis: Any = redis
        self._pubsub: Any = redis.pubsub()
        self._changing = asyncio.Lock()
        """Held while anything but reading uses the connection."""
        self._settling: set[asyncio.Task[None]] = set()
        self._waiters: dict[str, set[ChannelWaiter]] = {}
        self._on_cancel: list[Callable[[str], None]] = []
        self._cancels_after = "-"
        """Where the rest of the log of cancels begins that was not read yet."""

    def on_cancel(self, handler: Callable[[str], None]) -> None:
        """Add a handler of cancelled requests (`"<session> <request id>"`)."""
        self._on_cancel.append(handler)

    @asynccontextmanager
    async def watch(self, channel: str) -> AsyncIterator[ChannelWaiter]:
        """Yield a waiter for a channel. It is woken once the subscription stands; read the store after that."""
        waiter = ChannelWaiter()
        waiting = self._waiters.setdefault(channel, set())
        is_first = not waiting
        waiting.add(waiter)
        try:
            if is_first:
                await asyncio.wait([self._settle(channel)])
            yield waiter
        finally:
            waiting.discard(waiter)
            if not waiting and self._waiters.get(channel) is waiting:
                del self._waiters[channel]
                self._settle(channel)

    def _settle(self, channel: str) -> asyncio.Task[None]:
        """Subscribe to a channel that somebody waits for, and leave any other, in a task of its own.

        A waiter is often cancelled, and redis-py closes a connection whose command is: that of all waiters.
        """
        task = asyncio.create_task(self._follow_waiters(channel), name="subscription")
        self._settling.add(task)
        task.add_done_callback(self._settling.discard)
        return task

    async def _follow_waiters(self, channel: str) -> None:
        with suppress(StoreError), translated_errors():
            async with self._changing:
                if channel in self._waiters:
                    await self._subscribe(channel)
                elif channel in self._pubsub.channels:
                    await self._pubsub.unsubscribe(channel)

    async def run(self) -> None:
        """Read the subscription until cancelled, connecting again whenever it is lost."""
        try:
            while True:
                try:
                    await self._listen()
                except StoreError:
                    self._wake_all()
                    await asyncio.sleep(RETRY_S)
                    await self._subscribe_elsewhere()
        finally:
            await cancel_until_done(self._settling)
            with suppress(StoreError), translated_errors():
                await self._pubsub.aclose()

    async def _subscribe(self, *channels: str) -> None:
        """Subscribe; the first call opens the connection."""
        if isinstance(self._redis, RedisCluster):
            await self._redis.initialize()
        await self._pubsub.subscribe(*channels)

    async def _subscribe_elsewhere(self) -> None:
        """Take another subscription; of a cluster at any node, since all hear everything and one may be gone."""
        async with self._changing:
            with suppress(StoreError), translated_errors():
                await self._pubsub.aclose()
            nodes = self._redis.get_nodes() if isinstance(self._redis, RedisCluster) else ()
            self._pubsub = self._redis.pubsub(node=random.choice(nodes)) if nodes else self._redis.pubsub()  # noqa: S311

    async def _listen(self) -> None:
        with translated_errors():
            async with self._changing:
                await self._subscribe(CANCELS, *self._waiters)
        connection = self._pubsub.connection
        while True:
            with translated_errors():
                # `get_message` would open a lost connection anew, while another task opens it too
                response = await connection.read_response(timeout=POLL_S, disconnect_on_error=False, push_request=True)
                if response is None:
                    continue
                if not isinstance(response, list):  # the answer to a task that opens the lost connection anew
                    raise StoreUnavailableError
                message = await self._pubsub.handle_message(response)
            if message["channel"] != CANCELS:
                for waiter in tuple(self._waiters.get(message["channel"], ())):
                    waiter.wake()
            elif message["type"] == "message":
                self._pass_cancel(message["data"])
            else:
                await self._catch_up_on_cancels()

    async def _catch_up_on_cancels(self) -> None:
        """Pass on what was cancelled before the subscription stood; some of it may have been passed on before."""
        with translated_errors():
            entries = await self._redis.xrange(CANCEL_LOG, min=self._cancels_after)
        for position, fields in entries:
            self._cancels_after = f"({position}"
            self._pass_cancel(fields["cancelled"])

    def _pass_cancel(self, cancelled: str) -> None:
        for handler in self._on_cancel:
            handler(cancelled)

    def _wake_all(self) -> None:
        for waiting in tuple(self._waiters.values()):
            for waiter in tuple(waiting):
                waiter.wake()
