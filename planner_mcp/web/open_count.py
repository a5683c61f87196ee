"""How many of something a principal has open on this replica (SPEC A3)."""

from collections import Counter
from typing import ClassVar, Final

from planner_mcp.errors import QuotaExceededError

RETRY_AFTER_S: Final = 5.0
"""What a principal with too many open is told to wait."""


class OpenCount:
    """Counts by principal.

    Args:
        most: How many one principal may have open here.
    """

    what: ClassVar[str]
    """What is counted, as a refusal names it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def check(self, principal_id: str) -> None:
        """Check that one more may be opened.

        Raises:
            QuotaExceededError: It may not.
        """
        if self._open[principal_id] >= self._most:
            raise QuotaExceededError(f"Too many {self.what} are open.", retry_after_s=RETRY_AFTER_S)

    def begin(self, principal_id: str) -> None:
        """Count one more."""
        self._open[principal_id] += 1

    def end(self, principal_id: str) -> None:
        """Count one less."""
        self._open[principal_id] -= 1
        if not self._open[principal_id]:
            del self._open[principal_id]
