"""One call behind many of another caller."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from planner_mcp.jobs.fair_limiter import FairLimiter

MANY = 8
SOON = 4
"""Two slots: the call of each caller in turn, and the end of a call is heard a little later."""


async def place_behind(
    limiter: FairLimiter, many: Callable[[], Awaitable[Any]], one: Callable[[], Awaitable[Any]]
) -> int:
    """Return as which one call is answered that waits at a limiter behind many of another caller."""
    answered: list[str] = []

    async def send(name: str, call: Callable[[], Awaitable[Any]]) -> None:
        await call()
        answered.append(name)

    async with anyio.create_task_group() as tasks, limiter.turn("first"), limiter.turn("first"):
        for _ in range(MANY):
            tasks.start_soon(send, "many", many)
        await _until_waiting(limiter, MANY)
        tasks.start_soon(send, "one", one)
        await _until_waiting(limiter, MANY + 1)
    return answered.index("one")


async def _until_waiting(limiter: FairLimiter, count: int) -> None:
    while limiter.waiting < count:  # noqa: ASYNC110 a limiter has no event for it
        await anyio.sleep(0.001)
