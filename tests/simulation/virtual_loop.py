"""An asyncio loop without real time: when nothing can run, its clock jumps to the next timer.

Tasks run in the order in which asyncio queues them, so a history repeats exactly.
"""

import asyncio
import selectors
from collections.abc import Mapping
from typing import Any


class StuckError(RuntimeError):
    """Nobody can ever run again: every task waits for another."""


class _Jumping(selectors.BaseSelector):
    """Watches no file; waiting means that the clock of the loop moves on."""

    loop: "VirtualLoop"

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Take the loop's own pipe, which nobody writes to."""
        return selectors.SelectorKey(fileobj, -1, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """Forget it."""
        return selectors.SelectorKey(fileobj, -1, 0, None)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Let the time pass."""
        if timeout is None:
            raise StuckError
        self.loop.now_s += max(0.0, timeout)
        return []

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """Return nothing."""
        return {}

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        """Know no file."""
        raise KeyError(fileobj)


class VirtualLoop(asyncio.SelectorEventLoop):
    """The loop of one history; its time begins at 0 s."""

    def __init__(self) -> None:
        selector = _Jumping()
        selector.loop = self
        self.now_s = 0.0
        super().__init__(selector)
        self._clock_resolution = 1e-6

    def time(self) -> float:
        """Return the seconds since the history began."""
        return self.now_s
