"""Counts the calls of each principal that wait for the service behind a bridge (SPEC A4, O5).

Each holds a connection, and an answer of up to two megabytes, for as long as the service takes.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from planner_mcp.errors import QuotaExceededError

MOST_OPEN: Final = 32
"""Calls of one principal at the same time."""
RETRY_AFTER_S: Final = 5.0


class OpenCalls:
    """The calls of one bridge."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    @contextmanager
    def opened(self, principal_id: str) -> Iterator[None]:
        """Count a call as open for the length of the block.

        Raises:
            QuotaExceededError: As many are open as may be.
        """
        if self._open[principal_id] >= MOST_OPEN:
            problem, allowed = "Too many of your calls wait for the service.", f"{MOST_OPEN} at a time"
            raise QuotaExceededError.reached(problem, allowed, "Wait retry_after_s.", retry_after_s=RETRY_AFTER_S)
        self._open[principal_id] += 1
        try:
            yield
        finally:
            self._open[principal_id] -= 1
            if not self._open[principal_id]:
                del self._open[principal_id]
