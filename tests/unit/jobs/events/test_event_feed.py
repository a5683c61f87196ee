"""The end of a feed, whatever its log does meanwhile."""

import asyncio
from collections.abc import Container

import anyio
import pytest

from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_ports import EventHistory, FeedBatch

pytestmark = pytest.mark.anyio


class DeafLog:
    """Nothing happens in it, and a read that is given up goes on until it is told again."""

    def __init__(self) -> None:
        self.is_notified = asyncio.Event()
        self.is_reading = asyncio.Event()

    def shard_of_job(self, job_id: str) -> int:
        """All lie in one."""
        return 0

    async def read_past(self, principal: str, job_id: str, after: str = "0") -> EventHistory:
        """Nobody asks for it."""
        raise NotImplementedError

    async def feed_end(self, shard: int) -> str:
        """It is empty."""
        return "0"

    async def read_feed(
        self, shard: int, after: str, *, wait_s: float, wanted: Container[str] = (), principals: Container[str] = ()
    ) -> FeedBatch:
        """Never return."""
        self.is_reading.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.is_notified.set()
        await asyncio.sleep(60)
        raise AssertionError("nobody waits so long")


async def test_who_closes_a_feed_may_be_cancelled() -> None:
    """SPEC J7: a replica that must leave at once hears so while it closes."""
    log = DeafLog()
    feed = EventFeed(log)
    with anyio.fail_after(5):
        async with feed.listen("job"):
            await log.is_reading.wait()
            closing = asyncio.create_task(feed.aclose())
            await log.is_notified.wait()
            closing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await closing
        await feed.aclose()
