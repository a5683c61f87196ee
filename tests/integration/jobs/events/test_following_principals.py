"""Following all jobs of a principal: every event once and in order, at any replica (SPEC J4)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from planner_mcp.errors import InputError
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.job_ports import FeedStep
from planner_mcp.jobs.store.redis_store import RedisStore

pytestmark = pytest.mark.anyio
FINAL = ("completed", "cancelled", "failed")


async def until_ends(steps: AsyncGenerator[FeedStep, None], ends: int) -> list[FeedStep]:
    """Return the events of a stream until so many jobs have ended."""
    found: list[FeedStep] = []
    async for step in steps:
        if step.event is not None:
            found.append(step)
            ends -= step.event.is_final
        if not ends:
            break
    return found


async def two_jobs(harness: Any, plan: dict[str, Any], steps: int = 30) -> list[str]:
    """Solve two jobs of ann at once, and cancel one of bob."""
    await harness.workers(slots=3)
    for principal in ("ann", "ann", "bob"):
        await harness.submit(principal)
    claims = [await harness.claim() for _ in range(3)]
    own = [claim for claim in claims if claim.job.principal == "ann"]
    for step in range(steps):
        for claim in claims:
            await harness.store.report(claim, Progress(percent=step, elapsed_s=step / 10), None)
    for claim in claims:
        await harness.store.complete(claim, Progress(), plan)
    return [claim.job.id for claim in own]


async def test_a_stream_brings_the_events_of_all_own_jobs_and_of_no_other(
    harness: Any, feed: EventFeed, plan: dict[str, Any]
) -> None:
    """SPEC J4, A2: each once, in order; a new stream begins with where it stands."""
    with anyio.fail_after(30):
        async with aclosing(feed.follow_principal("ann")) as steps:
            first = await anext(steps)
            assert first.is_start
            solving = asyncio.create_task(two_jobs(harness, plan))
            found = await until_ends(steps, 2)
        jobs = await solving
    for job_id in jobs:
        events = [step.event for step in found if step.event and step.event.job_id == job_id]
        assert events == await harness.events(job_id)
    assert {step.event.job_id for step in found if step.event} == set(jobs)


async def test_a_stream_goes_on_from_each_of_its_positions_at_another_replica(
    harness: Any, feed: EventFeed, plan: dict[str, Any]
) -> None:
    """SPEC J4: neither loss nor repeat."""
    with anyio.fail_after(30):
        async with aclosing(feed.follow_principal("ann")) as steps:
            positions = [(await anext(steps)).position]
            solving = asyncio.create_task(two_jobs(harness, plan, steps=5))
            found = await until_ends(steps, 2)
            await solving
        positions += [step.position for step in found]
        async with aclosing(EventFeed(harness.store)) as other:
            for at, position in enumerate(positions[:-1]):
                async with aclosing(other.follow_principal("ann", position)) as steps:
                    ends = sum(step.event is not None and step.event.is_final for step in found[at:])
                    assert await until_ends(steps, ends) == found[at:]


async def test_a_follower_that_lags_behind_misses_nothing(
    harness: Any, feed: EventFeed, plan: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J4: what overflows its buffer is read from the store."""
    monkeypatch.setattr("planner_mcp.jobs.events.event_buffers.QUEUE_LENGTH", 3)
    with anyio.fail_after(30):
        async with aclosing(feed.follow_principal("ann")) as steps:
            await anext(steps)
            jobs = await two_jobs(harness, plan, steps=40)
            found = await until_ends(steps, 2)
    for job_id in jobs:
        assert [step.event for step in found if step.event and step.event.job_id == job_id] == await harness.events(
            job_id
        )


async def test_what_is_no_longer_kept_is_a_new_start(
    harness: Any, feed: EventFeed, plan: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J4: a loss is said: after a trimmed feed, after too much, after another store, after other shards."""
    monkeypatch.setattr("planner_mcp.jobs.store.events.event_log.READ_AT_ONCE", 2)
    async with aclosing(feed.follow_principal("ann")) as steps:
        begin = (await anext(steps)).position
    await two_jobs(harness, plan, steps=20)
    with anyio.fail_after(30):
        for position in (begin, "9999999999999-9", "1-0,2-0"):
            async with aclosing(feed.follow_principal("ann", position)) as steps:
                assert (await anext(steps)).is_start, position
        await harness.store.redis.xtrim("{p0}:feed", maxlen=3, approximate=False)
        async with aclosing(feed.follow_principal("ann", "1-0")) as steps:
            assert (await anext(steps)).is_start


async def test_an_idle_stream_moves_on_with_what_others_do(
    harness: Any, feed: EventFeed, plan: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our choice: so a client that comes back never has to read what others did for hours."""
    monkeypatch.setattr("planner_mcp.jobs.events.principal_feed.BEAT_S", 0.05)
    with anyio.fail_after(30):
        async with aclosing(feed.follow_principal("eve")) as steps:
            first = await anext(steps)
            await two_jobs(harness, plan, steps=2)
            end = await harness.store.feed_end(0)
            async for step in steps:
                assert step.event is None
                if step.position == end:
                    break
            assert step.position != first.position


async def test_an_event_says_whether_anything_has_changed(harness: Any, feed: EventFeed) -> None:
    """SPEC O6: improvements are told by it; a report of the time that passed is none."""
    claim = await harness.solving()
    begin = (await feed.past_of_principal("ann"))[-1].position
    for percent in (10, 20):
        await harness.store.report(claim, Progress(percent=percent, cost=10.0, elapsed_s=percent / 10), None)
    steps = await feed.past_of_principal("ann", begin)
    assert [step.event.is_change for step in steps if step.event is not None] == [True, False]


@pytest.mark.parametrize("after", ["x", "1-", "1-2,", ",", "1-2-3", "1" * 30])
async def test_a_position_that_is_none_is_the_callers_mistake(store: RedisStore, feed: EventFeed, after: str) -> None:
    """SPEC T7."""
    with pytest.raises(InputError):
        async with aclosing(feed.follow_principal("ann", after)) as steps:
            await anext(steps)
