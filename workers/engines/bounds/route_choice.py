"""The best choice among listed routes, by branch and bound over their linear program, with a proof of every node.

Owns the search. A node is the linear program over the routes that its splits leave, raised by subset-row cuts of three
tickets and by the cuts of column generation (of a listed route it is known whether it serves any of the tickets of a
capacity cut, so that each counts once). Its dual values, rounded to integers, prove a bound in integers, and routes
whose reduced costs exceed the gap are left out below it. So GLOP proposes and nothing rests on its rounding: what
remains is a tree of dual values (`ProofNode`) that `planner_mcp/routing/verification/optimality_check.py` can follow by
itself.

Source: pairs of tickets as branches, Ryan and Foster, in Computer Scheduling of Public Transport, 1981; subset-row
cuts, Jepsen, Petersen, Spoorendonk and Pisinger, Operations Research 56 (2), 2008.
"""

import heapq
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

from planner_mcp.arrays import Flags
from planner_mcp.routing.feasibility.fleet_size_bounds import one_of_several
from planner_mcp.routing.problem import GroupKind
from planner_mcp.routing.verification.optimality_check import (
    AgentSplit,
    CountSplit,
    LoadCut,
    PairSplit,
    ProofNode,
    RowPrices,
    ServiceSplit,
    SubsetCut,
)
from workers.engines.bounds.capacity_cuts import CapacityCut
from workers.engines.bounds.column_master import Cut, MasterColumn, glop_solver
from workers.engines.bounds.relaxed_networks import Cells, RelaxedProblem
from workers.engines.bounds.subset_row_cuts import SubsetRowCut, Triple, violated_triples

_FIRST: Final = 400
"""Routes of a linear program at first."""
_MORE: Final = 200
"""Most routes that join a linear program each time."""
_CUTS: Final = 15
"""Most cuts of a round."""
_MOST_CUTS: Final = 150
_ROUNDS: Final = 12
_WORTH: Final = 0.02
"""Share of the gap that a round of cuts must close for another one."""
_DEAR: Final = 4
"""Assumed cost of a ticket that no route serves, in costs of the plan."""
_TINY: Final = 1e-6
_NONE: Final = 2**61
_Number = TypeVar("_Number", np.int64, np.float64)
Split = PairSplit | AgentSplit | ServiceSplit | CountSplit


@dataclass(frozen=True, slots=True)
class Choice:
    """What was found among the routes that a cheaper plan could have."""

    bound: int
    """No plan costs less than this or `target`, in cost units."""
    routes: tuple[MasterColumn, ...] | None
    """A choice of the relaxed problem that costs less than the target."""
    tree: ProofNode | None
    """The proof, where the bound is the cost of the choice or the target."""


@dataclass(slots=True)
class _Node:
    """Choices that are still open."""

    options: Cells
    """Numbers of routes."""
    counts: tuple[tuple[int, int], ...]
    served: frozenset[int] = frozenset()
    left_out: frozenset[int] = frozenset()
    cuts: list[Triple] = field(default_factory=list)
    bound: int = -_NONE
    duals: NDArray[np.float64] | None = None
    steps: list[tuple[Cells, Cells, Cells]] = field(default_factory=list)
    """Dual values of rows, of the first cuts and of loads; after each routes were left out that cost too much by it."""
    split: Split | None = None
    parts: tuple["_Node", ...] = ()


@dataclass(frozen=True, slots=True)
class _Solved:
    """A solution of a linear program."""

    value: float
    numbers: Cells
    """Routes of the solution."""
    amounts: NDArray[np.float64]
    """How much of each route is in the solution."""
    duals: NDArray[np.float64]
    cut_duals: NDArray[np.float64]
    load_duals: NDArray[np.float64]


class RouteChoice:
    """One search.

    Args:
        relaxed: The relaxed problem.
        columns: The routes.
        target: Cost units; choices have to cost less.
        cuts: Those of column generation.
    """

    def __init__(
        self, relaxed: RelaxedProblem, columns: Sequence[MasterColumn], target: int, cuts: Sequence[Cut]
    ) -> None:
        self._relaxed = relaxed
        self._columns = columns
        self._target = target * relaxed.factor
        self._cost = np.array([column.cost for column in columns], dtype=np.int64)
        self._kind = np.array([column.network for column in columns], dtype=np.int64)
        entries = [[row for ticket in column.tickets for row in relaxed.rows_of[ticket]] for column in columns]
        self._entries = np.full((len(columns), max(map(len, entries), default=0)), len(relaxed.rows), dtype=np.int32)
        """(routes, longest), the rows of each route; of shorter ones one more that is worth nothing."""
        self._serves = np.zeros((len(columns), len(relaxed.problem.tickets)), dtype=bool)
        self._rows = np.zeros((len(columns), len(relaxed.rows)), dtype=bool)
        for number, (column, rows) in enumerate(zip(columns, entries, strict=True)):
            self._serves[number, list(column.tickets)] = True
            self._rows[number, rows] = True
            self._entries[number, : len(rows)] = rows
        self._triples = list(dict.fromkeys(cut.tickets for cut in cuts if isinstance(cut, SubsetRowCut)))
        self._loads = loads = tuple(cut for cut in cuts if isinstance(cut, CapacityCut))
        self._least = np.array([cut.least for cut in loads], dtype=np.int64)
        self._units = np.zeros((len(columns), len(loads)), dtype=np.uint8)
        """(routes, loads), what each route counts in each of them."""
        for number, cut in enumerate(loads):
            enters = self._serves[:, list(cut.tickets)].any(axis=1)
            self._units[:, number] = enters * np.array(cut.weights)[self._kind]
        self._is_valid = np.array([len(set(rows)) == len(rows) for rows in entries], dtype=bool)
        self._routes: tuple[MasterColumn, ...] | None = None
        self._count = 0

    def run(self, deadline: float) -> Choice | None:
        """Return the cheapest choice and the bound; None where no bound was found in time."""
        counts = tuple((each.count if each.is_used else 0, each.count) for each in self._relaxed.networks)
        root = _Node(np.flatnonzero(self._is_valid), counts, cuts=self._triples)
        open_nodes, stuck = [(root.bound, 0, root)], _NONE
        while open_nodes and time.monotonic() < deadline:
            node = heapq.heappop(open_nodes)[2]
            if self._is_closed(node):
                continue  # closed by a cheaper choice since
            parts = self._split(node, deadline)
            if parts is None:
                heapq.heappush(open_nodes, (node.bound, self._next(), node))
                break
            if not parts and not self._is_closed(node):
                stuck = min(stuck, node.bound)
                break  # it is the lowest: the bound cannot rise any more
            for part in parts:
                heapq.heappush(open_nodes, (part.bound, self._next(), part))
        lowest = min([stuck, *(bound for bound, _, node in open_nodes if not self._is_closed(node))])
        if lowest == -_NONE:
            return None
        factor = self._relaxed.factor
        bound = min(-(-lowest // factor), self._target // factor)
        is_closed = lowest > self._target - factor
        return Choice(bound, self._routes, self._proof(root) if is_closed else None)

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _is_closed(self, node: _Node) -> bool:
        return node.bound > self._target - self._relaxed.factor

    def _split(self, node: _Node, deadline: float) -> tuple[_Node, ...] | None:
        """Raise the bound of a node and split it; no parts where it is closed or cannot be split, None without time."""
        before, solved = node.bound, None
        for _ in range(_ROUNDS):
            if (solved := self._solve(node, deadline)) is None:
                return None
            self._keep_bound(node, solved)
            if self._is_closed(node):
                return ()
            gained, before = node.bound - before, node.bound
            if gained < _WORTH * (self._target - node.bound) or not self._add_cuts(node, solved):
                break
        assert solved is not None  # noqa: S101 — there is a round
        if (split := self._find_split(node, solved)) is None:
            self._keep_choice(solved)
            return ()
        node.split, node.parts = split, tuple(self._parts(node, split))
        return node.parts

    def _keep_choice(self, solved: _Solved) -> None:
        """Keep the routes of a solution in whole numbers as the best choice, where nothing is left out of the model."""
        rows = self._relaxed.rows
        served = self._rows[solved.numbers].sum(axis=0)
        if self._relaxed.relaxed or any(
            count != 1 and row.penalty is None for count, row in zip(served, rows, strict=True)
        ):
            return
        cost = int(self._cost[solved.numbers].sum())
        cost += sum(row.penalty for count, row in zip(served, rows, strict=True) if not count and row.penalty)
        if cost < self._target and served.max(initial=0) <= 1:
            self._target, self._routes = cost, tuple(self._columns[number] for number in solved.numbers)

    # ---- the linear program

    def _solve(self, node: _Node, deadline: float) -> _Solved | None:
        """Solve the linear program of a node, by columns of its routes."""
        program = _Program(self._relaxed, node, self._least, _DEAR * self._target)
        cost, pairs = self._cost[node.options], self._pairs(node)
        duals = np.zeros(self._rows.shape[1]) if node.duals is None else node.duals
        chosen = _lowest(cost - self._worth_of(node.options, duals), _FIRST)
        while True:
            numbers = node.options[chosen]
            program.add(
                numbers,
                self._rows[numbers],
                self._kind[numbers],
                self._cost[numbers],
                pairs[chosen],
                self._units[numbers],
            )
            if (solved := program.solve(deadline - time.monotonic())) is None:
                return None
            reduced = cost - self._worth_of(node.options, solved.duals) - _weighted(pairs, solved.cut_duals)
            reduced -= program.count_duals[self._kind[node.options]]
            reduced -= _weighted(self._units[node.options], solved.load_duals)
            chosen = _lowest(reduced, _MORE)
            chosen = chosen[reduced[chosen] < -_TINY * self._relaxed.factor]
            chosen = chosen[~np.isin(node.options[chosen], program.numbers)]
            if not len(chosen):
                return solved

    def _worth_of(self, numbers: Cells, values: NDArray[_Number]) -> NDArray[_Number]:
        """Return the sum of the values of the rows of each route."""
        worth: NDArray[_Number] = np.append(values, values.dtype.type(0))[self._entries[numbers]].sum(axis=1)
        return worth

    def _pairs(self, node: _Node) -> Flags:
        """Return whether each route of a node serves two of the tickets of each cut, (routes, cuts)."""
        found = np.zeros((len(node.options), len(node.cuts)), dtype=bool)
        for number, (first, second, third) in enumerate(node.cuts):
            one, two, three = (self._serves[node.options, ticket] for ticket in (first, second, third))
            found[:, number] = (one & two) | (one & three) | (two & three)
        return found

    def _keep_bound(self, node: _Node, solved: _Solved) -> None:
        """Keep what the dual values prove, and leave out the routes that cost too much by it."""
        prices = np.rint(solved.duals).astype(np.int64)
        cut_prices = np.maximum(0, np.rint(-solved.cut_duals)).astype(np.int64)
        load_prices = np.maximum(0, np.rint(solved.load_duals)).astype(np.int64)
        excess = self._cost[node.options] - self._worth_of(node.options, prices)
        excess += _weighted(self._pairs(node), cut_prices)
        excess -= _weighted(self._units[node.options], load_prices)
        floor, claims = self._worth(node, prices) - int(cut_prices.sum()) + int(self._least @ load_prices), []
        for number, (fewest, most) in enumerate(node.counts):
            least = int(excess[self._kind[node.options] == number].min(initial=_NONE))
            if fewest and least == _NONE:
                floor = _NONE
                break
            claims.append(least if least < 0 or fewest else 0)
            floor += most * least if least < 0 else fewest * least
        if floor <= node.bound and node.steps:
            return
        node.bound, node.duals = max(floor, node.bound), solved.duals
        node.steps.append((prices, cut_prices, load_prices))
        if not self._is_closed(node):
            node.options = node.options[excess < self._target - floor + np.array(claims)[self._kind[node.options]]]

    def _worth(self, node: _Node, prices: Cells) -> int:
        total = 0
        for number, (row, price) in enumerate(zip(self._relaxed.rows, prices.tolist(), strict=True)):
            if row.penalty is None or number in node.served:
                total += price
            else:
                total += row.penalty if number in node.left_out else min(price, row.penalty)
        return total

    def _add_cuts(self, node: _Node, solved: _Solved) -> bool:
        """Add the cuts of three tickets that a solution violates most; return whether there are any."""
        if len(node.cuts) >= _MOST_CUTS:
            return False
        serves = self._serves[solved.numbers].astype(float)
        found = violated_triples(serves, solved.amounts, known=frozenset(node.cuts))
        node.cuts = [*node.cuts, *found[:_CUTS]]
        return bool(found)

    # ---- splits

    def _find_split(self, node: _Node, solved: _Solved) -> Split | None:
        """Return the split of what a solution leaves most undecided; None where it is in whole numbers."""
        agents = [network.agents[0] for network in self._relaxed.networks]
        for number, agent in enumerate(agents):
            total = float(solved.amounts[self._kind[solved.numbers] == number].sum())
            if min(total % 1, -total % 1) > 0.1:
                return CountSplit(agent, int(total))
        found: list[tuple[float, int, Split]] = []
        for row, each in enumerate(self._relaxed.rows):
            if each.penalty is not None and row not in node.served | node.left_out:
                share = float(solved.amounts @ self._rows[solved.numbers, row])
                found.append((abs(share - 0.5), 0, ServiceSplit(each.tickets[0])))
        serves = self._serves[solved.numbers].astype(np.int64)
        together = (serves * solved.amounts[:, None]).T @ serves
        for first, second in combinations(np.flatnonzero((serves.T @ (solved.amounts % 1 > _TINY)) > 0).tolist(), 2):
            found.append((abs(float(together[first, second]) - 0.5), 1, PairSplit((first, second))))
        for number, agent in enumerate(agents if len(agents) > 1 else ()):
            own = serves[self._kind[solved.numbers] == number]
            for ticket, share in enumerate((own.T @ solved.amounts[self._kind[solved.numbers] == number]).tolist()):
                found.append((abs(share - 0.5), 2, AgentSplit(ticket, agent)))
        best = min(found, key=lambda each: each[:2], default=None)
        return best[2] if best is not None and best[0] < 0.5 - 1e-4 else None

    def _parts(self, node: _Node, split: Split) -> Iterator[_Node]:
        base = replace(node, steps=[], split=None, parts=())
        if isinstance(split, CountSplit):
            kind = next(n for n, each in enumerate(self._relaxed.networks) if each.agents[0] == split.agent)
            fewest, most = node.counts[kind]
            for side in ((fewest, min(most, split.most)), (max(fewest, split.most + 1), most)):
                yield replace(base, counts=(*node.counts[:kind], side, *node.counts[kind + 1 :]))
            return
        serves = self._serves[node.options]
        if isinstance(split, ServiceSplit):
            row = self._relaxed.rows_of[split.ticket][0]
            yield replace(base, served=node.served | {row})
            out = ~self._rows[node.options, row]
            yield replace(base, options=node.options[out], left_out=node.left_out | {row})
            return
        if isinstance(split, PairSplit):
            first, second = (serves[:, ticket] for ticket in split.tickets)
            sides = first == second, ~(first & second)
        else:
            own = np.array([split.agent == each.agents[0] for each in self._relaxed.networks])[self._kind[node.options]]
            served = serves[:, split.ticket]
            sides = own | ~served, ~(own & served)
        for kept in sides:
            yield replace(base, options=node.options[kept])

    def _proof(self, node: _Node) -> ProofNode:
        """Return the proof of a closed node: its steps one after the other, then its parts."""
        is_leaf = self._is_closed(node)
        parts = () if is_leaf else tuple(map(self._proof, node.parts))
        split = None if is_leaf else node.split
        for prices, cut_prices, load_prices in reversed(node.steps):
            cuts = zip(node.cuts, cut_prices.tolist(), strict=False)  # later steps have more
            priced = tuple(SubsetCut(tickets, price) for tickets, price in cuts if price)
            loads = load_cuts_of(zip(self._loads, load_prices.tolist(), strict=True))
            step = ProofNode(prices_of(self._relaxed, prices), priced, split, parts, loads)
            split, parts = None, (step,)
        return step


class _Program:
    """The linear program of a node over some of its routes."""

    def __init__(self, relaxed: RelaxedProblem, node: _Node, least: Cells, dear: int) -> None:
        self._solver = glop_solver()
        self._unit = max(1.0, dear / 1000)
        self._objective = self._solver.Objective()
        self._rows = [self._solver.Constraint(1.0, 1.0) for _ in relaxed.rows]
        self._cuts = [self._solver.Constraint(-self._solver.infinity(), 1.0) for _ in node.cuts]
        self._counts = [self._solver.Constraint(float(fewest), float(most)) for fewest, most in node.counts]
        for number, (constraint, row) in enumerate(zip(self._rows, relaxed.rows, strict=True)):
            if row.penalty is None or number in node.served:
                self._add_variable([(constraint, 1)], dear)
            else:
                self._add_variable([(constraint, 1)], min(row.penalty, dear))
        self._loads = [self._solver.Constraint(float(each), self._solver.infinity()) for each in least.tolist()]
        for constraint in self._loads:
            self._add_variable([(constraint, 1)], dear)
        for constraint, (fewest, _) in zip(self._counts, node.counts, strict=True):
            if fewest:
                self._add_variable([(constraint, 1)], dear)
        self._variables: list[pywraplp.Variable] = []
        self.numbers: Cells = np.empty(0, dtype=np.int64)
        self.count_duals = np.zeros(len(self._counts))

    def _add_variable(self, entries: Sequence[tuple[pywraplp.Constraint, int]], cost: int) -> pywraplp.Variable:
        variable = self._solver.NumVar(0.0, self._solver.infinity(), "")
        for constraint, value in entries:
            constraint.SetCoefficient(variable, float(value))
        self._objective.SetCoefficient(variable, cost / self._unit)
        return variable

    def add(
        self, numbers: Cells, rows: Flags, kinds: Cells, costs: Cells, pairs: Flags, units: NDArray[np.uint8]
    ) -> None:
        """Add routes."""
        for row, kind, cost, pair, unit in zip(rows, kinds.tolist(), costs.tolist(), pairs, units, strict=True):
            entries = [(self._rows[at], 1) for at in np.flatnonzero(row)] + [(self._counts[kind], 1)]
            entries += [(self._cuts[at], 1) for at in np.flatnonzero(pair)]
            entries += [(self._loads[at], int(unit[at])) for at in np.flatnonzero(unit)]
            self._variables.append(self._add_variable(entries, cost))
        self.numbers = np.concatenate([self.numbers, numbers])

    def solve(self, seconds: float) -> _Solved | None:
        """Return the solution; None where there is none in time."""
        self._solver.SetTimeLimit(max(1, round(1000 * seconds)))
        if self._solver.Solve() != pywraplp.Solver.OPTIMAL:
            return None
        duals, cut_duals, load_duals, self.count_duals = (
            np.array([each.dual_value() for each in part]) * self._unit
            for part in (self._rows, self._cuts, self._loads, self._counts)
        )
        amounts = np.array([variable.solution_value() for variable in self._variables])
        used = amounts > _TINY
        value = self._objective.Value() * self._unit
        return _Solved(value, self.numbers[used], amounts[used], duals, cut_duals, load_duals)


def _lowest(values: NDArray[_Number], most: int) -> Cells:
    """Return the places of the lowest values, the lowest first."""
    if len(values) > most:
        places = np.argpartition(values, most)[:most]
        return places[np.argsort(values[places], kind="stable")]
    return np.argsort(values, kind="stable")


def _weighted(counts: Flags | NDArray[np.uint8], prices: NDArray[_Number]) -> NDArray[_Number]:
    """Return the sum of the prices of the cuts, as often as each route counts in them."""
    total = np.zeros(len(counts), dtype=prices.dtype)
    for number in np.flatnonzero(prices).tolist():
        total += counts[:, number] * prices[number]
    return total


def load_cuts_of(priced: Iterable[tuple[Cut, int]]) -> tuple[LoadCut, ...]:
    """Return the capacity cuts among cuts with their prices, as the check knows them."""
    return tuple(
        LoadCut(tuple(sorted(cut.tickets)), cut.load, cut.dimension, cut.unit, price)
        for cut, price in priced
        if price and isinstance(cut, CapacityCut)
    )


def subset_cuts_of(priced: Iterable[tuple[Cut, int]]) -> tuple[SubsetCut, ...]:
    """Return the subset-row cuts among them."""
    return tuple(
        SubsetCut(cut.tickets, price, tuple(sorted(cut.memory)))
        for cut, price in priced
        if price and isinstance(cut, SubsetRowCut)
    )


def prices_of(relaxed: RelaxedProblem, duals: Cells) -> RowPrices:
    """Return dual values of rows as prices of tickets and groups."""
    problem = relaxed.problem
    prices = {row.tickets: int(dual) for row, dual in zip(relaxed.rows, duals, strict=True)}
    grouped = one_of_several(problem)
    return RowPrices(
        tuple(0 if ticket in grouped else prices[(ticket,)] for ticket in range(len(problem.tickets))),
        tuple(prices[each.tickets] if each.kind is GroupKind.ONE_OF else 0 for each in problem.groups),
    )
