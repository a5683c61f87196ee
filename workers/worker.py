"""One worker process: claims jobs one after another and runs each.

Owns the claim loop, the heartbeat of the worker, the fast path of cancels, and the drain. What happens to a claimed job
is `workers/attempts/job_attempt.py`; if the job's shard is away when its end should be reported, the worker serves the
other shards meanwhile. This is one of the borders where any exception is caught (ARCHITECTURE.md): an unforeseen one
fails the job with code 5000 and a trace id, and the next job is claimed.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable
from typing import Final

from planner_mcp.errors import PlannerError, StoreError, StoreUnavailableError
from planner_mcp.jobs.job_ports import Claim, SeatClaim, WorkerStore
from planner_mcp.settings import Settings
from planner_mcp.task_cancellation import cancel_until_done
from planner_mcp.telemetry import new_trace_id, trace_context
from planner_mcp.tracing import span, trace_of
from workers.attempts.job_attempt import JobAttempt
from workers.attempts.job_reporter import CLAIM_LOST_ERRORS
from workers.attempts.seat_attempt import SeatAttempt
from workers.executors.executor_interface import Executor
from workers.lease_reaper import LeaseReaper

CLAIM_WAIT_S: Final = 1.0
"""How long one claim waits for a job, and so the longest time an idle worker takes to notice a drain."""
CONTROL_WAIT_S: Final = 2.0
RETRY_S: Final = 0.5
STOPPED_S: Final = 5.0
"""A call that took this much longer than it waits for was not answered late: this process itself was stopped meanwhile
(SIGSTOP, a machine that slept), and its deadlines ran out at once when it went on."""
NO_SOLVER_FIRST_S: Final = 1.0
"""Pause of a worker that could start no solver process, doubled with each further time up to `NO_SOLVER_LONGEST_S`."""
NO_SOLVER_LONGEST_S: Final = 30.0
PROBE_S: Final = 0.05
"""How long the first wait after an outage lasts; any answer shows that the store is back."""

log = logging.getLogger("planner.worker")


def new_worker_id() -> str:
    """Return an id no other worker has, readable in a list of workers."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


class Worker:
    """Claims and solves, one job at a time, until it drains."""

    def __init__(
        self,
        store: WorkerStore,
        executor: Executor,
        settings: Settings,
        *,
        worker_id: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._store = store
        self._executor = executor
        self._settings = settings
        self._worker_id = worker_id
        self._reaper = LeaseReaper(store, settings.lease_s)
        self._attempts: dict[JobAttempt | SeatAttempt, asyncio.Task[None]] = {}
        """The one that solves, and those whose final report waits for an unavailable store."""
        self._changed: set[str] = set()
        """Jobs whose flags changed since the last claim was sent; its answer may be older than the change."""
        self._draining = asyncio.Event()
        self._has_failed = False
        """Whether the last claim found no store."""
        self._pause_s = NO_SOLVER_FIRST_S

    def drain(self) -> None:
        """Claim no more and let the running solve finish, within `solve_drain_s`."""
        self._draining.set()

    def leave(self) -> None:
        """Claim no more and hand the running solve back at once."""
        self._draining.set()
        for attempt in self._attempts:
            attempt.hand_back()

    async def run(self) -> None:
        """Work until drained. Returns with nothing claimed."""
        async with asyncio.TaskGroup() as tasks:
            background_tasks = [
                tasks.create_task(chore)
                for chore in (
                    self._send_heartbeats(),
                    self._watch_cancellations(),
                    self._reaper.run(),
                    self._limit_drain(),
                )
            ]
            while not self._draining.is_set():
                if (claim := await self._next_claim()) is not None:
                    await self._solve(claim, tasks)
            await asyncio.gather(*self._attempts.values())
            await cancel_until_done(background_tasks)
        with contextlib.suppress(StoreUnavailableError):
            await self._store.register(self._worker_id, 0)

    async def _next_claim(self) -> Claim | SeatClaim | None:
        self._changed.clear()
        began = self._clock()
        try:
            claim = await self._store.claim(self._worker_id, CLAIM_WAIT_S)
        except StoreUnavailableError as error:
            if self._was_stopped(began, CLAIM_WAIT_S):
                log.info("this worker was stopped for %.0f s", self._clock() - began)
                return None
            if not self._has_failed:
                log.warning("store is unavailable: %s", error.type)
            self._has_failed = True
            await asyncio.sleep(RETRY_S)
            return None
        self._has_failed = False
        return claim

    def _was_stopped(self, began: float, wait_s: float) -> bool:
        return self._clock() - began > wait_s + STOPPED_S

    async def _solve(self, claim: Claim | SeatClaim, tasks: asyncio.TaskGroup) -> None:
        """Run one claimed job; return when it has ended or only its final report waits for the store."""
        trace_id = trace_of(claim.job.request.traceparent) or new_trace_id()
        attempt: JobAttempt | SeatAttempt
        if isinstance(claim, SeatClaim):
            attempt = SeatAttempt(claim, self._executor, self._store, self._settings, trace_id=trace_id)
        else:
            attempt = JobAttempt(claim, self._executor, self._store, self._settings, trace_id=trace_id)
        if self._draining.is_set():
            attempt.hand_back()
        if claim.job.id in self._changed:
            attempt.refresh_flags()
        self._changed.clear()
        self._attempts[attempt] = tasks.create_task(self._run_attempt(attempt, claim, trace_id))
        await attempt.worker_released
        if attempt.lacked_solver:
            await self._leave_jobs_to_others()
        else:
            self._pause_s = NO_SOLVER_FIRST_S

    async def _leave_jobs_to_others(self) -> None:
        """Pause: a worker that can solve nothing would take all that waits, and have each job fail by its crashes."""
        log.warning("this worker starts no solver; it claims its next job in %.0f s", self._pause_s)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._pause_s):
                await self._draining.wait()
        self._pause_s = min(2 * self._pause_s, NO_SOLVER_LONGEST_S)

    async def _run_attempt(self, attempt: JobAttempt | SeatAttempt, claim: Claim | SeatClaim, trace_id: str) -> None:
        """Run an attempt to its end. No exception of it ends the worker."""
        parent = claim.job.request.traceparent
        try:
            with trace_context(trace_id), span("job", parent=parent, job_id=claim.job.id, worker=self._worker_id):
                await attempt.run()
        except Exception:
            log.exception("job failed inside the worker", extra={"job_id": claim.job.id, "trace_id": trace_id})
            if isinstance(claim, SeatClaim):
                return  # the job is its owner's; the reaper takes the seat
            with contextlib.suppress(StoreError, *CLAIM_LOST_ERRORS):
                await self._store.fail(claim, PlannerError().as_json(trace_id))
        finally:
            attempt.release_worker()
            del self._attempts[attempt]

    async def _send_heartbeats(self) -> None:
        """Register this worker with one slot at regular intervals. More cores are used by more worker processes.

        A worker that drains keeps its slot while it solves, or its job would count against the slots of the others.
        """
        while True:
            has_slot = self._attempts or not self._draining.is_set()
            with contextlib.suppress(StoreUnavailableError):
                await self._store.register(self._worker_id, 1 if has_slot else 0)
            await asyncio.sleep(self._settings.lease_s / 4)

    async def _watch_cancellations(self) -> None:
        """Have an attempt renew its lease at once, which reads the flags of its job, when these have changed."""
        wait_s = CONTROL_WAIT_S
        while True:
            began = self._clock()
            try:
                changed = await self._store.wait_control(wait_s)
            except StoreUnavailableError:
                if self._was_stopped(began, wait_s):
                    continue
                self._reaper.set_store_available(is_store_available=False)
                wait_s = PROBE_S
                await asyncio.sleep(RETRY_S)
                continue
            self._reaper.set_store_available(is_store_available=True)
            wait_s = CONTROL_WAIT_S
            self._changed.update(changed)
            for attempt in self._attempts:
                if attempt.job_id in changed:
                    attempt.refresh_flags()

    async def _limit_drain(self) -> None:
        await self._draining.wait()
        await asyncio.sleep(self._settings.solve_drain_s)
        self.leave()
