"""How many streams a principal has open on this replica, whichever door they came through (SPEC A3).

Owns the count; what a stream is, and the answer to one too many, is each door's.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from planner_mcp.errors import QuotaExceededError

RETRY_AFTER_S: Final = 5.0
"""What a principal with too many open streams is told to wait."""


class OpenStreams:
    """Counts streams by principal.

    Args:
        most: Streams one principal may have open here.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def check(self, principal_id: str) -> None:
        """Check that one more may be opened.

        Raises:
            QuotaExceededError: It may not.
        """
        if self._open[principal_id] >= self._most:
            raise QuotaExceededError("Too many streams are open.", retry_after_s=RETRY_AFTER_S)

    @contextmanager
    def counted(self, principal_id: str) -> Iterator[None]:
        """Count a stream for the length of the block; raises as `check`."""
        self._take(principal_id)
        try:
            yield
        finally:
            self._give_back(principal_id)

    def served(self, stream: ASGIApp, principal_id: str) -> ASGIApp:
        """Return a stream that counts from this moment until it ends, and is to be served at once; raises as `check`.

        Were it counted only when it begins, all that are asked for at the same time would pass.
        """
        self._take(principal_id)

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                await stream(scope, receive, send)
            finally:
                self._give_back(principal_id)

        return serve

    def _take(self, principal_id: str) -> None:
        self.check(principal_id)
        self._open[principal_id] += 1

    def _give_back(self, principal_id: str) -> None:
        self._open[principal_id] -= 1
        if not self._open[principal_id]:
            del self._open[principal_id]
