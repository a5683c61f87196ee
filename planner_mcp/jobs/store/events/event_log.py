"""Stored events: a stream for each job, and a feed for each shard. Implements `jobs.job_ports.EventLog`."""

from collections.abc import Container
from typing import Final

from planner_mcp.jobs.job_events import position_key
from planner_mcp.jobs.job_ports import FeedBatch, FeedEntry
from planner_mcp.jobs.store import record_codec, store_keys
from planner_mcp.jobs.store.connection.store_part import StorePart

READ_AT_ONCE: Final = 1000


class RedisEventLog(StorePart):
    """Reads the shared feeds."""

    @property
    def shards(self) -> int:
        """How many feeds there are."""
        return self._settings.pools

    async def feed_end(self, shard: int) -> str:
        """Return the position after everything that the feed of a shard holds."""
        return await self._script_client.end_of_stream(store_keys.key(shard, "feed"))

    async def read_feed(
        self, shard: int, after: str, *, wait_s: float, wanted: Container[str] = (), principals: Container[str] = ()
    ) -> FeedBatch:
        """Return entries of the wanted jobs and principals after a position, waiting up to `wait_s` for any entry."""
        stream = store_keys.key(shard, "feed")
        entries = await self._script_client.read_stream(stream, after, count=READ_AT_ONCE, block_s=wait_s)
        found = [
            FeedEntry(position, _readers(kept), record_codec.event_from(kept["job"], kept["id"], kept))
            for position, kept in entries
            if kept["job"] in wanted or any(reader in principals for reader in _readers(kept))
        ]
        is_trimmed = len(entries) == READ_AT_ONCE and await self._was_trimmed(stream, after)
        return FeedBatch(found, entries[-1][0] if entries else after, is_trimmed)

    async def _was_trimmed(self, stream: str, after: str) -> bool:
        oldest = await self._script_client.command("XRANGE", stream, "-", "+", "COUNT", 1)
        return after != "0" and bool(oldest) and position_key(oldest[0][0]) > position_key(after)


def _readers(kept: dict[str, str]) -> tuple[str, ...]:
    """Return whom an entry is for: the owner of the job, and those its plan was proposed to."""
    return tuple(filter(None, (kept.get("principal"), kept.get("group"))))
