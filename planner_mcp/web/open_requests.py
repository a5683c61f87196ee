"""How many requests a principal has open on this replica (SPEC A3).

Owns the count. A request counts until it is answered or left, and beyond that for as long as somebody works on it:
else whoever drops the connection after each call could have any number worked on.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any, Final

from planner_mcp.errors import QuotaExceededError

RETRY_AFTER_S: Final = 5.0
"""What a principal with too many open requests is told to wait."""
_HOLD: Final = "hold_open"


class OpenRequests:
    """Counts requests by principal.

    Args:
        most: Requests one principal may have open here.
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
            raise QuotaExceededError("Too many requests are open.", retry_after_s=RETRY_AFTER_S)

    @contextmanager
    def counted(self, principal_id: str, scope: MutableMapping[str, Any]) -> Iterator[None]:
        """Count a request once, until the block has ended and each `held_open` of its scope has let go."""
        holders = 0

        def hold() -> Callable[[], None]:
            nonlocal holders
            holders += 1
            return let_go

        def let_go() -> None:
            nonlocal holders
            holders -= 1
            if not holders:
                self._end(principal_id)

        self._open[principal_id] += 1
        scope.setdefault("state", {})[_HOLD] = hold
        end = hold()
        try:
            yield
        finally:
            end()

    def _end(self, principal_id: str) -> None:
        self._open[principal_id] -= 1
        if not self._open[principal_id]:
            del self._open[principal_id]


def held_open(scope: Mapping[str, Any]) -> Callable[[], None]:
    """Let a request that is being served count as open; return what ends that, to be called once."""
    hold: Callable[[], Callable[[], None]] | None = scope.get("state", {}).get(_HOLD)
    return hold() if hold is not None else _uncounted


def _uncounted() -> None:
    """End nothing: no gate counts requests here."""
