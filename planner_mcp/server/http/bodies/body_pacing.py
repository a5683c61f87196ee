"""How fast parts of bodies are taken from their connections (ADR 0036).

Owns the pause after each part. A part takes up to a millisecond of the event loop, and of two hundred bodies that
arrive at once each has one ready in every pass: whoever else is answered would wait for all of them. With the pauses
all bodies of one group together get about `PARTS_PER_S`, and a body by itself is not held up.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final

import anyio

PARTS_PER_S: Final = 500
"""Parts of at most 96 KiB: uvicorn stops reading where it holds more than 64, and reads 32 at once."""
_open: Final = Counter[str]()


@contextmanager
def paced_parts(group: str) -> Iterator[Callable[[], Awaitable[None]]]:
    """Count one more body of a group for the length of the block; yield the pause to make after each part of it."""

    async def pause() -> None:
        await anyio.sleep((_open[group] - 1) / PARTS_PER_S)

    _open[group] += 1
    try:
        yield pause
    finally:
        _open[group] -= 1
        if not _open[group]:
            del _open[group]
