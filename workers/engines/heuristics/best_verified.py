"""The best candidate of a search, with lazy verification.

Owns when a candidate is verified. Verification takes longer than finding, so a candidate counts as feasible until it
would exclude another one, or until it is used. An infeasible candidate of one engine then hides nothing that others
find.
"""

from dataclasses import replace

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.verification.plan_verification import verify
from workers.engines.engine_interface import OnImprovement


def is_feasible(problem: Problem, candidate: Candidate) -> bool:
    """Return whether the verifier accepts the plan of a candidate."""
    return not verify(problem, build_plan(problem, candidate))


class BestVerified:
    """Keeps the cheapest candidate that the verifier accepts.

    Args:
        problem: The problem of all candidates.
        on_improvement: Called with each cheaper candidate, which may not be verified yet.
        start: A first candidate; it is not reported.
    """

    def __init__(self, problem: Problem, on_improvement: OnImprovement, start: Candidate | None = None) -> None:
        self._problem = problem
        self._on_improvement = on_improvement
        self._accepted: list[tuple[int, Candidate]] = []
        """(cost, candidate) in order of falling cost; only the last one may be verified."""
        self._is_last_verified = False
        if start is not None:
            self._accepted.append((price(problem, start), start))

    @property
    def candidate(self) -> Candidate | None:
        """The cheapest candidate, perhaps not yet verified."""
        return self._accepted[-1][1] if self._accepted else None

    def offer(self, candidate: Candidate, by: str | None = None) -> None:
        """Take a candidate if it is cheaper; `by` is the engine that found it, unless the candidate names its finders.

        They are added to those of the plan before.
        """
        cost = price(self._problem, candidate)
        if self._accepted and cost >= self._accepted[-1][0]:
            self.settle()
        if not self._accepted or cost < self._accepted[-1][0]:
            if by is not None:
                before = () if self.candidate is None else self.candidate.found_by
                candidate = replace(candidate, found_by=tuple(dict.fromkeys((*before, *(candidate.found_by or (by,))))))
            self._accepted.append((cost, candidate))
            self._is_last_verified = False
            self._on_improvement(candidate)
        self._after_offer(candidate, cost)

    def _after_offer(self, candidate: Candidate, cost: int) -> None:
        """Extend this to see every offered candidate, with its finders and its cost."""

    def settle(self) -> Candidate | None:
        """Discard candidates that fail verification, and return the cheapest of the others."""
        while self._accepted and not self._is_last_verified:
            if is_feasible(self._problem, self._accepted[-1][1]):
                self._is_last_verified = True
                del self._accepted[:-1]
            else:
                self._accepted.pop()
        return self.candidate
