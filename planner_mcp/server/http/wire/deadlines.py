"""Closes connections of clients that never finish saying what they want.

Owns three limits the HTTP server lacks: one from the first byte (or the opening of the connection) to the end of the
headers, one from there to the end of the body, and how much may come that is no body: a head, what stands between the
chunks of a body, and what follows it. A timer is armed once per phase, so sending a byte now and then buys no time.
Answers may take as long as they like: streams are not touched, and while a request that came whole is being answered,
what comes behind it is not waited for.

Owns, too, which headers count: those of the head, without the blanks around their values. Trailers are dropped, because
by the time they come a request was let in by the headers it had.
"""

import asyncio
from enum import Enum
from typing import Any, Final

from typing_extensions import override

from planner_mcp.server.http.wire.turns import TurnProtocol

HEAD_S: Final = 10.0
"""From the opening (or the first byte of a later request) to the end of the headers."""
BODY_S: Final = 20.0
"""From the end of the headers to the end of the body."""
MAX_HEAD: Final = 64 * 1024
"""Bytes after which a head that has not ended is refused, and a body between whose bytes so much else comes."""
_BLANKS: Final = b" \t"


class _Phase(Enum):
    QUIET = "quiet"
    HEAD = "head"
    BODY = "body"


class DeadlineProtocol(TurnProtocol):
    """uvicorn's protocol with a limit on each half of a request."""

    head_s = HEAD_S
    body_s = BODY_S

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._phase = _Phase.QUIET
        self._deadline: asyncio.TimerHandle | None = None
        self._held = 0
        """Bytes in a row of which nothing came: no whole head, no body."""
        self._has_moved = False

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        super().connection_made(transport)
        self._enter(_Phase.HEAD)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._enter(_Phase.QUIET)
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        if self._phase is _Phase.QUIET:
            self._enter(_Phase.HEAD)
        self._has_moved = False
        super().data_received(data)
        self._held = 0 if self._has_moved else self._held + len(data)
        if self._held > MAX_HEAD and not self._is_deaf:
            self._break_off(b"431 Request Header Fields Too Large")

    @override
    def on_message_begin(self) -> None:
        self._enter(_Phase.HEAD)
        super().on_message_begin()

    @override
    def on_header(self, name: bytes, value: bytes) -> None:
        if self._phase is _Phase.HEAD:
            super().on_header(name, value.strip(_BLANKS))

    @override
    def on_headers_complete(self) -> None:
        self._has_moved = True
        self._enter(_Phase.BODY)
        super().on_headers_complete()

    @override
    def on_body(self, body: bytes) -> None:
        self._has_moved = True
        super().on_body(body)

    @override
    def on_message_complete(self) -> None:
        self._has_moved = True
        self._enter(_Phase.QUIET)
        super().on_message_complete()

    def _enter(self, phase: _Phase) -> None:
        """Arm the timer of a phase, once: bytes that trickle in do not extend it."""
        if phase is self._phase:
            return
        self._phase = phase
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if phase is not _Phase.QUIET:
            self._arm()

    def _arm(self) -> None:
        delay = self.head_s if self._phase is _Phase.HEAD else self.body_s
        self._deadline = self.loop.call_later(delay, self._give_up)

    def _give_up(self) -> None:
        if self.transport.is_closing():
            return
        if self._is_answering:
            self._arm()
        elif self._phase is _Phase.HEAD:
            self._break_off(b"408 Request Timeout")
        else:
            self.transport.close()
