"""The events as kept: each job's own stream, and the feed a replica listens to. Implements `jobs.ports.EventLog`."""

from collections.abc import Container
from typing import Final

from planner_mcp.jobs.events import order_of
from planner_mcp.jobs.ports import Tail
from planner_mcp.store import keys, records
from planner_mcp.store.link import Link

READ_AT_ONCE: Final = 1000


class FeedReader:
    """Reads the shared feeds.

    Args:
        link: The line to Redis.
    """

    def __init__(self, link: Link) -> None:
        self._link = link

    async def feed_end(self, pool: int) -> str:
        """Return the position after everything that the feed of a pool holds."""
        last = await self._link.command("XREVRANGE", keys.key(pool, "feed"), "+", "-", "COUNT", 1)
        return str(last[0][0]) if last else "0"

    async def read_feed(self, pool: int, after: str, *, wait_s: float, wanted: Container[str]) -> Tail:
        """Return events of the wanted jobs after a position, waiting up to `wait_s` for any."""
        stream = keys.key(pool, "feed")
        entries = await self._link.read_stream(stream, after, count=READ_AT_ONCE, block_s=wait_s)
        events = [records.event_of(kept["job"], kept["id"], kept) for _id, kept in entries if kept["job"] in wanted]
        is_torn = len(entries) == READ_AT_ONCE and await self._was_trimmed(stream, after)
        return Tail(events, entries[-1][0] if entries else after, is_torn)

    async def _was_trimmed(self, stream: str, after: str) -> bool:
        oldest = await self._link.command("XRANGE", stream, "-", "+", "COUNT", 1)
        return after != "0" and bool(oldest) and order_of(oldest[0][0]) > order_of(after)
