"""Answers of configured services: how long one may take."""

from collections.abc import AsyncIterator

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.bounded_requests import UpstreamError, fetch_json, http_client

pytestmark = pytest.mark.anyio


async def _bytes() -> AsyncIterator[bytes]:
    while True:
        yield b" "
        await anyio.sleep(0.01)


async def test_an_answer_that_comes_byte_by_byte_ends_at_the_deadline() -> None:
    """SPEC A4: a service that goes on answering holds no request for longer than one that does not answer."""
    server = httpx.MockTransport(lambda _request: httpx.Response(200, content=_bytes()))
    with anyio.fail_after(5):
        async with http_client(0.1, transport=server) as http:
            with pytest.raises(UpstreamError, match="did not answer"):
                await fetch_json(http, httpx.Request("GET", "http://slow.example/"), max_bytes=10**9)
