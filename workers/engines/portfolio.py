"""Several engines as one: what `auto` runs.

Owns how the time is shared. On one core engines take turns and each starts from the best plan so far. The shares are
measured, not guessed: see `benchmarks/`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from planner_mcp.vrp.problem import Candidate, Feature, Problem
from planner_mcp.vrp.schedule import price
from workers.engines import tiny
from workers.engines.base import Engine, Limits, OnImprovement, Outcome, ShouldStop, StopReason

STARTER: Final = "sisr"
FINISHER: Final = "pyvrp"
STARTER_SHARE: Final = 0.6
"""Share of the time for the starter before it hands over."""


class Portfolio:
    """Runs the engines that can plan a day, one after another, each from the best plan of those before.

    Args:
        able: Engines that respect every feature of the day, strongest first; at least one.
    """

    is_deterministic = False

    def __init__(self, able: Sequence[Engine]) -> None:
        self._able = {engine.name: engine for engine in able}
        self.features = frozenset[Feature]().union(*(engine.features for engine in able))
        self.name = "auto"

    def is_available(self) -> bool:
        """Return True: it has an engine."""
        return True

    def version(self) -> str:
        """Return the versions of the engines that take turns."""
        return ", ".join(f"{engine.name} {engine.version()}" for engine, _ in self._turns())

    def solve(
        self,
        problem: Problem,
        limits: Limits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> Outcome:
        """Search by turns until the deadline or `should_stop`; try everything where that is quickly done."""
        if tiny.is_tiny(problem):
            return tiny.solve(problem, limits, on_improvement, should_stop)
        best = _Best(problem, on_improvement, warm_start)
        began, iterations = time.monotonic(), 0
        outcome = Outcome(warm_start, StopReason.TIME_LIMIT)
        for engine, until in self._turns():
            turn = replace(limits, deadline=began + until * (limits.deadline - began))
            outcome = engine.solve(problem, turn, best.offer, should_stop, best.candidate)
            iterations += outcome.iterations
            if outcome.best is not None:
                best.offer(outcome.best)
            if outcome.reason is StopReason.STOPPED:
                break
        return Outcome(best.candidate, outcome.reason, iterations)

    def _turns(self) -> list[tuple[Engine, float]]:
        """Return the engines in turn, each with the share of the time at which its turn ends."""
        if STARTER in self._able and FINISHER in self._able:
            return [(self._able[STARTER], STARTER_SHARE), (self._able[FINISHER], 1.0)]
        return [(next(iter(self._able.values())), 1.0)]


class _Best:
    """The cheapest candidate of all turns, and the gate that lets only better ones through."""

    def __init__(self, problem: Problem, on_improvement: Callable[[Candidate], None], start: Candidate | None) -> None:
        self._problem = problem
        self._on_improvement = on_improvement
        self.candidate = start
        self._cost = None if start is None else price(problem, start)

    def offer(self, candidate: Candidate) -> None:
        """Take a candidate if it is cheaper."""
        cost = price(self._problem, candidate)
        if self._cost is None or cost < self._cost:
            self._cost = cost
            self.candidate = candidate
            self._on_improvement(candidate)
