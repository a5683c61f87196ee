"""The engine that proves how good a plan is, and finds a cheaper one now and then.

Owns what a proof starts from: the plan at hand, or that of a brief search where it leaves out wanted tickets. A job of
`prove_plan` runs it alone, `auto` beside the searches of a small day.
"""

from dataclasses import replace
from typing import Final

from planner_mcp import process_limits
from planner_mcp.routing.engine_names import PROVE
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.plan import PlanStatus
from planner_mcp.routing.problem import Candidate, Problem
from workers.engines.bounds.plan_prover import PlanProver
from workers.engines.bounds.relaxed_networks import is_provable
from workers.engines.engine_interface import (
    OnImprovement,
    SearchLimits,
    SearchOutcome,
    ShouldStop,
    StopReason,
    version_of,
)
from workers.engines.heuristics.best_verified import is_feasible
from workers.engines.native.sisr_engine import SisrEngine

FIRST_ITERATIONS: Final = 20_000
"""Of the search for a plan, where none with all wanted tickets is at hand: 0.1 s or so."""


class ProofEngine:
    """Bounds the cost of every plan that serves all wanted tickets, for at most 256 tickets."""

    name = PROVE

    def can_prove(self, problem: Problem) -> bool:
        """Return whether the native library was built, which searches and prices, and the problem is within reach."""
        engine = SisrEngine()
        return engine.is_available() and not engine.missing(problem) and is_provable(problem)

    def versions(self) -> dict[str, str]:
        """Return the version of the solver of its linear programs."""
        return {"ortools": version_of("ortools")}

    def solve(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> SearchOutcome:
        """Prove until the plan is optimal, until the deadline, or until nothing is left to try.

        A plan without all wanted tickets is not proved: where a brief search finds no other, it goes on. After a stop
        the step at hand goes on in a thread of its own until its process ends.

        Raises:
            EngineError: The native library is not built, the scenario is too large, or a solver failed.
        """
        if limits.proof_mb is not None:
            process_limits.cap_private_growth(limits.proof_mb)
        start = warm_start
        if start is None or _is_partial(problem, start):
            brief = SisrEngine(max_iterations=FIRST_ITERATIONS)
            start = _searched(brief, problem, limits, on_improvement, should_stop, start).best
        if limits.on_proof is None or start is None or _is_partial(problem, start) or not is_feasible(problem, start):
            return _searched(SisrEngine(), problem, limits, on_improvement, should_stop, start)
        prover = PlanProver(
            problem, start, deadline=limits.deadline, on_proof=limits.on_proof, on_improvement=on_improvement
        )
        prover.run(should_stop)
        return SearchOutcome(prover.incumbent, StopReason.EXHAUSTED)


def _searched(
    engine: SisrEngine,
    problem: Problem,
    limits: SearchLimits,
    on_improvement: OnImprovement,
    should_stop: ShouldStop,
    start: Candidate | None,
) -> SearchOutcome:
    """Search; what is found names the engine that found it, which is not that of proofs."""

    def named(plan: Candidate) -> Candidate:
        return replace(plan, found_by=(engine.name,))

    outcome = engine.solve(problem, limits, lambda plan: on_improvement(named(plan)), should_stop, start)
    return replace(outcome, best=None if outcome.best is None else named(outcome.best))


def _is_partial(problem: Problem, plan: Candidate) -> bool:
    return build_plan(problem, plan).status is PlanStatus.PARTIAL
