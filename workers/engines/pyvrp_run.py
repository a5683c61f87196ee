"""One run of PyVRP: first for a plan that serves everybody, then, where there is none, for the best that does not.

Owns the watch over the search and how long each part of it may take; the loop is `workers/engines/pyvrp_loop.py`'s.
"""

import time
from dataclasses import replace
from typing import Final

from pyvrp import Solution

from planner_mcp.vrp.problem import Candidate, Load, Problem
from workers.engines.base import Limits, OnImprovement, Outcome, ShouldStop, StopReason
from workers.engines.pyvrp_loop import Search
from workers.engines.pyvrp_model import PyvrpDay
from workers.engines.pyvrp_penalties import Penalties, neighbourhood_of, start_of

SHORTEST_HISTORY: Final = 5
LONGEST_HISTORY: Final = 300
COMPLETE_SHARE: Final = 0.25
"""Share of the time for finding a first plan that serves everybody …"""
COMPLETE_LONGEST_S: Final = 3.0
"""… and its longest."""


def run(
    problem: Problem,
    limits: Limits,
    on_improvement: OnImprovement,
    should_stop: ShouldStop,
    warm_start: Candidate | None,
) -> Outcome:
    """Search until the deadline or `should_stop`."""
    patience_s = min(COMPLETE_SHARE * limits.span_s, COMPLETE_LONGEST_S)
    patience = time.monotonic() + patience_s

    def attempt(*, is_complete: bool) -> Outcome:
        """Search once. Its day, which may fill much of the memory, ends with it."""
        by = patience if is_complete else None
        watch = Watch(PyvrpDay(problem, is_complete=is_complete), limits.deadline, by, on_improvement, should_stop)
        iterations = search(watch, limits.seed, limits.span_s, warm_start)
        return Outcome(watch.best, StopReason.STOPPED if watch.is_stopped else StopReason.TIME_LIMIT, iterations)

    first = attempt(is_complete=True) if can_serve_all(problem) else Outcome(None, StopReason.TIME_LIMIT)
    if first.best is not None or first.reason is StopReason.STOPPED:
        return first
    second = attempt(is_complete=False)
    return replace(second, iterations=first.iterations + second.iterations)


def search(watch: "Watch", seed: int, span_s: float, warm_start: Candidate | None) -> int:
    """Search once under a watch, at the pace of a search of so many seconds; return the number of plans looked at."""
    day = watch.day
    begin = start_of(day.problem)
    loop = Search(day.data, Penalties(begin, day.max_penalty), neighbourhood_of(begin), seed=seed)
    watch()
    if watch.is_stopped:  # past the deadline a first plan is made all the same: better late than none
        return 0
    start = loop.begin(None if warm_start is None else day.solution_of(warm_start))
    return loop.run(start, history_length(len(day.problem.tickets), span_s), watch, watch.note)


def history_length(tickets: int, seconds: float) -> int:
    """Return how many iterations the acceptance looks back: fewer where fewer iterations fit.

    Source: fitted to trials over eight sets of instances, `clamp(T · 25000 / n^0.49 / 400, 5, 300)`.
    """
    fitted = seconds * 25_000 / max(1, tickets) ** 0.49 / 400
    return int(min(LONGEST_HISTORY, max(SHORTEST_HISTORY, fitted)))


def can_serve_all(problem: Problem) -> bool:
    """Return False where a wanted ticket fits nobody or the fleet is too small for all, reloads left aside."""
    wanted = [ticket for ticket in problem.tickets if not ticket.is_priced and ticket.pickup is None]
    if any(ticket.agents is not None and not ticket.agents for ticket in wanted):
        return False
    if any(agent.max_reloads for agent in problem.agents) or any(
        ticket.pickup is not None for ticket in problem.tickets
    ):
        return True
    needs = [
        sum(t.demand[d] for t in wanted if t.load == load) for load in Load for d in range(len(problem.dimensions))
    ]
    rooms = [sum(agent.capacity[d] for agent in problem.agents) for _ in Load for d in range(len(problem.dimensions))]
    return all(need <= room for need, room in zip(needs, rooms, strict=True))


class Watch:
    """When one search is over, and what it has found.

    Args:
        day: The data that is searched.
        deadline: Monotonic time at which to stop.
        patience: Monotonic time by which a feasible plan must stand, None for no such demand.
        on_improvement: Called with each better feasible plan.
        should_stop: Asked before every plan.
    """

    def __init__(
        self,
        day: PyvrpDay,
        deadline: float,
        patience: float | None,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
    ) -> None:
        self.day = day
        self._deadline = deadline
        self._patience = deadline if patience is None else patience
        self._on_improvement = on_improvement
        self._should_stop = should_stop
        self._best_cost: float | None = None
        self.best: Candidate | None = None
        self.is_stopped = False

    def __call__(self) -> bool:
        """Return whether to stop."""
        self.is_stopped = self._should_stop()
        now = time.monotonic()
        return self.is_stopped or now >= self._deadline or (self.best is None and now >= self._patience)

    def note(self, solution: Solution) -> None:
        """Hand a better feasible solution over."""
        if not solution.is_feasible():
            return
        cost = self.day.cost_of(solution)
        if self._best_cost is None or cost < self._best_cost:
            self._best_cost = cost
            self.best = self.day.candidate_of(solution)
            self._on_improvement(self.best)
