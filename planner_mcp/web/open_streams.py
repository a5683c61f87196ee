"""How many streams a principal has open on this replica, whichever door they came through (SPEC A3).

Owns the count; what a stream is, and the answer to one too many, is each door's.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

from planner_mcp.web.open_count import OpenCount


class OpenStreams(OpenCount):
    """Counts streams by principal."""

    what = "streams"

    @contextmanager
    def counted(self, principal_id: str) -> Iterator[None]:
        """Count a stream for the length of the block; raises as `check`."""
        self._take(principal_id)
        try:
            yield
        finally:
            self.end(principal_id)

    def served(self, stream: ASGIApp, principal_id: str) -> ASGIApp:
        """Return a stream that counts from this moment until it ends, and is to be served at once; raises as `check`.

        Were it counted only when it begins, all that are asked for at the same time would pass.
        """
        self._take(principal_id)

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                await stream(scope, receive, send)
            finally:
                self.end(principal_id)

        return serve

    def _take(self, principal_id: str) -> None:
        self.check(principal_id)
        self.begin(principal_id)
