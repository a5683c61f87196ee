"""The primal integral: how good the plan at hand was, averaged over the time of a solve.

Source: Berthold, "Measuring the impact of primal heuristics", Operations Research Letters 41 (6), 2013, with the rule
of the 12th DIMACS challenge (vehicle routing, 2022): the excess over the best known cost in percent, at most 10 %,
which also counts while there is no plan. 0 is the best plan at once, 10 a plan that is never within 10 %.
"""

from collections.abc import Callable, Iterable
from typing import Final

from planner_mcp.routing.problem import Candidate

WORST_PERCENT: Final = 10.0


def primal_integral(reported: Iterable[tuple[float, float]], limit_s: float, best_known: float) -> float:
    """Return the mean excess in percent over a time limit.

    Args:
        reported: Seconds since the start and cost of each plan reported, in order of time; costs need not fall.
        limit_s: The time limit; what was reported later does not count.
        best_known: The reference, above 0.
    """
    total, excess, since = 0.0, WORST_PERCENT, 0.0
    for at, cost in reported:
        if at >= limit_s:
            break
        if (now := min(WORST_PERCENT, 100 * (cost / best_known - 1))) < excess:
            total += excess * (at - since)
            excess, since = now, at
    return (total + excess * (limit_s - since)) / limit_s


class ReportedPlans:
    """Plans reported during a solve, one for each small share of the time limit; costs are computed after the solve.

    Args:
        limit_s: The time limit.
    """

    SHARES: Final = 500

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._plans: dict[int, tuple[float, Candidate]] = {}
        self.first_s: float | None = None

    def add(self, at_s: float, candidate: Candidate) -> None:
        """Keep a plan reported at a time since the start, in place of another of the same share."""
        if self.first_s is None:
            self.first_s = at_s
        self._plans[int(self.SHARES * at_s / self._limit_s)] = at_s, candidate

    def integral(self, cost: Callable[[Candidate], float], best_known: float) -> float | None:
        """Return the primal integral; None where no plan was reported."""
        if not self._plans:
            return None
        reported = [(at_s, cost(candidate)) for at_s, candidate in self._plans.values()]
        return round(primal_integral(reported, self._limit_s, best_known), 3)
