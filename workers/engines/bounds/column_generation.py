"""Column generation: dual values, and what they prove.

Owns the bound. For any integer dual values u of the rows, no plan that serves every wanted ticket costs less than

    sum over rows of u (at most the penalty) + sum over networks of agents · least reduced cost (at most 0)

where the reduced cost of a route is its cost less the dual values of its tickets (the Lagrangian bound). The least
reduced costs are exact integers of the native pricing, so the bound needs no trust in the linear program; it is
anytime: each complete pricing gives one, and the best is kept. Dual values are smoothed between the best ones and those
of the linear program. Where the fast pricing finds no more columns, capacity cuts that the solution violates join the
linear program, each with its price times its least number in the sum above. Where shipments leave too many partial
routes for a pricing, their halves are priced as tickets of their own. When it is solved, tickets that its routes
visit twice are remembered on the way (the ng-sets grow), which raises the bound again.

Source: smoothing, Wentges, International Transactions in Operational Research 4 (2), 1997; growing ng-sets, Roberti and
Mingozzi, Transportation Science 48 (3), 2014.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np

from planner_mcp.routing.evaluation.plan_builder import route_cost
from planner_mcp.routing.evaluation.timing_cache import cached_schedule
from planner_mcp.routing.problem import Candidate
from workers.engines.bounds.capacity_cuts import CapacityCut, CutFinder, discount_of, flow_of
from workers.engines.bounds.column_master import ColumnMaster, Cut, Duals, MasterColumn
from workers.engines.bounds.native_pricing import CutPrices, Memory, PricedRoute, RoutePricer, dual_of_tickets
from workers.engines.bounds.relaxed_networks import EXCLUDED, Cells, RelaxedProblem
from workers.engines.bounds.subset_row_cuts import MAX_SUBSETS, SubsetRowCut, cut_of, masks_of, violated_triples

MAX_LABELS: Final = 600_000
"""150 MB or so."""
_SHIPMENT_LABELS: Final = 100_000
"""Limit of a pricing that keeps the halves of shipments together; where it does not suffice, more seldom do."""
MAX_ROUTES: Final = 50
"""Columns of one call."""
_FIRST_MEMORY: Final = 8
"""Tickets in the first ng-sets."""
_COARSE_MEMORY: Final = 4
"""Tickets in the ng-sets of bounds of how a route can end."""
_LARGEST_MEMORY: Final = 24
_SMOOTHING: Final = 0.7
"""Weight of the best dual values."""
_CLOSE: Final = 1e-7
"""Relative difference between the linear program and the bound at which its columns are complete."""
_FIRST_PROOF_S: Final = 1.0
"""Time after which a bound is computed although the heuristic pricing still finds columns."""
_EARLY_SHARE: Final = 12
"""Early bounds get one part in so many of the labels."""
_PAUSE: Final = 5
"""The next early bound waits so many times as long as the last one took."""
_MAX_UNUSED: Final = 8
"""Rounds of the smoothing without a new column, after which it is left out."""
_EXTREMES: Final = 12
"""Dual values whose mean is the central one."""
_ROUNDS: Final = 8
"""Most rounds of columns before each of these dual values."""
_CENTRAL_SHARES: Final = (1.0, 0.5, 0.25)
"""Weights of the central dual value against the best one, in the order in which they are tried."""
_LOSS: Final = 0.01
"""Part of the gap by which a central dual value may widen it."""
_SUBSETS: Final = 15
"""Most subset-row cuts of a round."""
_MOST_SUBSETS: Final = 150
"""Most subset-row cuts of all rounds; about half of them have a price at the end."""
_WORTH: Final = 0.02
"""Part of the gap that cuts have to close for more of them."""


@dataclass(frozen=True, slots=True)
class DualBound:
    """Dual values and what they prove, multiplied by the factor."""

    value: int
    duals: Cells
    """(rows + cuts,)."""
    least: tuple[int, ...]
    """By network: the least reduced cost, or a number below it."""
    memory: Memory
    """The ng-sets by which the routes were priced."""
    cuts: tuple[Cut, ...]
    cut_prices: tuple[CutPrices, ...]
    """By network: what the dual values of the cuts change in it."""

    @property
    def priced(self) -> list[tuple[Cut, int]]:
        """The cuts that have a dual value, with it."""
        prices = self.duals[len(self.duals) - len(self.cuts) :].tolist()
        return [(cut, price) for cut, price in zip(self.cuts, prices, strict=True) if price]


OnBound = Callable[[DualBound], None]


class ColumnGeneration:
    """The bound of one problem.

    Args:
        relaxed: The relaxed problem.
        incumbent: A plan: its routes are the first columns, its cost the price of tickets that no column serves.
        cost: Its cost, in cost units.
        deadline: `time.monotonic()` by which to end.
        on_bound: Called with each better bound.
        pool: Further routes to begin with.
        max_labels: Limit of one pricing; the ng-sets shrink where it does not suffice.
        has_cuts: Whether cuts are looked for.
    """

    def __init__(
        self,
        relaxed: RelaxedProblem,
        incumbent: Candidate,
        cost: int,
        *,
        deadline: float,
        on_bound: OnBound = lambda _: None,
        pool: Iterable[MasterColumn] = (),
        max_labels: int = MAX_LABELS,
        has_cuts: bool = True,
    ) -> None:
        self._max_labels = max_labels
        self.relaxed = relaxed
        self._deadline = deadline
        self._on_bound = on_bound
        self._target = cost * relaxed.factor
        self.pricers = [RoutePricer(network) for network in relaxed.networks]
        self._memory = ng_sets(relaxed, _FIRST_MEMORY)
        self._near = ng_sets(relaxed, _COARSE_MEMORY)
        self._finder = CutFinder(relaxed) if has_cuts else None
        self._cuts: list[Cut] = []
        self._cut_at = -inf
        """The value of the linear program when it was cut last."""
        self._solved_at = -inf
        """The bound when the linear program last had all routes it needs."""
        self._master = ColumnMaster(relaxed, max(self._target, relaxed.factor))
        self._subsets_at = -inf
        """The bound when the last subset-row cuts were added."""
        self.best: DualBound | None = None
        self.is_solved = False
        """Whether the linear program over all routes was solved, and nothing is left to do."""
        self._refines = True
        for column in (*_columns_of(relaxed, incumbent), *pool):
            self._master.add(column)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self._master)

    @property
    def _is_over(self) -> bool:
        return time.monotonic() >= self._deadline

    @property
    def is_tight(self) -> bool:
        """Whether the bound, rounded up, is the cost of the incumbent."""
        return self.best is not None and self.best.value > self._target - self.relaxed.factor

    def lower_target(self, cost: int) -> None:
        """Take the cost of a cheaper plan, in cost units."""
        self._target = cost * self.relaxed.factor

    def run(self, deadline: float | None = None, *, refines: bool = True) -> None:
        """Raise the bound until nothing is left to do or the time is up, with another deadline if one is given.

        Without `refines` the ng-sets stay as they are and there are no subset-row cuts, until it is called again.
        """
        self._deadline = self._deadline if deadline is None else deadline
        self.is_solved, self._refines = self.is_solved and self._refines, refines
        while not self.is_solved and not self._is_over and not self.is_tight:
            if not self._solve_linear_program():
                if self._subset_cuts:
                    self.is_solved = not self._is_over  # as far as it can be
                elif not (self._relax_shipments() or self._shrink_memory()):
                    return
            elif not (self.is_tight or self._is_over or self._cut_solved() or (refines and self._refine())):
                self.is_solved = True

    def _cut_solved(self) -> bool:
        """Add cuts that the solution over all routes violates, unless the bound has hardly risen by the last ones."""
        if self.best is None:
            return False
        gained, self._solved_at = self.best.value - self._solved_at, self.best.value
        return gained >= _WORTH * self._gap(self.best.value) and self._cut_solution(self.best.value)

    def _refine(self) -> bool:
        """Forbid the solution what no plan does; return False where nothing is found or it is worth no more."""
        has_grown = self._grow_memory()
        return self._cut_subsets() or has_grown

    @property
    def _subset_cuts(self) -> list[SubsetRowCut]:
        return [cut for cut in self._cuts if isinstance(cut, SubsetRowCut)]

    def _cut_subsets(self) -> bool:
        """Add subset-row cuts that the solution violates, unless the bound has hardly risen by the last ones."""
        if self._finder is None or self.best is None:
            return False
        if self.best.value - self._subsets_at < _WORTH * self._gap(self.best.value):
            return False
        known = self._subset_cuts
        self._subsets_at = self.best.value
        routes = [column.tickets for column in self._master.used()]
        serves = np.zeros((len(routes), len(self.relaxed.problem.tickets)))
        for number, route in enumerate(routes):
            serves[number, list(route)] = 1.0
        triples = violated_triples(serves, np.array(self._master.amounts()))[
            : min(_MOST_SUBSETS - len(known), _SUBSETS)
        ]
        memories = {cut.tickets: cut.memory for cut in known}
        before = len(self._cuts)
        self.add_cuts([cut_of(triple, routes, memories.get(triple, frozenset())) for triple in triples])
        return len(self._cuts) > before

    def _gap(self, value: float) -> float:
        return self._target - value

    def _is_worth_cutting(self, value: float) -> bool:
        """Return whether the value of the linear program has risen by the last cuts, or there are none yet."""
        return self._finder is not None and value - self._cut_at >= _WORTH * self._gap(value)

    def _cut_solution(self, value: float) -> bool:
        """Add cuts that a solution violates; return False where there are none."""
        if self._finder is None:
            return False
        self._cut_at = value
        routes = [(column.network, column.tickets) for column in self._master.used()]
        before = len(self._cuts)
        self.add_cuts(self._finder.violated(flow_of(self.relaxed, routes, self._master.amounts())))
        return len(self._cuts) > before

    def add_cuts(self, cuts: Iterable[Cut]) -> None:
        """Add cuts that hold for every plan and are not there yet."""
        for cut in cuts:
            if cut not in self._cuts:
                self._cuts.append(cut)
                self._master.add_cut(cut)

    def central(self, deadline: float) -> DualBound:
        """Return about the best bound, by the middle of the dual values that prove it.

        Where many dual values are best, linear programs end with extreme ones, by which more routes are within the gap.
        The right-hand sides are moved a little again and again, for other extremes, and the mean of all is taken.
        """
        assert self.best is not None  # noqa: S101 — there is a bound
        if not self.is_solved:
            return self.best
        self._deadline, dice, found = deadline, np.random.default_rng(0), []
        for _ in range(_EXTREMES):
            self._master.shift(dice)
            for _ in range(_ROUNDS):
                if self._is_over or (solved := self._master.solve(self._deadline - time.monotonic())) is None:
                    break
                if not self._priced_heuristically(self._rounded(solved[1]), solved[1]):
                    found.append(solved[1])
                    break
        self._master.shift(None)
        best = np.zeros(len(self.relaxed.rows) + len(self._cuts))
        best[: len(self.best.duals)] = self.best.duals
        for share in _CENTRAL_SHARES if found else ():
            at = self._rounded(share * np.mean(found, axis=0) + (1 - share) * best)
            priced = self._proved(at, at.astype(float), max_labels=self._max_labels)
            if priced is not None and self.best.value - priced[0].value <= _LOSS * self._gap(self.best.value):
                return priced[0]
        return self.best

    def _solve_linear_program(self) -> bool:
        """Generate columns until there are none or nothing more can be solved.

        Returns:
            False where a pricing could not be completed in memory.
        """
        smoothing, unused, due = _SMOOTHING, 0, time.monotonic() + _FIRST_PROOF_S
        while not self._is_over:
            if (solved := self._master.solve(self._deadline - time.monotonic())) is None:
                return True
            value, duals = solved
            if self._is_close(value):
                return True
            if self.best is not None and smoothing:
                known = np.zeros(len(duals))
                known[: len(self.best.duals)] = self.best.duals
                asked = smoothing * known + (1 - smoothing) * duals
            else:
                asked = duals
            at = self._rounded(asked)
            if self._priced_heuristically(at, duals):
                unused = 0
                if (began := time.monotonic()) >= due:
                    self._priced_exactly(at, duals, max_labels=self._max_labels // _EARLY_SHARE)
                    ended = time.monotonic()
                    due = ended + _PAUSE * (ended - began)
                continue
            if self._is_worth_cutting(value):
                if smoothing and self._priced_heuristically(self._rounded(duals), duals):
                    continue
                if self._cut_solution(value):
                    continue
            added = self._priced_exactly(at, duals, max_labels=self._max_labels)
            if added is None:
                return self._is_over
            if added or self.is_tight:
                unused = 0
                if self.is_tight:
                    return True
            elif not smoothing:
                return True
            else:
                unused += 1
                smoothing = 0.0 if unused >= _MAX_UNUSED else smoothing * 0.6
        return True

    def _rounded(self, duals: Duals) -> Cells:
        """Return dual values in integers, those of cuts not negative, and 0 of more subset-row cuts than are priced."""
        rows, prices = np.split(np.rint(duals).astype(np.int64), [len(self.relaxed.rows)])
        prices = np.maximum(0, prices)
        subsets = np.flatnonzero([isinstance(cut, SubsetRowCut) for cut in self._cuts])
        cheapest_first = subsets[np.argsort(prices[subsets], kind="stable")]
        prices[cheapest_first[: max(0, len(subsets) - MAX_SUBSETS)]] = 0
        return np.concatenate([rows, prices])

    def _is_close(self, value: float) -> bool:
        return self.best is not None and value - self.best.value <= _CLOSE * abs(value)

    def _priced_heuristically(self, at: Cells, duals: Duals) -> bool:
        added = False
        for number in range(len(self.pricers)):
            if not self._is_over:
                cuts = self._cut_prices(number, at)
                is_complete, _, routes = self._priced(number, at, cuts, max_labels=self._max_labels, is_heuristic=True)
                added |= self._add(number, routes, at, duals)
                if not is_complete and self._relax_shipments():
                    return True
        return added

    def _priced_exactly(self, at: Cells, duals: Duals, *, max_labels: int) -> bool | None:
        """Price every network and keep the bound; None where one could not be completed."""
        if (priced := self._proved(at, duals, max_labels=max_labels)) is None:
            return None
        bound, added = priced
        if self.best is None or bound.value > self.best.value:
            self.best = bound
            self._on_bound(bound)
        return added

    def _proved(self, at: Cells, duals: Duals, *, max_labels: int) -> tuple[DualBound, bool] | None:
        """Return what dual values prove, and whether there were new columns."""
        added, least, cut_prices = False, [], tuple(self._cut_prices(number, at) for number in range(len(self.pricers)))
        for number, cuts in enumerate(cut_prices):
            is_complete, lowest, routes = self._priced(number, at, cuts, max_labels=max_labels, is_heuristic=False)
            added |= self._add(number, routes, at, duals)
            if not is_complete:
                return None
            least.append(lowest)
        rows, prices = np.split(at, [len(self.relaxed.rows)])
        value = lagrangian_bound(self.relaxed, rows, least)
        value += sum(cut.least * price for cut, price in zip(self._cuts, prices.tolist(), strict=True))
        return DualBound(value, at, tuple(least), self._memory.copy(), tuple(self._cuts), cut_prices), added

    def _priced(
        self, number: int, at: Cells, cuts: CutPrices, *, max_labels: int, is_heuristic: bool
    ) -> tuple[bool, int, list[PricedRoute]]:
        network = self.relaxed.networks[number]
        if self.relaxed.has_shipments:
            max_labels = min(max_labels, _SHIPMENT_LABELS)
        cost = network.switch_cost - dual_of_tickets(self.relaxed.rows_of, at)
        left_s = max(0.0, self._deadline - time.monotonic())
        return self.pricers[number].price(
            cost,
            cuts,
            self._memory,
            self._memory & self._near,
            seconds=left_s,
            max_labels=max_labels,
            max_routes=MAX_ROUTES,
            is_heuristic=is_heuristic,
        )

    def _cut_prices(self, number: int, at: Cells) -> CutPrices:
        price_of = dict(zip(self._cuts, at[len(self.relaxed.rows) :].tolist(), strict=True))
        loads = [cut for cut in self._cuts if isinstance(cut, CapacityCut)]
        subsets = [cut for cut in self._subset_cuts if price_of[cut]]
        prices = np.zeros(MAX_SUBSETS, dtype=np.int64)
        prices[: len(subsets)] = [price_of[cut] for cut in subsets]
        discount = discount_of(self.relaxed, number, loads, [price_of[cut] for cut in loads])
        return CutPrices(discount, masks_of(subsets, len(self.relaxed.problem.tickets)), prices)

    def _add(self, number: int, routes: Iterable[PricedRoute], at: Cells, duals: Duals) -> bool:
        """Add the routes whose reduced cost is below zero by the dual values of the linear program."""
        asked, own = (dual_of_tickets(self.relaxed.rows_of, each) for each in (at, np.rint(duals).astype(np.int64)))
        added = False
        for route in routes:
            entries = np.array([cut.entries(number, route.tickets) for cut in self._cuts], dtype=np.int64)
            cost = route.cost + int(asked[list(route.tickets)].sum()) + int(entries @ at[len(self.relaxed.rows) :])
            worth = int(own[list(route.tickets)].sum()) + int(entries @ np.rint(duals[len(self.relaxed.rows) :]))
            if cost < worth - 1:
                added |= self._master.add(MasterColumn(number, route.tickets, cost))
        return added

    # ---- ng-sets

    def _grow_memory(self) -> bool:
        """Let no route of the solution visit a ticket twice as it does now; return False where none does."""
        grown = False
        for column in self._master.used():
            for first, last in _cycles(column.tickets):
                ticket, between = (column.tickets[first], column.tickets[first + 1 : last])
                forgetful = [each for each in between if not self._memory[each, ticket]]
                if all(self._memory[each].sum() < _LARGEST_MEMORY for each in forgetful):
                    self._memory[forgetful, ticket] = True
                    grown = True
        if grown:
            self._cut_at = self._solved_at = -inf
            for column in self._master.all():
                if any(self._forbids(column.tickets, first, last) for first, last in _cycles(column.tickets)):
                    self._master.drop(column)
        return grown

    def _forbids(self, tickets: Sequence[int], first: int, last: int) -> bool:
        return bool(self._memory[list(tickets[first + 1 : last]), tickets[first]].all())

    def _relax_shipments(self) -> bool:
        """Price the halves of shipments one by one after a pricing that took too much memory; False where they are."""
        if self._is_over or not self.relaxed.has_shipments:
            return False
        self.relaxed = self.relaxed.without_shipments()
        self.pricers = [RoutePricer(network) for network in self.relaxed.networks]
        return True

    def _shrink_memory(self) -> bool:
        """Halve the ng-sets after a pricing that took too much memory; return False where they are empty."""
        size = int(self._memory.sum(axis=1).max()) // 2
        if self._is_over or size == 0:
            return False
        self._memory = ng_sets(self.relaxed, size)
        return True


def lagrangian_bound(relaxed: RelaxedProblem, duals: Cells, least: Sequence[int]) -> int:
    """Return what dual values prove, multiplied by the factor.

    Args:
        relaxed: The relaxed problem.
        duals: (rows,).
        least: By network: the least reduced cost of its routes.
    """
    rows = sum(
        int(dual) if row.penalty is None else min(int(dual), row.penalty)
        for dual, row in zip(duals, relaxed.rows, strict=True)
    )
    agents = (network.count * min(0, lowest) for network, lowest in zip(relaxed.networks, least, strict=True))
    return rows + sum(agents)


def ng_sets(relaxed: RelaxedProblem, size: int) -> Memory:
    """Return ng-sets: each ticket and the `size - 1` nearest others."""
    count = len(relaxed.problem.tickets)
    legs = np.minimum.reduce([network.cost[:count, :count] for network in relaxed.networks])
    near = np.minimum(np.minimum(legs, legs.T), EXCLUDED)
    np.fill_diagonal(near, -1)
    memory = np.zeros((count, count), dtype=bool)
    closest = np.argsort(near, axis=1, kind="stable")[:, : max(1, size)]
    np.put_along_axis(memory, closest, values=True, axis=1)
    return memory


def _cycles(tickets: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Yield the positions of each ticket and of the next visit to it."""
    seen: dict[int, int] = {}
    for position, ticket in enumerate(tickets):
        if ticket in seen:
            yield seen[ticket], position
        seen[ticket] = position


def _columns_of(relaxed: RelaxedProblem, incumbent: Candidate) -> Iterable[MasterColumn]:
    """Yield the routes of a plan, at their own cost."""
    for route in incumbent.routes:
        if route.tickets:
            cost = route_cost(relaxed.problem, route, cached_schedule(relaxed.problem, route))
            yield MasterColumn(relaxed.network_of[route.agent], tuple(route.tickets), cost * relaxed.factor)
