"""Whose turn it is, and what becomes of a turn that nobody takes (SPEC J8)."""

import asyncio
import threading

import anyio
import pytest

from planner_mcp.errors import QuotaExceededError
from planner_mcp.jobs.limits.fair_limiter import FairLimiter

pytestmark = pytest.mark.anyio


class Bench:
    """Calls of several principals at one limiter; each ends when the test says so.

    Args:
        limiter: What they wait for.
    """

    def __init__(self, limiter: FairLimiter) -> None:
        self.begun: list[str] = []
        self._limiter = limiter
        self._ends: dict[str, anyio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def send(self, *calls: str) -> None:
        """Send calls, the first letter of each its principal, until each has its slot or waits for it."""
        for call in calls:
            self._ends[call], self._tasks[call] = anyio.Event(), asyncio.create_task(self._run(call))
            await anyio.wait_all_tasks_blocked()

    async def end(self, *calls: str) -> None:
        """Let calls end that have a slot."""
        for call in calls:
            self._ends[call].set()
            await anyio.wait_all_tasks_blocked()

    async def cancel(self, call: str) -> None:
        """Cancel a call."""
        self._tasks[call].cancel()
        await anyio.wait_all_tasks_blocked()

    async def _run(self, call: str) -> None:
        async with self._limiter.turn(call[0]):
            self.begun.append(call)
            await self._ends[call].wait()


async def test_slots_are_given_to_principals_in_turn() -> None:
    """SPEC J8: whoever has sent many calls waits behind the one call of another, and its own keep their order."""
    bench = Bench(FairLimiter(2))
    await bench.send("a1", "a2", "a3", "a4", "a5", "b1", "c1", "c2")
    await bench.end("a1", "a2", "a3", "b1", "c1", "a4", "c2", "a5")
    assert bench.begun == ["a1", "a2", "a3", "b1", "c1", "a4", "c2", "a5"]


async def test_calls_of_one_principal_beyond_a_number_are_refused() -> None:
    """SPEC J8: it is told how many and when to come back; others may wait, and a call that ends makes room."""
    limiter = FairLimiter(1, most_waiting=2)
    bench = Bench(limiter)
    await bench.send("a1", "a2", "a3")
    with pytest.raises(QuotaExceededError) as refused:
        async with limiter.turn("a"):
            raise AssertionError
    assert refused.value.retry_after_s
    assert [fault.accepted for fault in refused.value.errors] == ["2 at a time"]
    await bench.send("b1")
    await bench.end("a1")
    await bench.send("a4")
    await bench.end("a2", "b1", "a3", "a4")
    assert bench.begun == ["a1", "a2", "b1", "a3", "a4"]


async def test_a_call_that_leaves_takes_no_turn() -> None:
    """SPEC J8: whether it waits or works, and also when its turn comes at the moment it leaves."""
    limiter = FairLimiter(1)
    bench = Bench(limiter)
    async with limiter.turn("a"):
        await bench.send("b1", "c1", "d1", "e1")
        await bench.cancel("b1")
    await bench.cancel("c1")  # whose turn it is by now
    assert bench.begun == ["d1"]
    await bench.cancel("d1")
    await bench.end("e1")
    await bench.send("f1")
    await bench.end("f1")
    assert bench.begun == ["d1", "e1", "f1"]


async def test_there_are_never_more_slots_nor_fewer_than_at_first() -> None:
    """SPEC J8: not after calls have ended, left the line, or left as their turn came."""
    limiter = FairLimiter(2)
    bench = Bench(limiter)
    await bench.send("a1", "b1", "c1", "d1")
    await bench.cancel("d1")  # from the line
    assert bench.begun == ["a1", "b1"]
    await bench.end("a1", "b1", "c1")
    async with limiter.turn("a"):
        await bench.send("b2", "c2", "d2")
    await bench.cancel("c2")  # whose turn it is by now
    await bench.end("b2", "d2")
    before = len(bench.begun)
    await bench.send("a3", "b3", "c3", "d3")
    assert bench.begun[before:] == ["a3", "b3"]
    assert limiter.waiting == 2
    await bench.end("a3", "b3", "c3", "d3")


async def test_a_thread_that_cannot_be_stopped_keeps_its_slot() -> None:
    """SPEC J8: a cancelled call that still works is one of those that work."""
    limiter, goes_on, begun = FairLimiter(1), threading.Event(), anyio.Event()

    def work() -> None:
        anyio.from_thread.run_sync(begun.set)
        goes_on.wait()

    async with anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()

        async def call() -> None:
            with scope:
                await limiter.run("a", work)

        tasks.start_soon(call)
        await begun.wait()
        bench = Bench(limiter)
        scope.cancel()
        await bench.send("b1")
        assert bench.begun == []
        goes_on.set()
        await bench.end("b1")
    assert bench.begun == ["b1"]
