"""A server on a free port that says when it listens, and a client that speaks byte for byte."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from planner_mcp.server.http.slow_clients import SlowClientProtocol


class HastyProtocol(SlowClientProtocol):
    """The same with deadlines a test can wait for."""

    head_s = 0.3
    body_s = 0.3


class AnnouncingServer(uvicorn.Server):
    """A server that says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.servers[0].sockets[0].getsockname()[1])


@asynccontextmanager
async def listening(
    app: ASGIApp,
    http: type[SlowClientProtocol] = SlowClientProtocol,
    *,
    sockets: list[socket.socket] | None = None,
    **further: Any,
) -> AsyncIterator[AnnouncingServer]:
    """Serve an app for the length of the block; the server ends within 5 s of it.

    Args:
        app: What is served.
        http: What reads the connections.
        sockets: Bound ones to listen at; a free port of loopback where there are none.
        further: Of uvicorn's settings.
    """
    config = uvicorn.Config(
        app, port=0, http=http, ws="none", log_config=None, log_level="error", lifespan="off", **further
    )
    server = AnnouncingServer(config)
    running = asyncio.create_task(server.serve(sockets))
    await server.listening.wait()
    try:
        yield server
    finally:
        server.should_exit = True
        await asyncio.wait_for(running, 5)


async def answer(port: int, *chunks: bytes, gap_s: float = 0.0) -> bytes:
    """Send chunks with a gap between them and return all that comes until the server closes or resets the connection.

    A client that still sends is reset, with or without an answer before.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    received = bytearray()

    async def receive() -> None:
        with suppress(ConnectionResetError):
            while part := await reader.read(65536):
                received.extend(part)

    receiving = asyncio.create_task(receive())
    try:
        for chunk in chunks:
            writer.write(chunk)
            await asyncio.wait({receiving}, timeout=gap_s)
        await asyncio.wait_for(receiving, 5)
        return bytes(received)
    finally:
        writer.close()


async def soon(is_so: Callable[[], bool], within_s: float = 3.0) -> bool:
    """Return whether something is so before the time is over."""
    for _ in range(round(within_s / 0.02)):
        if is_so():
            return True
        await asyncio.sleep(0.02)
    return is_so()
