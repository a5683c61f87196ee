"""One claimed job: the search in a solver process, and what is reported to the store.

Owns the race of everything that can end a solve: the solver process is done or dies, the client cancels or wants the
plan now, the lease is lost, the worker drains, time or memory runs out. The first of them is the *cause* of the end; it
decides how the solver process is stopped and what is reported. `workers/attempts/job_reporter.py` does the reporting:
every write carries the claim and is refused once the job belongs to another worker. A store that is away delays the
final report but never changes it.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Final

from planner_mcp.errors import (
    EngineCrashedError,
    EngineError,
    EngineMemoryError,
    EngineTimeoutError,
    PlannerError,
    StoreUnavailableError,
)
from planner_mcp.jobs.job_ports import Claim, Renewal, WorkerStore
from planner_mcp.routing.plan import PlanJson
from planner_mcp.settings import Settings
from planner_mcp.task_cancellation import cancel_until_done
from planner_mcp.text import Json
from planner_mcp.tracing import span
from workers.attempts.attempt import EXCHANGE_S, STOP_GRACE_S, Attempt, is_better, wait_for
from workers.attempts.job_reporter import CLAIM_LOST_ERRORS, JobReporter
from workers.executors.executor_interface import MEMORY_WATCH_S, Executor, Solver
from workers.message_frames import Message
from workers.solver_processes.solve_command import OVERRUN_S

REPORT_EVERY_S: Final = 0.2
"""Shortest time between two reports."""
HEARTBEAT_S: Final = 1.0
"""Longest time between two reports."""
PLAN_DELAY_S: Final = 0.02
"""A new plan is reported after this delay; a job that ends within it reports plan and end in one step."""
FIRST_PLAN_CPU_S: Final = 20.0
"""CPU time beyond its limit that a solver process may use to find its first plan."""
CANCEL_GRACE_S: Final = 0.03
"""Time for the last plan after a cancel or a drain, where a quick end is worth more than the last improvement."""
RENEW_AGAIN_S: Final = 0.1
REUSE_BELOW_S: Final = 1.0
"""A process that solved for longer is not used again, because its memory is fragmented by a long search.

A fork costs 8 ms of CPU, as much as all the rest of a job of one ticket, so a process of short solves is used again."""

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


class JobAttempt(Attempt[Claim]):
    """Runs one claim of a job to its end, and reports how it went."""

    def __init__(
        self,
        claim: Claim,
        executor: Executor,
        store: WorkerStore,
        settings: Settings,
        *,
        trace_id: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(claim, executor, store, settings, trace_id=trace_id, clock=clock)
        self._reporter = JobReporter(
            claim, store, trace_id=trace_id, clock=clock, on_store_unavailable=self._release_worker_early
        )
        self._solve_s = max(1.0, claim.job.request.solve_time_s - claim.elapsed_s)
        self._report_due = asyncio.Event()
        self._cause: asyncio.Future[EndCause] = asyncio.get_running_loop().create_future()
        self._error: Json = {}
        self._output_ended = asyncio.Event()
        """Set when the solver process has closed its connection and every message of it was read."""
        self._wants_first_plan = False
        self._is_settled = False

    def hand_back(self) -> None:
        """Stop, and give the job back unfinished."""
        self._reporter.limit_retry_time()
        self._decide(EndCause.HAND_BACK)

    def _release_worker_early(self) -> None:
        """Let the worker serve other shards while this job's is away. With one shard it waits for the final report."""
        if self._settings.pools > 1:
            self.release_worker()

    async def run(self) -> None:
        """Solve, and report the end."""
        job = self._claim.job
        self._apply_flags(Renewal(is_held=True, cancel=job.cancel_requested, finish=job.finish_requested))
        async with asyncio.TaskGroup() as tasks:
            renewing = tasks.create_task(self._renew())
            searching = tasks.create_task(self._search())
            reporting = tasks.create_task(self._report_progress())
            exchanging = tasks.create_task(self._exchange())
            with span("solve", job_id=self.job_id, engine=job.request.engine) as note:
                cause = await self._cause
                note("verdict", cause.name.lower())
            await cancel_until_done([searching, exchanging])
            await self._stop_solver(cause)
            if cause in (EndCause.DONE, EndCause.FINISH, EndCause.OVERDUE):
                await self._take_team_plan()
            await cancel_until_done([reporting], grace_s=STOP_GRACE_S)
            await self._settle(cause)
            self._is_settled = True
            self._flags_changed.set()
            await cancel_until_done([renewing], grace_s=STOP_GRACE_S)
        self.release_worker(is_reusable=cause is EndCause.DONE and self._reporter.elapsed_s < REUSE_BELOW_S)

    async def _search(self) -> None:
        """Search in a solver process, and enforce its limits."""
        try:
            solver = await self._start_search(
                self._on_message, solve_s=self._solve_s, seed=self._claim.job.request.seed
            )
        except StoreUnavailableError:
            self._decide(EndCause.HAND_BACK)
        except EngineCrashedError as error:
            log.error("no solver process: %s", error.message, extra=self._reporter.context())
            self.lacked_solver = True
            self._decide(EndCause.DIED)
        except PlannerError as error:
            self._error = error.as_json(self._trace_id)
            self._decide(EndCause.ERROR)
        else:
            self._reporter.start_clock()
            await self._enforce_limits(solver)

    def _decide(self, cause: EndCause) -> None:
        if not self._cause.done():
            self._cause.set_result(cause)
            self._report_due.set()

    # ---- while it runs

    async def _renew(self) -> None:
        """Renew the lease until the end is reported, and apply the flags that the answers carry."""
        while True:
            await wait_for(self._flags_changed, self._settings.lease_s / 4)
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
        if self._reporter.best_plan is None:
            self._wants_first_plan = True
        else:
            self._decide(EndCause.FINISH)

    def _on_message(self, message: Message | None) -> None:
        """Handle a message of the solver process; None when it has closed its connection."""
        if message is None:
            self._output_ended.set()
            self._decide(EndCause.DIED)
        elif message["kind"] == "plan":
            self._take_plan(message["plan"], message["improvements"])
            if self._wants_first_plan:
                self._decide(EndCause.FINISH)
        elif message["kind"] == "done":
            self._decide(EndCause.DONE)
        else:
            self._error = message["error"]
            self._decide(EndCause.ERROR)

    def _take_plan(self, plan: PlanJson, improvements: int) -> None:
        """Have a plan reported; in a team only where it is better than what another member found."""
        if self._claim.job.seats == 1 or is_better(plan, self._reporter.plan):
            self._reporter.add_plan(plan, improvements)
            self._report_due.set()

    async def _exchange(self) -> None:
        """Exchange plans with the seats of a team."""
        while self._claim.job.seats > 1:
            await asyncio.sleep(EXCHANGE_S)
            await self._take_team_plan()

    async def _take_team_plan(self) -> None:
        """Take over the best plan of the seats, where it is better; the search goes on from it with its next round."""
        if self._claim.job.seats == 1:
            return
        with contextlib.suppress(StoreUnavailableError, *CLAIM_LOST_ERRORS):
            exchanged = await self._store.exchange(self._claim, self._reporter.plan)
            if exchanged.plan is not None:
                self._take_plan(exchanged.plan, self._reporter.improvements + 1)
            if exchanged.is_held:
                self._send_team(exchanged)

    async def _report_progress(self) -> None:
        """Report each better plan, and the elapsed time at least every `HEARTBEAT_S`."""
        while True:
            await wait_for(self._report_due, HEARTBEAT_S)
            await asyncio.wait([self._cause], timeout=PLAN_DELAY_S)
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

    async def _enforce_limits(self, solver: Solver) -> None:
        """Watch the time and the memory of the solver process.

        A busy machine may give a process too little CPU to find any plan in time. Without a plan the time that counts
        is the CPU time it was given; a process that uses none of it for `OVERRUN_S` is stuck.
        """
        cpu_limit_s = solver.cpu_s() + self._solve_s + OVERRUN_S + FIRST_PLAN_CPU_S
        used_s, ends_s = -1.0, self._solve_s + OVERRUN_S
        while True:
            while (left_s := ends_s - self._reporter.elapsed_s) > 0:
                await asyncio.sleep(min(MEMORY_WATCH_S, left_s))
                if solver.resident_mb() > self._settings.solve_memory_mb:
                    self._decide(EndCause.MEMORY)
                    return
            before_s, used_s = used_s, solver.cpu_s()
            if self._reporter.best_plan is not None or used_s == before_s or used_s >= cpu_limit_s:
                self._decide(EndCause.OVERDUE)
                return
            ends_s = self._reporter.elapsed_s + OVERRUN_S

    # ---- how it ends

    async def _stop_solver(self, cause: EndCause) -> None:
        """Make sure that nothing searches any more; ask first for the last plan where it is still wanted."""
        if self._solver is None or cause in (EndCause.DONE, EndCause.ERROR, EndCause.DIED):
            return
        if cause in (EndCause.CANCEL, EndCause.FINISH, EndCause.HAND_BACK):
            self._solver.send({"kind": "stop"})
            await self._solver.wait(STOP_GRACE_S if cause is EndCause.FINISH else CANCEL_GRACE_S)
        self._solver.kill()
        await self._solver.wait(STOP_GRACE_S)
        await wait_for(self._output_ended, STOP_GRACE_S)

    async def _settle(self, cause: EndCause) -> None:
        reporter = self._reporter
        final_reports: dict[EndCause, Callable[[], Awaitable[None]]] = {
            EndCause.DONE: reporter.complete,
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

    async def _settle_death(self) -> None:
        """Report a death by signal as a crash, which runs again; memory or an exception would only repeat itself."""
        if self._solver is None:
            await self._reporter.crashed(EngineCrashedError("The process that loads the solvers did not start."))
            return
        end = await asyncio.shield(self._solver.exit)
        self.lacked_solver = not self._solver.is_started
        if end.code >= 0:
            await self._reporter.fail(EngineError())
        elif end.peak_mb > self._settings.solve_memory_mb:
            await self._reporter.fail(EngineMemoryError())
        else:
            await self._reporter.crashed(EngineCrashedError())
