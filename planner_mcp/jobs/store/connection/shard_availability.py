"""Tracks which shards answer.

The shards of a cluster lie on several nodes; one node may be down while the others work. Two rules follow. A command
for all shards is sent to all at once, and the answers that arrive are used. A loop over the shards skips one that
failed until all are asked again. The store is unavailable only when no shard answers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

from planner_mcp.errors import StoreUnavailableError

T = TypeVar("T")


async def ask_all(shards: Sequence[int], ask: Callable[[int], Awaitable[T]]) -> dict[int, T]:
    """Return the answers of the available shards, by shard.

    Raises:
        StoreUnavailableError: No shard answered.
    """
    answers = await asyncio.gather(*(ask(shard) for shard in shards), return_exceptions=True)
    there: dict[int, T] = {}
    for shard, answer in zip(shards, answers, strict=True):
        if not isinstance(answer, BaseException):
            there[shard] = answer
        elif not isinstance(answer, StoreUnavailableError):
            raise answer
    if shards and not there:
        raise StoreUnavailableError from next(answer for answer in answers if isinstance(answer, BaseException))
    return there


class ShardAvailability:
    """The availability of the shards as one worker found it.

    Args:
        shards: How many there are.
        lease_s: How long a worker may go without renewing.
        clock: Monotonic seconds.
    """

    def __init__(self, shards: int, lease_s: float, *, clock: Callable[[], float] = monotonic) -> None:
        self._all = range(shards)
        self._lease_s = lease_s
        self._clock = clock
        self._unavailable: set[int] = set()
        self._reaping_paused_until: dict[int, float] = {}
        self._ahead_s: dict[int, float] = {}
        """By how much the clock of each shard was ahead of this process's own."""

    def there(self) -> Sequence[int]:
        """Return the available shards, or all of them when none is available."""
        return [shard for shard in self._all if shard not in self._unavailable] or self._all

    def reapable(self) -> Sequence[int]:
        """Return the shards in which expired leases may be reaped.

        A lease says nothing about a worker that could not renew it, or when the clock was set by which it ran out: once
        a shard went away, once it is back, and once its clock was set, each lease in it counts anew.
        """
        now = self._clock()
        return [shard for shard in self.there() if self._reaping_paused_until.get(shard, now) <= now]

    def note_time(self, shard: int, store_s: float) -> None:
        """Note the time of a shard's clock; where it was set forward since the last note, leases there count anew."""
        ahead_s = store_s - self._clock()
        if ahead_s - self._ahead_s.get(shard, ahead_s) > self._lease_s / 2:
            self._pause_reaping(shard)
        self._ahead_s[shard] = ahead_s

    @contextmanager
    def tracking(self, shard: int) -> Iterator[None]:
        """Note whether a shard answers inside the block; its error is raised only when no other shard is available."""
        try:
            yield
        except StoreUnavailableError:
            self._note(shard, is_there=False)
            if len(self._unavailable) == len(self._all):
                raise
        else:
            self._note(shard, is_there=True)

    async def ask_all(self, ask: Callable[[int], Awaitable[T]]) -> dict[int, T]:
        """Ask every shard, also the unavailable ones, and note which answer; see the function `ask_all`."""

        async def tracked(shard: int) -> T:
            with self.tracking(shard):
                return await ask(shard)
            raise StoreUnavailableError

        return await ask_all(self._all, tracked)

    def _note(self, shard: int, *, is_there: bool) -> None:
        if is_there is (shard in self._unavailable):
            self._unavailable ^= {shard}
            self._pause_reaping(shard)

    def _pause_reaping(self, shard: int) -> None:
        self._reaping_paused_until[shard] = self._clock() + self._lease_s
