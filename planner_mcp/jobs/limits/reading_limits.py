"""What reading the inputs of one principal may cost: seconds of CPU, bytes a second, bytes at a time (ADR 0036).

Owns the counting on this replica; inputs are read by `bounded_calls`. CPU seconds and bytes are spent after they were
used, so one large input is never refused for its size alone: the next waits until the debt is paid.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import cache, partial
from typing import Any, Final, TypeVar

from planner_mcp.bounded_calls.bounded_call import AnswerQuestion, bounded_call
from planner_mcp.bounded_calls.call_frames import CallLimits
from planner_mcp.errors import QuotaExceededError, RateLimitedError
from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.jobs.limits.principal_limits import value_text
from planner_mcp.jobs.limits.token_buckets import TokenBuckets
from planner_mcp.settings import Settings

T = TypeVar("T")
MEBIBYTE: Final = 1024 * 1024
BURST_S: Final = 60.0
"""What a principal may save up of its share of CPU, and of its bytes: that much of a second each."""
RETRY_AFTER_S: Final = 5.0
"""`retry_after_s` where too many bytes are open."""


LARGEST_BYTES: Final = 1 << 20
"""Inputs above this are read one at a time: that takes up to 20 times their bytes."""


class ReadingTurns(FairLimiter):
    """Turns of reading inputs of one kind, where the largest have turns of their own."""

    def __init__(self) -> None:
        super().__init__()
        self._largest = FairLimiter(slots=1)

    def turn_of(self, principal_id: str, size: int) -> AbstractAsyncContextManager[None]:
        """Return the turn of an input of so many bytes; raises as `turn`."""
        return (self._largest if size > LARGEST_BYTES else self).turn(principal_id)


def call_limits(settings: Settings) -> CallLimits:
    """Return what one bounded call may take."""
    return CallLimits(settings.read_time_s, 3 * settings.read_time_s, settings.read_memory_mb)


async def read_bounded(
    principal_id: str,
    settings: Settings,
    function: Callable[..., T],
    *args: Any,
    answer: AnswerQuestion | None = None,
) -> T:
    """Return what a function of a module makes of an input, in a process of its own, at the principal's cost.

    Raises:
        RateLimitedError: The principal has used up its share of CPU.
        PlannerError: As `bounded_call`.
    """
    check_share(principal_id, settings)
    spend = partial(_shares(settings.read_share).spend, principal_id)
    return await bounded_call(function, *args, limits=call_limits(settings), answer=answer, spend=spend)


def check_share(principal_id: str, settings: Settings) -> None:
    """Check that a principal has something left of its share of CPU.

    Raises:
        RateLimitedError: It has not.
    """
    if wait_s := _shares(settings.read_share).debt_s(principal_id):
        problem, allowed = "Reading your inputs took too long lately.", value_text("read_share", settings.read_share)
        raise RateLimitedError.reached(problem, allowed, "Wait retry_after_s.", retry_after_s=wait_s)


@cache
def _shares(share: float) -> TokenBuckets:
    return TokenBuckets(rate_per_s=share, burst=BURST_S * share)


class BodyBudget:
    """Counts the bytes of bodies by principal.

    Args:
        settings: How many may be open, and how many may come in a second.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: Counter[str] = Counter()
        rate = settings.body_mb_per_s
        self._arrived = TokenBuckets(rate_per_s=rate, burst=BURST_S * rate)

    @contextmanager
    def opened(self, principal_id: str, size: int) -> Iterator[Callable[[int], None]]:
        """Count a body of so many bytes as open for the length of the block; one is let in however large it is.

        Yields what is to be called with the bytes that came: from then on only these count, where a body
        of unknown length counted with the most that it may have.

        Raises:
            QuotaExceededError: Too many bytes are open.
            RateLimitedError: Too many came lately.
        """
        most = self._settings.max_open_body_bytes
        if self._open[principal_id] and self._open[principal_id] + size > most:
            problem, allowed = "Too many bytes of requests are open.", value_text("max_open_body_bytes", most)
            raise QuotaExceededError.reached(problem, allowed, "Wait retry_after_s.", retry_after_s=RETRY_AFTER_S)
        if self._settings.has_auth and (wait_s := self._arrived.debt_s(principal_id)):
            allowed = value_text("body_mb_per_s", self._settings.body_mb_per_s)
            problem = "Too many bytes came in a short time."
            raise RateLimitedError.reached(problem, allowed, "Wait retry_after_s.", retry_after_s=wait_s)
        counted = size

        def arrived(came: int) -> None:
            nonlocal counted
            self._arrived.spend(principal_id, came / MEBIBYTE)
            self._open[principal_id] += came - counted
            counted = came

        self._open[principal_id] += size
        try:
            yield arrived
        finally:
            self._open[principal_id] -= counted
            if not self._open[principal_id]:
                del self._open[principal_id]
