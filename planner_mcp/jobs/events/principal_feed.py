"""Follows all jobs of a principal in one stream that any replica can resume (SPEC J4).

Owns positions in the feeds of all shards together, and what happens to a follower that comes back. What it missed is
read from the feeds; a follower that missed more than `MISSED_AT_MOST` batches, or what is no longer kept, is asked to
start anew: it reads what it shows again. `event_feed.py` brings what happens meanwhile.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from typing import Final

from planner_mcp.errors import Fault, StoreError, input_error
from planner_mcp.jobs.events.event_buffers import EventBuffer
from planner_mcp.jobs.job_events import is_position, position_key
from planner_mcp.jobs.job_ports import EventLog, FeedEntry, FeedStep

BEAT_S: Final = 5.0
"""Time without an event after which a step says where the stream is."""
MISSED_AT_MOST: Final = 10
"""Batches of a shard's feed that are read for a follower that comes back: 10,000 events of the deployment."""
_SEPARATOR: Final = ","


class PrincipalFollower:
    """One follower.

    Args:
        log: The events as kept.
        names: Whose jobs it follows: a principal, and a group whose proposed plans it may review; empty for none.
        after: Where it stands; empty for a new one.

    Raises:
        InputError: `after` is no position.
    """

    def __init__(self, log: EventLog, names: Iterable[str], after: str = "") -> None:
        self.names = tuple(filter(None, names))
        self._log = log
        self._positions = positions_in(after)
        self._is_behind = False
        """Whether something was missed that Redis could not report yet."""

    async def steps(
        self, buffer: EventBuffer[FeedEntry], read_to: Callable[[], Sequence[str]]
    ) -> AsyncGenerator[FeedStep, None]:
        """Yield the events from here on, then live ones, and beats while nothing happens; it has no end.

        Args:
            buffer: Receives what happens from now on.
            read_to: Returns for each shard up to where the buffer has received everything.

        Raises:
            StoreUnavailableError: Redis is away at the start.
        """
        entries = await self._missed()
        while True:
            if entries is None:
                yield FeedStep(self._position(), is_start=True)
            elif not entries:
                yield FeedStep(self._position())
            for entry in entries or ():
                if self._is_new(entry):
                    yield FeedStep(self._position(), entry.event)
            entries = await self._next(buffer, read_to)

    async def past(self) -> list[FeedStep]:
        """Return the events from here on up to now, and where to go on; a start where that is unknown.

        Raises:
            StoreUnavailableError: Redis is away.
        """
        ends = await self._ends()
        if (entries := await self._missed()) is None:
            return [FeedStep(self._position(), is_start=True)]
        steps = [FeedStep(self._position(), entry.event) for entry in entries if self._is_new(entry)]
        self._move_to(ends)
        return [*steps, FeedStep(self._position())]

    async def _next(
        self, buffer: EventBuffer[FeedEntry], read_to: Callable[[], Sequence[str]]
    ) -> Sequence[FeedEntry] | None:
        """Return what happened, nothing after `BEAT_S` without an event; None where it is not known."""
        try:
            async with asyncio.timeout(BEAT_S):
                taken = await buffer.take()
        except TimeoutError:
            if not buffer.is_empty:
                return ()  # something came just as the time ran out; `read_to` has passed it already
            if not self._is_behind:
                self._move_to(read_to())
                return ()
            taken = None
        if taken is not None and not self._is_behind:
            return taken
        try:
            found = await self._missed()
        except StoreError:
            self._is_behind = True
            return ()
        self._is_behind = False
        return found

    async def _missed(self) -> Sequence[FeedEntry] | None:
        """Return the entries after the positions; None, with the positions at the end, where that is unknown."""
        ends = await self._ends()
        found: list[FeedEntry] = []
        if len(self._positions) == len(ends):
            for shard, end in enumerate(ends):
                if (entries := await self._between(shard, self._positions[shard], end)) is None:
                    break
                found += entries
            else:
                return found
        self._positions = ends
        return None

    async def _between(self, shard: int, after: str, end: str) -> list[FeedEntry] | None:
        """Return the entries of a shard after a position, up to its end at least; None where that is not known."""
        if position_key(after) > position_key(end):  # of another store
            return None
        found: list[FeedEntry] = []
        for _batch in range(MISSED_AT_MOST):
            if position_key(after) >= position_key(end):
                return found
            batch = await self._log.read_feed(shard, after, wait_s=0, principals=self.names)
            if batch.is_trimmed or batch.position == after:
                return None
            found, after = [*found, *batch.entries], batch.position
        return None

    def _is_new(self, entry: FeedEntry) -> bool:
        """Return whether an entry was not given yet, and move on to it."""
        shard = self._log.shard_of_job(entry.event.job_id)
        is_new = position_key(entry.position) > position_key(self._positions[shard])
        if is_new:
            self._positions[shard] = entry.position
        return is_new

    def _move_to(self, positions: Sequence[str]) -> None:
        self._positions = [max(pair, key=position_key) for pair in zip(self._positions, positions, strict=True)]

    async def _ends(self) -> list[str]:
        return [await self._log.feed_end(shard) for shard in range(self._log.shards)]

    def _position(self) -> str:
        return _SEPARATOR.join(self._positions)


def positions_in(text: str, path: str = "/Last-Event-ID") -> list[str]:
    """Return the position of each shard; none for an empty text.

    Args:
        text: As a caller gave it.
        path: Where, for the error.

    Raises:
        InputError: Not a position of this stream.
    """
    positions = text.split(_SEPARATOR) if text else []
    if not all(map(is_position, positions)):
        accepted = "the id of an event of this stream: <milliseconds>-<number> for each shard, with commas between"
        raise input_error([Fault(path, "This is not a position in this stream.", accepted)])
    return positions
