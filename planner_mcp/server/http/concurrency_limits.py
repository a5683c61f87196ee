"""Limits on the requests and streams that a principal has open on this replica (SPEC A3).

Owns the counts; each endpoint decides what a stream is and how one too many is answered. A request counts until it
is answered or its client disconnects, and after that for as long as work on it goes on: otherwise a client that
disconnects after each call could start any amount of work. A stream counts whatever its endpoint.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any, ClassVar, Final

from starlette.types import ASGIApp, Receive, Scope, Send

from planner_mcp.errors import QuotaExceededError
from planner_mcp.jobs.limits.principal_limits import value_text

RETRY_AFTER_S: Final = 5.0
"""`retry_after_s` of a refusal."""
_HINT: Final = "End one, or wait retry_after_s."
_KEEP_COUNTED: Final = "hold_open"


class ConcurrencyLimit:
    """Counts by principal.

    Args:
        most: How many one principal may have open here.
    """

    what: ClassVar[str]
    """What is counted, as a refusal names it."""
    setting: ClassVar[str]
    """What says how many, named there too."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def check(self, principal_id: str) -> None:
        """Check that one more may be opened.

        Raises:
            QuotaExceededError: It may not.
        """
        if self._open[principal_id] >= self._most:
            problem, allowed = f"Too many {self.what} are open.", value_text(self.setting, self._most)
            raise QuotaExceededError.reached(problem, allowed, _HINT, retry_after_s=RETRY_AFTER_S)

    def begin(self, principal_id: str) -> None:
        """Count one more."""
        self._open[principal_id] += 1

    def end(self, principal_id: str) -> None:
        """Count one less."""
        self._open[principal_id] -= 1
        if not self._open[principal_id]:
            del self._open[principal_id]


class RequestLimit(ConcurrencyLimit):
    """Counts requests by principal."""

    what = "requests"
    setting = "max_open_requests"

    @contextmanager
    def counted(self, principal_id: str, scope: MutableMapping[str, Any]) -> Iterator[None]:
        """Count a request once, until the block has ended and each `keep_counted` of its scope has let go."""
        holders = 0

        def hold() -> Callable[[], None]:
            nonlocal holders
            holders += 1
            return release

        def release() -> None:
            nonlocal holders
            holders -= 1
            if not holders:
                self.end(principal_id)

        self.begin(principal_id)
        scope.setdefault("state", {})[_KEEP_COUNTED] = hold
        end = hold()
        try:
            yield
        finally:
            end()


class StreamLimit(ConcurrencyLimit):
    """Counts streams by principal."""

    what = "streams"
    setting = "max_streams"

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


def keep_counted(scope: Mapping[str, Any]) -> Callable[[], None]:
    """Let a request that is being served count as open; return what ends that, to be called once."""
    hold: Callable[[], Callable[[], None]] | None = scope.get("state", {}).get(_KEEP_COUNTED)
    return hold() if hold is not None else _uncounted


def _uncounted() -> None:
    """Do nothing: requests are not counted without authentication."""
