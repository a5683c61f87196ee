"""Clients that break off, mumble, or talk while they should listen, against a real listening server."""

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from planner_mcp.cli.processes import http_server
from planner_mcp.server.http.responses.event_stream import EventStream
from planner_mcp.server.http.routes.http_endpoint import HttpEndpoint
from tests.unit.server.http.announcing_server import AnnouncingServer, HastyProtocol, listening, soon

pytestmark = pytest.mark.anyio
MAX_HEAD = 64 * 1024
"""Bytes of a head that has not ended, from which on it is refused."""
GET = b"GET /%b HTTP/1.1\r\nhost: x\r\n\r\n"
POST = b"POST /%b HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n"
SLOW_S = 0.9
"""Longer than every deadline here."""


@dataclass
class StreamingServer:
    """A server, how many of its streams are open, and whether a request that takes its time has come to its handler."""

    server: AnnouncingServer
    streams: list[object] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def talk(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        try:
            async with asyncio.timeout(8):
                yield reader, writer
        finally:
            writer.close()

    async def is_empty(self) -> bool:
        """Return whether soon nothing is left of anybody."""
        return await soon(
            lambda: not (self.streams or self.server.server_state.tasks or self.server.server_state.connections)
        )


async def echo(request: Request) -> PlainTextResponse:
    request.app.state.begun.set()
    try:
        return PlainTextResponse(f"[{len(await request.body())}]")
    except ClientDisconnect:
        return PlainTextResponse("nobody hears this")


async def slow(request: Request) -> PlainTextResponse:
    request.app.state.begun.set()
    await request.body()
    await asyncio.sleep(SLOW_S)
    return PlainTextResponse("[slow]")


async def refuse(_: Request) -> PlainTextResponse:
    return PlainTextResponse("[refused]", 401)


@pytest.fixture
async def streaming_server(caplog: pytest.LogCaptureFixture) -> AsyncIterator[StreamingServer]:
    streams: list[object] = []

    async def frames() -> AsyncGenerator[bytes, None]:
        streams.append(mark := object())
        try:
            while True:
                yield b"data: 1\n\n"
                await asyncio.sleep(0.1)
        finally:
            streams.remove(mark)

    async def stream(_: Request) -> ASGIApp:
        return EventStream(frames())

    routes = [Route(f"/{each.__name__}", each, methods=["GET", "POST"]) for each in (echo, slow, refuse)]
    app = Starlette(routes=[*routes, Route("/stream", HttpEndpoint(stream, "GET, HEAD"))])
    app.state.begun = asyncio.Event()
    async with listening(app, HastyProtocol, timeout_keep_alive=1) as server:
        yield StreamingServer(server, streams, app.state.begun)
    assert not [record for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR]


async def test_a_stream_ends_with_its_connection_though_another_request_waits_behind_it(
    streaming_server: StreamingServer,
) -> None:
    """SPEC J4: what a client sent behind it does not keep a stream open for nobody."""
    async with streaming_server.talk() as (reader, writer):
        writer.write(GET % b"stream")
        await reader.readuntil(b"data: 1")
        writer.write(GET % b"echo")
        await reader.readuntil(b"data: 1")
    assert await streaming_server.is_empty()


async def test_a_stream_and_a_request_in_one_write_end_with_their_connection(streaming_server: StreamingServer) -> None:
    """SPEC J4: nothing is left of either."""
    async with streaming_server.talk() as (reader, writer):
        writer.write(GET % b"stream" + GET % b"echo")
        await reader.readuntil(b"data: 1")
    assert await streaming_server.is_empty()


@pytest.mark.parametrize("more", [b"\r\n", b"GET /ec", POST % (b"echo", 4) + b"ab"])
async def test_what_comes_half_meanwhile_does_not_cut_an_answer_off(
    streaming_server: StreamingServer, more: bytes
) -> None:
    """SPEC X3: deadlines are for what is waited for (an empty line behind a request is none, RFC 9112 §2.2)."""
    async with streaming_server.talk() as (reader, writer):
        writer.write(GET % b"slow")
        await streaming_server.begun.wait()
        writer.write(more)
        assert b"[slow]" in await reader.read()
    assert await streaming_server.is_empty()


@pytest.mark.parametrize("junk", [b"\0\0\0\0\r\n\r\n", POST.replace(b"length: %d", b"length: x") % b"echo"])
async def test_junk_behind_a_request_is_no_answer_to_it(streaming_server: StreamingServer, junk: bytes) -> None:
    """SPEC X3: what is answered first was asked first."""
    async with streaming_server.talk() as (reader, writer):
        writer.write(GET % b"slow")
        await streaming_server.begun.wait()
        writer.write(junk)
        heard = await reader.read()
    assert heard.startswith(b"HTTP/1.1 200 ")
    answered, _status, rest = heard.partition(b"HTTP/1.1 400 ")
    assert b"[slow]" in answered
    assert b"HTTP/1.1" not in rest
    assert await streaming_server.is_empty()


async def test_junk_behind_a_stream_does_not_get_into_it(streaming_server: StreamingServer) -> None:
    """SPEC X3: a stream holds its events and nothing else."""
    async with streaming_server.talk() as (reader, writer):
        writer.write(GET % b"stream")
        await reader.readuntil(b"data: 1")
        writer.write(b"\0\0\0\0\r\n\r\n")
        await reader.readuntil(b"data: 1")
        assert b"HTTP/1.1" not in await reader.readuntil(b"data: 1")
    assert await streaming_server.is_empty()


async def test_a_body_that_breaks_behind_a_request_is_never_waited_for(streaming_server: StreamingServer) -> None:
    """SPEC X3: no handler waits for the rest of a body that cannot come."""
    async with streaming_server.talk() as (reader, writer):
        chunked = b"POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"
        writer.write(GET % b"slow" + chunked)
        heard = await reader.read()
    answered, _status, rest = heard.partition(b"HTTP/1.1 400 ")
    assert b"[slow]" in answered
    assert b"HTTP/1.1" not in rest
    assert await streaming_server.is_empty()


async def test_a_body_is_not_counted_as_the_head_behind_it(streaming_server: StreamingServer) -> None:
    """SPEC X3: a large body and the first half of the next request, in one piece."""
    async with streaming_server.talk() as (reader, writer):
        body = (MAX_HEAD + 5) * b"a"
        writer.write(POST % (b"echo", len(body)) + body + b"GET /echo HTTP/1.1\r\nho")
        assert b"[%d]" % len(body) in await reader.readuntil(b"]")
        writer.write(b"st: x\r\n\r\n")
        assert b"200 OK" in await reader.readuntil(b"[0]")


@pytest.mark.parametrize("end", [b"0\r\nx-name: ", b"1;"])
async def test_a_trailer_or_extension_without_end_is_refused(streaming_server: StreamingServer, end: bytes) -> None:
    """SPEC X3: memory of a server is not a client's to fill, behind the body neither."""
    async with streaming_server.talk() as (reader, writer):
        writer.write(b"POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n" + end)
        await streaming_server.begun.wait()
        writer.write(10 * MAX_HEAD * b"a")
        with suppress(ConnectionResetError):
            assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    assert await streaming_server.is_empty()


async def test_who_was_refused_before_the_body_came_is_let_go_after_it(streaming_server: StreamingServer) -> None:
    """SPEC X3: a connection on which nothing happens any more ends, whatever came last."""
    async with streaming_server.talk() as (reader, writer):
        writer.write(POST % (b"refuse", 4))
        await reader.readuntil(b"[refused]")
        writer.write(b"abcd")
        assert await reader.read() == b""


async def test_who_was_refused_before_the_body_came_may_ask_again_after_it(streaming_server: StreamingServer) -> None:
    """SPEC X3: the connection is as good as new."""
    async with streaming_server.talk() as (reader, writer):
        writer.write(POST % (b"refuse", 4))
        await reader.readuntil(b"[refused]")
        writer.write(b"abcd" + POST % (b"echo", 2) + b"ab")
        assert b" 200 OK" in await reader.readuntil(b"[2]")


@pytest.mark.parametrize("version", [b"0.9", b"1.0"])
async def test_an_answer_without_length_ends_with_the_connection_in_every_old_version(
    streaming_server: StreamingServer, version: bytes
) -> None:
    """SPEC J4: however much the client would like to go on."""
    async with streaming_server.talk() as (reader, writer):
        writer.write(b"GET /stream HTTP/%b\r\nhost: x\r\nconnection: keep-alive\r\n\r\n" % version)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        assert b"transfer-encoding" not in head
        assert b"connection: close" in head or b" 400 " in head


@pytest.mark.parametrize("protocol", [b"websocket", b"h2c"])
@pytest.mark.parametrize("gap_s", [0.0, 0.05])
async def test_an_offer_to_change_the_protocol_spoils_nothing(
    streaming_server: StreamingServer, protocol: bytes, gap_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC X3: a body behind an offer is a body, the next request the next, and the log has no word of it."""
    upgrade = b"connection: upgrade\r\nupgrade: " + protocol + b"\r\n\r\n"
    head = (POST % (b"echo", 2)).replace(b"\r\n\r\n", b"\r\n" + upgrade)
    async with streaming_server.talk() as (reader, writer):
        for behind in (b"", POST % (b"echo", 3) + b"abc"):
            writer.write(head)
            await asyncio.sleep(gap_s)
            writer.write(b"ab" + behind)
            assert b" 200 OK" in await reader.readuntil(b"[2]")
        assert b" 200 OK" in await reader.readuntil(b"[3]")
    assert not caplog.records


async def test_there_is_no_tunnel(streaming_server: StreamingServer) -> None:
    """SPEC X3: a request for one is refused."""
    for target in (b"/echo", b"x:80"):
        async with streaming_server.talk() as (reader, writer):
            writer.write(b"CONNECT %b HTTP/1.1\r\nhost: x\r\n\r\n" % target)
            assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 40")


async def test_a_body_may_break_off_at_every_byte(streaming_server: StreamingServer) -> None:
    """SPEC X3: chunks with extensions and trailers, in two writes wherever they are cut."""
    whole = (
        b"POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
        b'3;name="v"\r\nabc\r\n0A\r\n0123456789\r\n000\r\nx-sum: 1\r\n\r\n'
    )
    async with streaming_server.talk() as (reader, writer):
        for at in range(1, len(whole)):
            writer.write(whole[:at])
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            writer.write(whole[at:])
            assert (await reader.readuntil(b"]")).endswith(b"[13]")
            if at % 40 == 0:
                await asyncio.sleep(0.01)


async def test_the_answer_to_a_head_has_no_body(streaming_server: StreamingServer) -> None:
    """SPEC X3: of a stream neither."""
    async with streaming_server.talk() as (reader, writer):
        writer.write(b"HEAD /stream HTTP/1.1\r\nhost: x\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.readexactly(1), 0.3)
    assert await streaming_server.is_empty()


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="this system does not tell")
async def test_an_answer_that_nobody_takes_is_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC X3: a client that asks for much and reads nothing holds neither memory nor a connection."""
    monkeypatch.setattr(http_server, "STALL_S", 1.0)

    async def big(_: Request) -> PlainTextResponse:
        return PlainTextResponse(8_000_000 * "x")

    listener = http_server.listen("127.0.0.1", 0)
    app = Starlette(routes=[Route("/", big)])
    async with listening(app, sockets=[listener]) as server:
        with socket.create_connection(listener.getsockname()) as client:
            client.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            assert await soon(lambda: server.server_state.total_requests == 1)
            assert server.server_state.connections
            assert await soon(lambda: not server.server_state.connections, 8)
