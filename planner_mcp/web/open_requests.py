"""How many requests a principal has open on this replica (SPEC A3).

Owns the count. A request counts until it is answered or left, and beyond that for as long as somebody works on it:
else whoever drops the connection after each call could have any number worked on.
"""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any, Final

from planner_mcp.web.open_count import OpenCount

_HOLD: Final = "hold_open"


class OpenRequests(OpenCount):
    """Counts requests by principal."""

    what = "requests"

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
                self.end(principal_id)

        self.begin(principal_id)
        scope.setdefault("state", {})[_HOLD] = hold
        end = hold()
        try:
            yield
        finally:
            end()


def held_open(scope: Mapping[str, Any]) -> Callable[[], None]:
    """Let a request that is being served count as open; return what ends that, to be called once."""
    hold: Callable[[], Callable[[], None]] | None = scope.get("state", {}).get(_HOLD)
    return hold() if hold is not None else _uncounted


def _uncounted() -> None:
    """End nothing: no gate counts requests here."""
