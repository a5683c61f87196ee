"""The linear program over the routes found so far, solved again after each round of columns.

Owns the model in OR-Tools: a row for each row of the relaxed problem, one for each network, a column for each route.
GLOP starts each solve from the last basis. Its dual values are only proposals: what they prove is computed in integers
by `workers/engines/bounds/column_generation.py`.
"""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

from workers.engines.bounds.capacity_cuts import CapacityCut
from workers.engines.bounds.relaxed_networks import RelaxedProblem
from workers.engines.bounds.subset_row_cuts import SubsetRowCut

_MOST_COLUMNS: Final = 4000
_KEPT_COLUMNS: Final = 1500
"""Columns that are kept of more than the most: those of least reduced cost, the solution among them."""
_SHIFT: Final = 2e-3
"""How far sides are moved at most."""
_USED: Final = 1e-6
"""Value from which on a route counts as part of the solution."""
Duals = NDArray[np.float64]
Cut = CapacityCut | SubsetRowCut
"""What all routes count at least, each by its entries."""


@dataclass(frozen=True, slots=True)
class MasterColumn:
    """A route of a network and its cost, multiplied by the factor."""

    network: int
    tickets: tuple[int, ...]
    cost: int


def glop_solver() -> pywraplp.Solver:
    """Return a GLOP without preprocessing, which would lose the last basis; new columns leave that feasible."""
    solver = pywraplp.Solver.CreateSolver("GLOP")
    solver.SetSolverSpecificParametersAsString("use_preprocessing: false use_dual_simplex: false")
    return solver


class ColumnMaster:
    """The linear program of one bound.

    Args:
        relaxed: The relaxed problem.
        unserved_cost: Assumed cost of a row that has to be served and is not, multiplied by the factor.
    """

    def __init__(self, relaxed: RelaxedProblem, unserved_cost: int) -> None:
        self._relaxed = relaxed
        self._unserved_cost = unserved_cost
        self._unit = max(1.0, unserved_cost / 1000)
        self._used: list[MasterColumn] = []
        self._amounts: list[float] = []
        self._cuts: dict[Cut, pywraplp.Constraint] = {}
        self._build([])

    def _build(self, columns: Iterable[MasterColumn]) -> None:
        relaxed = self._relaxed
        self._solver = glop_solver()
        self._objective = self._solver.Objective()
        self._rows = [self._solver.Constraint(1.0, 1.0) for _ in relaxed.rows]
        self._fleets = [
            self._solver.Constraint(float(each.count) if each.is_used else 0.0, float(each.count))
            for each in relaxed.networks
        ]
        self._variables: dict[MasterColumn, pywraplp.Variable] = {}
        for constraint, row in zip(self._rows, relaxed.rows, strict=True):
            cost = self._unserved_cost if row.penalty is None else min(row.penalty, self._unserved_cost)
            self._variable({constraint: 1.0}, cost)
        for constraint, network in zip(self._fleets, relaxed.networks, strict=True):
            if network.is_used:
                self._variable({constraint: 1.0}, self._unserved_cost)
        cuts, self._cuts = list(self._cuts), {}
        for cut in cuts:
            self.add_cut(cut)
        for column in columns:
            self.add(column)

    def add_cut(self, cut: Cut) -> None:
        """Add a cut."""
        constraint = self._solver.Constraint(float(cut.least), self._solver.infinity())
        self._variable({constraint: 1.0}, self._unserved_cost)
        for column, variable in self._variables.items():
            constraint.SetCoefficient(variable, float(cut.entries(column.network, column.tickets)))
        self._cuts[cut] = constraint

    def add(self, column: MasterColumn) -> bool:
        """Add a column; return False where it is there already."""
        if column in self._variables:
            return False
        counts = Counter(row for ticket in column.tickets for row in self._relaxed.rows_of[ticket])
        entries = {self._rows[row]: float(count) for row, count in counts.items()}
        entries |= {row: float(cut.entries(column.network, column.tickets)) for cut, row in self._cuts.items()}
        self._variables[column] = self._variable({**entries, self._fleets[column.network]: 1.0}, column.cost)
        return True

    def _variable(self, entries: dict[pywraplp.Constraint, float], cost: int) -> pywraplp.Variable:
        variable = self._solver.NumVar(0.0, self._solver.infinity(), "")
        for constraint, value in entries.items():
            constraint.SetCoefficient(variable, value)
        self._objective.SetCoefficient(variable, cost / self._unit)
        return variable

    def drop(self, column: MasterColumn) -> None:
        """Keep a column out of all further solutions."""
        self._variables.pop(column).SetUb(0.0)

    def shift(self, dice: np.random.Generator | None) -> None:
        """Move the sides of rows and cuts a little, so that other dual values are best; None moves them back."""
        sides = [*((row, 1.0) for row in self._rows), *((row, float(cut.least)) for cut, row in self._cuts.items())]
        moves = np.zeros(len(sides)) if dice is None else dice.uniform(-_SHIFT, _SHIFT, len(sides))
        for (constraint, side), move in zip(sides, moves.tolist(), strict=True):
            constraint.SetLb(side + move)
        for constraint, move in zip(self._rows, moves.tolist(), strict=False):
            constraint.SetUb(1.0 + move)

    def solve(self, seconds: float) -> tuple[float, Duals] | None:
        """Return the value of the linear program and the dual values of rows and cuts, (rows + cuts,), by the factor.

        None where it is not solved in time, or GLOP finds it too imprecise even without the last basis: it may then
        also return dual values that are no numbers.
        """
        deadline = time.monotonic() + seconds
        self._used, self._amounts = [], []
        if not self._is_solved(deadline):
            self._build(list(self._variables))
            if not self._is_solved(deadline):
                return None
        duals = np.array([each.dual_value() for each in (*self._rows, *self._cuts.values())]) * self._unit
        if not np.isfinite(duals).all():
            return None
        value = self._objective.Value() * self._unit
        amounts = {column: variable.solution_value() for column, variable in self._variables.items()}
        self._used = [column for column, amount in amounts.items() if amount > _USED]
        self._amounts = [amounts[column] for column in self._used]
        if len(self._variables) > _MOST_COLUMNS:
            by_cost = sorted(self._variables, key=lambda column: self._variables[column].reduced_cost())
            self._build(by_cost[:_KEPT_COLUMNS])
        return value, duals

    def _is_solved(self, deadline: float) -> bool:
        self._solver.SetTimeLimit(max(1, round(1000 * (deadline - time.monotonic()))))
        return bool(self._solver.Solve() == pywraplp.Solver.OPTIMAL)

    def used(self) -> list[MasterColumn]:
        """Return the columns of the last solution."""
        return self._used

    def amounts(self) -> list[float]:
        """Return how much of each of them the solution has."""
        return self._amounts

    def all(self) -> list[MasterColumn]:
        """Return every column."""
        return list(self._variables)

    def __len__(self) -> int:
        return len(self._variables)
