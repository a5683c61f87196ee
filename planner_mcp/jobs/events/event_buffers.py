"""Buffers of events between the tailers of a replica and its followers.

Owns what becomes of a follower that lags behind: its buffer is emptied, and it reads what it missed from the store.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_ports import FeedEntry

QUEUE_LENGTH: Final = 64
"""Largest number of unread events of a follower; with more it reads what it missed from the store."""
WATCHDOG_S: Final = 30.0
"""Longest time without an event before a follower reads from the store."""
Item = TypeVar("Item")


class EventBuffer(Generic[Item]):
    """Events for one follower that it has not read yet."""

    def __init__(self) -> None:
        self._events: deque[Item] = deque()
        self._wake_up: asyncio.Future[None] | None = None
        self._must_read = False
        self._output_ended = True
        self._arm_watchdog()

    def _arm_watchdog(self) -> None:
        """Check periodically: a timer for each wait would cost more than the wait."""
        self._watchdog = asyncio.get_running_loop().call_later(WATCHDOG_S / 2, self._check_for_silence)

    def _check_for_silence(self) -> None:
        if self._output_ended:
            self.mark_stale()
        self._output_ended = True
        self._arm_watchdog()

    def close(self) -> None:
        """Stop checking."""
        self._watchdog.cancel()

    def put(self, event: Item) -> None:
        """Add an event. A full buffer is emptied, and the follower reads from the store."""
        self._output_ended = False
        if len(self._events) >= QUEUE_LENGTH:
            self.mark_stale()
        else:
            self._events.append(event)
            self._wake_reader()

    def mark_stale(self) -> None:
        """Have the follower read from the store."""
        self._events.clear()
        self._must_read = True
        self._wake_reader()

    def _wake_reader(self) -> None:
        if self._wake_up is not None and not self._wake_up.done():
            self._wake_up.set_result(None)

    @property
    def is_empty(self) -> bool:
        """Whether `take` would wait."""
        return not self._events and not self._must_read

    async def take(self) -> list[Item] | None:
        """Wait for events and return them; None means that some were left out and have to be read."""
        if self.is_empty:
            self._wake_up = asyncio.get_running_loop().create_future()
            await self._wake_up
        taken = None if self._must_read else list(self._events)
        self._events.clear()
        self._must_read = False
        return taken


@dataclass(frozen=True, slots=True)
class Followers:
    """The buffers of all followers of this replica."""

    jobs: dict[str, set[EventBuffer[Event]]] = field(default_factory=dict)
    principals: dict[str, set[EventBuffer[FeedEntry]]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.jobs or self.principals)

    def buffers(self) -> Iterator[EventBuffer[Any]]:
        """Yield each of them."""
        for jobs in self.jobs.values():
            yield from jobs
        for principals in self.principals.values():
            yield from principals


@contextmanager
def buffer_in(buffers: dict[str, set[EventBuffer[Item]]], *names: str) -> Iterator[EventBuffer[Item]]:
    """Keep a new buffer among those of some names for the length of the block."""
    event_buffer = EventBuffer[Item]()
    for name in names:
        buffers.setdefault(name, set()).add(event_buffer)
    try:
        yield event_buffer
    finally:
        event_buffer.close()
        for name in names:
            buffers[name].discard(event_buffer)
            if not buffers[name]:
                del buffers[name]
