"""PyVRP: iterated local search, the strongest engine for most days it can express.

Owns the search and its one tuned parameter; the model is `workers/engines/pyvrp_model.py`. The stop criterion is asked
at every iteration, so deadline, stop and the flow of improvements all hang on it.
"""

import time
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final

from planner_mcp.vrp.problem import Candidate, Feature, Problem
from workers.engines.base import Limits, OnImprovement, Outcome, ShouldStop, StopReason

if TYPE_CHECKING:
    from pyvrp import Solution

    from workers.engines.pyvrp_model import PyvrpDay

SHORTEST_HISTORY: Final = 5
LONGEST_HISTORY: Final = 300


class PyvrpSearch:
    """The iterated local search of PyVRP with a history that fits the number of iterations to come."""

    name = "pyvrp"
    features = frozenset(
        {
            Feature.MULTI_CAPACITY,
            Feature.TIME_WINDOWS,
            Feature.HETEROGENEOUS,
            Feature.TIME_COST,
            Feature.MULTI_DEPOT,
            Feature.OPEN_ROUTES,
            Feature.SHIFTS,
            Feature.OVERTIME,
            Feature.MAX_DISTANCE,
            Feature.MAX_DURATION,
            Feature.SKILLS,
            Feature.PICKUPS,
            Feature.RELEASE,
            Feature.OPTIONAL,
            Feature.PROFILES,
        }
    )
    is_deterministic = True
    """For equal numbers of iterations; a limit in seconds ends two runs at different ones."""

    def is_available(self) -> bool:
        """Return whether PyVRP is installed."""
        try:
            import pyvrp  # noqa: F401
        except ImportError:
            return False
        return True

    def version(self) -> str:
        """Return the version of PyVRP, `""` without it."""
        try:
            return version("pyvrp")
        except PackageNotFoundError:
            return ""

    def solve(
        self,
        problem: Problem,
        limits: Limits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> Outcome:
        """Search until the deadline or `should_stop`."""
        from pyvrp import IteratedLocalSearchParams, SolveParams, solve

        from workers.engines.pyvrp_model import PyvrpDay

        day = PyvrpDay(problem)
        watch = _Watch(day, limits, on_improvement, should_stop)
        left_s = max(0.01, limits.deadline - time.monotonic())
        history = history_length(len(problem.tickets), left_s)
        params = SolveParams(ils=IteratedLocalSearchParams(history_length=history, callbacks=watch))
        start = None if warm_start is None else day.solution_of(warm_start)
        result = solve(day.data, watch, limits.seed, collect_stats=False, params=params, initial_solution=start)
        watch.note(result.best)
        reason = StopReason.STOPPED if watch.is_stopped else StopReason.TIME_LIMIT
        return Outcome(watch.best, reason, result.num_iterations)


def history_length(tickets: int, seconds: float) -> int:
    """Return how many iterations the acceptance looks back: fewer where fewer iterations fit.

    Source: fitted to trials over eight sets of instances, `clamp(T · 25000 / n^0.49 / 400, 5, 300)`.
    """
    fitted = seconds * 25_000 / max(1, tickets) ** 0.49 / 400
    return int(min(LONGEST_HISTORY, max(SHORTEST_HISTORY, fitted)))


class _Watch:
    """Stop criterion and callbacks of one run, in the forms PyVRP calls them."""

    def __init__(self, day: "PyvrpDay", limits: Limits, on_improvement: OnImprovement, should_stop: ShouldStop) -> None:
        self._day = day
        self._deadline = limits.deadline
        self._on_improvement = on_improvement
        self._should_stop = should_stop
        self._best_cost: float | None = None
        self.best: Candidate | None = None
        self.is_stopped = False

    def __call__(self, best_cost: float) -> bool:
        self.is_stopped = self._should_stop()
        return self.is_stopped or time.monotonic() >= self._deadline

    def note(self, solution: "Solution") -> None:
        """Hand a better feasible solution over."""
        if not solution.is_feasible():
            return
        cost = self._day.cost_of(solution)
        if self._best_cost is None or cost < self._best_cost:
            self._best_cost = cost
            self.best = self._day.candidate_of(solution)
            self._on_improvement(self.best)

    def on_start(self, ils: object) -> None:
        """Note the plan the search starts from."""
        self.note(ils.initial_solution)  # type: ignore[attr-defined]

    def on_best(self, best: "Solution") -> None:
        """Note an improvement."""
        self.note(best)

    def on_iteration(self, *_: object) -> None:
        """Nothing to do."""

    def on_restart(self, best: object) -> None:
        """Nothing to do."""

    def on_end(self, result: object) -> None:
        """Nothing to do."""
