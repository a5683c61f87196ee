"""Ending tasks for certain."""

import asyncio

import anyio
import pytest

from planner_mcp.task_cancellation import cancel_and_wait, cancel_until_done, cancellation_kept

pytestmark = pytest.mark.anyio


class Deaf:
    """A task that swallows some cancellations, as one that waits for the store may.

    Args:
        times: How many.
        error: How it ends at the next; None: as cancelled.
    """

    def __init__(self, times: int, error: Exception | None = None) -> None:
        self.was_cancelled = asyncio.Event()
        self.task = asyncio.create_task(self._run(times, error))

    async def _run(self, times: int, error: Exception | None) -> None:
        await asyncio.sleep(0)
        for _time in range(times):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                self.was_cancelled.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if error is not None:
                raise error from None
            raise


async def begun(*deaf: Deaf) -> list[asyncio.Task[None]]:
    """Return the tasks once they wait."""
    for _turn in range(3):
        await asyncio.sleep(0)
    return [each.task for each in deaf]


async def test_a_task_that_swallows_a_cancellation_is_stopped_all_the_same() -> None:
    """SPEC J7: nothing outlives the replica that began it."""
    with anyio.fail_after(5):
        tasks = await begun(Deaf(2), Deaf(0))
        await cancel_and_wait(*tasks)
        assert all(task.cancelled() for task in tasks)


async def test_what_a_stopped_task_raised_is_raised() -> None:
    """SPEC J7: an end that went wrong is no end in order; who calls off looks for himself."""
    with anyio.fail_after(5):
        tasks = await begun(Deaf(1, ValueError("torn")), Deaf(0))
        await cancel_until_done(tasks)
        with pytest.raises(ValueError, match="torn"):
            await cancel_and_wait(*tasks)


async def test_a_task_about_to_end_may_do_so() -> None:
    """SPEC J7: with grace its last word is said."""
    with anyio.fail_after(5):
        task = asyncio.create_task(asyncio.sleep(0.01, "done"))
        await cancel_until_done([task], grace_s=4)
        assert task.result() == "done"


async def test_who_stops_may_be_stopped() -> None:
    """SPEC J7: a cancellation of the caller is not taken for the task's."""
    with anyio.fail_after(5):
        deaf = Deaf(1)
        stopping = asyncio.create_task(cancel_and_wait(*await begun(deaf)))
        await deaf.was_cancelled.wait()
        stopping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopping
        await cancel_until_done([deaf.task])


@pytest.mark.parametrize("error", [None, ValueError("refused")])
async def test_a_swallowed_cancellation_is_raised_at_the_end_of_the_block(error: Exception | None) -> None:
    """SPEC J6: a task group cancels its tasks once; one that went on would keep a worker from ending."""

    async def swallow() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if error is not None:
                raise error from None

    async def call() -> None:
        with cancellation_kept():
            await swallow()

    task = asyncio.create_task(call())
    await asyncio.sleep(0)
    task.cancel()
    with anyio.fail_after(5), pytest.raises(asyncio.CancelledError):
        await task


async def test_an_earlier_cancellation_and_a_timeout_inside_the_block_are_left_alone() -> None:
    """Our choice: what cleans up after a cancellation may still call the store."""

    async def clean_up() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            with pytest.raises(TimeoutError), cancellation_kept():
                async with asyncio.timeout(0):
                    await asyncio.sleep(60)
            with cancellation_kept():
                await asyncio.sleep(0)
        return "cleaned up"

    task = asyncio.create_task(clean_up())
    await asyncio.sleep(0)
    task.cancel()
    with anyio.fail_after(5):
        assert await task == "cleaned up"
