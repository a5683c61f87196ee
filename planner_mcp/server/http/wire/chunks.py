"""A short way for the parts of a long answer: from the one who streams straight to the connection.

Owns that way alone: a part that passes every layer and the HTTP library costs several times what its sending does, and
once the head is out none of them has anything to add. A part takes it only where the client would take it at once.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final
from weakref import ref

from starlette.types import Scope
from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from planner_mcp.server.http.wire.corked import CorkedTransport
from planner_mcp.server.http.wire.until_closed import UntilClosed

Put = Callable[[bytes], bool]
"""Sends a part of the body; False: not now, send it as usual."""
_WAY: Final = "planner.chunk"


def short_way(scope: Scope) -> Put | None:
    """Return the short way of a request, if its connection has one."""
    way: Put | None = scope.get("extensions", {}).get(_WAY)
    return way


class ChunkProtocol(HttpToolsProtocol):
    """uvicorn's protocol with a short way for each request of HTTP/1.1."""

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        self._corked = CorkedTransport(transport)
        super().connection_made(self._corked)  # type: ignore[arg-type]  # all that is asked of one

    @override
    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        if self.scope["http_version"] != "1.1":
            self.cycle.__class__ = UntilClosed  # uvicorn does not ask which
            self.cycle.keep_alive = self.cycle.waiting_for_100_continue = False
        elif self.scope["method"] != "HEAD":  # whose answer has no body
            self.scope.setdefault("extensions", {})[_WAY] = partial(_put, ref(self.cycle), self._corked)  # type: ignore[assignment]


def _put(of: "ref[RequestResponseCycle]", transport: CorkedTransport, data: bytes) -> bool:
    """Write a part at once. The way must not hold the request that holds it: each would wait for the collector."""
    cycle = of()
    if (
        cycle is None
        or cycle.flow.write_paused
        or cycle.disconnected
        or not cycle.response_started
        or cycle.response_complete
    ):
        return False
    transport.write_now(b"%x\r\n%b\r\n" % (len(data), data))
    return True
