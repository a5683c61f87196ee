"""Runs PyVRP: first for a plan that serves all wanted tickets, then, if there is none, with tickets optional.

Owns the stop criterion and the time of each part; `workers/engines/pyvrp/pyvrp_iterated_search.py` owns the loop.
"""

import time
from dataclasses import replace
from typing import Final

from pyvrp import Solution

from planner_mcp.routing.problem import Candidate, LoadKind, Problem
from workers.engines.engine_interface import OnImprovement, SearchLimits, SearchOutcome, ShouldStop, StopReason
from workers.engines.pyvrp.pyvrp_iterated_search import IteratedSearch
from workers.engines.pyvrp.pyvrp_model import PyvrpModel
from workers.engines.pyvrp.pyvrp_penalties import Penalties, initial_penalties, neighbourhood_of

SHORTEST_HISTORY: Final = 5
LONGEST_HISTORY: Final = 300
COMPLETE_SHARE: Final = 0.25
"""Share of the time for finding a first complete plan."""
COMPLETE_LONGEST_S: Final = 3.0
"""Longest time for finding a first complete plan, in seconds."""


def run(
    problem: Problem,
    limits: SearchLimits,
    on_improvement: OnImprovement,
    should_stop: ShouldStop,
    warm_start: Candidate | None,
) -> SearchOutcome:
    """Search until the deadline or `should_stop`."""
    complete_s = min(COMPLETE_SHARE * limits.span_s, COMPLETE_LONGEST_S)
    complete_until = time.monotonic() + complete_s

    def search_once(*, is_complete: bool) -> SearchOutcome:
        """Search once. Its model, which may fill much of the memory, is released on return."""
        by = complete_until if is_complete else limits.deadline
        stop_criterion = StopCriterion(
            PyvrpModel(problem, is_complete=is_complete), limits.deadline, by, on_improvement, should_stop
        )
        iterations = search(stop_criterion, limits.seed, limits.span_s, warm_start)
        return SearchOutcome(
            stop_criterion.best, StopReason.STOPPED if stop_criterion.is_stopped else StopReason.TIME_LIMIT, iterations
        )

    first = search_once(is_complete=True) if can_serve_all(problem) else SearchOutcome(None, StopReason.TIME_LIMIT)
    if first.best is not None or first.reason is StopReason.STOPPED:
        return first
    second = search_once(is_complete=False)
    return replace(second, iterations=first.iterations + second.iterations)


def search(stop_criterion: "StopCriterion", seed: int, span_s: float, warm_start: Candidate | None) -> int:
    """Search once with a stop criterion and a time span for the history length; return the number of iterations."""
    model = stop_criterion.model
    begin = initial_penalties(model.problem)
    loop = IteratedSearch(model.data, Penalties(begin, model.max_penalty), neighbourhood_of(begin), seed=seed)
    stop_criterion()
    if stop_criterion.is_stopped:  # past the deadline a first plan is still built: better late than none
        return 0
    start = loop.begin(None if warm_start is None else model.solution_of(warm_start))
    return loop.run(
        start, history_length(len(model.problem.tickets), span_s), stop_criterion, stop_criterion.on_solution
    )


def history_length(tickets: int, seconds: float) -> int:
    """Return the length of the acceptance history: shorter where fewer iterations fit.

    Source: fitted to experiments on eight sets of instances, `clamp(T · 25000 / n^0.49 / 400, 5, 300)`.
    """
    fitted = seconds * 25_000 / max(1, tickets) ** 0.49 / 400
    return int(min(LONGEST_HISTORY, max(SHORTEST_HISTORY, fitted)))


def can_serve_all(problem: Problem) -> bool:
    """Return False where a wanted ticket has no eligible agent or the total capacity is too small, without reloads."""
    wanted = [ticket for ticket in problem.tickets if not ticket.is_priced and ticket.pickup is None]
    if any(ticket.agents is not None and not ticket.agents for ticket in wanted):
        return False
    if any(agent.max_reloads for agent in problem.agents) or any(
        ticket.pickup is not None for ticket in problem.tickets
    ):
        return True
    needs = [
        sum(t.demand[d] for t in wanted if t.load == load) for load in LoadKind for d in range(len(problem.dimensions))
    ]
    rooms = [
        sum(agent.capacity[d] for agent in problem.agents) for _ in LoadKind for d in range(len(problem.dimensions))
    ]
    return all(need <= room for need, room in zip(needs, rooms, strict=True))


class StopCriterion:
    """Stops one search, and keeps the best plan it found.

    Args:
        model: The model that is searched.
        deadline: Monotonic time at which to stop.
        complete_until: Monotonic time at which to stop without a feasible plan.
        on_improvement: Called with each better feasible plan.
        should_stop: Asked before every iteration.
    """

    def __init__(
        self,
        model: PyvrpModel,
        deadline: float,
        complete_until: float,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
    ) -> None:
        self.model = model
        self._deadline = deadline
        self._complete_until = complete_until
        self._on_improvement = on_improvement
        self._should_stop = should_stop
        self._best_cost: float | None = None
        self.best: Candidate | None = None
        self.is_stopped = False

    def __call__(self) -> bool:
        """Return whether to stop."""
        self.is_stopped = self._should_stop()
        now = time.monotonic()
        return self.is_stopped or now >= self._deadline or (self.best is None and now >= self._complete_until)

    def on_solution(self, solution: Solution) -> None:
        """Report a better feasible solution."""
        if not solution.is_feasible():
            return
        cost = self.model.cost_of(solution)
        if self._best_cost is None or cost < self._best_cost:
            self._best_cost = cost
            self.best = self.model.candidate_of(solution)
            self._on_improvement(self.best)
