"""One connection to Redis that everybody in a process shares: commands leave as they come, answers come back in order.

Owns what stands between callers and that connection. Whatever is asked while the loop is busy leaves in one write, and
Redis confirms it with one flush to disk; many who ask at once cost little more than one. Answers come in order, so one
that stays out for `answer_s` loses the connection and with it all that waits there. Commands that block belong on a
connection of their own.
"""

import asyncio
from collections import deque
from typing import Any, Final

from hiredis import pack_command
from redis.asyncio import Connection, Redis
from redis.exceptions import ConnectionError as ConnectionLostError
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as NoAnswerError

TRIES: Final = 2
"""A connection may be stale after Redis came back; every step may be repeated."""


class Line:
    """Runs commands over the shared connection, which is made when it is needed.

    Args:
        client: Names the server and decodes answers. Its connections are without timeout.
        answer_s: Longest wait for an answer.
    """

    def __init__(self, client: Redis, *, answer_s: float) -> None:
        self._client = client
        self._answer_s = answer_s
        self._call: _Call | None = None
        self._dialling = asyncio.Lock()

    async def execute_command(self, *words: Any) -> Any:
        """Run one command and return its answer as the client would.

        Raises:
            RedisError: Refused, or not answered.
        """
        for tries_left in reversed(range(TRIES)):
            try:
                answer = await (await self._dial()).ask(words)
                break
            except ConnectionLostError:
                if not tries_left:
                    raise
        decode = self._client.response_callbacks.get(words[0])
        return decode(answer) if decode is not None else answer

    async def aclose(self) -> None:
        """Hang up."""
        if self._call is not None:
            await self._call.aclose()

    async def _dial(self) -> "_Call":
        if self._call is None or self._call.is_over:
            async with self._dialling:
                if self._call is None or self._call.is_over:
                    connection = self._client.connection_pool.make_connection()  # type: ignore[no-untyped-call]
                    await connection.connect()
                    self._call = _Call(connection, self._answer_s)
        return self._call


class _Call:
    """One connection, from its opening to its loss."""

    def __init__(self, connection: Connection, answer_s: float) -> None:
        self.is_over = False
        self._connection = connection
        self._answer_s = answer_s
        self._loop = asyncio.get_running_loop()
        self._unsent: list[bytes] = []
        self._waiting: deque[tuple[float, asyncio.Future[Any]]] = deque()
        self._is_asked = asyncio.Event()
        self._tasks = [asyncio.create_task(work) for work in (self._talk(), self._listen())]
        self._clock = self._loop.call_later(answer_s, self._look_at_clock)

    async def ask(self, words: tuple[Any, ...]) -> Any:
        """Return the answer to a command."""
        answer = self._loop.create_future()
        self._unsent.append(pack_command(words))
        self._waiting.append((self._loop.time(), answer))
        self._is_asked.set()
        return await answer

    async def aclose(self) -> None:
        """Hang up."""
        self._lose(ConnectionLostError("The connection was closed."))
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _talk(self) -> None:
        """Send what was asked meanwhile, all of it at once."""
        try:
            while await self._is_asked.wait():
                self._is_asked.clear()
                unsent, self._unsent = self._unsent, []
                await self._connection.send_packed_command(unsent, check_health=False)
        except (RedisError, OSError) as error:
            self._lose(error)

    async def _listen(self) -> None:
        """Give each answer to whoever has waited longest."""
        try:
            while True:
                try:
                    answer = await self._connection.read_response()
                except ResponseError as refusal:
                    answer = refusal
                _give(self._waiting.popleft()[1], answer)
        except (RedisError, OSError) as error:
            self._lose(error)

    def _look_at_clock(self) -> None:
        began = self._waiting[0][0] if self._waiting else self._loop.time()
        if began + self._answer_s <= self._loop.time():
            self._lose(NoAnswerError("Redis does not answer."))
        else:
            self._clock = self._loop.call_at(began + self._answer_s, self._look_at_clock)

    def _lose(self, error: Exception) -> None:
        """Tell everybody who waits, once; whoever asks next gets a new connection."""
        if self.is_over:
            return
        self.is_over = True
        self._clock.cancel()
        for task in self._tasks:
            task.cancel()
        for _began, waiter in self._waiting:
            _give(waiter, type(error)(*error.args))
        self._tasks.append(asyncio.create_task(self._connection.disconnect(nowait=True)))


def _give(waiter: asyncio.Future[Any], answer: Any) -> None:
    if waiter.done():  # whoever asked has left
        return
    if isinstance(answer, Exception):
        waiter.set_exception(answer)
    else:
        waiter.set_result(answer)
