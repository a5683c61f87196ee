"""Requests of one connection, one behind the other: what becomes of the rest when one breaks, or the connection does.

Owns three things the HTTP server leaves open. A request that breaks while one before it is being answered gets no word
into that answer: what came whole is answered, then the connection is closed. A connection that is lost is told to the
request that is being answered, however many wait behind it. And one on which nothing happens any more is let go, also
when the last that came was the body of a request refused before.
"""

from typing import Any, Final

from typing_extensions import override
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from planner_mcp.server.http.wire.chunks import ChunkProtocol
from planner_mcp.server.http.wire.offers import SteadyParser

LINGER_S: Final = 2.0
"""How long what comes behind a request that broke may go on arriving, unread."""
_CLOSING: Final = b"HTTP/1.1 %b\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class TurnProtocol(ChunkProtocol):
    """uvicorn's protocol that knows which request has its turn."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.parser = SteadyParser(self)  # type: ignore[assignment]  # all that is asked of one
        self._answered: RequestResponseCycle | None = None
        """Whose turn it is, or was last."""
        self._is_between = False
        """Whether the last request came whole, and none has begun since."""
        self._is_deaf = False

    @property
    def _is_answering(self) -> bool:
        """Whether a request that came whole is being answered."""
        cycle = self._answered
        return cycle is not None and not (cycle.more_body or cycle.response_complete)

    @override
    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.pipeline.clear()
        if self._answered is not None:
            _leave(self._answered)
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        if self._is_deaf:
            return
        super().data_received(data)
        is_idle = self._is_between and self.cycle.response_complete and not self.transport.is_closing()
        if is_idle and self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    @override
    def on_message_begin(self) -> None:
        self._is_between = False
        super().on_message_begin()

    @override
    def on_message_complete(self) -> None:
        self._is_between = True
        super().on_message_complete()

    @override
    def send_400_response(self, msg: str) -> None:
        self._break_off(b"400 Bad Request")

    def _break_off(self, status: bytes) -> None:
        """Heed nothing more, answer what came whole or else say a status, and close."""
        self._is_deaf = True
        self._corked.linger_s = LINGER_S
        self.flow.resume_reading()
        if self._answered is not None and self._is_answering:
            if self.pipeline and self.pipeline[0][0].more_body:
                self.pipeline.popleft()
            self.cycle = self.pipeline[0][0] if self.pipeline else self._answered
            self.cycle.keep_alive = False
            return
        broken = self.cycle
        if broken is None or broken.response_complete or not broken.response_started:
            self.transport.write(_CLOSING % status)
        if broken is not None:
            _leave(broken)
        self.transport.close()


def _leave(cycle: RequestResponseCycle) -> None:
    """Tell a request that nobody waits for its answer any more."""
    if not cycle.response_complete:
        cycle.disconnected = True
        cycle.message_event.set()
