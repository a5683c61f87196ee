"""An event stream against readers and silences."""

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest
from starlette.types import Message

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.server.http.responses.event_stream import COMMENT, OPENING, EventStream, sse_event
from planner_mcp.text import compact

pytestmark = pytest.mark.anyio
SCOPE: dict[str, Any] = {"type": "http", "method": "GET"}


class Reader:
    """An ASGI client: takes bytes, and leaves when told."""

    def __init__(self, *, takes: int = 1_000_000) -> None:
        self.taken: list[bytes] = []
        self.ended = False
        self.leaves = anyio.Event()
        self.heard = anyio.Event()
        self._takes = takes

    async def receive(self) -> Message:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] != "http.response.body":
            return
        if len(self.taken) >= self._takes:
            await anyio.sleep_forever()
        self.taken.append(message["body"])
        self.ended = not message["more_body"]
        self.heard.set()


async def silence() -> AsyncGenerator[bytes, None]:
    await anyio.sleep_forever()
    yield b""


async def test_silence_is_filled_with_comments() -> None:
    """SPEC J4: proxies keep a quiet stream open."""
    reader = Reader()
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(EventStream(silence(), keep_alive_s=0.02), SCOPE, reader.receive, reader.send)
            for _ in range(3):
                await reader.heard.wait()
                reader.heard = anyio.Event()
            reader.leaves.set()
    assert reader.taken[:2] == [OPENING, COMMENT]


async def test_every_block_of_a_stream_is_an_event_with_data() -> None:
    """SPEC X1: clients in use take `retry` or a comment before a blank line for a message, and wait for ever (/sse)."""
    reader, commented = Reader(), anyio.Event()

    async def slow() -> AsyncGenerator[bytes, None]:
        for number in range(2):
            while COMMENT not in reader.taken[-1]:
                reader.heard = anyio.Event()
                await reader.heard.wait()
            yield sse_event(compact({"x": number}), event_id=f"{number}-0")
        commented.set()

    with anyio.fail_after(30):
        await EventStream(slow(), keep_alive_s=0.02)(SCOPE, reader.receive, reader.send)
    assert commented.is_set()
    blocks = [block.splitlines() for block in b"".join(reader.taken).decode().split("\n\n") if block]
    assert [[line for line in block if line.startswith("data: ")] for block in blocks] == [
        ['data: {"x":0}'],
        ['data: {"x":1}'],
    ]
    assert blocks[0][0] == "retry: 1000"


async def test_a_reader_that_leaves_ends_the_generator() -> None:
    """Our choice: nothing follows a job for nobody."""
    closed = anyio.Event()

    async def watched() -> AsyncGenerator[bytes, None]:
        try:
            await anyio.sleep_forever()
            yield b""
        finally:
            closed.set()

    reader = Reader()
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(EventStream(watched()), SCOPE, reader.receive, reader.send)
            await reader.heard.wait()
            reader.leaves.set()
    assert closed.is_set()


async def test_a_reader_that_stalls_is_cut_off() -> None:
    """SPEC X3: bounded time for a slow reader; without an end of body the connection closes."""

    async def endless() -> AsyncGenerator[bytes, None]:
        while True:
            yield b"data: x\n\n"

    reader = Reader(takes=3)
    with anyio.fail_after(30):
        await EventStream(endless(), send_s=0.05)(SCOPE, reader.receive, reader.send)
    assert len(reader.taken) == 3
    assert not reader.ended


async def test_a_store_that_goes_away_ends_the_stream_properly() -> None:
    """SPEC J7: the client reconnects and is told 503 then."""

    async def broken() -> AsyncGenerator[bytes, None]:
        yield b"data: 1\n\n"
        raise StoreUnavailableError

    reader = Reader()
    with anyio.fail_after(30):
        await EventStream(broken())(SCOPE, reader.receive, reader.send)
    assert reader.taken == [OPENING, b"data: 1\n\n", b""]
    assert reader.ended


def test_a_frame_is_one_event_whatever_it_carries() -> None:
    """SPEC J3: no line end of a caller's text can start another field."""
    text = sse_event(compact({"x": "a\nid: 9\r\ndata: y\u2028北京"}), event_id="1-0").decode()
    assert text == 'id: 1-0\ndata: {"x":"a\\nid: 9\\r\\ndata: y\u2028北京"}\n\n'
