"""The best verified plan of one solve.

Owns the evaluation of candidates: each is evaluated and verified here, outside the engine that found it, and only a
cheaper plan that passes verification replaces the incumbent. Engines find plans faster than they can be verified, so a
candidate waits, and a newer one replaces it while it waits. The caller sends the plans.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from planner_mcp.errors import EngineError, PlanRejectedError
from planner_mcp.routing.analysis.plan_repair import repair
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.feasibility.unassigned_reasons import with_reasons
from planner_mcp.routing.plan import Plan, ProofRecord, RecombinationRecord
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.verification.plan_verification import verify
from workers.engines.heuristics.locked_only_plan import (
    broken_locks,
    locked_only,
    tickets_of_incomplete_groups,
    with_required_tickets,
)

MIN_INTERVAL_S: Final = 0.2
"""Shortest time between two evaluations."""
EVALUATION_SHARE: Final = 20
"""Evaluation takes at most one part in this many of the time, also for large scenarios."""
FALLBACK_S: Final = 2.0
"""Time after the search to repair a rejected plan, or to build the plan of the locked visits alone."""


@dataclass(frozen=True, slots=True)
class PlanOrigin:
    """The provenance that is written on a plan."""

    engine: str
    seed: int
    versions: dict[str, str]
    input_hash: str


class Incumbent:
    """Evaluates candidates and keeps the cheapest verified plan.

    Args:
        problem: What the plans are for.
        origin: Provenance written on each plan.
        publish: Called with each better plan and the number of improvements so far.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        problem: Problem,
        origin: PlanOrigin,
        publish: Callable[[Plan, int], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._problem = problem
        self._origin = origin
        self._publish = publish
        self._clock = clock
        self._pending_candidate: Candidate | None = None
        self._due = 0.0
        self._price: int | None = None
        self._last_evaluated: Candidate | None = None
        self._refused: Candidate | None = None
        self._proof: ProofRecord | None = None
        self.plan: Plan | None = None
        self.improvements = 0
        self.violations: Sequence[str] = ()
        """Of the last candidate that the verifier rejected."""

    def offer(self, candidate: Candidate) -> None:
        """Take a candidate of the engine; evaluate it now, or later if the last evaluation was just before."""
        self._pending_candidate = candidate
        self.evaluate_if_due()

    def evaluate_if_due(self) -> None:
        """Evaluate the waiting candidate if it is due."""
        if self._pending_candidate is not None and self._clock() >= self._due:
            self.flush()

    def attach(self, proof: ProofRecord) -> None:
        """Publish the incumbent again with what is proved about it; the proof stays on it and its successors.

        The waiting candidate is evaluated before: it may be the plan that is proved. Of another, dearer plan only the
        bound is told.
        """
        self.flush()
        self._proof = proof
        if self.plan is not None:
            self.plan = replace(self.plan, proof=self._proved())
            self._publish(self.plan, self.improvements)

    def _proved(self) -> ProofRecord | None:
        """Return what is proved of the incumbent: the bound of every plan, and whether this one meets it."""
        if self._proof is None or self._price is None:
            return None
        meets = self._price / self._problem.cost_scale <= self._proof.lower_bound
        return replace(self._proof, is_optimal=self._proof.is_optimal and meets)

    def flush(self) -> None:
        """Evaluate the waiting candidate now."""
        if (candidate := self._pending_candidate) is None:
            return
        self._pending_candidate = None
        began = time.thread_time()  # the pace of evaluation follows its real cost
        self._evaluate(candidate)
        self._due = self._clock() + max(MIN_INTERVAL_S, EVALUATION_SHARE * (time.thread_time() - began))

    def start_from(self, candidate: Candidate) -> Candidate | None:
        """Take the plan of an earlier run; return it if it is still valid, None otherwise."""
        self._evaluate(candidate)
        self.violations, self._refused = (), None
        return candidate if self.plan is not None else None

    def settle(self, best: Candidate | None, recombination: RecombinationRecord | None = None) -> Plan:
        """Evaluate the last candidate, or a repaired or locked-only plan where there is none, and return the incumbent.

        Args:
            best: The last candidate of the engine.
            recombination: What recombination did; the incumbent is published again with it.

        Raises:
            PlanRejectedError: The engine found plans and the verifier rejected every one.
            EngineError: No plan keeps the locked visits.
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
        if recombination is not None:
            self.plan = replace(self.plan, recombination=recombination)
            self._publish(self.plan, self.improvements)
        return self.plan

    def _evaluate_repaired(self, refused: Candidate) -> None:
        """Evaluate a rejected plan without the tickets that violate it, if any tickets remain."""
        repaired = repair(self._problem, refused, self._fallback_deadline())
        if repaired.routes:
            self._evaluate(repaired)

    def _evaluate_locked_only(self) -> None:
        """Evaluate the plan of the locked visits and the tickets required with them; raise why there is none."""
        is_over = self._fallback_deadline()
        locked = locked_only(self._problem, is_over)
        self._evaluate(
            with_required_tickets(self._problem, locked, tickets_of_incomplete_groups(self._problem, locked), is_over)
        )
        if self.plan is None:
            faults = broken_locks(self._problem, locked, is_over)
            raise EngineError("No plan keeps the locked visits of this scenario.", errors=faults)

    def _fallback_deadline(self) -> Callable[[], bool]:
        """Return a function that is true once the time after the search is used up."""
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
        self.plan = replace(with_reasons(self._problem, plan), proof=self._proved())
        self.improvements += 1
        self._publish(self.plan, self.improvements)
