"""A webhook receiver on loopback that behaves as a test says, and remembers what it was sent."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import anyio


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float
    """Of the event loop's clock."""
    method: str = "POST"

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]


Answer = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


def answering(status: int, headers: str = "", body: str = "") -> Answer:
    """Answer with a status and be done."""

    async def answer(_request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status} x\r\ncontent-length: {len(body.encode())}\r\n{headers}\r\n{body}".encode())

    return answer


async def echo(request: Received, writer: asyncio.StreamWriter) -> None:
    """Answer a verification as an endpoint does that wants the events; 200 to others."""
    body = json.dumps({"challenge": json.loads(request.body).get("challenge")})
    await answering(200, body=body)(request, writer)


async def hanging(_request: Received, _writer: asyncio.StreamWriter) -> None:
    """Never answer."""
    await anyio.sleep_forever()


@dataclass
class Receiver:
    """Answers each path as `answers` says: the next of a list, the last one for ever; 200 where nothing is said."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    _grew: asyncio.Event = field(default_factory=asyncio.Event)
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def to(self, path: str) -> list[Received]:
        """What came for a path so far."""
        return [request for request in self.received if request.path.partition("?")[0] == path]

    async def wait_for(self, count: int, path: str, within_s: float = 30) -> list[Received]:
        """Return what came for a path once there are `count` of it."""
        with anyio.fail_after(within_s):
            while len(self.to(path)) < count:
                grew = self._grew
                await grew.wait()
        return self.to(path)

    async def wait_in_all(self, count: int) -> None:
        """Return once so many requests came, whatever their paths."""
        with anyio.fail_after(30):
            while len(self.received) < count:
                grew = self._grew
                await grew.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._exchange(reader, writer)
        finally:
            self._open.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _colon, value in (line.partition(":") for line in lines if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, *_ = first.split(" ")
        request = Received(path, headers, body, asyncio.get_running_loop().time(), method)
        self.received.append(request)
        self._grew.set()
        self._grew = asyncio.Event()
        planned = self.answers.get(request.path.partition("?")[0]) or [answering(200)]
        await (planned.pop(0) if len(planned) > 1 else planned[0])(request, writer)
        await writer.drain()

    def close(self) -> None:
        for task in self._open:
            task.cancel()


@contextlib.asynccontextmanager
async def receiving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """A receiver on a free port."""
    receiver = Receiver()
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        receiver.close()
        await asyncio.sleep(0)
