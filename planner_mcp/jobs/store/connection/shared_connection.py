"""One connection to Redis that everybody in a process shares: commands leave as they come, answers come back in order.

Owns what stands between callers and that connection. A command leaves at once if no other is waiting for its answer.
Otherwise all commands of one turn of the event loop leave in one write, and Redis confirms them with one flush to disk,
so many at once cost little more than one. A long turn sends in between, so that Redis is not idle meanwhile. Answers
come in order: if nothing of the next one arrives for `answer_s`, the connection is given up and all who wait on it
fail; a large answer may take longer, as long as it keeps coming. Commands that block, and answers that would hold up
others, belong on `DedicatedConnections`: a connection for each caller that waits.
"""

import asyncio
from collections import deque
from typing import Any, Final

from hiredis import Reader, pack_command
from redis._parsers.base import BaseParser
from redis.asyncio import Connection, Redis
from redis.exceptions import ConnectionError as ConnectionLostError
from redis.exceptions import InvalidResponse, ReadOnlyError, RedisError, ResponseError
from redis.exceptions import TimeoutError as NoAnswerError
from typing_extensions import override

HOLD_S: Final = 0.0005
"""A command that has waited so long for others of the same turn of the loop leaves with the next one."""
TRIES: Final = 2
"""A connection may be stale after Redis came back; every step may be repeated."""


_NOT_YET: Final = object()


class SharedConnection:
    """Runs commands over the shared connection, which is made when it is needed.

    Args:
        client: Names the server and decodes answers. Its connections are without timeout.
        answer_s: Longest wait for a connection, and for an answer or more of one that has begun to come.
    """

    def __init__(self, client: Redis, *, answer_s: float) -> None:
        self._client = client
        self._answer_s = answer_s
        self._open: _OpenConnection | None = None
        self._connecting = asyncio.Lock()

    async def execute_command(self, *words: Any) -> Any:
        """Run one command and return its answer as the client would.

        Raises:
            RedisError: Refused, or not answered.
        """
        for tries_left in reversed(range(TRIES)):
            try:
                answer = await (await self._connect()).ask(words)
                break
            except ConnectionLostError:
                if not tries_left:
                    raise
        decode = self._client.response_callbacks.get(words[0])
        return decode(answer) if decode is not None else answer

    def abort(self) -> None:
        """Give up what waits here; whoever asks next gets a new connection."""
        if self._open is not None:
            self._open.abort()

    async def aclose(self) -> None:
        """Hang up, and wait until it is done."""
        if self._open is not None:
            await self._open.aclose()

    async def _connect(self) -> "_OpenConnection":
        if self._open is None or self._open.is_over:
            async with asyncio.timeout(self._answer_s), self._connecting:
                if self._open is None or self._open.is_over:
                    connection = self._client.connection_pool.make_connection()  # type: ignore[no-untyped-call]
                    try:
                        await connection.connect()
                    except BaseException:  # redis-py leaves a greeting that was cut off open
                        await connection.disconnect(nowait=True)
                        raise
                    self._open = _OpenConnection(connection, self._answer_s)
        return self._open


class DedicatedConnections:
    """Runs commands that block or bring much, each on a connection that nobody else uses meanwhile.

    Args:
        client: As of `SharedConnection`.
        answer_s: Longest wait for an answer, above the longest that is asked to block.
    """

    def __init__(self, client: Redis, *, answer_s: float) -> None:
        self._client = client
        self._answer_s = answer_s
        self._connections: list[SharedConnection] = []
        self._idle: list[SharedConnection] = []

    async def execute_command(self, *words: Any) -> Any:
        """Run one command and return its answer as the client would.

        Raises:
            RedisError: Refused, or not answered.
        """
        shared = self._idle.pop() if self._idle else self._new()
        try:
            return await shared.execute_command(*words)
        except asyncio.CancelledError:
            shared.abort()  # it blocks for a while yet, and so would whoever comes behind it
            raise
        finally:
            self._idle.append(shared)

    async def aclose(self) -> None:
        """Hang up; who waits is told that the connection was closed."""
        await asyncio.gather(*(shared.aclose() for shared in self._connections))

    def _new(self) -> SharedConnection:
        shared = SharedConnection(self._client, answer_s=self._answer_s)
        self._connections.append(shared)
        return shared


class _OpenConnection(asyncio.Protocol):
    """One connection, from its opening to its loss.

    Redis-py opens it and greets. From then on bytes come and go without its streams: a task that reads and one that
    writes would cost each command two more turns of the loop.
    """

    def __init__(self, connection: Connection, answer_s: float) -> None:
        self.is_over = False
        self._connection = connection
        self._answer_s = answer_s
        self._loop = asyncio.get_running_loop()
        self._unsent: list[bytes] = []
        self._held_since = self._heard_at = 0.0
        self._waiting: deque[tuple[float, asyncio.Future[Any]]] = deque()
        self._answers = Reader(
            protocolError=InvalidResponse, replyError=BaseParser.parse_error, encoding="utf-8", notEnoughData=_NOT_YET
        )
        self._transport = _transport(connection)
        self._transport.set_protocol(self)
        self._clock = self._loop.call_later(answer_s, self._check_deadline)

    async def ask(self, words: tuple[Any, ...]) -> Any:
        """Return the answer to a command."""
        answer, now = self._loop.create_future(), self._loop.time()
        self._unsent.append(pack_command(words))
        if not self._waiting or (len(self._unsent) > 1 and now - self._held_since > HOLD_S):
            self._send()
        elif len(self._unsent) == 1:
            self._held_since = now
            self._loop.call_soon(self._send)
        self._waiting.append((now, answer))
        return await answer

    def abort(self) -> None:
        """Tell everybody who waits, and close."""
        self._fail_all(ConnectionLostError("The connection was closed."))

    async def aclose(self) -> None:
        """Hang up, and wait until it is done."""
        self.abort()
        await self._disconnecting

    def _send(self) -> None:
        """Send what was asked meanwhile, all of it at once."""
        unsent, self._unsent = self._unsent, []
        if unsent and not self.is_over:
            self._transport.write(b"".join(unsent))

    @override
    def data_received(self, data: bytes) -> None:
        """Give each answer to whoever has waited longest; one more than was asked for spoils them all."""
        if self.is_over:
            return
        self._heard_at = self._loop.time()
        self._answers.feed(data)
        is_readonly = False
        try:
            while (answer := self._answers.gets()) is not _NOT_YET:
                if isinstance(answer, ConnectionLostError):  # LOADING, or too many clients: no word for one of us
                    raise answer
                if len(self._waiting) == len(self._unsent):
                    raise InvalidResponse("An answer to nothing that was asked.")
                is_readonly = is_readonly or is_readonly_error(answer)
                _resolve(self._waiting.popleft()[1], answer)
        except UnicodeDecodeError:
            self._fail_all(InvalidResponse("An answer that is no text."))
        except RedisError as error:
            self._fail_all(error)
        if is_readonly:
            self.abort()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """Tell everybody who waits."""
        self._fail_all(ConnectionLostError("Connection closed by server."))

    def _check_deadline(self) -> None:
        """Lose a connection over which nothing has come since the first of the waiting asked, for too long."""
        since = max(self._waiting[0][0], self._heard_at) if self._waiting else self._loop.time()
        if since + self._answer_s <= self._loop.time():
            self._fail_all(NoAnswerError("Redis does not answer."))
        else:
            self._clock = self._loop.call_at(since + self._answer_s, self._check_deadline)

    def _fail_all(self, error: Exception) -> None:
        """Tell everybody who waits, once; whoever asks next gets a new connection."""
        if self.is_over:
            return
        self.is_over = True
        self._clock.cancel()
        for _began, waiter in self._waiting:
            _resolve(waiter, type(error)(*error.args))
        self._disconnecting = asyncio.ensure_future(self._connection.disconnect(nowait=True))


def _transport(connection: Connection) -> asyncio.WriteTransport:
    """Return what an open connection writes to."""
    assert connection._writer is not None  # noqa: S101 — it is open
    return connection._writer.transport


def is_readonly_error(answer: Any) -> bool:
    """Return whether a primary became a replica: it stays up, but the name it was found by leads to another now.

    Inside a step the refusal arrives within the words of a script error.
    """
    return isinstance(answer, ReadOnlyError) or (isinstance(answer, ResponseError) and "READONLY" in str(answer))


def _resolve(waiter: asyncio.Future[Any], answer: Any) -> None:
    if waiter.done():  # whoever asked has left
        return
    if isinstance(answer, Exception):
        waiter.set_exception(answer)
    else:
        waiter.set_result(answer)
