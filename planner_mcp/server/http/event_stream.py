"""Server-sent events: the wire form, and a response that neither hangs nor piles up.

Owns frames, keep-alives and the end of a stream. A slow reader is waited for while one frame is under way, then cut
off; it resumes from its last event id and loses nothing. Nothing is buffered here beyond that one frame.
"""

import math
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from typing import Any, Final

import anyio
from starlette.types import Receive, Scope, Send

from planner_mcp.errors import PlannerError
from planner_mcp.server.auth.request_principal import principal_of, seconds_left
from planner_mcp.server.http.asgi_receive import until_disconnected
from planner_mcp.server.http.wire.chunks import Put, short_way
from planner_mcp.text import compact

KEEP_ALIVE_S: Final = 15.0
"""A quiet stream carries a comment this often, so that proxies keep it open."""
SEND_S: Final = 20.0
"""A reader that takes no byte for this long is cut off."""
STALL_CHECKS: Final = 4
"""Times the reader is looked at in that span."""
RETRY_MS: Final = 1000
"""What a client is told to wait before it reconnects."""
OPENING: Final = f"retry: {RETRY_MS}\n".encode()
"""Part of the first event: a block of its own, without data, is a message to some clients (httpx-sse)."""
COMMENT: Final = b": keep-alive\n"
"""Likewise part of the event that follows."""
HEADERS: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
}


def frame(event_id: str, message: dict[str, Any]) -> bytes:
    """Return one event whose data is a JSON message on one line."""
    return f"id: {event_id}\ndata: {compact(message)}\n\n".encode()


class EventStream:
    """Sends frames until they end, the client leaves, its credential expires, the reader stalls, or the server drains.

    Args:
        frames: What to send. An error of the planner ends the stream; the client resumes where it was.
        drain: Set when the server wants its streams to end; clients then resume on another replica.
        headers: Further response headers.
        keep_alive_s: Longest silence.
        send_s: Longest wait for a slow reader.
        is_answer: Whether it answers one call and ends with it, whatever becomes of the credential meanwhile.
        resumable: Set once the client holds an event id to go on from: a drain ends nothing before. None: from the
            beginning.
    """

    def __init__(
        self,
        frames: AsyncGenerator[bytes, None],
        *,
        drain: anyio.Event | None = None,
        headers: Mapping[str, str] | None = None,
        keep_alive_s: float = KEEP_ALIVE_S,
        send_s: float = SEND_S,
        is_answer: bool = False,
        resumable: anyio.Event | None = None,
    ) -> None:
        self._frames = frames
        self._drain = drain
        self._headers = {**HEADERS, **(headers or {})}
        self._keep_alive_s = keep_alive_s
        self._send_s = send_s
        self._is_answer = is_answer
        self._resumable = resumable
        self._sending_since: float | None = None
        self._output_ended = True
        self._has_stalled = False
        self._put_now: Put | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the response."""
        raw = [(name.encode(), value.encode()) for name, value in self._headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": raw})
        self._put_now = short_way(scope)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(until_disconnected, receive, tasks.cancel_scope)
            left_s = math.inf if self._is_answer else seconds_left(principal_of(scope))
            tasks.start_soon(self._until_over, left_s, tasks.cancel_scope)
            tasks.start_soon(self._until_stalled, tasks.cancel_scope)
            tasks.start_soon(self._keep_alive, send)
            tasks.start_soon(self._send_all, send, tasks.cancel_scope)  # woken without the layers it is called through
        if self._has_stalled:
            return  # without an end of body the server closes the connection
        with anyio.move_on_after(self._send_s, shield=True):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_all(self, send: Send, scope: anyio.CancelScope) -> None:
        await self._put(send, OPENING)
        with suppress(PlannerError):
            async with aclosing(self._frames) as frames:
                async for data in frames:
                    self._output_ended = False
                    if self._put_now is None or not self._put_now(data):
                        await self._put(send, data)
        scope.cancel()

    async def _put(self, send: Send, data: bytes) -> None:
        self._output_ended = False
        self._sending_since = anyio.current_time()
        await send({"type": "http.response.body", "body": data, "more_body": True})
        self._sending_since = None

    async def _keep_alive(self, send: Send) -> None:
        while True:
            self._output_ended = True
            await anyio.sleep(self._keep_alive_s / 2)
            if self._output_ended and self._sending_since is None:
                await self._put(send, COMMENT)

    async def _until_stalled(self, scope: anyio.CancelScope) -> None:
        """Look now and then: a deadline for each frame would cost more than the frame."""
        while not self._has_stalled:
            await anyio.sleep(self._send_s / STALL_CHECKS)
            since = self._sending_since
            self._has_stalled = since is not None and anyio.current_time() - since >= self._send_s
        scope.cancel()

    async def _until_over(self, left_s: float, scope: anyio.CancelScope) -> None:
        """Wait until the server drains or the credential ends that the stream was opened with."""
        with anyio.move_on_after(left_s):
            await (self._drain or anyio.Event()).wait()
            if self._resumable is not None:
                await self._resumable.wait()
        scope.cancel()
