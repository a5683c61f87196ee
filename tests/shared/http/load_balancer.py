"""A balancer that sends each request to the next replica, as the worst of real ones do, and breaks streams if told.

With `failover` it sends each to the first replica that can be reached, under the replica's own name: Host and Origin of
a page behind it are then the replica's.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from itertools import cycle

import anyio
import httpx2 as httpx
import uvicorn
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from tests.shared.http.http_clients import http_client

HOP_BY_HOP = {"host", "connection", "content-length", "transfer-encoding", "keep-alive"}
EVENTS_BEFORE_CUT = 2
"""A stream that is broken off has had so many of its events."""


class BrokenOffError(ConnectionError):
    """A stream was broken off on purpose."""


class LoadBalancer:
    """An ASGI app that proxies each request to the next of its targets, and counts.

    Args:
        targets: URLs of replicas.
        client: Asks them.
        cuts: How many streams are broken off in the middle: the connection ends without an end of the body.
        failover: Whether the first replica that can be reached gets each request.
    """

    def __init__(self, targets: list[str], client: httpx.AsyncClient, *, cuts: int, failover: bool) -> None:
        self._next = cycle(targets)
        self._in_order = targets if failover else []
        self._client = client
        self._cuts = cuts
        self.served = 0
        self.broken = 0
        """Streams that were broken off."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        query = scope["query_string"].decode()
        path = scope["path"] + (f"?{query}" if query else "")
        self.served += 1
        headers = [(name, value) for name, value in request.headers.items() if name not in HOP_BY_HOP]
        body = await request.body()
        sent = await self._sent(request.method, path, headers, body)
        async with contextlib.aclosing(sent) as answer:
            kept = {name: value for name, value in answer.headers.items() if name not in HOP_BY_HOP}
            response = StreamingResponse(self._passed(answer), answer.status_code, kept)
            with contextlib.suppress(BrokenOffError):
                await response(scope, receive, send)

    async def _sent(self, method: str, path: str, headers: list[tuple[str, str]], body: bytes) -> httpx.Response:
        for target in self._in_order or [next(self._next)]:
            named = [(name, target if self._in_order and name == "origin" else value) for name, value in headers]
            request = self._client.build_request(method, target + path, headers=named, content=body or None)
            with contextlib.suppress(httpx.ConnectError):
                return await self._client.send(request, stream=True)
        raise ConnectionError("no replica can be reached")

    async def _passed(self, answer: httpx.Response) -> AsyncIterator[bytes]:
        passed = 0
        async for chunk in answer.aiter_raw():
            yield chunk
            passed += chunk.count(b"data: {")
            if passed >= EVENTS_BEFORE_CUT and self.broken < self._cuts:
                self.broken += 1
                raise BrokenOffError


@contextlib.asynccontextmanager
async def balancing(
    *targets: str, port: int = 0, cuts: int = 0, failover: bool = False
) -> AsyncIterator[tuple[str, LoadBalancer]]:
    """Run a balancer in front of replicas, on a free port if none is given; yield its URL and itself."""
    async with http_client(timeout=None) as client:
        switch = LoadBalancer(list(targets), client, cuts=cuts, failover=failover)
        config = uvicorn.Config(
            switch, http="h11", lifespan="off", ws="none", log_config=None, timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
        listener = socket.create_server(("127.0.0.1", port))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:  # noqa: ASYNC110 uvicorn has no event for it
            await anyio.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", switch
        finally:
            server.should_exit = True
            await serving
