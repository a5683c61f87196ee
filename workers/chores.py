"""Ending background tasks, for certain."""

import asyncio
from collections.abc import Collection
from typing import Any, Final

INSIST_S: Final = 0.02


async def call_off(chores: Collection[asyncio.Task[Any]], *, grace_s: float = 0.0) -> None:
    """Cancel tasks and return when all have ended; tasks that are about to end by themselves get `grace_s` to do so.

    Asks until it takes: before Python 3.12 `asyncio.wait_for`, which redis-py sends and connects with, can swallow a
    cancellation that arrives together with the answer.
    """
    pending = {chore for chore in chores if not chore.done()}
    if pending and grace_s:
        _, pending = await asyncio.wait(pending, timeout=grace_s)
    while pending:
        for chore in pending:
            chore.cancel()
        _, pending = await asyncio.wait(pending, timeout=INSIST_S)
