"""Follows jobs: stored events first, then live ones, each once and in order.

One tailer per shard and replica reads the shared feed over one connection and fans out in memory; a follower costs a
bounded queue and no connection. The job's own stream is complete; the feed only brings events sooner. A follower
that sees a gap in the numbers, lags behind or was disconnected reads the job's stream again from its last event, so it
loses no event. Progress that was trimmed shows as `"gap": true` in the next event's data, also
to a follower that comes back with a position that is no longer kept.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self

from planner_mcp.errors import StoreError
from planner_mcp.jobs.events.event_buffers import EventBuffer, Followers, buffer_in
from planner_mcp.jobs.events.principal_feed import PrincipalFollower
from planner_mcp.jobs.job_events import Event, EventKind, position_key
from planner_mcp.jobs.job_ports import EventHistory, EventLog, FeedStep
from planner_mcp.task_cancellation import cancel_and_wait

BLOCK_S: Final = 5.0
LINGER_S: Final = 1.0
"""Time a tailer goes on after its last follower has left, for the next one."""
RETRY_S: Final = 0.1
"""Pause of a tailer that lost Redis, doubled up to `RETRY_AT_MOST_S`."""
RETRY_AT_MOST_S: Final = 1.0
BATCHING_READERS: Final = 8
"""Followers of one batch of progress events from which on a tailer waits before it reads on."""
BATCHING_DELAY_S: Final = 0.03
"""Wait of a tailer for the next batch: one batch costs half of what single events cost."""


class FeedListener:
    """Follows one job: joins the events of its buffer to those of the job's own stream.

    Args:
        log: The events as kept.
        job_id: The job.
        event_buffer: Its buffer.
    """

    def __init__(self, log: EventLog, job_id: str, event_buffer: EventBuffer[Event]) -> None:
        self._log = log
        self._job_id = job_id
        self._event_buffer = event_buffer

    async def events(
        self, principal: str, after: str = "0", history: EventHistory | None = None, *, with_reviews: bool = False
    ) -> AsyncGenerator[Event, None]:
        """Yield as `EventFeed.follow`.

        Args:
            principal: Whom the job must belong to; not looked at where `history` is given, which was read in its name.
            after: The position.
            history: What there was after it, where that was read since listening.
            with_reviews: Whether to go on after the end of the job.
        """
        last = position_key(after)
        fresh = history or await self._log.read_past(principal, self._job_id, after)
        last_number = fresh.seen
        while True:
            is_over = fresh.is_over and not with_reviews
            for event in fresh.events:
                if position_key(event.id) <= last:
                    continue
                yield _with_gap_mark(event, last_number)
                last, last_number = position_key(event.id), event.number
                is_over = is_over or (event.ends_reviews if with_reviews else event.is_final)
            if is_over:
                return
            last_number = fresh.number
            fresh = await self._next(principal, last, last_number)

    async def _next(self, principal: str, last: tuple[int, int], last_number: int) -> EventHistory:
        """Return the events after `last`: from the buffer when they join on, else from the job's own stream."""
        while True:
            taken = await self._event_buffer.take()
            if taken is not None:
                taken = [event for event in taken if event.number > last_number]
                if taken and taken[-1].number == last_number + len(taken):
                    return EventHistory(taken, taken[-1].number, last_number, is_over=False)
                if not taken:
                    continue
            with suppress(StoreError):  # the tailer marks all followers stale again when Redis is back
                return await self._log.read_past(principal, self._job_id, f"{last[0]}-{last[1]}")


class EventFeed:
    """Follows jobs for all clients of this replica.

    A tailer reads while it has followers. Use it as an async context manager, or call `aclose`.

    Args:
        log: The events as kept.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._followers = Followers()
        self._tailers: dict[int, _Tailer] = {}

    async def follow(
        self, principal: str, job_id: str, after: str = "0", *, with_reviews: bool = False
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of a job after a position and then live ones, ending after the final event.

        With reviews it goes on until the plan is published, or the job has failed.

        Raises:
            InputError: `after` is no position.
            NotFoundError: Unknown job, or somebody else's.
            StoreUnavailableError: Redis is away at the start; an outage in mid-stream is waited out.
        """
        async with (
            self.listen(job_id) as listener,
            aclosing(listener.events(principal, after, with_reviews=with_reviews)) as events,
        ):
            async for event in events:
                yield event

    @asynccontextmanager
    async def listen(self, job_id: str) -> AsyncIterator[FeedListener]:
        """Yield a follower that receives every event from now on.

        Raises:
            NotFoundError: There is no such job, or it belongs to another principal.
            StoreUnavailableError: Redis is away.
        """
        shard = self._log.shard_of_job(job_id)
        with buffer_in(self._followers.jobs, job_id) as event_buffer:
            await self._ensure_tailer(shard)
            yield FeedListener(self._log, job_id, event_buffer)

    async def past_of_principal(self, principal: str, after: str = "", *, group: str = "") -> list[FeedStep]:
        """Return the events of all jobs of a principal after a position up to now, as `PrincipalFollower.past`."""
        return await PrincipalFollower(self._log, (principal, group), after).past()

    async def follow_principal(
        self, principal: str, after: str = "", *, group: str = ""
    ) -> AsyncGenerator[FeedStep, None]:
        """Yield the events of all jobs of a principal, without an end, as `PrincipalFollower.steps`.

        Args:
            principal: Whose jobs.
            after: Where an earlier stream stopped; empty for a new one.
            group: Whose proposed plans it may review: their reviews are sent too.

        Raises:
            InputError: `after` is no position.
            StoreUnavailableError: Redis is away at the start; an outage in mid-stream is waited out.
        """
        follower = PrincipalFollower(self._log, (principal, group), after)
        with buffer_in(self._followers.principals, *follower.names) as event_buffer:
            for shard in range(self._log.shards):
                await self._ensure_tailer(shard)
            tailers = [self._tailers[shard] for shard in range(self._log.shards)]
            async with aclosing(follower.steps(event_buffer, lambda: [each.read_to for each in tailers])) as steps:
                async for step in steps:
                    yield step

    # ---- tailers

    async def _ensure_tailer(self, shard: int) -> None:
        """Return when the tailer of a shard listens."""
        tailer = self._tailers.get(shard)
        if tailer is None or tailer.is_over:
            tailer = self._tailers[shard] = _Tailer(self._log, shard, self._followers)
        await tailer.started()

    async def aclose(self) -> None:
        """Stop all tailers."""
        await cancel_and_wait(*(tailer.task for tailer in self._tailers.values()))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Tailer:
    """Reads the feed of one shard while anybody follows, and `LINGER_S` longer."""

    def __init__(self, log: EventLog, shard: int, followers: Followers) -> None:
        self._log = log
        self._shard = shard
        self._followers = followers
        self._position: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._is_called = asyncio.Event()
        self.read_to = ""
        """The position up to which followers have been given everything."""
        self.task = asyncio.create_task(self._run(), name=f"feed of pool {shard}")

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.task.done() or (self._position.done() and self._position.exception() is not None)

    async def started(self) -> None:
        """Return when its first position is known; raise the error that prevented that."""
        self._is_called.set()
        either: list[asyncio.Future[Any]] = [self._position, self.task]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        await next(future for future in either if future.done())

    async def _run(self) -> None:
        try:
            position = await self._log.feed_end(self._shard)
        except StoreError as error:
            self._position.set_exception(error)
            return
        self.read_to = position
        self._position.set_result(position)
        pause_s = RETRY_S
        while await self._is_wanted():
            try:
                notified = await self._read()
                pause_s = RETRY_S
                await asyncio.sleep(
                    BATCHING_DELAY_S if notified >= BATCHING_READERS else 0
                )  # at least until those followers have read
            except StoreError:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, RETRY_AT_MOST_S)
                self._mark_all_stale()

    async def _is_wanted(self) -> bool:
        """Return whether anybody follows, after waiting `LINGER_S` for a follower."""
        if not self._followers:
            self._is_called.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_S):
                    await self._is_called.wait()
        return bool(self._followers)

    async def _read(self) -> int:
        """Deliver the events after the last position; return how many followers got progress.

        Only progress events are counted, because they may wait; of a start and an end a client may be waiting for each.
        """
        notified = 0
        jobs, principals = self._followers.jobs, self._followers.principals
        batch = await self._log.read_feed(self._shard, self.read_to, wait_s=BLOCK_S, wanted=jobs, principals=principals)
        for entry in batch.entries:
            is_progress = entry.event.kind is EventKind.PROGRESS
            for event_buffer in jobs.get(entry.event.job_id, ()):
                event_buffer.put(entry.event)
                notified += is_progress
            for entry_buffer in {each for reader in entry.readers for each in principals.get(reader, ())}:
                entry_buffer.put(entry)
                notified += is_progress
        if batch.is_trimmed:
            self._mark_all_stale()
        self.read_to = batch.position
        return notified

    def _mark_all_stale(self) -> None:
        for event_buffer in self._followers.buffers():
            event_buffer.mark_stale()


def _with_gap_mark(event: Event, last_number: int) -> Event:
    if event.number == last_number + 1:
        return event
    return replace(event, data=replace(event.data, gap=True))
