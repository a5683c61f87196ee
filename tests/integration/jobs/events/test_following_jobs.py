"""Following a job: every event once and in order, whatever happens meanwhile (SPEC J2, J4)."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import anyio
import pytest

from planner_mcp.errors import InputError, NotFoundError
from planner_mcp.jobs import ids
from planner_mcp.jobs.events import event_feed as feed_module
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.job_ports import FeedBatch
from planner_mcp.jobs.store import store_keys
from planner_mcp.server.mcp.notifications.listen_method import _before

pytestmark = pytest.mark.anyio


async def collect(feed: EventFeed, job_id: str, after: str = "0", principal: str = "ann") -> list[Event]:
    """Follow a job to its end."""
    async with aclosing(feed.follow(principal, job_id, after)) as events:
        return [event async for event in events]


async def work(harness: Any, claim: Any, plan: dict[str, Any], steps: int = 100) -> None:
    """Report some progress and complete."""
    for step in range(steps):
        await harness.store.report(claim, Progress(percent=step, elapsed_s=step / 10), None)
    await harness.store.complete(claim, Progress(), plan)


async def test_listeners_see_the_same_events_whenever_they_start(
    harness: Any, feed: EventFeed, plan: dict[str, Any]
) -> None:
    """SPEC J4: replay joins the live events without loss or repeat."""
    claim = await harness.solving()
    seen: list[list[Event]] = []

    async def follow(delay_s: float) -> None:
        await anyio.sleep(delay_s)
        seen.append(await collect(feed, claim.job.id))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            for late in range(20):
                group.start_soon(follow, late / 200)
            group.start_soon(work, harness, claim, plan)
    all_events = await harness.events(claim.job.id)
    assert len(all_events) == 103
    assert seen == [all_events] * 20


async def test_reconnecting_from_any_event_gives_exactly_the_rest(
    harness: Any, feed: EventFeed, plan: dict[str, Any]
) -> None:
    """SPEC J4."""
    claim = await harness.solving()
    await work(harness, claim, plan, steps=5)
    all_events = await harness.events(claim.job.id)
    for index, event in enumerate(all_events):
        assert await collect(feed, claim.job.id, event.id) == all_events[index + 1 :]


async def test_a_follower_that_falls_behind_loses_nothing(
    harness: Any, feed: EventFeed, plan: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J4: its queue is bounded, its memory is the job's stream."""
    monkeypatch.setattr("planner_mcp.jobs.events.event_buffers.QUEUE_LENGTH", 3)
    claim = await harness.solving()
    seen: list[Event] = []

    async def dawdle() -> None:
        async with aclosing(feed.follow("ann", claim.job.id)) as events:
            async for event in events:
                seen.append(event)
                await anyio.sleep(0.01)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(dawdle)
            group.start_soon(work, harness, claim, plan, 50)
    assert seen == await harness.events(claim.job.id)


async def test_events_of_many_followers_are_read_in_one_batch(
    harness: Any, plan: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J2: many watchers do not cost one look at the feed for each event; the story stays whole."""
    monkeypatch.setattr(feed_module, "BATCHING_DELAY_S", 1.0)
    claim = await harness.solving()
    read_at_once: list[int] = []

    class Counting:
        """The store's log, counting the events of each read."""

        def __getattr__(self, name: str) -> Any:
            return getattr(harness.store, name)

        async def read_feed(self, *args: Any, **kwargs: Any) -> FeedBatch:
            batch: FeedBatch = await harness.store.read_feed(*args, **kwargs)
            read_at_once.append(len(batch.entries))
            return batch

    seen: list[list[Event]] = []
    with anyio.fail_after(60):
        async with EventFeed(Counting()) as feed, anyio.create_task_group() as group:

            async def follow() -> None:
                seen.append(await collect(feed, claim.job.id))

            for _ in range(feed_module.BATCHING_READERS):
                group.start_soon(follow)
            group.start_soon(work, harness, claim, plan, 20)
    assert seen == [await harness.events(claim.job.id)] * feed_module.BATCHING_READERS
    assert max(read_at_once) > 1


async def test_a_feed_that_was_trimmed_unread_is_noticed(
    harness: Any, feed: EventFeed, plan: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J4: a replica that lags behind the shared feed reads each job's own stream."""
    monkeypatch.setattr("planner_mcp.jobs.store.events.event_log.READ_AT_ONCE", 2)
    claim = await harness.solving()
    seen: list[Event] = []

    async def trim_and_work() -> None:
        for step in range(20):
            await harness.store.report(claim, Progress(elapsed_s=float(step)), None)
            await harness.store.redis.xtrim("{p0}:feed", maxlen=1, approximate=False)
        await harness.store.complete(claim, Progress(), plan)

    async def follow() -> None:
        seen.extend(await collect(feed, claim.job.id))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(follow)
            group.start_soon(trim_and_work)
    assert seen == await harness.events(claim.job.id)


async def test_trimmed_progress_is_stated_not_hidden(harness: Any, feed: EventFeed, plan: dict[str, Any]) -> None:
    """SPEC J4: a gap is said."""
    claim = await harness.solving()
    await work(harness, claim, plan, steps=5)
    await harness.store.redis.xtrim("{p0}:ev:" + claim.job.id, maxlen=2, approximate=False)
    first, last = await collect(feed, claim.job.id)
    assert first.data.gap
    assert not last.data.gap
    assert last.is_final


async def test_a_follower_that_missed_more_than_is_kept_hears_of_the_gap(
    harness: Any, feed: EventFeed, plan: dict[str, Any]
) -> None:
    """SPEC J4: on any replica, and only where something is missing."""
    claim = await harness.solving()
    queued, started = await harness.events(claim.job.id)
    await work(harness, claim, plan, steps=store_keys.EVENTS_KEPT + 200)
    first, *rest = await harness.events(claim.job.id)
    assert first.number > started.number + 1  # the store has trimmed by itself
    expected = [replace(first, data=replace(first.data, gap=True)), *rest]
    async with aclosing(EventFeed(harness.store)) as other:
        for after in ("0", "0-0", queued.id, started.id, started.id.partition("-")[0]):
            assert await collect(feed, claim.job.id, after) == expected
            assert await collect(other, claim.job.id, after) == expected
    assert await collect(feed, claim.job.id, first.id) == rest
    assert await collect(feed, claim.job.id, _before(rest[0].id)) == rest


@pytest.mark.parametrize("state", [JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED])
async def test_following_what_is_over_replays_and_ends(harness: Any, feed: EventFeed, state: JobState) -> None:
    """SPEC J1."""
    claim = await harness.ended(state)
    with anyio.fail_after(30):
        all_events = await collect(feed, claim.job.id)
        assert all_events[-1].is_final
        assert await collect(feed, claim.job.id, all_events[-1].id) == []
        assert await collect(feed, claim.job.id, "9999999999999-9") == []


async def test_a_job_that_is_not_there_or_not_ones_own_is_not_found(harness: Any, feed: EventFeed) -> None:
    """SPEC A2."""
    job = await harness.submit()
    for principal, job_id in (("eve", job.id), ("ann", ids.random_id("job", 0)), ("ann", "x")):
        with pytest.raises(NotFoundError):
            await collect(feed, job_id, principal=principal)


@pytest.mark.parametrize("after", ["", "x", "-1", "1-", "1-2-3", "1" * 30, "$"])
async def test_a_position_that_is_none_is_the_callers_mistake(harness: Any, feed: EventFeed, after: str) -> None:
    """SPEC T7."""
    job = await harness.submit()
    with pytest.raises(InputError):
        await collect(feed, job.id, after)


async def test_two_replicas_yield_the_same_events(harness: Any, feed: EventFeed, plan: dict[str, Any]) -> None:
    """SPEC J4: a client changes the replica in mid-stream."""
    claim = await harness.solving()
    seen: list[Event] = []

    async def hop(feeds: list[EventFeed]) -> None:
        while not seen or not seen[-1].is_final:
            feeds.append(feeds.pop(0))
            async with aclosing(feeds[0].follow("ann", claim.job.id, seen[-1].id if seen else "0")) as events:
                async for event in events:
                    seen.append(event)
                    if len(seen) % 7 == 0:
                        break

    async with aclosing(EventFeed(harness.store)) as other:
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(hop, [feed, other])
                group.start_soon(work, harness, claim, plan)
    assert seen == await harness.events(claim.job.id)


async def test_a_feed_without_followers_stops_reading_and_starts_again(
    harness: Any, feed: EventFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our choice: a replica nobody follows on costs Redis nothing."""
    monkeypatch.setattr(feed_module, "BLOCK_S", 0.05)
    monkeypatch.setattr(feed_module, "LINGER_S", 0.1)
    claim = await harness.ended(JobState.COMPLETED)
    all_events = await collect(feed, claim.job.id)
    with anyio.fail_after(30):
        await asyncio.wait([feed._tailers[0].task])
        assert await collect(feed, claim.job.id) == all_events
