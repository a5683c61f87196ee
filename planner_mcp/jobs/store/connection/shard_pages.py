"""Pages of a list that is spread over several shards, each newest first.

Owns where a page begins in each shard, and the merge of their parts. For the entries before a page only the times are
read, a limited number per step, because other commands wait while a step runs.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from heapq import merge
from itertools import islice
from typing import Any, Final, TypeVar

T = TypeVar("T")
AT_ONCE: Final = 500
"""Times read from one shard in one step."""
Ages = Callable[[int, int], Awaitable[Iterable[float]]]
"""Reads the creation times of the rows of one shard, newest first: from an offset, at most a count."""


async def page_starts(shards: Sequence[Ages], offset: int) -> list[int]:
    """Return at which row of each shard the page at an offset of the whole list begins."""
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
    """Return the newest rows of all shards. The order in each shard is kept, so pages neither overlap nor have gaps."""
    return list(islice(merge(*shards, key=age, reverse=True), count))
