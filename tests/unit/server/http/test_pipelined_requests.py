"""Many requests on one connection, of every kind, cut anywhere: each is answered once and in its turn."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from planner_mcp.server.http.responses.event_stream import OPENING, EventStream
from planner_mcp.server.http.routes.http_endpoint import HttpEndpoint
from tests.unit.server.http.announcing_server import AnnouncingServer, listening, soon

pytestmark = pytest.mark.anyio
JUNK = (b"\0\1\2\r\n\r\n", b"GET /x HTP/1.1\r\n\r\n", b"POST /echo HTTP/1.1\r\ntransfer-encoding: x\r\n\r\n")
ENDS = ("close", "junk", "reset")


async def echo(request: Request) -> PlainTextResponse:
    """Answer with the name and the body of the request, sooner or later."""
    await asyncio.sleep(random.choice((0, 0, 0.002)))
    with suppress(ClientDisconnect):
        return PlainTextResponse(f"{request.query_params.get('name')}:{(await request.body()).decode()};")
    return PlainTextResponse("nobody hears this")


async def refused(request: Request) -> PlainTextResponse:
    """Answer before the body is there."""
    return PlainTextResponse(f"{request.query_params['name']}:refused;", 401)


async def stream(request: Request) -> ASGIApp:
    async def frames() -> AsyncGenerator[bytes, None]:
        for number in range(4):
            await asyncio.sleep(random.choice((0, 0.001)))
            yield f"{request.query_params['name']}/{number};".encode()

    return EventStream(frames())


@pytest.fixture
async def server() -> AsyncIterator[AnnouncingServer]:
    routes = [Route(f"/{each.__name__}", each, methods=["GET", "POST"]) for each in (echo, refused)]
    app = Starlette(routes=[*routes, Route("/stream", HttpEndpoint(stream, "GET"))])
    async with listening(app) as server:
        yield server


def _request(dice: random.Random, name: str) -> tuple[bytes, bytes]:
    """Return a request and the body of its answer."""
    kind = dice.choice(("get", "post", "chunks", "offer", "refused", "stream"))
    body = b"b" * dice.choice((0, 1, 7, 3000))
    match kind:
        case "get":
            return b"GET /echo?name=%b HTTP/1.1\r\nhost: x\r\n\r\n" % name.encode(), f"{name}:;".encode()
        case "stream":
            wanted = OPENING + b"".join(f"{name}/{number};".encode() for number in range(4))
            return b"GET /stream?name=%b HTTP/1.1\r\nhost: x\r\n\r\n" % name.encode(), wanted
        case "chunks":
            parts = [body[at : at + 5] for at in range(0, min(len(body), 40), 5)]
            body = b"".join(parts)
            chunks = b"".join(b"%X;x=y\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\nx-sum: 1\r\n\r\n"
            framing = b"transfer-encoding: chunked\r\n\r\n" + chunks
        case _:
            framing = b"content-length: %d\r\n\r\n" % len(body) + body
    offer = b"connection: upgrade\r\nupgrade: h2c\r\n" if kind == "offer" else b""
    path = b"refused" if kind == "refused" else b"echo"
    answer = f"{name}:refused;".encode() if kind == "refused" else f"{name}:{body.decode()};".encode()
    return b"POST /%b?name=%b HTTP/1.1\r\nhost: x\r\n%b%b" % (path, name.encode(), offer, framing), answer


async def _answers(reader: asyncio.StreamReader) -> AsyncGenerator[tuple[bytes, bytes], None]:
    """Yield status line and body of each answer until the server closes."""
    while head := await _head(reader):
        length, body = head.partition(b"content-length: ")[2].partition(b"\r\n")[0], b""
        if length:
            body = await reader.readexactly(int(length))
        else:
            assert b"transfer-encoding: chunked" in head
            while size := int(await reader.readline(), 16):
                body += await reader.readexactly(size)
                assert await reader.readline() == b"\r\n"
            assert await reader.readline() == b"\r\n"
        yield head.partition(b"\r\n")[0], body


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return (await reader.readuntil(b"\r\n\r\n")).lower()
    except asyncio.IncompleteReadError as broken:
        assert not broken.partial
        return b""


async def _converse(server: AnnouncingServer, seed: int) -> None:
    dice = random.Random(seed)
    sent, wanted = zip(*(_request(dice, f"{seed}-{number}") for number in range(dice.randrange(1, 9))), strict=True)
    end = dice.choice(ENDS)
    junk = dice.choice(JUNK)
    last, last_wanted = b"GET /echo?name=last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", b"last:;"
    whole = b"".join(sent) + (last if end == "close" else junk)
    cuts = sorted(dice.sample(range(len(whole)), min(len(whole), dice.choice((0, 1, 3, 10)))))
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        for first, past in zip([0, *cuts], [*cuts, len(whole)], strict=True):
            writer.write(whole[first:past])
            await asyncio.sleep(dice.choice((0, 0, 0.001, 0.004)))
        if end == "reset":
            writer.transport.abort()
            return
        heard = [answer async for answer in _answers(reader)]
    finally:
        writer.close()
    if end == "close":
        assert [body for _status, body in heard] == [*wanted, last_wanted]
    else:
        if heard and heard[-1][0] == b"http/1.1 400 bad request":
            heard.pop()
        assert [body for _status, body in heard] == [*wanted]


@pytest.mark.parametrize("seed", range(0, 300, 60))
async def test_each_request_has_its_own_answer_in_its_turn(
    server: AnnouncingServer, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC X3: and when all have gone, nothing of them is left, and no fault is in the log."""
    async with asyncio.timeout(20):
        for first in range(seed, seed + 60, 20):
            await asyncio.gather(*(_converse(server, each) for each in range(first, first + 20)))
        assert await soon(lambda: not (server.server_state.connections or server.server_state.tasks))
    assert not [record for record in caplog.records if record.exc_info]
