"""How many streams a principal has open on this replica, whichever door they came through (SPEC A3).

Owns the count; what a stream is, and the answer to one too many, is each door's.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

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
        """Count a stream for the length of the block."""
        self._open[principal_id] += 1
        try:
            yield
        finally:
            self._open[principal_id] -= 1
            if not self._open[principal_id]:
                del self._open[principal_id]
