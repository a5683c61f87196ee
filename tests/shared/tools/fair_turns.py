"""One call behind many of another caller."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from planner_mcp.jobs.limits.fair_limiter import FairLimiter

MANY = 3


async def callers_waiting(
    limiter: FairLimiter, many: Callable[[], Awaitable[Any]], one: Callable[[], Awaitable[Any]]
) -> tuple[int, int]:
    """Return how many callers wait, one with many calls and another with one, before and after two slots come free.

    The second caller waits no more where slots are given in turn. Which call ends first depends on the machine.
    """
    async with anyio.create_task_group() as tasks:
        async with limiter.turn("first"), limiter.turn("first"):
            for _ in range(MANY):
                tasks.start_soon(many)
            await _until_waiting(limiter, MANY)
            tasks.start_soon(one)
            await _until_waiting(limiter, MANY + 1)
            before = len(limiter._waiting)
        return before, len(limiter._waiting)


async def _until_waiting(limiter: FairLimiter, count: int) -> None:
    while limiter.waiting < count:  # noqa: ASYNC110 a limiter has no event for it
        await anyio.sleep(0.001)
