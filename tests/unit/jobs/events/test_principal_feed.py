"""Following all jobs of a principal, at the moment a beat is due."""

import asyncio
import time
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from planner_mcp.jobs.events import principal_feed
from planner_mcp.jobs.events.event_buffers import EventBuffer, buffer_in
from planner_mcp.jobs.events.principal_feed import PrincipalFollower
from planner_mcp.jobs.job_events import Event, EventData, EventKind
from planner_mcp.jobs.job_ports import FeedEntry

pytestmark = pytest.mark.anyio
EVENT = Event("1-0", "job", EventKind.COMPLETED, "2026-01-01T00:00:00Z", EventData(), number=1)


class QuietLog:
    """The feed of one shard, of which nothing has to be read."""

    shards = 1

    def shard_of_job(self, job_id: str) -> int:
        """All lie in one."""
        return 0

    async def feed_end(self, shard: int) -> str:
        """Return where the test begins."""
        return "1-0"


async def test_an_event_that_comes_just_as_a_beat_is_due_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC J4: also where it comes in the same pass of the loop in which the follower stops to wait."""
    monkeypatch.setattr(principal_feed, "BEAT_S", 0.01)
    log: Any = QuietLog()
    read_to = ["1-0"]

    def bring(entries: EventBuffer[FeedEntry]) -> None:
        entries.put(FeedEntry("2-0", ("ann",), EVENT))
        read_to[0] = "2-0"

    with anyio.fail_after(5), buffer_in({}, "ann") as entries:
        follower = PrincipalFollower(log, ("ann",))
        async with aclosing(follower.steps(entries, lambda: read_to)) as steps:
            assert (await anext(steps)).is_start
            step = asyncio.ensure_future(anext(steps))
            await asyncio.sleep(0)  # its wait has begun
            loop = asyncio.get_running_loop()
            loop.call_later(0.01, bring, entries)
            loop.call_soon(time.sleep, 0.05)  # both are due then
            while (found := await step).event is None:
                step = asyncio.ensure_future(anext(steps))
    assert (found.event, found.position) == (EVENT, "2-0")
