"""Server-sent events: how every event stream of the server is written, and when it ends.

Owns the one response that all streams use, on top of sse-starlette: the first bytes, keep-alive comments, the form of
an event, and the ends that are not the events' own: the server drains, the credential expires or is revoked, the reader
stalls. A reader that stalls is cut off and resumes from its last event id; nothing is buffered for it beyond one event.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from typing import Final

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from planner_mcp.errors import PlannerError
from planner_mcp.server.auth.request_principal import until_refused

KEEP_ALIVE_S: Final = 15.0
"""A stream carries a comment this often, so that proxies keep it open."""
SEND_S: Final = 20.0
"""A reader that takes no byte for this long is cut off."""
RETRY_MS: Final = 1000
"""How long a client waits before it reconnects."""
OPENING: Final = f"retry: {RETRY_MS}\n".encode()
"""Sent at once, as a part of the first event: some clients (httpx-sse) take a block without data for a message."""
COMMENT: Final = b": keep-alive\n"
"""A part of the event that follows, for the same reason."""


def sse_event(data: str, *, event_id: str | None = None, event: str | None = None) -> bytes:
    """Return one event as it is sent.

    Args:
        data: A text such as JSON; a line end in it would become a second line of data, never another field.
        event_id: What a client resumes from; None for an event that cannot be resumed from.
        event: Its type; None for the default.
    """
    return ServerSentEvent(data, id=event_id, event=event, sep="\n").encode()


class _KeepAlive(ServerSentEvent):
    @override
    def encode(self) -> bytes:
        return COMMENT


class _StreamOver(Exception):  # noqa: N818 - no error: the server drains, or the credential expired
    """Ends a stream properly, with the end of its body."""


class EventStream(EventSourceResponse):
    """Sends events until they end, the client leaves, its credential expires, it stalls, or the server drains.

    Args:
        events: Events as they are sent. An error of the planner ends the stream; the client resumes where it was.
        drain: Set when the server wants its streams to end; clients then resume on another replica.
        headers: Further response headers.
        keep_alive_s: Time between two comments.
        send_s: Longest wait for a slow reader.
        is_answer: Whether it answers one call and ends with it, even if the credential expires meanwhile.
        resumable: Set once the client holds an event id to go on from: a drain ends nothing before. None: from the
            beginning.
        opening: Sent at once.
    """

    def __init__(
        self,
        events: AsyncGenerator[bytes, None],
        *,
        drain: anyio.Event | None = None,
        headers: Mapping[str, str] | None = None,
        keep_alive_s: float = KEEP_ALIVE_S,
        send_s: float = SEND_S,
        is_answer: bool = False,
        resumable: anyio.Event | None = None,
        opening: bytes = OPENING,
    ) -> None:
        self._drain = drain or anyio.Event()
        self._is_answer = is_answer
        self._resumable = resumable
        self._scope: Scope = {}
        super().__init__(
            _with_opening(opening, events),
            headers={"cache-control": "no-store, no-transform", **(headers or {})},
            ping=keep_alive_s,
            ping_message_factory=_KeepAlive,
            send_timeout=send_s,
            data_sender_callable=self._until_over,
            shutdown_event=self._drain,
            shutdown_grace_period=send_s,
        )

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        is_over = False
        try:
            await super().__call__(scope, receive, send)
        except* _StreamOver:
            is_over = True
        except* SendTimeoutError:
            is_over = False  # without the end of its body the server closes the connection
        if is_over:
            with anyio.move_on_after(self.send_timeout):
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _until_over(self) -> None:
        """Wait until the server drains, or would accept the credential no more that the stream was opened with."""
        async with anyio.create_task_group() as waiting:
            if not self._is_answer:
                waiting.start_soon(self._until_refused)
            await self._drain.wait()
            if self._resumable is not None:
                await self._resumable.wait()
            raise _StreamOver

    async def _until_refused(self) -> None:
        await until_refused(self._scope)
        raise _StreamOver


async def _with_opening(opening: bytes, events: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(events):
        yield opening
        with suppress(PlannerError):
            async for event in events:
                yield event
