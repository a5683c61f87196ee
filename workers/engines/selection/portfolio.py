"""The portfolio: several engines behind one interface. `auto` selects it.

Owns the rounds of a solve. In each round every core runs a search; the next round starts from the best plans found so
far, one per core (`workers/engines/selection/elite_pool.py`). `workers/engines/selection/time_allocation.py` decides
which engines run and for how long.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from workers.engines.engine_interface import Engine, OnImprovement, SearchLimits, SearchOutcome, ShouldStop, StopReason
from workers.engines.heuristics import enumeration
from workers.engines.selection import parallel_search
from workers.engines.selection.elite_pool import ElitePool
from workers.engines.selection.time_allocation import plan_rounds

log = logging.getLogger("planner.child")

SEED_STEP: Final = 1_000_003
"""Difference between the seeds of parallel searches. It exceeds the range of seeds callers may choose, so that another
seed gives another search on every core."""


class Portfolio:
    """Runs capable engines in rounds, each from the best plans so far, and keeps the best plan.

    Args:
        capable: Engines that support every feature of the problem, strongest first; at least one.
    """

    name = "auto"
    is_deterministic = False

    def __init__(self, capable: Sequence[Engine]) -> None:
        self.capable = tuple(capable)
        self.features = frozenset[Feature]().union(*(engine.features for engine in capable))

    def is_available(self) -> bool:
        """Return True: it has at least one engine."""
        return True

    def version(self) -> str:
        """Return the versions of the engines that may take part."""
        return ", ".join(f"{engine.name} {engine.version()}" for engine in self.capable)

    def solve(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> SearchOutcome:
        """Search until the deadline or `should_stop`; enumerate all plans of tiny problems."""
        best = _BestVerified(problem, on_improvement, warm_start, pool=ElitePool())
        if enumeration.is_enumerable(problem):
            tried = enumeration.solve(problem, limits, on_improvement, should_stop)
            if not enumeration.is_incomplete(tried, limits):
                return tried
            if tried.best is not None:
                best.offer(tried.best)
        began, iterations, reason = time.monotonic(), 0, StopReason.TIME_LIMIT
        for number, (until, engines) in enumerate(plan_rounds(problem, max(1, limits.cores), self.capable)):
            deadline = began + until * (limits.deadline - began)
            seed = limits.seed + number * limits.cores * SEED_STEP
            turn = replace(limits, deadline=deadline, asked_s=None, seed=seed)
            search = _search_alone if len(engines) == 1 else _search_together
            outcome = _keeping_best_plan(search, engines, problem, turn, best, should_stop)
            iterations += outcome.iterations
            reason = outcome.reason
            if reason is StopReason.STOPPED:
                break
        return SearchOutcome(best.settle(), reason, iterations)


_Turn = Callable[[Sequence[Engine], Problem, SearchLimits, "_BestVerified", ShouldStop], SearchOutcome]


def _keeping_best_plan(
    search: _Turn,
    engines: Sequence[Engine],
    problem: Problem,
    limits: SearchLimits,
    best: "_BestVerified",
    should_stop: ShouldStop,
) -> SearchOutcome:
    """Run a search. An engine that fails or crashes must not lose the plan found before; then its error is logged."""
    try:
        return search(engines, problem, limits, best, should_stop)
    except Exception:
        if best.settle() is None:
            raise
        log.exception("%s failed; the plan that stands is kept", ", ".join(engine.name for engine in engines))
        return SearchOutcome(best.candidate, StopReason.TIME_LIMIT)


def _search_alone(
    engines: Sequence[Engine], problem: Problem, limits: SearchLimits, best: "_BestVerified", should_stop: ShouldStop
) -> SearchOutcome:
    """Run one engine from the best plan so far, in this process."""
    (engine,) = engines
    offer = partial(best.offer, by=engine.name)
    outcome = engine.solve(problem, limits, offer, should_stop, best.settle())
    if outcome.best is not None:
        offer(outcome.best)
    return outcome


def _search_together(
    engines: Sequence[Engine], problem: Problem, limits: SearchLimits, best: "_BestVerified", should_stop: ShouldStop
) -> SearchOutcome:
    """Run engines in parallel, each in a process with one core, a start and a seed of its own."""

    def forked_search(number: int, engine: Engine, start: Candidate | None) -> parallel_search.SearchFunction:
        def search(report_improvement: OnImprovement) -> None:
            own = replace(limits, seed=limits.seed + number * SEED_STEP, cores=1)
            _search_alone([engine], problem, own, _BestVerified(problem, report_improvement, start), lambda: False)

        return search

    starts = best.starts(len(engines))
    searches = [
        forked_search(number, engine, start) for number, (engine, start) in enumerate(zip(engines, starts, strict=True))
    ]
    is_stopped = parallel_search.run(searches, limits.deadline, best.offer, should_stop)
    return SearchOutcome(best.candidate, StopReason.STOPPED if is_stopped else StopReason.TIME_LIMIT)


class _BestVerified:
    """The cheapest verified candidate of all rounds, with an elite pool of starts.

    Verification takes longer than finding, so a candidate counts as feasible until it would exclude another one, or a
    search would start from it. An infeasible candidate of one engine then hides nothing that others find.

    A forked search has no pool of its own: only its parent starts searches from what it found.
    """

    def __init__(
        self, problem: Problem, on_improvement: OnImprovement, start: Candidate | None, *, pool: ElitePool | None = None
    ) -> None:
        self._problem = problem
        self._on_improvement = on_improvement
        self._pool = pool
        self._unverified: list[tuple[int, Candidate]] = []  # cheapest last, each believed when it came
        self._is_proved = False  # the last
        if start is not None:
            self._unverified.append((price(problem, start), start))
            self._add_to_pool(*self._unverified[-1])

    @property
    def candidate(self) -> Candidate | None:
        """The cheapest candidate, perhaps not yet verified."""
        return self._unverified[-1][1] if self._unverified else None

    def starts(self, count: int) -> list[Candidate | None]:
        """Return `count` starts of searches."""
        best = self.settle()
        if self._pool is None:
            return [best] * count
        starts = self._pool.starts(count)
        return [start if start is best or (start and self._holds(start)) else best for start in starts]

    def offer(self, candidate: Candidate, by: str | None = None) -> None:
        """Take a candidate if it is cheaper; `by` is the engine that found it, which is added to its finders."""
        cost = price(self._problem, candidate)
        if self._unverified and cost >= self._unverified[-1][0]:
            self.settle()
        if not self._unverified or cost < self._unverified[-1][0]:
            if by is not None:
                before = () if self.candidate is None else self.candidate.found_by
                candidate = replace(candidate, found_by=tuple(dict.fromkeys((*before, by))))
            self._unverified.append((cost, candidate))
            self._is_proved = False
            self._on_improvement(candidate)
        self._add_to_pool(cost, candidate)

    def settle(self) -> Candidate | None:
        """Discard candidates that fail verification, and return the cheapest of the others."""
        while self._unverified and not self._is_proved:
            if self._holds(self._unverified[-1][1]):
                self._is_proved = True
                del self._unverified[:-1]
            else:
                self._unverified.pop()
        return self.candidate

    def _holds(self, candidate: Candidate) -> bool:
        return not verify(self._problem, build_plan(self._problem, candidate))

    def _add_to_pool(self, cost: int, candidate: Candidate) -> None:
        if self._pool is not None:
            self._pool.add(candidate, cost)
