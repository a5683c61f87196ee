"""Limits for clients that send slowly or much at once, which uvicorn does not have (SPEC A4, X3).

Owns two limits on top of uvicorn's h11 protocol: one for the head of a request and one for its body. A timer is set
once for each of them, so sending a byte now and then gains no time. A connection that waits for nothing, because its
last request was refused before its body came, is closed as well. Answers may take as long as they like. A connection
is read in small parts, so that two hundred that send at once hold up nobody else.

All of it rests on the state machine of `h11.Connection`, on five methods of `H11Protocol` and on `max_size` of the
transports of asyncio: this is the only place that builds on an inner class of uvicorn (ADR 0025, 0036).
"""

import asyncio
from contextlib import suppress
from enum import Enum
from typing import Any, Final

import h11
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S: Final = 10.0
"""From the opening of a connection, or the first byte of a later request, to the end of its headers."""
BODY_S: Final = 20.0
"""From the end of the headers to the end of the body."""
READ_BYTES: Final = 32 * 1024
"""Most that is read from a connection before others have their turn. asyncio would take 256 KiB, which are mapped and
given back each time (`M_MMAP_THRESHOLD`), in each pass of the event loop for each connection."""
_TIMEOUT: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class _Awaited(Enum):
    NOTHING = "nothing"
    HEAD = "head"
    BODY = "body"


class SlowClientProtocol(H11Protocol):
    """uvicorn's protocol with a deadline for each half of a request."""

    head_s = HEAD_S
    body_s = BODY_S

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._awaited = _Awaited.NOTHING
        self._deadline: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        transport.max_size = READ_BYTES  # type: ignore[attr-defined]  # of asyncio's own transports, without a setter
        super().connection_made(transport)
        self._set_deadline(_Awaited.HEAD)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._set_deadline(_Awaited.NOTHING)
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._set_deadline(self._awaited_now())

    @override
    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._set_deadline(self._awaited_now())

    @override
    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; just close where another answer was begun already."""
        with suppress(h11.LocalProtocolError):
            super().send_400_response(msg)
        self.transport.close()

    def _awaited_now(self) -> _Awaited:
        if self.transport.is_closing():
            return _Awaited.NOTHING
        if self.conn.their_state is h11.SEND_BODY:
            return _Awaited.BODY
        has_begun = bool(self.conn.trailing_data[0])
        is_watched = self.timeout_keep_alive_task is not None  # uvicorn closes it when it stays idle
        if self.conn.their_state is h11.IDLE and (has_begun or not is_watched):
            return _Awaited.HEAD
        return _Awaited.NOTHING

    def _set_deadline(self, awaited: _Awaited) -> None:
        if awaited is self._awaited:
            return
        self._awaited = awaited
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if awaited is not _Awaited.NOTHING:
            delay_s = self.head_s if awaited is _Awaited.HEAD else self.body_s
            self._deadline = self.loop.call_later(delay_s, self._give_up)

    def _give_up(self) -> None:
        is_unanswered = self.cycle is None or bool(self.conn.trailing_data[0])
        if self._awaited is _Awaited.HEAD and is_unanswered and not self.transport.is_closing():
            self.transport.write(_TIMEOUT)
        self.transport.close()
