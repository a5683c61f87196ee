"""Limits heavy work of this process to a few slots, shared fairly among principals (SPEC J8).

Owns the order of principals and the number of calls of one principal that may wait. A queue in order of arrival would
let one principal with many calls delay all others.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import anyio
import anyio.to_thread

from planner_mcp.errors import QuotaExceededError

T = TypeVar("T")

SLOTS: Final = 2
"""Calls worked on at the same time; more threads would only share the interpreter."""
MAX_WAITING: Final = 512
"""Calls of one principal that may wait behind those: as many as it may have open where callers are distinguished."""
RETRY_AFTER_S: Final = 5.0


class FairLimiter:
    """Slots of one kind of work.

    A slot that becomes free goes to the principal that was served longest ago among those who wait, and there to the
    call that came first. So nobody waits for more than one call of each other principal, however many these have sent.

    Args:
        slots: How many there are.
        most_waiting: Calls of one principal that may wait.
    """

    def __init__(self, slots: int = SLOTS, *, most_waiting: int = MAX_WAITING) -> None:
        self._free = slots
        self._most_waiting = most_waiting
        self._threads = anyio.CapacityLimiter(slots)
        """Apart from the threads of everything else; never waited for, as a slot comes before."""
        self._waiting: OrderedDict[str, deque[anyio.Event]] = OrderedDict()
        """By principal, whose turn is next first; only while no slot is free."""

    @property
    def waiting(self) -> int:
        """How many calls wait."""
        return sum(map(len, self._waiting.values()))

    async def run(self, principal_id: str, work: Callable[..., T], *args: Any) -> T:
        """Return what work does in a thread, which a cancelled call waits for; raises as `turn`."""
        async with self.turn(principal_id):
            return await anyio.to_thread.run_sync(work, *args, limiter=self._threads)

    @asynccontextmanager
    async def turn(self, principal_id: str) -> AsyncIterator[None]:
        """Wait for a slot and hold it for the length of the block.

        Raises:
            QuotaExceededError: As many calls of the principal wait as may; with `retry_after_s`.
        """
        await self._take(principal_id)
        try:
            yield
        finally:
            self._give_back()

    async def _take(self, principal_id: str) -> None:
        if self._free:
            self._free -= 1
            return
        called = self._queue_up(principal_id)
        try:
            await called.wait()
        except asyncio.CancelledError:
            if called.is_set():
                self._give_back()  # its turn came as it left: the next one's
            else:
                self._leave(principal_id, called)
            raise

    def _queue_up(self, principal_id: str) -> anyio.Event:
        if len(self._waiting.get(principal_id, ())) >= self._most_waiting:
            problem, allowed = "Too many of your calls wait for their turn.", f"{self._most_waiting} at a time"
            raise QuotaExceededError.reached(problem, allowed, "Wait retry_after_s.", retry_after_s=RETRY_AFTER_S)
        called = anyio.Event()
        self._waiting.setdefault(principal_id, deque()).append(called)
        return called

    def _leave(self, principal_id: str, called: anyio.Event) -> None:
        self._waiting[principal_id].remove(called)
        if not self._waiting[principal_id]:
            del self._waiting[principal_id]

    def _give_back(self) -> None:
        """Hand a slot to whose turn it is, who then stands behind the others; keep it free where nobody waits."""
        if not self._waiting:
            self._free += 1
            return
        principal_id, calls = self._waiting.popitem(last=False)
        calls.popleft().set()
        if calls:
            self._waiting[principal_id] = calls
