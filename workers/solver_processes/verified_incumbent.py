"""The best verified plan of one solve.

Owns the judgement of candidates: each is laid out and verified here, outside the engine that found it, and only a
cheaper plan that the verifier agrees with replaces the incumbent. Engines find plans faster than they can be judged,
so candidates wait for their turn and a newer one takes the place of one that waits. Sending is the caller's.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from planner_mcp.errors import EngineError, PlanRejectedError
from planner_mcp.routing.analysis.plan_repair import repair
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.feasibility.unassigned_reasons import with_reasons
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.verification.plan_verification import verify
from workers.engines.heuristics.locked_only_plan import (
    broken_locks,
    locked_only,
    tickets_of_incomplete_groups,
    with_required_tickets,
)

MIN_INTERVAL_S: Final = 0.2
"""Candidates are judged at most this often."""
EVALUATION_SHARE: Final = 20
"""… and never for more than one part in this many of the time, however large the day."""
FALLBACK_S: Final = 2.0
"""After the search: to mend a refused plan, or for the plan of locked visits alone and for what is in its way."""


@dataclass(frozen=True, slots=True)
class PlanOrigin:
    """What a plan says of its origin."""

    engine: str
    seed: int
    versions: dict[str, str]
    input_hash: str


class Incumbent:
    """Judges candidates and keeps the cheapest verified plan.

    Args:
        problem: What the plans are for.
        stamp: Origin written on each plan.
        publish: Called with each better plan and the number of improvements so far.
        clock: Monotonic seconds.
        cpu: Seconds of CPU this thread has used; judging is paced by what it really costs.
    """

    def __init__(
        self,
        problem: Problem,
        origin: PlanOrigin,
        publish: Callable[[Plan, int], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = time.thread_time,
    ) -> None:
        self._problem = problem
        self._origin = origin
        self._publish = publish
        self._clock = clock
        self._cpu = cpu
        self._pending_candidate: Candidate | None = None
        self._due = 0.0
        self._price: int | None = None
        self._last_evaluated: Candidate | None = None
        self._refused: Candidate | None = None
        self.plan: Plan | None = None
        self.improvements = 0
        self.violations: Sequence[str] = ()
        """Of the last candidate the verifier refused."""

    def offer(self, candidate: Candidate) -> None:
        """Take a candidate of the engine; judged now or, soon after another, at a later `tick`."""
        self._pending_candidate = candidate
        self.evaluate_if_due()

    def evaluate_if_due(self) -> None:
        """Judge the candidate that waits, if its time has come."""
        if self._pending_candidate is not None and self._clock() >= self._due:
            self.flush()

    def flush(self) -> None:
        """Judge the candidate that waits now."""
        if (candidate := self._pending_candidate) is None:
            return
        self._pending_candidate = None
        began = self._cpu()
        self._evaluate(candidate)
        self._due = self._clock() + max(MIN_INTERVAL_S, EVALUATION_SHARE * (self._cpu() - began))

    def start_from(self, candidate: Candidate) -> Candidate | None:
        """Take the plan of an earlier run; return it if it still holds, None if the day has changed under it."""
        self._evaluate(candidate)
        self.violations, self._refused = (), None
        return candidate if self.plan is not None else None

    def settle(self, best: Candidate | None) -> Plan:
        """Judge what is left, at last what can be mended or the plan of locked visits alone, and return the incumbent.

        Raises:
            PlanRejectedError: The engine found plans and the verifier refused every one.
            EngineError: Not even that holds (locked visits nobody can make).
        """
        self.flush()
        if best is not None and best is not self._last_evaluated:
            self._evaluate(best)
        if self.plan is None and self._refused is not None:
            self._evaluate_repaired(self._refused)
        if self.plan is None and not self.violations:
            self._evaluate_locked_only()
        if self.plan is None:
            raise PlanRejectedError
        return self.plan

    def _evaluate_repaired(self, refused: Candidate) -> None:
        """Judge what is left of a refused plan without the tickets that break it, where anything is."""
        repaired = repair(self._problem, refused, self._fallback_deadline())
        if repaired.routes:
            self._evaluate(repaired)

    def _evaluate_locked_only(self) -> None:
        """Judge the plan of the locked visits and what must be served with them; raise what is in its way."""
        is_over = self._fallback_deadline()
        locked = locked_only(self._problem, is_over)
        self._evaluate(
            with_required_tickets(self._problem, locked, tickets_of_incomplete_groups(self._problem, locked), is_over)
        )
        if self.plan is None:
            faults = broken_locks(self._problem, locked, is_over)
            raise EngineError("No plan keeps the locked visits of this scenario.", errors=faults)

    def _fallback_deadline(self) -> Callable[[], bool]:
        """Return what tells when the time after the search is used up."""
        ends = self._clock() + FALLBACK_S
        return lambda: self._clock() >= ends

    def _evaluate(self, candidate: Candidate) -> None:
        self._last_evaluated = candidate
        cost = price(self._problem, candidate)
        if self._price is not None and cost >= self._price:
            return
        plan = build_plan(self._problem, candidate, **asdict(self._origin))
        if violations := verify(self._problem, plan):
            self.violations, self._refused = violations, candidate
            return
        self._price = cost
        self.plan = with_reasons(self._problem, plan)
        self.improvements += 1
        self._publish(self.plan, self.improvements)
