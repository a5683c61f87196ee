"""Ending tasks for certain.

On Python 3.11 `asyncio.wait_for`, which redis-py sends and connects with, can swallow a cancellation that arrives
together with the answer: a task that speaks to the store may outlive `cancel()`. So it is cancelled again until it
has ended. A cancellation of the caller is not swallowed: it is raised, after each task has been cancelled once.
A task group cancels its tasks only once, so calls of the store raise a swallowed cancellation themselves.
"""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final

RETRY_CANCEL_S: Final = 0.02


@contextmanager
def cancellation_kept() -> Iterator[None]:
    """Raise a cancellation that arrives inside the block and is swallowed there, instead of what the block raises."""
    task: asyncio.Task[Any] = asyncio.current_task()  # type: ignore[assignment]  # None only outside a task
    requests = task.cancelling()
    try:
        yield
    finally:
        if task.cancelling() > requests:
            raise asyncio.CancelledError


async def cancel_and_wait(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks until they have ended; raise what one of them raised."""
    await cancel_until_done(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()


async def cancel_until_done(tasks: Collection[asyncio.Task[Any]], *, grace_s: float = 0.0) -> None:
    """Cancel tasks and return when all have ended; tasks that are about to end by themselves get `grace_s` to do so."""
    pending = {task for task in tasks if not task.done()}
    if pending and grace_s:
        _, pending = await asyncio.wait(pending, timeout=grace_s)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=RETRY_CANCEL_S)
