"""Reports on one claim to the store: progress, the best plan, and the end of the job.

Owns progress, the plan that is not reported yet, and the retries while the store is away. How the solve ended is
decided in `workers/attempts/job_attempt.py`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from planner_mcp.errors import (
    EngineError,
    IllegalTransitionError,
    LeaseLostError,
    NotFoundError,
    PlannerError,
    StoreUnavailableError,
)
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.job_ports import Claim, WorkerStore
from planner_mcp.routing.plan import PlanJson
from planner_mcp.text import Json

RETRY_FIRST_S: Final = 0.1
RETRY_LONGEST_S: Final = 2.0
RETRY_LIMIT_S: Final = 5.0
"""A worker that leaves gives up after this time without the store; the lease then runs out."""

CLAIM_LOST_ERRORS: Final = (LeaseLostError, IllegalTransitionError, NotFoundError)
"""What the store raises when the job no longer belongs to this claim."""

log = logging.getLogger("planner.worker")


class JobReporter:
    """Reports under one claim.

    Args:
        claim: The right to report.
        store: Where to report.
        trace_id: Joins log lines and a failed job.
        clock: Monotonic seconds.
        on_store_unavailable: Called when the final report finds the store away.
    """

    def __init__(
        self,
        claim: Claim,
        store: WorkerStore,
        *,
        trace_id: str,
        clock: Callable[[], float],
        on_store_unavailable: Callable[[], None],
    ) -> None:
        self._claim = claim
        self._store = store
        self._trace_id = trace_id
        self._clock = clock
        self._on_store_unavailable = on_store_unavailable
        self._began: float | None = None
        self.improvements = 0
        """Better plans of this attempt so far."""
        self._is_reported = True
        self._gives_up_at = float("inf")
        self.plan: PlanJson | None = None
        """The best plan of this attempt."""

    @property
    def elapsed_s(self) -> float:
        """Time of the search; what came before it does not count against `solve_time`."""
        return 0.0 if self._began is None else self._clock() - self._began

    def start_clock(self) -> None:
        """Start the clock."""
        self._began = self._clock()

    def add_plan(self, plan: PlanJson, improvements: int) -> None:
        """Keep a better plan for the next report; it replaces one that is not reported yet."""
        self.plan, self._is_reported = plan, False
        self.improvements = max(self.improvements, improvements)

    def limit_retry_time(self) -> None:
        """Retry for at most `RETRY_LIMIT_S` from now."""
        self._gives_up_at = min(self._gives_up_at, self._clock() + RETRY_LIMIT_S)

    async def report(self) -> None:
        """Report progress, with the plan if it is not reported yet."""
        plan, is_reported = self.plan, self._is_reported
        await self._store.report(self._claim, self.progress(), None if is_reported else plan)
        if self.plan is plan:
            self._is_reported = True

    def progress(self) -> Progress:
        """Return how far the solve is, earlier attempts included; never less than was reported before."""
        elapsed_s = self._claim.elapsed_s + self.elapsed_s
        percent = min(99, int(100 * elapsed_s / self._claim.job.request.solve_time_s))
        reported = self._claim.job.progress
        plan = self.best_plan or {}
        return Progress(
            percent=max(percent, min(99, reported.percent)),
            cost=plan.get("cost"),
            penalty=plan.get("penalty") or None,
            tickets_served=plan.get("tickets_served"),
            tickets_total=plan.get("tickets_total") or len(self._claim.scenario.body.get("tickets", ())),
            improvements=reported.improvements + self.improvements,
            elapsed_s=round(elapsed_s, 3),
            lower_bound=(plan.get("proof") or {}).get("lower_bound"),
        )

    @property
    def best_plan(self) -> PlanJson | None:
        """The best plan of the job: of this attempt, else of an earlier one.

        A plan of another job to start from is none of this one.
        """
        return self.plan or (self._claim.best_plan if self._claim.job.plan_id else None)

    # ---- the end of the job

    async def complete(self, without: PlannerError | None = None) -> None:
        """End the job completed with its best plan; failed, for the reason given, when it has none."""
        if (plan := self.best_plan) is None:
            await self.fail(without or EngineError("The solver ended without a plan."))
        else:
            await self._store.complete(self._claim, self.progress(), plan)

    async def fail(self, error: PlannerError) -> None:
        """End the job failed, its last plan kept."""
        await self.fail_with(error.as_json(self._trace_id))

    async def fail_with(self, error: Json) -> None:
        """End the job failed with an error that is already in its JSON form, its last plan kept."""
        await self._report_last_plan()
        await self._store.fail(self._claim, error)

    async def cancelled(self) -> None:
        """End the job cancelled, its last plan kept."""
        await self._report_last_plan()
        await self._store.settle_cancel(self._claim)

    async def handed_back(self) -> None:
        """Queue the job again, no crash counted; the next attempt goes on from the last plan."""
        await self._report_last_plan()
        await self._store.hand_back(self._claim)

    async def crashed(self, error: PlannerError) -> None:
        """Count a crash; the job is queued again, or fails at the last of them."""
        await self._report_last_plan()
        await self._store.crash(self._claim, error.as_json(self._trace_id))

    async def _report_last_plan(self) -> None:
        if not self._is_reported:
            await self.report()

    async def retry_until_accepted(self, final_report: Callable[[], Awaitable[None]]) -> None:
        """Retry a final report until the store accepts it, or until another worker has settled the job."""
        delay_s = RETRY_FIRST_S
        while self._clock() < self._gives_up_at:
            try:
                return await final_report()
            except StoreUnavailableError:
                self._on_store_unavailable()
                await asyncio.sleep(delay_s)
                delay_s = min(2 * delay_s, RETRY_LONGEST_S)
            except CLAIM_LOST_ERRORS as error:
                log.info("job settled elsewhere: %s", error.type, extra=self.context())
                return None
        log.warning("gave up the final report: the store is unavailable", extra=self.context())
        return None

    def context(self) -> Json:
        """Return what every log line of this attempt carries."""
        return {"job_id": self._claim.job.id, "trace_id": self._trace_id, "fence": self._claim.job.fence}
