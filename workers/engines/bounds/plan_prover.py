"""Proves how good a plan is: the quick bound, that of column generation, then the closing of the gap.

Owns the order of the steps and what is told of them. A short search gives the routes of good plans, with which the
linear program begins, and now and then a cheaper plan. Where the first linear program leaves a gap that few routes
fit, it is closed at once; elsewhere the program is refined before. The last step is the independent check, without
which no plan is called optimal. It runs in a thread, so that the caller's thread passes on bounds, and may end the
process at any moment. The bound never falls.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from planner_mcp.errors import EngineError
from planner_mcp.routing.analysis.cost_bound import least_cost
from planner_mcp.routing.engine_names import PROVE_MAX_TICKETS
from planner_mcp.routing.evaluation.plan_builder import price
from planner_mcp.routing.plan import ProofRecord
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.verification.optimality_check import OptimalityCertificate, ProofNode, proves
from planner_mcp.routing.verification.small_day_check import is_small_day, proves_small_day
from workers.engines.bounds import gap_closing
from workers.engines.bounds.column_generation import ColumnGeneration, DualBound
from workers.engines.bounds.column_master import MasterColumn
from workers.engines.bounds.native_listing import route_lister, small_day_lister
from workers.engines.bounds.relaxed_networks import RelaxedProblem, relaxed_problem
from workers.engines.bounds.route_choice import RouteChoice, load_cuts_of, prices_of, subset_cuts_of
from workers.engines.engine_interface import OnImprovement, OnProof, SearchLimits, ShouldStop
from workers.engines.heuristics.best_verified import is_feasible
from workers.engines.native.sisr_engine import SisrEngine
from workers.engines.recombination.route_pool import RoutePool, route_log

POLL_S: Final = 0.02
SEARCH_SHARE: Final = 0.04
"""Share of the time for a search, whose routes are the first columns."""
POOL: Final = 2000
"""Most routes that the search gives as first columns."""
ROOT_SHARE: Final = 0.6
"""Share of the time after which column generation ends, the search included."""
CLOSE_SHARE: Final = 0.7
"""Share of the time after which closing the gap ends; the rest is for cuts and the check of the proof."""
LONG_CLOSE_SHARE: Final = 0.9
"""Share of the time after which closing the gap ends where no cut is left that raises the bound; the rest is for the
check of the proof."""
EARLY_CLOSE_SHARE: Final = 0.1
"""Share of the time for closing the gap before ng-sets grow and subset-row cuts are added."""
CENTRAL_SHARE: Final = 0.25
"""Share of the time of closing for dual values by which fewer routes are within the gap."""
SMALL_DAY_SHARE: Final = 0.9
"""Share of the time after which proving a small day ends; the rest is for the check of the proof."""
GAP_SHARES: Final[Sequence[float]] = (1.0, 0.5, 0.25, 0.125)
"""Parts of the gap of which routes are listed, each where those of the part before are too many."""
_NO_PART: Final = "the native library is not built"
_TOO_LARGE: Final = f"the scenario has more than {PROVE_MAX_TICKETS} tickets, or costs beyond the range of integers"


class PlanProver:
    """One proof.

    Args:
        problem: The problem.
        incumbent: A verified plan that serves every wanted ticket.
        deadline: `time.monotonic()` by which to end.
        on_proof: Called in the caller's thread with each better bound.
        on_improvement: Called in the caller's thread with each cheaper plan that the verifier accepts.
    """

    def __init__(
        self,
        problem: Problem,
        incumbent: Candidate,
        *,
        deadline: float,
        on_proof: OnProof,
        on_improvement: OnImprovement,
    ) -> None:
        self._problem = problem
        self.incumbent = incumbent
        """The cheapest plan so far."""
        self._cost = price(problem, incumbent)
        self._began = time.monotonic()
        self._deadline = deadline
        self._on_proof = on_proof
        self._on_improvement = on_improvement
        self._generation: ColumnGeneration | None = None
        self._best: int | None = None
        self._reported: tuple[int, bool] | None = None
        self._found: Candidate | None = None
        self._tree: ProofNode | None = None
        self.certificate: OptimalityCertificate | None = None
        """What the check was given last."""
        self._is_optimal = False
        self._failure: BaseException | None = None

    def run(self, should_stop: ShouldStop = lambda: False) -> ProofRecord | None:
        """Return the best proof; None where the time was up before the first bound.

        Args:
            should_stop: Asked every `POLL_S` in the caller's thread. The other thread only ends with its step.

        Raises:
            EngineError: The native library is not built, the scenario is too large, or a solver failed.
        """
        if not SisrEngine().is_available():
            raise EngineError(f"There is no proof: {_NO_PART}.")
        if (relaxed := relaxed_problem(self._problem)) is None:
            raise EngineError(f"There is no proof: {_TOO_LARGE}.")
        thread = threading.Thread(target=self._prove, args=(relaxed,), name="prove", daemon=True)
        thread.start()
        while thread.is_alive() and not should_stop():
            thread.join(POLL_S)
            self._report(relaxed)
        self._report(relaxed)
        if self._failure is not None:
            raise self._failure
        return None if self._best is None else self._record(relaxed, self._best)

    def _report(self, relaxed: RelaxedProblem) -> None:
        if (found := self._found) is not None:
            cost = price(self._problem, found)
            if cost < self._cost and is_feasible(self._problem, found):
                self._on_improvement(found)
                self.incumbent, self._cost = found, cost
            self._found = None  # last: the other thread waits for it
        if (best := self._best) is not None and (known := (best, self._is_optimal)) != self._reported:
            self._reported = known
            self._on_proof(self._record(relaxed, best))

    def _record(self, relaxed: RelaxedProblem, best: int) -> ProofRecord:
        if (generation := self._generation) is not None:
            relaxed = generation.relaxed
        columns = 0 if generation is None else generation.columns
        seconds = round(time.monotonic() - self._began, 3)
        left_out = () if best >= self._cost else relaxed.relaxed  # what meets the cost cannot rise further
        return ProofRecord(best / self._problem.cost_scale, self._is_optimal, columns, seconds, left_out)

    # ---- in the thread

    def _prove(self, relaxed: RelaxedProblem) -> None:
        try:
            self._raise_bound(relaxed)
        except Exception as error:  # noqa: BLE001 — raised again by the caller's thread
            self._failure = error

    def _raise_bound(self, relaxed: RelaxedProblem) -> None:
        if (quick := least_cost(self._problem)) is not None:
            self._keep(max(0, quick))
        has_few_tickets = is_small_day(self._problem)
        span_s = self._deadline - self._began
        root_ends = self._began + ROOT_SHARE * span_s
        pool = () if has_few_tickets else self._searched(relaxed, self._began + SEARCH_SHARE * span_s)
        generation = self._generation = ColumnGeneration(
            relaxed,
            self.incumbent,
            self._cost,
            deadline=root_ends,
            on_bound=self._keep_dual,
            pool=pool,
            has_cuts=not has_few_tickets,
        )
        root: DualBound | None = None
        generation.run(refines=False)
        if generation.is_solved and not generation.is_tight and not has_few_tickets:
            root = self._close(generation, time.monotonic() + EARLY_CLOSE_SHARE * span_s, GAP_SHARES[:1])
        if self._tree is None:
            generation.run(root_ends)
            root = generation.best
            if root is not None and not generation.is_tight:
                ends = self._began + (LONG_CLOSE_SHARE if generation.is_solved else CLOSE_SHARE) * span_s
                root = self._close(generation, ends, GAP_SHARES)
        if root is None:
            return
        if has_few_tickets:
            if self._has_gap():
                self._enumerate_day(relaxed, root, self._began + SMALL_DAY_SHARE * span_s)
        elif self._tree is None:
            if self._has_gap():
                generation.run(self._deadline)
            root = generation.best or root
        has_proof = generation.is_tight or self._tree is not None or has_few_tickets
        if has_proof and self._best is not None and self._best >= self._cost:
            self._is_optimal = self._is_confirmed(relaxed, root)

    def _searched(self, relaxed: RelaxedProblem, ends: float) -> Sequence[MasterColumn]:
        """Return routes of good plans, found from the present one; a cheaper plan is kept."""
        engine = SisrEngine()
        if engine.missing(self._problem) or time.monotonic() >= ends:
            return ()
        log, pool = route_log(), RoutePool(self._problem)
        limits = SearchLimits(ends, route_log=log)
        outcome = engine.solve(self._problem, limits, lambda _: None, self._is_over, self.incumbent)
        if outcome.best is not None and price(self._problem, outcome.best) < self._cost:
            self._found = replace(outcome.best, found_by=(engine.name,))
            self._wait_until_checked()
        pool.add_logged(log)
        pool.keep_newest(POOL)
        routes = [(column.route(self._problem), column.cost * relaxed.factor) for column in pool.columns]
        return [MasterColumn(relaxed.network_of[route.agent], tuple(route.tickets), cost) for route, cost in routes]

    def _is_confirmed(self, relaxed: RelaxedProblem, root: DualBound) -> bool:
        """Return whether the independent check agrees that no plan costs less."""
        self.certificate = _certificate(relaxed, root, self._tree)
        if is_small_day(self._problem):
            return proves_small_day(self._problem, self.certificate, self._cost, small_day_lister(self._deadline))
        return proves(self._problem, self.certificate, self._cost, route_lister(self._deadline))

    def _enumerate_day(self, relaxed: RelaxedProblem, root: DualBound, ends: float) -> None:
        """Prove with all rules, by all routes that the agents of a small day can have."""
        from workers.engines.bounds.day_enumeration import DayEnumeration  # loads CP-SAT, 30 MB that few days need

        found = DayEnumeration(relaxed, root, self._cost, ends).prove()
        if found is not None:
            self._found = found.plan
            self._keep(min(self._cost, found.bound))
            self._wait_until_checked()

    def _has_gap(self) -> bool:
        """Return whether the bound is below the cost, with time left to raise it."""
        return self._best is not None and self._best < self._cost and not self._is_over()

    def _wait_until_checked(self) -> None:
        """Wait until the caller has checked the cheaper plan, where there is one."""
        while self._found is not None and not self._is_over():
            time.sleep(POLL_S)

    def _is_over(self) -> bool:
        return time.monotonic() >= self._deadline

    def _keep_dual(self, bound: DualBound) -> None:
        assert self._generation is not None  # noqa: S101 — it calls this
        self._keep(max(0, -(-bound.value // self._generation.relaxed.factor)))

    def _keep(self, bound: int) -> None:
        """Keep a bound, in cost units; every plan costs an integer of them."""
        self._best = bound if self._best is None else max(self._best, bound)

    def _close(self, generation: ColumnGeneration, ends: float, parts: Sequence[float]) -> DualBound:
        """Choose among all routes that a cheaper plan could have, and return the dual values by which they were listed.

        Where they are too many, those of the next part of the gap are listed: they prove nothing, but a plan chosen
        among them is cheaper and leaves fewer routes to list.
        """
        began = time.monotonic()
        bound = generation.central(began + CENTRAL_SHARE * (ends - began))
        relaxed = generation.relaxed  # as it is after the pricings of `central`, which may have been too large
        shares, known, cuts = parts, self._cost, [cut for cut, _ in bound.priced]
        while shares and not self._is_over() and time.monotonic() < ends:
            share, *shares = shares
            columns = gap_closing.enumerated(relaxed, generation.pricers, bound, known, ends, share=share)
            if columns is None:
                continue
            if (choice := RouteChoice(relaxed, columns, known, cuts).run(ends)) is None:
                break
            if choice.routes is not None and not relaxed.relaxed:
                self._found = _plan_of(relaxed, choice.routes)
            if share == 1:
                self._tree = choice.tree
                self._keep(min(known, choice.bound))
                break
            self._wait_until_checked()
            shares, known = (parts if self._cost < known else ()), self._cost
        self._wait_until_checked()
        generation.lower_target(self._cost)
        return bound


def _certificate(relaxed: RelaxedProblem, bound: DualBound, tree: ProofNode | None) -> OptimalityCertificate:
    """Return what the check needs of a proof."""
    least = {agent: value for each, value in zip(relaxed.networks, bound.least, strict=True) for agent in each.agents}
    claims = tuple(min(0, least[agent]) for agent in range(len(least)))
    loads, subsets = load_cuts_of(bound.priced), subset_cuts_of(bound.priced)
    prices = prices_of(relaxed, bound.duals[: len(relaxed.rows)])
    return OptimalityCertificate(relaxed.factor, prices, claims, bound.memory, tree, loads, subsets)


def _plan_of(relaxed: RelaxedProblem, columns: tuple[MasterColumn, ...]) -> Candidate:
    """Return the plan of some routes: each goes to an agent of its network that has none yet."""
    free = [list(network.agents) for network in relaxed.networks]
    return Candidate.of_tickets({free[column.network].pop(0): list(column.tickets) for column in columns})
