"""What a client may write on a connection, byte for byte, against a real listening server."""

from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.unit.server.http.announcing_server import answer, listening

pytestmark = pytest.mark.anyio
MAX_HEAD = 64 * 1024
"""Bytes of a head that has not ended, from which on it is refused."""
HEAD = b"POST /echo HTTP/1.1\r\nhost: x\r\n"
LAST = b"connection: close\r\n"


async def echo(request: Request) -> JSONResponse:
    body = await request.body()
    return JSONResponse({"headers": dict(request.headers), "body": body.decode(), "path": request.url.path})


@pytest.fixture
async def port() -> AsyncIterator[int]:
    app = Starlette(routes=[Route("/echo", echo, methods=["GET", "POST"])])
    async with listening(app) as server:
        yield server.port


async def test_blanks_around_a_value_are_none_of_it(port: int) -> None:
    """SPEC X3: a name is the same name with blanks behind it (RFC 9110 §5.5)."""
    heard = await answer(port, HEAD + LAST + b"x-name: \t ann \t \r\ncontent-length: 0\r\n\r\n")
    assert b'"x-name":"ann"' in heard


async def test_a_trailer_is_no_header(port: int) -> None:
    """SPEC X3: what comes after the body cannot change who or what was let in by the head."""
    body = b"transfer-encoding: chunked\r\ntrailer: x-name\r\n\r\n2\r\nab\r\n0\r\nx-name: eve\r\nhost: y\r\n\r\n"
    heard = await answer(port, HEAD + LAST + body)
    assert b'"body":"ab"' in heard
    assert b"eve" not in heard
    assert b'"host":"x"' in heard


@pytest.mark.parametrize(
    "rest",
    [
        b"content-length: 2\r\ncontent-length: 3\r\n\r\nabc",
        b"content-length: 2, 3\r\n\r\nabc",
        b"content-length: -1\r\n\r\n",
        b"content-length: +2\r\n\r\nab",
        b"transfer-encoding: chunked\r\n\r\nzz\r\n",
        b"transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n",
        b"x name: 1\r\n\r\n",
        b"x-name : 1\r\n\r\n",
        b"x-name: a\0b\r\n\r\n",
        b"x-name: a\rb\r\n\r\n",
        b": nameless\r\n\r\n",
    ],
)
async def test_a_head_that_two_readers_could_read_in_two_ways_is_refused(port: int, rest: bytes) -> None:
    """SPEC X3: no request hides in another (RFC 9112 §11.2)."""
    heard = await answer(port, HEAD + rest)
    assert heard.startswith(b"HTTP/1.1 400 ")
    assert heard.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    "junk",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"BREW /echo HTTP/1.1\r\n\r\n",
        b"GET \xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\0" * 50,
    ],
)
async def test_what_is_no_http_is_answered_and_let_go(port: int, junk: bytes) -> None:
    """SPEC X3: TLS, HTTP/2 and noise on a plain port."""
    assert (await answer(port, junk)).startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 404 "))


@pytest.mark.parametrize("piece", [1, 1000, 2 * MAX_HEAD])
async def test_a_head_without_end_is_refused(port: int, piece: int) -> None:
    """SPEC X3: memory of a server is not a client's to fill, in one header or in many."""
    lines = b"".join(b"x-%06d: %b\r\n" % (number, b"a" * piece) for number in range(2 * MAX_HEAD // (piece + 12) + 1))
    heard = await answer(port, HEAD + lines)
    assert heard == b"" or heard.startswith(b"HTTP/1.1 400 ")


async def test_a_body_larger_than_any_head_is_taken(port: int) -> None:
    """SPEC X3: however few reads it comes in."""
    body = b"a" * 3 * MAX_HEAD
    heard = await answer(port, HEAD + LAST + b"content-length: %d\r\n\r\n" % len(body) + body)
    assert heard.startswith(b"HTTP/1.1 200 ")


async def test_requests_one_behind_the_other_are_answered_in_order(port: int) -> None:
    """SPEC X3: a client may send the next before it has the answer (RFC 9112 §9.3.2)."""
    requests = [HEAD + b"content-length: 1\r\n\r\n%d" % number for number in range(3)]
    heard = await answer(port, b"".join(requests) + HEAD + LAST + b"content-length: 1\r\n\r\n3")
    assert [part[:1] for part in heard.split(b'"body":"')[1:]] == [b"0", b"1", b"2", b"3"]


async def test_an_offer_to_change_the_protocol_is_not_taken(port: int) -> None:
    """SPEC X3: such a client gets an answer in HTTP/1.1."""
    heard = await answer(port, b"GET /echo HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: h2c\r\n\r\n")
    assert heard.startswith(b"HTTP/1.1 200 ")
