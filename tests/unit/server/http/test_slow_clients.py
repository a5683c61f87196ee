"""Slow clients against a real listening server."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from typing_extensions import override

from planner_mcp.server.http.slow_clients import READ_BYTES, SlowClientProtocol
from tests.unit.server.http.announcing_server import HastyProtocol, answer, listening

pytestmark = pytest.mark.anyio


async def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


async def refuse(_: Request) -> PlainTextResponse:
    return PlainTextResponse("no", status_code=413)


@pytest.fixture
async def port() -> AsyncIterator[int]:
    app = Starlette(routes=[Route("/echo", echo, methods=["POST"]), Route("/refuse", refuse, methods=["POST"])])
    async with listening(app, HastyProtocol) as server:
        yield server.port


class CountingProtocol(SlowClientProtocol):
    """Keeps the largest part that was read at once."""

    largest = 0

    @override
    def data_received(self, data: bytes) -> None:
        CountingProtocol.largest = max(CountingProtocol.largest, len(data))
        super().data_received(data)


HEAD = b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n"


async def test_a_client_that_says_nothing_is_let_go(port: int) -> None:
    """SPEC X3: an open connection without a request ends at the header deadline."""
    assert (await answer(port)).startswith(b"HTTP/1.1 408 ")


async def test_trickled_headers_buy_no_time(port: int) -> None:
    """SPEC X3: a header byte now and then does not extend the deadline."""
    drips = [bytes([byte]) for byte in HEAD]
    assert (await answer(port, *drips, gap_s=0.05)).startswith(b"HTTP/1.1 408 ")


async def test_a_body_that_never_ends_is_cut_off(port: int) -> None:
    """SPEC X3: headers in time, then silence: the connection closes without an answer."""
    assert await answer(port, HEAD + b"\r\n" + b"ab") == b""


async def test_an_early_refusal_does_not_leave_the_body_open(port: int) -> None:
    """SPEC X3: the answer came before the body did; the connection still ends."""
    sent = HEAD.replace(b"/echo", b"/refuse") + b"\r\n" + b"ab"
    assert b" 413 " in await answer(port, sent)


async def test_an_honest_client_may_send_one_request_after_another(port: int) -> None:
    """SPEC X3: two whole requests on one connection, the second later than a deadline, are both answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(2):
        writer.write(HEAD + b"\r\n" + b"abcd")
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
        assert head.startswith(b"HTTP/1.1 200 ")
        assert await reader.readexactly(1) == b"4"
        await asyncio.sleep(HastyProtocol.head_s + 0.1)  # the quiet between two requests is what is tried
    writer.close()


async def test_a_large_body_is_read_in_small_parts() -> None:
    """SPEC A4: others have their turn after 32 KiB, however much lies ready."""
    size = 4 * 1024 * 1024
    async with listening(Starlette(routes=[Route("/echo", echo, methods=["POST"])]), CountingProtocol) as server:
        head = f"POST /echo HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {size}\r\n\r\n"
        assert (await answer(server.port, head.encode() + bytes(size))).endswith(str(size).encode())
    assert 0 < CountingProtocol.largest <= READ_BYTES
