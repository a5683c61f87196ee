"""Event streams as a client finds them on a connection."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp

from planner_mcp.server.http.responses.event_stream import OPENING, EventStream
from planner_mcp.server.http.routes.http_endpoint import HttpEndpoint
from tests.unit.server.http.announcing_server import listening

pytestmark = pytest.mark.anyio
FRAMES = [b"data: 1\n\n", b"data: " + 300 * b"x" + b"\n\n"]
MANY = 200
BIG = b"data: " + 50_000 * b"x" + b"\n\n"


async def _each(frames: list[bytes]) -> AsyncGenerator[bytes, None]:
    for data in frames:
        yield data
        await asyncio.sleep(0)


async def _few(_: Request) -> ASGIApp:
    return EventStream(_each(FRAMES))


async def _many(_: Request) -> ASGIApp:
    return EventStream(_each(MANY * [BIG]))


@pytest.fixture
async def port() -> AsyncIterator[int]:
    app = Starlette(routes=[Route("/few", HttpEndpoint(_few, "GET")), Route("/many", HttpEndpoint(_many, "GET"))])
    async with listening(app) as server:
        yield server.port


async def _body(port: int, path: str, version: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"GET {path} HTTP/{version}\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
        async with asyncio.timeout(10):
            return (await reader.read()).partition(b"\r\n\r\n")[2]
    finally:
        writer.close()


def _dechunked(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        end = int(size, 16)
        assert rest[end : end + 2] == b"\r\n"
        whole, body = whole + rest[:end], rest[end + 2 :]
    return whole


async def test_a_stream_is_chunked_for_http_1_1(port: int) -> None:
    """SPEC J4."""
    assert _dechunked(await _body(port, "/few", "1.1")) == OPENING + b"".join(FRAMES)


async def test_a_stream_is_not_chunked_for_http_1_0(port: int) -> None:
    """SPEC J4: its body ends with the connection."""
    assert await _body(port, "/few", "1.0") == OPENING + b"".join(FRAMES)


async def test_what_the_client_does_not_take_at_once_comes_in_order(port: int) -> None:
    """SPEC J4: a part for which there is no room waits, and so do those after it."""
    assert _dechunked(await _body(port, "/many", "1.1")) == OPENING + MANY * BIG
