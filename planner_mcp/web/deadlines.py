"""Closes connections of clients that never finish saying what they want.

Owns two deadlines the HTTP server lacks: one from the first byte (or the opening of the connection) to the end of the
headers, one from there to the end of the body. A timer is armed once per phase, so sending a byte now and then buys no
time. Answers may take as long as they like: streams are not touched.
"""

import asyncio
from enum import Enum
from typing import Any, Final

import h11
from typing_extensions import override

from planner_mcp.web.chunks import ChunkProtocol
from planner_mcp.web.corked import CorkedTransport

HEAD_S: Final = 10.0
"""From the opening (or the first byte of a later request) to the end of the headers."""
BODY_S: Final = 20.0
"""From the end of the headers to the end of the body."""
TIMED_OUT: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class _Phase(Enum):
    QUIET = "quiet"
    HEAD = "head"
    BODY = "body"


class DeadlineProtocol(ChunkProtocol):
    """uvicorn's h11 protocol with a deadline on each half of a request."""

    head_s = HEAD_S
    body_s = BODY_S

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._phase = _Phase.QUIET
        self._deadline: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        super().connection_made(CorkedTransport(transport))  # type: ignore[arg-type]  # all that is asked of one
        self._enter(_Phase.HEAD)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._enter(_Phase.QUIET)
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        if self._phase is _Phase.QUIET and self.conn.their_state is h11.IDLE:
            self._enter(_Phase.HEAD)
        super().data_received(data)

    @override
    def handle_events(self) -> None:
        super().handle_events()
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._enter(_Phase.BODY)
        elif state is not h11.IDLE:
            self._enter(_Phase.QUIET)

    @override
    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]:
            self._enter(_Phase.QUIET)

    def _enter(self, phase: _Phase) -> None:
        """Arm the timer of a phase, once: bytes that trickle in do not extend it."""
        if phase is self._phase:
            return
        self._phase = phase
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if phase is not _Phase.QUIET:
            delay = self.head_s if phase is _Phase.HEAD else self.body_s
            self._deadline = self.loop.call_later(delay, self._give_up)

    def _give_up(self) -> None:
        if self.transport.is_closing():
            return
        if self._phase is _Phase.HEAD:
            self.transport.write(TIMED_OUT)
        self.transport.close()
