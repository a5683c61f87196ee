"""The portfolio: several engines behind one interface. `auto` selects it.

Owns the rounds of a solve. In each round every core runs a search; the next round starts from the best plans found so
far, those of a team included, one per core (`workers/engines/selection/elite_pool.py`). After each round OR-Tools
recombines the routes of all searches (`workers/engines/recombination`).
`workers/engines/selection/time_allocation.py` decides which engines run and for how long.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from typing_extensions import override

from planner_mcp.errors import EngineError
from planner_mcp.routing.evaluation.plan_builder import price
from planner_mcp.routing.plan import RecombinationRecord
from planner_mcp.routing.problem import Candidate, Problem
from workers.engines.bounds.proof_engine import ProofEngine
from workers.engines.engine_interface import (
    Engine,
    OnImprovement,
    OnProof,
    SearchLimits,
    SearchOutcome,
    ShouldStop,
    StopReason,
    version_of,
)
from workers.engines.heuristics import enumeration
from workers.engines.heuristics.best_verified import BestVerified, is_feasible
from workers.engines.native.native_arrays import Numbers
from workers.engines.recombination import recombination
from workers.engines.recombination.recombination import Recombination
from workers.engines.selection import parallel_search
from workers.engines.selection.elite_pool import ElitePool
from workers.engines.selection.region_search import RegionSearch
from workers.engines.selection.regions import merged_plans
from workers.engines.selection.time_allocation import (
    NOT_DECOMPOSABLE,
    REMOTE,
    after_proof,
    gains_by_proof,
    member_rounds,
    recombination_s,
    region_engine,
)

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

    def __init__(self, capable: Sequence[Engine]) -> None:
        self.capable = tuple(capable)

    def versions(self) -> dict[str, str]:
        """Return the versions of the engines that may take part."""
        taking_part = {name: version for engine in self.capable for name, version in engine.versions().items()}
        return taking_part | {"ortools": version_of("ortools")}

    def solve(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> SearchOutcome:
        """Search until the deadline or `should_stop`; enumerate all plans of tiny problems."""
        best = _BestOfRounds(problem, on_improvement, warm_start, limits.on_proof)
        if enumeration.is_enumerable(problem):
            tried = enumeration.solve(problem, limits, on_improvement, should_stop)
            if not enumeration.is_incomplete(tried, limits):
                return tried
            if tried.best is not None:
                best.offer(tried.best)
        if limits.team is not None and (starter := region_engine(problem, self.capable)) is not None:
            search_regions = RegionSearch(starter, problem, limits, limits.team, on_improvement, should_stop)
            return search_regions.run(warm_start)
        began, iterations, reason = time.monotonic(), 0, StopReason.TIME_LIMIT
        span_s = limits.deadline - began
        pause_s = recombination_s(problem, span_s)
        member, cores = limits.team.number if limits.team else 1, max(1, limits.cores)
        rounds = member_rounds(problem, cores, self.capable, number=member, span_s=span_s)
        prover = ProofEngine()
        if limits.on_proof is not None and gains_by_proof(problem) and prover.can_prove(problem):
            rounds = after_proof(rounds, prover, cores)
        for number, (until, engines) in enumerate(rounds):
            round_ends = began + until * span_s
            deadline = round_ends - pause_s
            seed = limits.seed + number * limits.cores * SEED_STEP
            round_limits = replace(limits, deadline=deadline, asked_s=None, seed=seed)
            outcome = _search_round(engines, problem, round_limits, best, should_stop)
            iterations += outcome.iterations
            reason = outcome.reason
            if reason is StopReason.STOPPED or best.is_optimal:
                break
            if limits.team is not None:
                limits.team.publish()
                best.take(limits.team.take_plan())
            if time.monotonic() >= limits.deadline and best.settle() is not None:
                break
            if pause_s > 0:
                best.recombine(round_ends, should_stop)
        return SearchOutcome(best.settle(), reason, iterations, best.recombination)


def _search_round(
    engines: Sequence[Engine], problem: Problem, limits: SearchLimits, best: "_BestOfRounds", should_stop: ShouldStop
) -> SearchOutcome:
    """Run a round. An engine that fails or crashes must not lose the plan found before; then its error is logged."""
    try:
        if len(engines) > 1:
            return _search_together(engines, problem, limits, best, should_stop)
        logged = replace(limits, route_log=best.route_logs(1)[0])
        return _search_alone(engines[0], problem, logged, best, should_stop)
    except Exception:
        if best.settle() is None:
            raise
        log.exception("%s failed; the best plan found before is kept", ", ".join(engine.name for engine in engines))
        return SearchOutcome(best.candidate, StopReason.TIME_LIMIT)


def _search_alone(
    engine: Engine, problem: Problem, limits: SearchLimits, best: BestVerified, should_stop: ShouldStop
) -> SearchOutcome:
    """Run one engine from the best plan so far, in this process."""
    offer = partial(best.offer, by=engine.name)
    outcome = engine.solve(problem, limits, offer, should_stop, best.settle())
    if outcome.best is not None:
        offer(outcome.best)
    return outcome


def _search_together(
    engines: Sequence[Engine], problem: Problem, limits: SearchLimits, best: "_BestOfRounds", should_stop: ShouldStop
) -> SearchOutcome:
    """Run engines in parallel, each in a process with a start and a seed of its own, until a plan is proved optimal.

    Each has one core, or all of them where the others search elsewhere.
    """
    cores = limits.cores if sum(engine.name != REMOTE for engine in engines) == 1 else 1

    def forked_search(number: int, engine: Engine, start: Candidate | None) -> parallel_search.SearchFunction:
        def search(report: parallel_search.OnFinding) -> None:
            seed = limits.seed + number * SEED_STEP
            own_limits = replace(limits, seed=seed, cores=cores, route_log=logs[number], on_proof=report)
            own_best = BestVerified(problem, report, start)
            _search_alone(engine, problem, own_limits, own_best, lambda: False)

        return search

    starts, logs = best.starts(len(engines)), best.route_logs(len(engines))
    searches = [
        forked_search(number, engine, start) for number, (engine, start) in enumerate(zip(engines, starts, strict=True))
    ]
    needs_plan = best.candidate is None

    def should_end() -> bool:
        return best.is_optimal or should_stop()

    is_ended = parallel_search.run(searches, limits.deadline, best.take_finding, should_end, needs_plan=needs_plan)
    if best.is_optimal:
        return SearchOutcome(best.candidate, StopReason.EXHAUSTED)
    return SearchOutcome(best.candidate, StopReason.STOPPED if is_ended else StopReason.TIME_LIMIT)


class _BestOfRounds(BestVerified):
    """The best verified candidate of all rounds, with an elite pool of starts and the recombination of all routes.

    A forked search needs neither: only its parent starts searches from what it found.
    """

    def __init__(
        self, problem: Problem, on_improvement: OnImprovement, start: Candidate | None, on_proof: OnProof | None
    ) -> None:
        super().__init__(problem, on_improvement, start)
        self._on_proof = on_proof
        self.is_optimal = False
        self._pool = ElitePool()
        self._recombination = Recombination(problem)
        if start is not None:
            self._pool.add(start, price(problem, start))

    def take_finding(self, finding: parallel_search.Finding) -> None:
        """Take a candidate of a forked search, or pass on what it has proved of all."""
        if isinstance(finding, Candidate):
            self.offer(finding)
        elif self._on_proof is not None:
            self._on_proof(finding)
            self.is_optimal = finding.is_optimal

    def take(self, plan: Candidate | None) -> None:
        """Take what is better in a plan of another member of the team, where there is one."""
        if plan is not None and self.candidate is not None and not self._problem.features & NOT_DECOMPOSABLE:
            plan = merged_plans(self._problem, self.candidate, plan)
        if plan is not None:
            self.offer(plan)

    def starts(self, count: int) -> list[Candidate | None]:
        """Return `count` starts of searches."""
        best = self.settle()
        starts = self._pool.starts(count)
        return [start if start is best or (start and is_feasible(self._problem, start)) else best for start in starts]

    @override
    def _after_offer(self, candidate: Candidate, cost: int) -> None:
        self._pool.add(candidate, cost)
        self._recombination.add(candidate)

    @property
    def recombination(self) -> RecombinationRecord | None:
        """What recombination did; None where it did nothing."""
        return self._recombination.record if self._recombination.record.solves else None

    def route_logs(self, count: int) -> list[Numbers]:
        """Return a buffer for the routes of each of `count` searches."""
        return self._recombination.logs(count)

    def recombine(self, deadline: float, should_stop: ShouldStop) -> None:
        """Offer the best plan that the routes of all searches make. If that fails, the best plan before stays."""
        if (best := self.settle()) is None:
            return
        try:
            self.offer(self._recombination.improved(best, deadline, should_stop), by=recombination.NAME)
        except EngineError:
            log.exception("recombination failed; the best plan found before is kept")
