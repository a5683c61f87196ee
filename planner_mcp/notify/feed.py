"""Following jobs: what was, then what comes, each event once and in order.

One tailer per pool and replica reads the shared feed over one connection and fans out in memory; a follower costs a
bounded queue and no connection. The job's own stream is the truth and the feed only the quick way to hear of it:
whoever notices a jump in the numbers, falls behind, or was cut off reads the job's stream again from its last event. So
a slow follower loses nothing but speed. Progress that was trimmed shows as `"gap": true` in the next event's data, also
to a follower that comes back with a position that is no longer kept.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self

from planner_mcp.errors import StoreError
from planner_mcp.jobs.events import Event, EventKind, order_of
from planner_mcp.jobs.ports import EventLog, Past
from planner_mcp.stopping import stop

QUEUE_LENGTH: Final = 64
"""Events a follower may lag; beyond, it reads its job's stream instead."""
BLOCK_S: Final = 5.0
LINGER_S: Final = 1.0
"""A tailer whose last follower left waits this long for another, who then hears what came meanwhile."""
RETRY_S: Final = 0.1
"""Pause of a tailer that lost Redis, doubled up to `RETRY_AT_MOST_S`."""
RETRY_AT_MOST_S: Final = 1.0
CROWD: Final = 8
"""From so many followers told of progress at once …"""
GATHER_S: Final = 0.03
"""… a tailer lets this pass before it reads on: told together a crowd costs half of what it costs one by one."""
WATCHDOG_S: Final = 30.0
"""A follower that heard nothing looks for itself at the latest after this."""


class Inbox:
    """What one follower was told and has not taken yet."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._bell: asyncio.Future[None] | None = None
        self._must_read = False
        self._is_quiet = True
        self._watch()

    def _watch(self) -> None:
        """Look now and then: a deadline for each wait would cost more than the wait."""
        self._watchdog = asyncio.get_running_loop().call_later(WATCHDOG_S / 2, self._look)

    def _look(self) -> None:
        if self._is_quiet:
            self.mark_stale()
        self._is_quiet = True
        self._watch()

    def close(self) -> None:
        """Watch no more."""
        self._watchdog.cancel()

    def put(self, event: Event) -> None:
        """Hand an event over; a full inbox is emptied and the follower told to read for itself."""
        self._is_quiet = False
        if len(self._events) >= QUEUE_LENGTH:
            self.mark_stale()
        else:
            self._events.append(event)
            self._ring()

    def mark_stale(self) -> None:
        """Tell the follower to read its job's stream."""
        self._events.clear()
        self._must_read = True
        self._ring()

    def _ring(self) -> None:
        if self._bell is not None and not self._bell.done():
            self._bell.set_result(None)

    async def take(self) -> list[Event] | None:
        """Return what came, waiting for it; None: read the job's stream."""
        if not self._events and not self._must_read:
            self._bell = asyncio.get_running_loop().create_future()
            await self._bell
        taken = None if self._must_read else list(self._events)
        self._events.clear()
        self._must_read = False
        return taken


class Follower:
    """Follows one job: joins what its inbox is told to what the job's own stream holds.

    Args:
        log: The events as kept.
        job_id: The job.
        inbox: What it is told.
    """

    def __init__(self, log: EventLog, job_id: str, inbox: Inbox) -> None:
        self._log = log
        self._job_id = job_id
        self._inbox = inbox

    async def events(self, principal: str, after: str = "0", past: Past | None = None) -> AsyncGenerator[Event, None]:
        """Yield as `jobs.ports.Follower`."""
        last = order_of(after)
        fresh = past or await self._log.read_past(principal, self._job_id, after)
        last_number = fresh.seen
        while True:
            for event in fresh.events:
                if order_of(event.id) <= last:
                    continue
                yield _marked(event, last_number)
                last, last_number = order_of(event.id), event.number
                if event.is_final:
                    return
            if fresh.is_over:
                return
            last_number = fresh.number
            fresh = await self._next(principal, last, last_number)

    async def _next(self, principal: str, last: tuple[int, int], last_number: int) -> Past:
        """Return the events after `last`: from the inbox when they join on, else from the job's own stream."""
        while True:
            taken = await self._inbox.take()
            if taken is not None:
                taken = [event for event in taken if event.number > last_number]
                if taken and taken[-1].number == last_number + len(taken):
                    return Past(taken, taken[-1].number, last_number, is_over=False)
                if not taken:
                    continue
            with suppress(StoreError):  # the tailer marks everybody stale again once Redis is back
                return await self._log.read_past(principal, self._job_id, f"{last[0]}-{last[1]}")


class RedisFeed:
    """Follows jobs for everybody on this replica. Implements `jobs.ports.Feed`.

    Tailers read while somebody follows. Use it as an async context manager, or call `aclose`.

    Args:
        log: The events as kept.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._inboxes: dict[str, set[Inbox]] = {}
        self._tailers: dict[int, _Tailer] = {}

    async def follow(self, principal: str, job_id: str, after: str = "0") -> AsyncGenerator[Event, None]:
        """Yield the events of a job after a position and then live ones, ending after the final event.

        A Redis outage in mid-stream is waited out; one at the start is raised.

        Raises:
            InputError: `after` is no position.
            NotFoundError: Unknown job, or somebody else's.
            StoreUnavailableError: Redis is away.
        """
        async with self.listen(job_id) as follower, aclosing(follower.events(principal, after)) as events:
            async for event in events:
                yield event

    @asynccontextmanager
    async def listen(self, job_id: str) -> AsyncIterator[Follower]:
        """Yield a follower that misses nothing of what comes from here on.

        Raises:
            NotFoundError: No job of this house is called so.
            StoreUnavailableError: Redis is away.
        """
        pool, inbox = self._log.pool_of_job(job_id), Inbox()
        self._inboxes.setdefault(job_id, set()).add(inbox)
        try:
            await self._tail(pool)
            yield Follower(self._log, job_id, inbox)
        finally:
            inbox.close()
            self._inboxes[job_id].discard(inbox)
            if not self._inboxes[job_id]:
                del self._inboxes[job_id]

    # ---- tailers

    async def _tail(self, pool: int) -> None:
        """Return when the tailer of a pool listens."""
        tailer = self._tailers.get(pool)
        if tailer is None or tailer.is_over:
            tailer = self._tailers[pool] = _Tailer(self._log, pool, self._inboxes)
        await tailer.started()

    async def aclose(self) -> None:
        """Stop all tailers."""
        await stop(*(tailer.task for tailer in self._tailers.values()))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Tailer:
    """Reads the feed of one pool for as long as anybody follows anything, and is there `LINGER_S` longer."""

    def __init__(self, log: EventLog, pool: int, inboxes: dict[str, set[Inbox]]) -> None:
        self._log = log
        self._pool = pool
        self._inboxes = inboxes
        self._position: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._is_called = asyncio.Event()
        self.task = asyncio.create_task(self._run(), name=f"feed of pool {pool}")

    @property
    def is_over(self) -> bool:
        """Whether it listens no more."""
        return self.task.done() or (self._position.done() and self._position.exception() is not None)

    async def started(self) -> None:
        """Return when it knows where it listens from; raise what kept it from knowing."""
        self._is_called.set()
        either: list[asyncio.Future[Any]] = [self._position, self.task]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        await next(future for future in either if future.done())

    async def _run(self) -> None:
        try:
            position = await self._log.feed_end(self._pool)
        except StoreError as error:
            self._position.set_exception(error)
            return
        self._position.set_result(position)
        pause_s = RETRY_S
        while await self._is_wanted():
            try:
                position, told = await self._read(position)
                pause_s = RETRY_S
                await asyncio.sleep(GATHER_S if told >= CROWD else 0)  # at least until those who were told have left
            except StoreError:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, RETRY_AT_MOST_S)
                self._mark_all_stale()

    async def _is_wanted(self) -> bool:
        """Return whether anybody follows, waiting a while for somebody: events nobody follows are not worth a read."""
        if not self._inboxes:
            self._is_called.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_S):
                    await self._is_called.wait()
        return bool(self._inboxes)

    async def _read(self, position: str) -> tuple[str, int]:
        """Tell what came after a position; return where to read on, and how many followers were told of progress.

        Progress can wait for company; many jobs that begin and end at once are no crowd, and somebody waits for each.
        """
        told = 0
        tail = await self._log.read_feed(self._pool, position, wait_s=BLOCK_S, wanted=self._inboxes)
        for event in tail.events:
            for inbox in self._inboxes.get(event.job_id, ()):
                inbox.put(event)
                told += event.kind is EventKind.PROGRESS
        if tail.is_torn:
            self._mark_all_stale()
        return tail.position, told

    def _mark_all_stale(self) -> None:
        for inboxes in self._inboxes.values():
            for inbox in inboxes:
                inbox.mark_stale()


def _marked(event: Event, last_number: int) -> Event:
    if event.number == last_number + 1:
        return event
    return replace(event, data={**event.data, "gap": True})
