"""One claim, from the order to the store's last word.

Owns the race of everything that may end a solve: the child says it is done, the child dies, the client cancels or
wants the plan now, the lease passes on, the worker drains, time or memory runs out. The first of them is the *verdict*;
it decides how the child is stopped and what the store is told. How it is told is `workers/attempts/job_reporter.py`:
every write carries the claim and is refused once it is no longer ours. A store that is away delays the last report but
never changes it.
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
from planner_mcp.jobs.job_ports import Claim, Renewal, WorkerStore
from planner_mcp.jobs.matrix_service import MatrixService
from planner_mcp.routing.scenario.travel_matrices import Packed
from planner_mcp.settings import Settings
from planner_mcp.task_cancellation import cancel_until_done
from planner_mcp.tracing import span
from planner_mcp.travel.matrix_provider import MatrixProvider
from workers.attempts.job_reporter import CLAIM_LOST_ERRORS, RETRY_FIRST_S, RETRY_LONGEST_S, JobReporter
from workers.child_processes import process_limits
from workers.child_processes.message_frames import Message
from workers.solver_processes.solve_command import OVERRUN_S, SolveCommand
from workers.solver_processes.solver_process_pool import SolverProcess

BACKGROUND_DELAY_S: Final = 0.02
"""So long nobody renews, reports or watches: a small day is over by then, and a lease outlasts it many times."""
REPORT_EVERY_S: Final = 0.2
"""Reports are at least this far apart …"""
HEARTBEAT_S: Final = 1.0
"""… and at most this far."""
EARLY_PLAN_S: Final = 0.05
"""A plan found so soon …"""
EARLY_PLAN_DELAY_S: Final = 0.005
"""… waits this long: a small day is over with it, and its end tells the plan too."""
STOP_GRACE_S: Final = 0.3
"""What a child that is asked for its last plan may take before it is killed."""
CANCEL_GRACE_S: Final = 0.03
"""The same where an earlier plan serves as well: a cancel is worth more at once than with the last improvement."""
MEMORY_WATCH_S: Final = 0.05
RENEW_AGAIN_S: Final = 0.1
MATRICES_WAIT_S: Final = 30.0
"""Longest wait for tables whose pool is away: a replica takes over sooner, and a worker is there for other jobs too."""
REUSE_BELOW_S: Final = 1.0
"""A child that solved for longer is not used again: its memory has been through a search."""

log = logging.getLogger("planner.worker")


class EndCause(Enum):
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


class JobAttempt:
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
        child: SolverProcess,
        store: WorkerStore,
        settings: Settings,
        *,
        trace_id: str,
        takes_next_job: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._claim = claim
        self._child = child
        self._store = store
        self._settings = settings
        self._trace_id = trace_id
        self._takes_next_job = takes_next_job
        self._clock = clock
        self._reporter = JobReporter(
            claim, store, trace_id=trace_id, clock=clock, on_store_unavailable=self._release_worker_early
        )
        self._matrix_resolver = MatrixProvider(MatrixService(store, settings), settings)
        self._solve_s = max(1.0, claim.job.request.solve_time_s - claim.elapsed_s)
        self.worker_released: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """Done when the worker may go on with another job; says whether the child may serve again."""
        self._report_due = asyncio.Event()
        self._flags_changed = asyncio.Event()
        self._cause: asyncio.Future[EndCause] = asyncio.get_running_loop().create_future()
        self._error: dict[str, Any] = {}
        self._output_ended = asyncio.Event()
        """Set when the child hung up: everything it said was heard."""
        self._wants_first_plan = False
        self._is_settled = False
        self._watch_tasks: list[asyncio.Task[None]] = []
        self._report_tasks: list[asyncio.Task[None]] = []
        self._renew_tasks: list[asyncio.Task[None]] = []

    @property
    def job_id(self) -> str:
        """The job that is solved."""
        return self._claim.job.id

    @property
    def next_claim(self) -> Claim | None:
        """The job that was taken with the last word on this one."""
        return self._reporter.next_claim

    def refresh_flags(self) -> None:
        """Ask the store at once whether the job was cancelled or is to be finished."""
        self._flags_changed.set()

    def hand_back(self) -> None:
        """Stop, and give the job back unfinished."""
        self._reporter.limit_retry_time()
        self._decide(EndCause.HAND_BACK)

    def release_worker(self, *, is_reusable: bool) -> None:
        """Need neither the child nor the worker any more."""
        if not self.worker_released.done():
            self.worker_released.set_result(is_reusable)

    def _release_worker_early(self) -> None:
        """Let it go on with other pools while ours is away. With one pool the next claim waits for our last word."""
        if self._settings.pools > 1:
            self.release_worker(is_reusable=False)

    async def run(self) -> None:
        """Solve and settle."""
        async with asyncio.TaskGroup() as tasks:
            background_timer = asyncio.get_running_loop().call_later(
                BACKGROUND_DELAY_S, self._start_background_tasks, tasks
            )
            try:
                self._start_search(tasks)
                with span("solve", job_id=self.job_id, engine=self._claim.job.request.engine) as note:
                    cause = await self._cause
                    note("verdict", cause.name.lower())
                await self._stop_child(cause)
                await cancel_until_done(self._watch_tasks)
                await cancel_until_done(self._report_tasks, grace_s=STOP_GRACE_S)
                await self._settle(cause)
            finally:
                background_timer.cancel()
            self._is_settled = True
            self._flags_changed.set()
            await cancel_until_done(self._renew_tasks, grace_s=STOP_GRACE_S)
        self.release_worker(is_reusable=cause is EndCause.DONE and self._was_short_solve())

    def _was_short_solve(self) -> bool:
        return self._reporter.elapsed_s < REUSE_BELOW_S

    def _start_search(self, tasks: asyncio.TaskGroup) -> None:
        """Obey what was asked before the claim, and let the child search, at once where the day refers to no tables."""
        job = self._claim.job
        self._apply_flags(Renewal(is_held=True, cancel=job.cancel_requested, finish=job.finish_requested))
        self._child.listen(self._on_message)
        if self._matrix_resolver.is_wanted(self._claim.scenario):
            self._watch_tasks.append(tasks.create_task(self._resolve_inputs()))
        else:
            self._search(None)

    async def _resolve_inputs(self) -> None:
        """Bring what the day refers to first: the time for the search begins after it."""
        try:
            matrices = await self._load_matrices()
        except StoreUnavailableError:
            self._decide(EndCause.HAND_BACK)
        except PlannerError as error:
            self._error = error.as_json(self._trace_id)
            self._decide(EndCause.ERROR)
        else:
            self._search(matrices)

    async def _load_matrices(self) -> Packed | None:
        """Return the tables; while their pool is away wait for it here, for who claims the job next finds no more.

        Raises:
            StoreUnavailableError: Away for `MATRICES_WAIT_S`.
        """
        gives_up_at, delay_s = self._clock() + MATRICES_WAIT_S, RETRY_FIRST_S
        while True:
            try:
                return await self._matrix_resolver.provide_matrices(self._claim.scenario)
            except StoreUnavailableError:
                if self._clock() >= gives_up_at:
                    raise
            await asyncio.sleep(delay_s)
            delay_s = min(2 * delay_s, RETRY_LONGEST_S)

    def _search(self, matrices: Packed | None) -> None:
        self._reporter.start_clock()
        self._child.send(self._solve_command(matrices).as_message())
        self._child.solves_started += 1

    def _start_background_tasks(self, tasks: asyncio.TaskGroup) -> None:
        """Look after a job that is not over yet; the last word, too, is said under a lease that is renewed."""
        self._renew_tasks.append(tasks.create_task(self._renew()))
        if not self._cause.done():
            self._report_tasks.append(tasks.create_task(self._report_progress()))
            self._watch_tasks.append(tasks.create_task(self._enforce_limits()))

    def _solve_command(self, matrices: Packed | None) -> SolveCommand:
        request = self._claim.job.request
        return SolveCommand(
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
            matrices=matrices,
        )

    def _decide(self, cause: EndCause) -> None:
        if not self._cause.done():
            self._cause.set_result(cause)
            self._report_due.set()

    # ---- while it runs

    async def _renew(self) -> None:
        """Keep the lease until the last word is said, and obey the flags that come with it."""
        while True:
            await _wait_for(self._flags_changed, self._settings.lease_s / 4)
            if self._is_settled:
                return
            try:
                self._apply_flags(await self._store.renew(self._claim))
            except StoreUnavailableError:
                await asyncio.sleep(RENEW_AGAIN_S)
                self._flags_changed.set()
            except CLAIM_LOST_ERRORS:
                self._decide(EndCause.LOST)

    def _apply_flags(self, renewal: Renewal) -> None:
        if not renewal.is_held:
            self._decide(EndCause.LOST)
        elif renewal.cancel:
            self._decide(EndCause.CANCEL)
        elif renewal.finish:
            self._finish_when_planned()

    def _finish_when_planned(self) -> None:
        if self._reporter.plan is None:
            self._wants_first_plan = True
        else:
            self._decide(EndCause.FINISH)

    def _on_message(self, message: Message | None) -> None:
        """Take what the child says."""
        if message is None:
            self._output_ended.set()
            self._decide(EndCause.DIED)
        elif message["kind"] == "plan":
            self._reporter.add_plan(message["plan"], message["improvements"])
            self._report_due.set()
            if self._wants_first_plan:
                self._decide(EndCause.FINISH)
        elif message["kind"] == "done":
            self._decide(EndCause.DONE)
        else:
            self._error = message["error"]
            self._decide(EndCause.ERROR)

    async def _report_progress(self) -> None:
        """Tell the store of each better plan, a few times a second at most, and of the passing time."""
        while True:
            await _wait_for(self._report_due, HEARTBEAT_S)
            if self._reporter.elapsed_s < EARLY_PLAN_S:
                await asyncio.wait([self._cause], timeout=EARLY_PLAN_DELAY_S)
            if self._cause.done():
                return
            try:
                await self._reporter.report()
            except StoreUnavailableError:
                self._report_due.set()
            except CLAIM_LOST_ERRORS:
                self._decide(EndCause.LOST)
                return
            await asyncio.wait([self._cause], timeout=REPORT_EVERY_S)

    async def _enforce_limits(self) -> None:
        """Watch the clock and the child's memory."""
        pid = await asyncio.shield(self._child.pid)  # whoever stops watching cancels no news of the child
        while (left_s := self._solve_s + OVERRUN_S - self._reporter.elapsed_s) > 0:
            await asyncio.sleep(min(MEMORY_WATCH_S, left_s))
            if process_limits.resident_mb(pid) > self._settings.solve_memory_mb:
                self._decide(EndCause.MEMORY)
                return
        self._decide(EndCause.OVERDUE)

    # ---- how it ends

    async def _stop_child(self, cause: EndCause) -> None:
        """Make sure the child searches no more: ask first where its last plan is still wanted, and hear it out."""
        if cause in (EndCause.DONE, EndCause.ERROR, EndCause.DIED):
            return
        if cause in (EndCause.CANCEL, EndCause.FINISH, EndCause.HAND_BACK):
            self._child.send({"kind": "stop"})
            await self._child.wait(STOP_GRACE_S if cause is EndCause.FINISH else CANCEL_GRACE_S)
        self._child.kill()
        await self._child.wait(STOP_GRACE_S)
        await _wait_for(self._output_ended, STOP_GRACE_S)

    async def _settle(self, cause: EndCause) -> None:
        reporter = self._reporter
        final_reports: dict[EndCause, Callable[[], Awaitable[None]]] = {
            EndCause.DONE: self._complete,
            EndCause.FINISH: reporter.complete,
            EndCause.ERROR: lambda: reporter.fail_with(self._error),
            EndCause.DIED: self._settle_death,
            EndCause.CANCEL: reporter.cancelled,
            EndCause.HAND_BACK: reporter.handed_back,
            EndCause.OVERDUE: lambda: reporter.complete(without=EngineTimeoutError()),
            EndCause.MEMORY: lambda: reporter.fail(EngineMemoryError()),
        }
        if (final_report := final_reports.get(cause)) is not None:
            await reporter.retry_until_accepted(final_report)
        elapsed_s = round(reporter.elapsed_s, 3)
        log.info("attempt ended: %s after %s s", cause.name.lower(), elapsed_s, extra=reporter.context())

    async def _complete(self) -> None:
        """A short job ends with the next one in hand: there is a child for it at once, and two steps become one."""
        await self._reporter.complete(take_next=self._was_short_solve() and self._takes_next_job())

    async def _settle_death(self) -> None:
        """A death by signal is a crash and runs again; want of memory or an exception would only repeat itself."""
        end = await asyncio.shield(self._child.exit)
        if end.code >= 0:
            await self._reporter.fail(EngineError())
        elif end.peak_mb > self._settings.solve_memory_mb:
            await self._reporter.fail(EngineMemoryError())
        else:
            await self._reporter.crashed(EngineCrashedError())


async def _wait_for(event: asyncio.Event, timeout_s: float) -> None:
    """Wait for an event and clear it, or for the time to pass. (`wait_for` of Python 3.11 can lose a cancellation.)"""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()
    event.clear()
