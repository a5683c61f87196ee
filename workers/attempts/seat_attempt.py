"""One seat of a team: a search beside the one of the job's owner (ADR 54).

Owns the seat's search and its exchange of plans. The exchange is the seat's lease too. The seat reports nothing: its
plan reaches the job by the owner, and whatever ends the seat costs the job this search alone: the end of the job, its
own time, a crash of its process, a drain.
"""

import asyncio
import contextlib
import logging
from typing import Final

from planner_mcp.errors import PlannerError, StoreUnavailableError
from planner_mcp.jobs.job_ports import SeatClaim
from planner_mcp.routing.plan import PlanJson
from planner_mcp.task_cancellation import cancel_until_done
from workers.attempts.attempt import EXCHANGE_S, STOP_GRACE_S, Attempt, is_better, wait_for
from workers.executors.executor_interface import MEMORY_WATCH_S
from workers.message_frames import Message
from workers.solver_processes.solve_command import OVERRUN_S

ENDS_BEFORE_S: Final = 0.3
"""A seat ends its search this long before the owner does, so that its last plan counts."""
JOINED_LATE_S: Final = 1.0
"""A seat that joins a search ends earlier by this: the store knows only to the second how long it goes on."""
SEED_STEP: Final = 500_009
"""Difference between the seeds of two seats; parallel searches of one seat differ by another number."""

log = logging.getLogger("planner.worker")


class SeatAttempt(Attempt[SeatClaim]):
    """Runs one seat to its end."""

    _plan: PlanJson | None = None
    """The best plan this seat knows."""
    _is_new = False
    _leaves = False

    def hand_back(self) -> None:
        """Give the seat up."""
        self._leaves = True
        self.refresh_flags()

    async def run(self) -> None:
        """Search and exchange plans until one of the ends."""
        began = self._clock()
        async with asyncio.TaskGroup() as tasks:
            searching = tasks.create_task(self._search())
            while await self._exchange():
                await wait_for(self._flags_changed, EXCHANGE_S)
            await cancel_until_done([searching])
        if self._solver is not None:
            self._solver.kill()
            await self._solver.wait(STOP_GRACE_S)
        self.release_worker()
        context = {"job_id": self.job_id, "trace_id": self._trace_id, "seat": self._claim.number}
        log.info("seat ended after %s s", round(self._clock() - began, 3), extra=context)

    async def _search(self) -> None:
        """Search within the limits of time and memory; leave when they are reached."""
        claim, asked = self._claim, self._claim.job.request
        joined_late_s = JOINED_LATE_S if claim.elapsed_s else 0.0
        solve_s = max(1.0, asked.solve_time_s - claim.elapsed_s - joined_late_s - ENDS_BEFORE_S)
        with contextlib.suppress(PlannerError):
            seed = asked.seed + (claim.number - 1) * SEED_STEP
            solver = await self._start_search(self._on_message, solve_s=solve_s, seed=seed)
            ends_at = self._clock() + solve_s + OVERRUN_S
            while self._clock() < ends_at and solver.resident_mb() <= self._settings.solve_memory_mb:  # noqa: ASYNC110 — the kernel sends no event
                await asyncio.sleep(MEMORY_WATCH_S)
        self.hand_back()

    def _on_message(self, message: Message | None) -> None:
        if message is None or message["kind"] != "plan":
            self.hand_back()
        elif is_better(message["plan"], self._plan):
            self._plan, self._is_new = message["plan"], True
            self.refresh_flags()

    async def _exchange(self) -> bool:
        """Exchange plans; return whether the seat goes on."""
        leaves, is_new = self._leaves, self._is_new
        self._is_new = False
        try:
            exchanged = await self._store.exchange(self._claim, self._plan, is_new=is_new, leaves=leaves)
        except StoreUnavailableError:
            self._is_new = self._is_new or is_new
            return not leaves
        if exchanged.plan is not None:
            self._plan = exchanged.plan
        if exchanged.is_held:
            self._send_team(exchanged)
        return exchanged.is_held
