"""Several engines as one: what `auto` runs.

Owns how the time and the cores are shared. On one core engines take turns and each starts from the best plan so far;
with more cores, further engines or seeds search beside them. The shares are measured, not guessed: see `benchmarks/`.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from planner_mcp.vrp.problem import Candidate, Feature, Problem
from planner_mcp.vrp.schedule import price
from workers.engines import lanes, tiny
from workers.engines.base import Engine, Limits, OnImprovement, Outcome, ShouldStop, StopReason

STARTER: Final = "sisr"
FINISHER: Final = "pyvrp"
STARTER_SHARE: Final = 0.6
"""Share of the time for the starter before it hands over."""

Turns = Sequence[tuple[Engine, float]]
"""Engines in order, each with the share of the time at which its turn ends."""


class Portfolio:
    """Runs the engines that can plan a day, each from the best plan of those before, and keeps the best of all.

    Args:
        able: Engines that respect every feature of the day, strongest first; at least one.
    """

    name = "auto"
    is_deterministic = False

    def __init__(self, able: Sequence[Engine]) -> None:
        self.able = tuple(able)
        self._able = {engine.name: engine for engine in able}
        self.features = frozenset[Feature]().union(*(engine.features for engine in able))

    def is_available(self) -> bool:
        """Return True: it has an engine."""
        return True

    def version(self) -> str:
        """Return the versions of the engines that may take part."""
        return ", ".join(f"{engine.name} {engine.version()}" for engine in self.able)

    def solve(
        self,
        problem: Problem,
        limits: Limits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> Outcome:
        """Search until the deadline or `should_stop`; try everything where that is quickly done."""
        if tiny.is_tiny(problem):
            return tiny.solve(problem, limits, on_improvement, should_stop)
        best = _Best(problem, on_improvement, warm_start)
        plan = self._lanes(limits.cores)
        if len(plan) == 1:
            return _take_turns(plan[0], problem, limits, best, should_stop)
        searches = [
            _search(turns, problem, replace(limits, seed=limits.seed + n), warm_start) for n, turns in enumerate(plan)
        ]
        is_stopped = lanes.run(searches, limits.deadline, best.offer, should_stop)
        return Outcome(best.candidate, StopReason.STOPPED if is_stopped else StopReason.TIME_LIMIT)

    def _lanes(self, cores: int) -> list[Turns]:
        """Return what runs side by side: the turns of one core first, then engines alone, then further seeds."""
        engines = list(self._able.values())
        whole: list[Turns] = [[(engine, 1.0)] for engine in reversed(engines)]
        if STARTER in self._able and FINISHER in self._able:
            turns: Turns = [(self._able[STARTER], STARTER_SHARE), (self._able[FINISHER], 1.0)]
            whole = [[(self._able[FINISHER], 1.0)], [(self._able[STARTER], 1.0)], turns]
        else:
            turns = [(engines[0], 1.0)]
            whole = whole[:-1]
        return [turns, *whole][: max(1, cores)]


def _search(turns: Turns, problem: Problem, limits: Limits, start: Candidate | None) -> lanes.Search:
    def search(tell: OnImprovement) -> None:
        _take_turns(turns, problem, limits, _Best(problem, tell, start), lambda: False)

    return search


def _take_turns(turns: Turns, problem: Problem, limits: Limits, best: "_Best", should_stop: ShouldStop) -> Outcome:
    """Let each engine search from the best plan so far, up to its share of the time."""
    began, iterations, reason = time.monotonic(), 0, StopReason.TIME_LIMIT
    for engine, until in turns:
        turn = replace(limits, deadline=began + until * (limits.deadline - began))
        offer = partial(best.offer, by=engine.name)
        outcome = engine.solve(problem, turn, offer, should_stop, best.candidate)
        iterations += outcome.iterations
        reason = outcome.reason
        if outcome.best is not None:
            offer(outcome.best)
        if reason is StopReason.STOPPED:
            break
    return Outcome(best.candidate, reason, iterations)


class _Best:
    """The cheapest candidate of all turns, and the gate that lets only better ones through."""

    def __init__(self, problem: Problem, on_improvement: OnImprovement, start: Candidate | None) -> None:
        self._problem = problem
        self._on_improvement = on_improvement
        self.candidate = start
        self._cost = None if start is None else price(problem, start)

    def offer(self, candidate: Candidate, by: str | None = None) -> None:
        """Take a candidate if it is cheaper; the engine that found it joins those whose plan it started from."""
        cost = price(self._problem, candidate)
        if self._cost is None or cost < self._cost:
            self._cost = cost
            if by is not None:
                before = () if self.candidate is None else self.candidate.found_by
                candidate = replace(candidate, found_by=tuple(dict.fromkeys((*before, by))))
            self.candidate = candidate
            self._on_improvement(candidate)
