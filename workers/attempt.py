"""One claim, from the order to the store's last word.

Owns the race of everything that may end a solve: the child says it is done, the child dies, the client cancels or
wants the plan now, the lease passes on, the worker drains, time or memory runs out. The first of them is the *verdict*;
it decides how the child is stopped and what the store is told. How it is told is `workers/story.py`: every write
carries the claim and is refused once it is no longer ours. A store that is away delays the last report but never
changes it.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Any, Final

from planner_mcp.errors import (
    EngineCrashedError,
    EngineError,
    EngineMemoryError,
    EngineTimeoutError,
    PlannerError,
    StoreUnavailableError,
)
from planner_mcp.jobs.matrices import Matrices
from planner_mcp.jobs.ports import Claim, Renewal, WorkerStore
from planner_mcp.roads.bringer import Bringer
from planner_mcp.settings import Settings
from planner_mcp.spans import span
from planner_mcp.stopping import call_off
from planner_mcp.vrp.day.tables import Packed
from workers import limits
from workers.frames import Message
from workers.nursery import Child
from workers.order import OVERRUN_S, Order
from workers.story import OURS_NO_MORE, RETRY_FIRST_S, RETRY_LONGEST_S, Story

UNKEPT_S: Final = 0.02
"""So long nobody renews, reports or watches: a small day is over by then, and a lease outlasts it many times."""
REPORT_EVERY_S: Final = 0.2
"""Reports are at least this far apart …"""
HEARTBEAT_S: Final = 1.0
"""… and at most this far."""
BRIEF_S: Final = 0.05
"""A plan found so soon …"""
END_NEAR_S: Final = 0.005
"""… waits this long: a small day is over with it, and its end tells the plan too."""
GRACE_S: Final = 0.3
"""What a child that is asked for its last plan may take before it is killed."""
SHORT_GRACE_S: Final = 0.03
"""The same where an earlier plan serves as well: a cancel is worth more at once than with the last improvement."""
MEMORY_WATCH_S: Final = 0.05
RENEW_AGAIN_S: Final = 0.1
TABLES_WAIT_S: Final = 30.0
"""Longest wait for tables whose pool is away: a replica takes over sooner, and a worker is there for other jobs too."""
REUSE_BELOW_S: Final = 1.0
"""A child that solved for longer is not used again: its memory has been through a search."""

log = logging.getLogger("planner.worker")


class Verdict(Enum):
    """What ended the solve."""

    DONE = auto()
    ERROR = auto()
    DIED = auto()
    CANCEL = auto()
    FINISH = auto()
    HAND_BACK = auto()
    LOST = auto()
    OVERDUE = auto()
    MEMORY = auto()


class Attempt:
    """Runs one claim to its end.

    Args:
        claim: What to solve, with the right to say how it went.
        child: A process without an order.
        store: Where the story is told.
        trace_id: Joins log lines and a failed job.
        goes_on: Whether the worker takes another job after this one.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        claim: Claim,
        child: Child,
        store: WorkerStore,
        settings: Settings,
        *,
        trace_id: str,
        goes_on: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._claim = claim
        self._child = child
        self._store = store
        self._settings = settings
        self._trace_id = trace_id
        self._goes_on = goes_on
        self._clock = clock
        self._story = Story(claim, store, trace_id=trace_id, clock=clock, on_absence=self._spare_the_worker)
        self._bringer = Bringer(Matrices(store, settings), settings)
        self._solve_s = max(1.0, claim.job.request.solve_time_s - claim.elapsed_s)
        self.is_free: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """Done when the worker may go on with another job; says whether the child may serve again."""
        self._news = asyncio.Event()
        self._flags_changed = asyncio.Event()
        self._verdict: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._error: dict[str, Any] = {}
        self._is_quiet = asyncio.Event()
        """Set when the child hung up: everything it said was heard."""
        self._wants_first_plan = False
        self._is_settled = False
        self._watching: list[asyncio.Task[None]] = []
        self._reporting: list[asyncio.Task[None]] = []
        self._renewing: list[asyncio.Task[None]] = []

    @property
    def job_id(self) -> str:
        """The job that is solved."""
        return self._claim.job.id

    @property
    def next_claim(self) -> Claim | None:
        """The job that was taken with the last word on this one."""
        return self._story.next_claim

    def look_at_flags(self) -> None:
        """Ask the store at once whether the job was cancelled or is to be finished."""
        self._flags_changed.set()

    def hand_back(self) -> None:
        """Stop, and give the job back unfinished."""
        self._story.hurry()
        self._decide(Verdict.HAND_BACK)

    def let_go(self, *, is_reusable: bool) -> None:
        """Need neither the child nor the worker any more."""
        if not self.is_free.done():
            self.is_free.set_result(is_reusable)

    def _spare_the_worker(self) -> None:
        """Let it go on with other pools while ours is away. With one pool the next claim waits for our last word."""
        if self._settings.pools > 1:
            self.let_go(is_reusable=False)

    async def run(self) -> None:
        """Solve and settle."""
        async with asyncio.TaskGroup() as tasks:
            keeping = asyncio.get_running_loop().call_later(UNKEPT_S, self._keep, tasks)
            try:
                self._begin(tasks)
                with span("solve", job_id=self.job_id, engine=self._claim.job.request.engine) as note:
                    verdict = await self._verdict
                    note("verdict", verdict.name.lower())
                await self._stop_child(verdict)
                await call_off(self._watching)
                await call_off(self._reporting, grace_s=GRACE_S)
                await self._settle(verdict)
            finally:
                keeping.cancel()
            self._is_settled = True
            self._flags_changed.set()
            await call_off(self._renewing, grace_s=GRACE_S)
        self.let_go(is_reusable=verdict is Verdict.DONE and self._was_short())

    def _was_short(self) -> bool:
        return self._story.elapsed_s < REUSE_BELOW_S

    def _begin(self, tasks: asyncio.TaskGroup) -> None:
        """Obey what was asked before the claim, and let the child search, at once where the day refers to no tables."""
        job = self._claim.job
        self._obey(Renewal(is_held=True, cancel=job.cancel_requested, finish=job.finish_requested))
        self._child.listen(self._hear)
        if self._bringer.is_wanted(self._claim.scenario):
            self._watching.append(tasks.create_task(self._bring()))
        else:
            self._search(None)

    async def _bring(self) -> None:
        """Bring what the day refers to first: the time for the search begins after it."""
        try:
            tables = await self._tables()
        except StoreUnavailableError:
            self._decide(Verdict.HAND_BACK)
        except PlannerError as error:
            self._error = error.as_json(self._trace_id)
            self._decide(Verdict.ERROR)
        else:
            self._search(tables)

    async def _tables(self) -> Packed | None:
        """Return the tables; while their pool is away wait for it here, for who claims the job next finds no more.

        Raises:
            StoreUnavailableError: Away for `TABLES_WAIT_S`.
        """
        gives_up_at, delay_s = self._clock() + TABLES_WAIT_S, RETRY_FIRST_S
        while True:
            try:
                return await self._bringer.bring(self._claim.scenario)
            except StoreUnavailableError:
                if self._clock() >= gives_up_at:
                    raise
            await asyncio.sleep(delay_s)
            delay_s = min(2 * delay_s, RETRY_LONGEST_S)

    def _search(self, tables: Packed | None) -> None:
        self._story.begin()
        self._child.send(self._order(tables).as_message())
        self._child.orders += 1

    def _keep(self, tasks: asyncio.TaskGroup) -> None:
        """Look after a job that is not over yet; the last word, too, is said under a lease that is renewed."""
        self._renewing.append(tasks.create_task(self._renew()))
        if not self._verdict.done():
            self._reporting.append(tasks.create_task(self._report_along()))
            self._watching.append(tasks.create_task(self._guard()))

    def _order(self, tables: Packed | None) -> Order:
        request = self._claim.job.request
        return Order(
            job_id=self.job_id,
            trace_id=self._trace_id,
            body=self._claim.scenario.body,
            input_hash=self._claim.scenario.input_hash,
            engine=request.engine,
            seed=request.seed,
            solve_s=self._solve_s,
            cores=self._settings.solve_cores,
            memory_mb=self._settings.solve_memory_mb,
            best_plan=self._claim.best_plan,
            tables=tables,
        )

    def _decide(self, verdict: Verdict) -> None:
        if not self._verdict.done():
            self._verdict.set_result(verdict)
            self._news.set()

    # ---- while it runs

    async def _renew(self) -> None:
        """Keep the lease until the last word is said, and obey the flags that come with it."""
        while True:
            await _wait_for(self._flags_changed, self._settings.lease_s / 4)
            if self._is_settled:
                return
            try:
                self._obey(await self._store.renew(self._claim))
            except StoreUnavailableError:
                await asyncio.sleep(RENEW_AGAIN_S)
                self._flags_changed.set()
            except OURS_NO_MORE:
                self._decide(Verdict.LOST)

    def _obey(self, renewal: Renewal) -> None:
        if not renewal.is_held:
            self._decide(Verdict.LOST)
        elif renewal.cancel:
            self._decide(Verdict.CANCEL)
        elif renewal.finish:
            self._finish_when_planned()

    def _finish_when_planned(self) -> None:
        if self._story.plan is None:
            self._wants_first_plan = True
        else:
            self._decide(Verdict.FINISH)

    def _hear(self, message: Message | None) -> None:
        """Take what the child says."""
        if message is None:
            self._is_quiet.set()
            self._decide(Verdict.DIED)
        elif message["kind"] == "plan":
            self._story.better(message["plan"], message["improvements"])
            self._news.set()
            if self._wants_first_plan:
                self._decide(Verdict.FINISH)
        elif message["kind"] == "done":
            self._decide(Verdict.DONE)
        else:
            self._error = message["error"]
            self._decide(Verdict.ERROR)

    async def _report_along(self) -> None:
        """Tell the store of each better plan, a few times a second at most, and of the passing time."""
        while True:
            await _wait_for(self._news, HEARTBEAT_S)
            if self._story.elapsed_s < BRIEF_S:
                await asyncio.wait([self._verdict], timeout=END_NEAR_S)
            if self._verdict.done():
                return
            try:
                await self._story.report()
            except StoreUnavailableError:
                self._news.set()
            except OURS_NO_MORE:
                self._decide(Verdict.LOST)
                return
            await asyncio.wait([self._verdict], timeout=REPORT_EVERY_S)

    async def _guard(self) -> None:
        """Watch the clock and the child's memory."""
        pid = await asyncio.shield(self._child.pid)  # whoever stops watching cancels no news of the child
        while (left_s := self._solve_s + OVERRUN_S - self._story.elapsed_s) > 0:
            await asyncio.sleep(min(MEMORY_WATCH_S, left_s))
            if limits.resident_mb(pid) > self._settings.solve_memory_mb:
                self._decide(Verdict.MEMORY)
                return
        self._decide(Verdict.OVERDUE)

    # ---- how it ends

    async def _stop_child(self, verdict: Verdict) -> None:
        """Make sure the child searches no more: ask first where its last plan is still wanted, and hear it out."""
        if verdict in (Verdict.DONE, Verdict.ERROR, Verdict.DIED):
            return
        if verdict in (Verdict.CANCEL, Verdict.FINISH, Verdict.HAND_BACK):
            self._child.send({"kind": "stop"})
            await self._child.wait(GRACE_S if verdict is Verdict.FINISH else SHORT_GRACE_S)
        self._child.kill()
        await self._child.wait(GRACE_S)
        await _wait_for(self._is_quiet, GRACE_S)

    async def _settle(self, verdict: Verdict) -> None:
        story = self._story
        words: dict[Verdict, Callable[[], Awaitable[None]]] = {
            Verdict.DONE: self._complete,
            Verdict.FINISH: story.complete,
            Verdict.ERROR: lambda: story.fail_with(self._error),
            Verdict.DIED: self._settle_death,
            Verdict.CANCEL: story.cancelled,
            Verdict.HAND_BACK: story.handed_back,
            Verdict.OVERDUE: lambda: story.complete(without=EngineTimeoutError()),
            Verdict.MEMORY: lambda: story.fail(EngineMemoryError()),
        }
        if (last_word := words.get(verdict)) is not None:
            await story.insist(last_word)
        elapsed_s = round(story.elapsed_s, 3)
        log.info("attempt ended: %s after %s s", verdict.name.lower(), elapsed_s, extra=story.context())

    async def _complete(self) -> None:
        """A short job ends with the next one in hand: there is a child for it at once, and two steps become one."""
        await self._story.complete(take_next=self._was_short() and self._goes_on())

    async def _settle_death(self) -> None:
        """A death by signal is a crash and runs again; want of memory or an exception would only repeat itself."""
        end = await asyncio.shield(self._child.exit)
        if end.code >= 0:
            await self._story.fail(EngineError())
        elif end.peak_mb > self._settings.solve_memory_mb:
            await self._story.fail(EngineMemoryError())
        else:
            await self._story.crashed(EngineCrashedError())


async def _wait_for(event: asyncio.Event, timeout_s: float) -> None:
    """Wait for an event and clear it, or for the time to pass. (`wait_for` of Python 3.11 can lose a cancellation.)"""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()
    event.clear()
