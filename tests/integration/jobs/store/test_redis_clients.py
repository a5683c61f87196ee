"""The connection pool at a server that answers in pieces, too often or not at all (SPEC J7)."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as NoAnswerError

from planner_mcp.errors import StoreError
from planner_mcp.jobs.store.connection.error_translation import translated_errors
from planner_mcp.jobs.store.connection.redis_clients import single_client

pytestmark = pytest.mark.anyio
Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
CALLERS = 40
TIMEOUT_S = 5
"""Longest wait for an answer where none is too late."""


class MisbehavingServer:
    """Completes the handshake, and answers `ECHO` in a way that a test chooses."""

    def __init__(self) -> None:
        self.answer: Answer = honest
        self.greets = True
        self.is_left = asyncio.Event()
        """Set while nobody is connected."""
        self.dialled = 0
        """Connections made so far."""
        self._connected = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.dialled += 1
        self._connected += 1
        self.is_left.clear()
        with suppress(OSError, asyncio.IncompleteReadError):
            while words := await _command(reader):
                if words[0] != b"CLIENT":
                    await self.answer(words[1], writer)
                elif self.greets:
                    writer.write(b"+OK\r\n")
        writer.close()
        self._connected -= 1
        if not self._connected:
            self.is_left.set()


async def _command(reader: asyncio.StreamReader) -> list[bytes]:
    words = []
    for _ in range(int((await reader.readline())[1:] or b"0")):
        size = int((await reader.readline())[1:])
        words.append((await reader.readexactly(size + 2))[:-2])
    return words


def _bulk(word: bytes) -> bytes:
    return b"$%d\r\n%b\r\n" % (len(word), word)


async def honest(word: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(_bulk(word))


def moody(seed: int) -> Answer:
    """Answer in pieces, late, not at all, with LOADING or a refusal, or hang up."""
    mood = random.Random(seed)

    async def answer(word: bytes, writer: asyncio.StreamWriter) -> None:
        match mood.randrange(60):
            case 0:
                writer.transport.abort()
            case 1:
                writer.write(_bulk(word)[:-3])
                writer.close()
            case 2:
                writer.write(b"-LOADING a moment\r\n")
            case 3 | 4:
                writer.write(b"-ERR not now\r\n")
            case 5 | 6:
                await asyncio.sleep(0.002)
                writer.write(_bulk(word))
            case 7 | 8 | 9:
                for piece in _bulk(word):
                    writer.write(bytes([piece]))
                    await asyncio.sleep(0)
            case _:
                writer.write(_bulk(word))

    return answer


@asynccontextmanager
async def client_of(
    server: MisbehavingServer, *, timeout_s: float = TIMEOUT_S, connections: int = 1
) -> AsyncIterator[Redis]:
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    host, port = listener.sockets[0].getsockname()
    url = f"redis://{host}:{port}"
    async with listener, aclosing(single_client(url, timeout_s=timeout_s, connections=connections)) as client:
        yield client


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 8))])
async def test_no_answer_ever_reaches_another_caller(seed: int) -> None:
    """SPEC J7: callers come, are cancelled anywhere and come again, while the server fails in every way."""
    server, dice = MisbehavingServer(), random.Random(seed)
    server.answer = moody(seed)
    right = 0

    async def ask(client: Redis, word: str) -> None:
        nonlocal right
        with suppress(RedisError, TimeoutError):
            async with asyncio.timeout(dice.choice((0, 0.001, 0.004, 1))):
                assert await client.execute_command("ECHO", word) == word
                right += 1

    async with client_of(server, connections=8) as client:
        for turn in range(10):
            words = [f"{turn}-{caller}" * dice.choice((1, 1, 500)) for caller in range(CALLERS)]
            await asyncio.gather(*(ask(client, word) for word in words))
        server.answer = honest
        assert await client.execute_command("ECHO", "at last") == "at last"
    assert right > CALLERS


@pytest.mark.parametrize("more", [b"-ERR out of nowhere\r\n", b"+OK\r\n+OK\r\n", b"$2\r\n\xff\xfe\r\n"])
async def test_an_answer_nobody_asked_for_is_given_to_nobody(more: bytes) -> None:
    """SPEC J7: the connection is closed, and the next caller has a new one."""
    server = MisbehavingServer()

    async def too_much(word: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(_bulk(word) + more)

    async with client_of(server) as client:
        for number in range(3):
            server.answer = too_much
            assert await client.execute_command("ECHO", f"a{number}") == f"a{number}"
            server.answer = honest
            assert await client.execute_command("ECHO", f"b{number}") == f"b{number}"


async def test_an_answer_that_is_not_text_is_an_error_of_the_store() -> None:
    """SPEC J7: the caller hears it at once, and the next one is answered."""
    server = MisbehavingServer()

    async def binary(_word: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(_bulk(b"\xff\xfe"))

    async with client_of(server) as client:
        server.answer = binary
        with pytest.raises(StoreError), translated_errors():
            await client.execute_command("ECHO", "a")
        server.answer = honest
        assert await client.execute_command("ECHO", "b") == "b"


async def test_a_caller_that_gives_up_during_the_handshake_leaves_no_connection_open() -> None:
    """SPEC J7: a paused server accepts connections for as long as it is paused."""
    server = MisbehavingServer()
    server.greets = False
    async with client_of(server) as client:
        while server.dialled < 3:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await client.execute_command("ECHO", "a")
        async with asyncio.timeout(5):
            await server.is_left.wait()
        server.greets = True
        assert await client.execute_command("ECHO", "a") == "a"


async def test_an_answer_that_stops_coming_is_given_up() -> None:
    """SPEC J7: the next caller has a new connection."""
    server = MisbehavingServer()

    async def stops(word: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(_bulk(word)[:-3] if word == b"half" else _bulk(word))

    server.answer = stops
    async with client_of(server, timeout_s=0.5) as client:
        with pytest.raises(NoAnswerError):
            await client.execute_command("ECHO", "half")
        assert await client.execute_command("ECHO", "anew") == "anew"
