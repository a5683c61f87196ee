"""A line that can be cut: forwards TCP both ways until told to swallow everything or to refuse.

`HALF_OPEN` is what a lost route looks like: connections stay, new ones are accepted, nothing comes through. What was
swallowed is gone; cut lines are closed when the proxy forwards again, as a host that forgot them would.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum, auto

READ_BYTES = 1 << 16


class Forwarding(Enum):
    """What the proxy does."""

    FORWARD = auto()
    HALF_OPEN = auto()
    REFUSE = auto()


class Proxy:
    """Stands in front of one port."""

    def __init__(self, target_port: int) -> None:
        self._target = target_port
        self._line = Forwarding.FORWARD
        self._open: set[asyncio.StreamWriter] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """Where it listens, as a Redis URL."""
        return f"redis://127.0.0.1:{self.port}"

    def become(self, line: Forwarding) -> None:
        """Change what happens to bytes, from any thread. Every change but to half-open closes what is open."""
        self._line = line
        if line is not Forwarding.HALF_OPEN and self._loop is not None:
            self._loop.call_soon_threadsafe(self._close_all)

    def _close_all(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self._loop = asyncio.get_running_loop()
        self._open.add(writer)
        try:
            if self._line is Forwarding.FORWARD:
                there, back = await asyncio.open_connection("127.0.0.1", self._target)
                self._open.add(back)
                await asyncio.gather(self._copy(reader, back), self._copy(there, writer))
            elif self._line is Forwarding.HALF_OPEN:
                await self._copy(reader, None)
        except OSError:
            pass
        finally:
            self._open.discard(writer)
            writer.transport.abort()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter | None) -> None:
        try:
            while data := await reader.read(READ_BYTES):
                if writer is not None and self._line is Forwarding.FORWARD:
                    writer.write(data)
                    await writer.drain()
        finally:
            if writer is not None:
                self._open.discard(writer)
                writer.transport.abort()


@asynccontextmanager
async def proxied(target_port: int) -> AsyncIterator[Proxy]:
    """Run a proxy in front of a port for the length of a block."""
    proxy = Proxy(target_port)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        proxy.become(Forwarding.REFUSE)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                await server.wait_closed()
