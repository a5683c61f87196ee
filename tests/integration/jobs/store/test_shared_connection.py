"""The shared connection, at a store that answers in pieces, out of turn, too often or not at all (SPEC J7)."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import InvalidResponse, RedisError, ResponseError
from redis.exceptions import TimeoutError as NoAnswerError

from planner_mcp.jobs.store.connection import shared_connection as line_module
from planner_mcp.jobs.store.connection.shared_connection import DedicatedConnections, SharedConnection
from planner_mcp.jobs.store.open_store import _client

pytestmark = pytest.mark.anyio
Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
CALLERS = 40
PATIENT_S = 5
"""Longest wait for an answer where none is too late."""


class MisbehavingServer:
    """Greets, and answers `ECHO` in a way that a test chooses."""

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
async def _at(store: MisbehavingServer) -> AsyncIterator[Redis]:
    server = await asyncio.start_server(store.serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    async with server:
        yield _client(f"redis://{host}:{port}", None, 1)


@pytest.fixture
async def loop_errors() -> list[dict[str, Any]]:
    """What asyncio found nobody to tell."""
    loop_errors: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, about: loop_errors.append(about))
    return loop_errors


@pytest.mark.parametrize("hold_s", [0, 0.0005])
@pytest.mark.parametrize("seed", range(8))
async def test_no_answer_ever_reaches_another_caller(seed: int, hold_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC J7: callers come, are cancelled anywhere and come again, while the store is in every mood."""
    monkeypatch.setattr(line_module, "HOLD_S", hold_s)
    store, dice = MisbehavingServer(), random.Random(seed)
    store.answer = moody(seed)
    right = 0

    async def ask(client: SharedConnection | DedicatedConnections, word: str) -> None:
        nonlocal right
        with suppress(RedisError, TimeoutError):
            async with asyncio.timeout(dice.choice((0, 0.001, 0.004, 1))):
                assert await client.execute_command("ECHO", word) == word
                right += 1

    async with _at(store) as client:
        shared, lines = SharedConnection(client, answer_s=PATIENT_S), DedicatedConnections(client, answer_s=PATIENT_S)
        for turn in range(10):
            words = [f"{turn}-{caller}" * dice.choice((1, 1, 500)) for caller in range(CALLERS)]
            await asyncio.gather(*(ask(dice.choice((shared, shared, lines)), word) for word in words))
        store.answer = honest
        assert await shared.execute_command("ECHO", "at last") == "at last"
        await asyncio.gather(shared.aclose(), lines.aclose())
    assert right > CALLERS


@pytest.mark.parametrize("more", [b"-ERR out of nowhere\r\n", b"+OK\r\n+OK\r\n", b"$2\r\n\xff\xfe\r\n"])
async def test_an_answer_nobody_asked_for_is_nobodys(more: bytes, loop_errors: list[dict[str, Any]]) -> None:
    """SPEC J7: the connection is given up, the next caller has a new one, and nothing is left for asyncio to tell."""
    store = MisbehavingServer()

    async def too_much(word: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(_bulk(word) + more)

    async with _at(store) as client:
        shared = SharedConnection(client, answer_s=PATIENT_S)
        for number in range(3):
            store.answer = too_much
            assert await shared.execute_command("ECHO", f"a{number}") == f"a{number}"
            store.answer = honest
            assert await shared.execute_command("ECHO", f"b{number}") == f"b{number}"
        await shared.aclose()
    assert not loop_errors


DEMOTED = [
    b"-READONLY You can't write against a read only replica.\r\n",
    b"-ERR Error running script: @user_script: 7: -READONLY You can't write against a read only replica.\r\n",
]


@pytest.mark.parametrize("refusal", DEMOTED, ids=["command", "step"])
async def test_a_primary_that_became_a_replica_is_left(refusal: bytes, loop_errors: list[dict[str, Any]]) -> None:
    """SPEC J7: it stays up, but the name of the store leads elsewhere; who asked is told why, who comes next dials."""
    store = MisbehavingServer()

    async def demoted(word: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(refusal if word == b"write" else _bulk(word))

    async with _at(store) as client:
        shared = SharedConnection(client, answer_s=PATIENT_S)
        store.answer = demoted
        words = ("read", "write", "read on")
        answers = await asyncio.gather(
            *(shared.execute_command("ECHO", word) for word in words), return_exceptions=True
        )
        assert answers[0] == "read"
        assert isinstance(answers[1], ResponseError) and "read only" in str(answers[1])
        assert answers[2] == "read on"
        assert await shared.execute_command("ECHO", "again") == "again"
        assert store.dialled == 2
        await shared.aclose()
    assert not loop_errors


async def test_an_answer_that_is_no_text_is_an_error(loop_errors: list[dict[str, Any]]) -> None:
    """SPEC J7: whoever asked is told at once."""
    store = MisbehavingServer()

    async def binary(_word: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(_bulk(b"\xff\xfe"))

    store.answer = binary
    async with _at(store) as client:
        shared = SharedConnection(client, answer_s=PATIENT_S)
        with pytest.raises(InvalidResponse):
            await shared.execute_command("ECHO", "a")
        await shared.aclose()
    assert not loop_errors


async def test_who_gives_up_on_a_store_that_does_not_greet_leaves_no_connection_open() -> None:
    """SPEC J7: a paused store accepts connections for as long as it is paused."""
    store = MisbehavingServer()
    store.greets = False
    async with _at(store) as client:
        shared, lines = SharedConnection(client, answer_s=PATIENT_S), DedicatedConnections(client, answer_s=PATIENT_S)
        for _ in range(20):
            for each in (shared, lines):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.01):
                        await each.execute_command("ECHO", "a")
        async with asyncio.timeout(5):
            await store.is_left.wait()
        store.greets = True
        assert await shared.execute_command("ECHO", "a") == "a"
        await shared.aclose()


def slow(word: bytes, pieces: int, *, ends: bool = True) -> Answer:
    """Answer one word over a link that brings a piece of it now and then, other words at once."""

    async def answer(asked: bytes, writer: asyncio.StreamWriter) -> None:
        bulk = _bulk(asked)
        size = -(-len(bulk) // pieces)
        while asked == word and len(bulk) > size:
            writer.write(bulk[:size])
            bulk = bulk[size:]
            await asyncio.sleep(0.2)
        if asked != word or ends:
            writer.write(bulk)

    return answer


async def test_a_large_answer_may_take_its_time_as_long_as_it_comes() -> None:
    """SPEC J7: over a slow link, longer than the longest wait for an answer; who stands behind it is answered too."""
    store = MisbehavingServer()
    large = "x" * 10_000
    store.answer = slow(large.encode(), 12)
    async with _at(store) as client:
        shared = SharedConnection(client, answer_s=2)
        asked = [shared.execute_command("ECHO", word) for word in (large, "behind")]
        assert await asyncio.gather(*asked) == [large, "behind"]
        await shared.aclose()


async def test_an_answer_that_stops_coming_is_given_up() -> None:
    """SPEC J7: with all that stands behind it; whoever asks then has a new connection."""
    store = MisbehavingServer()
    store.answer = slow(b"half", 2, ends=False)
    async with _at(store) as client:
        shared = SharedConnection(client, answer_s=1)
        with pytest.raises(NoAnswerError):
            await shared.execute_command("ECHO", "half")
        assert await shared.execute_command("ECHO", "anew") == "anew"
        await shared.aclose()
