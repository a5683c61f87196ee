"""Ending a task for certain.

On Python 3.11 `asyncio.wait_for` may lose a cancellation that meets a result, and redis-py waits through it: a task
that reads the store can outlive `cancel()`. So it is told again until it has ended.
"""

import asyncio
from typing import Any, Final

RECANCEL_S: Final = 0.05


async def stop(task: asyncio.Task[Any]) -> None:
    """Cancel a task until it ends; raise what it raised."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=RECANCEL_S)
    if not task.cancelled():
        task.result()
