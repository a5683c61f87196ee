"""A short way for the parts of a long answer: from the one who streams straight to the connection.

Owns that way alone: a part that passes every layer and the HTTP library costs several times what its sending does, and
once the head is out none of them has anything to add. A part takes it only where the client would take it at once.
"""

from collections.abc import Callable
from typing import Final

from starlette.types import Scope
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

Put = Callable[[bytes], bool]
"""Sends a part of the body; False: not now, send it as usual."""
_WAY: Final = "planner.chunk"


def short_way(scope: Scope) -> Put | None:
    """Return the short way of a request, if its connection has one."""
    way: Put | None = scope.get("extensions", {}).get(_WAY)
    return way


class ChunkProtocol(H11Protocol):
    """uvicorn's h11 protocol with a short way for each request of HTTP/1.1."""

    @override
    def handle_events(self) -> None:
        super().handle_events()
        if self.scope is not None and self.scope["http_version"] == "1.1":  # before it, bodies end with the connection
            self.scope.setdefault("extensions", {})[_WAY] = self._put  # type: ignore[assignment]

    def _put(self, data: bytes) -> bool:
        cycle = self.cycle
        if self.flow.write_paused or cycle.disconnected or not cycle.response_started or cycle.response_complete:
            return False
        self.transport.write(b"%x\r\n%b\r\n" % (len(data), data))
        return True
