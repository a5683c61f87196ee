"""Pages of what several pools list, each its own newest first.

Owns where a page begins in each pool, and bringing their parts together. Of the entries before a page only the ages are
read, a limited number per step, because a step keeps everybody else waiting.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from heapq import merge
from itertools import islice
from typing import Any, Final, TypeVar

T = TypeVar("T")
AT_ONCE: Final = 500
"""Ages of one pool read in one step."""
Ages = Callable[[int, int], Awaitable[Iterable[float]]]
"""Reads when the rows of one pool were made, newest first: from a position on, so many or fewer."""


async def page_starts(shards: Sequence[Ages], offset: int) -> list[int]:
    """Return how many rows of each pool come before so many of all."""
    if len(shards) == 1:
        return [offset]
    before, ahead, unread = [0] * len(shards), [deque[float]() for _ in shards], [*range(len(shards))]
    while unread and (left := offset - sum(before)) > 0:
        for shard in [each for each in unread if not ahead[each]]:
            ahead[shard].extend(await shards[shard](before[shard], min(AT_ONCE, left)))
        unread = [shard for shard in unread if ahead[shard]]
        if unread:
            newest = max(unread, key=lambda shard: ahead[shard][0])
            ahead[newest].popleft()
            before[newest] += 1
    return before


def merged(shards: Iterable[Iterable[T]], count: int, age: Callable[[T], Any]) -> list[T]:
    """Return the newest rows of all pools; the order inside each stays, so pages neither overlap nor leave gaps."""
    return list(islice(merge(*shards, key=age, reverse=True), count))
