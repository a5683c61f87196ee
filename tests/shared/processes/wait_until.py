"""Waiting for what may die meanwhile."""

import asyncio
import time
from collections.abc import Awaitable, Callable


async def until(is_so: Callable[[], Awaitable[bool]], within_s: float) -> None:
    """Return when something is so, whatever may die meanwhile.

    It looks at the clock itself: a cancellation, which `asyncio.timeout` sends once, can be swallowed inside redis-py
    before Python 3.12, and the wait would have no end.

    Raises:
        TimeoutError: It was not so in time.
    """
    ends_at = time.monotonic() + within_s
    while not await is_so():
        if time.monotonic() > ends_at:
            raise TimeoutError(f"not so within {within_s:g} s")
        await asyncio.sleep(0.05)
