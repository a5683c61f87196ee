"""Closes the gap between a bound and a plan: every route that a cheaper plan could have, and the best choice of them.

Owns the argument. Let L be a Lagrangian bound and U a cost. In a plan that costs less than U, no route of an agent has
a reduced cost of U - L or more above what that agent adds to L. So all such routes are enumerated, and CP-SAT, which
computes in integers, chooses among them. What it proves holds for the relaxed problem, and so for the problem.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from ortools.sat.python import cp_model

from workers.engines.bounds.column_generation import DualBound
from workers.engines.bounds.column_master import MasterColumn
from workers.engines.bounds.native_pricing import PricedRoute, RoutePricer, dual_of_tickets
from workers.engines.bounds.relaxed_networks import Cells, RelaxedProblem

MAX_LABELS: Final = 500_000
MAX_ROUTES: Final = 30_000


@dataclass(frozen=True, slots=True)
class Choice:
    """What CP-SAT found among the routes that a cheaper plan could have."""

    bound: int
    """No plan costs less than this or `target`, in cost units."""
    routes: tuple[MasterColumn, ...] | None
    """A choice of the relaxed problem that costs less than the target."""


def enumerated(
    relaxed: RelaxedProblem, pricers: Sequence[RoutePricer], bound: DualBound, target: int, deadline: float
) -> list[MasterColumn] | None:
    """Return every route that a plan cheaper than `target` cost units could have; None where they are too many."""
    duals, columns = dual_of_tickets(relaxed.rows_of, bound.duals), []
    for number, (network, pricer) in enumerate(zip(relaxed.networks, pricers, strict=True)):
        limit = target * relaxed.factor - bound.value + min(0, bound.least[number])
        left_s = max(0.0, deadline - time.monotonic())
        routes = pricer.enumerate(
            network.switch_cost - duals,
            bound.memory,
            limit,
            seconds=left_s,
            max_labels=MAX_LABELS,
            max_routes=MAX_ROUTES,
        )
        if routes is None:
            return None
        for route in filter(partial(_is_possible, relaxed), routes):
            cost = route.cost + int(duals[list(route.tickets)].sum())
            columns.append(MasterColumn(number, route.tickets, cost))
    return columns


def _is_possible(relaxed: RelaxedProblem, route: PricedRoute) -> bool:
    """Return whether the tickets may share a route, and none of them is half a shipment."""
    tickets, problem = set(route.tickets), relaxed.problem
    if any(ticket in problem.partner_of and problem.partner_of[ticket] not in tickets for ticket in tickets):
        return False
    return not any(low in tickets and high in tickets for low, high in problem.incompatible)


class Chooser:
    """The set-partitioning model over enumerated routes.

    Args:
        relaxed: The relaxed problem.
        columns: The routes.
        target: Cost units; choices have to cost less.
    """

    def __init__(self, relaxed: RelaxedProblem, columns: Sequence[MasterColumn], target: int) -> None:
        self._relaxed = relaxed
        self._columns = columns
        self._target = target
        self._model = cp_model.CpModel()
        self._chosen = [self._model.new_bool_var("") for _ in columns]
        self._objective: list[tuple[cp_model.IntVar, int]] = []
        self._build()

    def _build(self) -> None:
        relaxed, model = self._relaxed, self._model
        serving: list[list[cp_model.IntVar]] = [[] for _ in relaxed.rows]
        driving: list[list[cp_model.IntVar]] = [[] for _ in relaxed.networks]
        for column, variable in zip(self._columns, self._chosen, strict=True):
            driving[column.network].append(variable)
            self._objective.append((variable, column.cost // relaxed.factor))
            for number in {number for ticket in column.tickets for number in relaxed.rows_of[ticket]}:
                serving[number].append(variable)
        for row, variables in zip(relaxed.rows, serving, strict=True):
            if row.penalty is None:
                model.add_exactly_one(variables)  # of none: infeasible
            else:
                missing = model.new_bool_var("")
                model.add_exactly_one([*variables, missing])
                self._objective.append((missing, row.penalty // relaxed.factor))
        for network, variables in zip(relaxed.networks, driving, strict=True):
            model.add(sum(variables) <= network.count)
            if network.is_used:
                model.add(sum(variables) >= network.count)
        cost = sum(price * variable for variable, price in self._objective)
        model.add(cost <= self._target - 1)
        model.minimize(cost)

    def choose(self, seconds: float, cores: int, cancel: Cells) -> Choice | None:
        """Return the cheapest choice and the bound; None where there is no time to find either."""
        solver = cp_model.CpSolver()
        solver.parameters.max_time_in_seconds = max(0.01, seconds)
        solver.parameters.num_workers = cores
        status = solver.solve(self._model, _Stop(cancel))
        if status == cp_model.INFEASIBLE:
            return Choice(self._target, None)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        routes = tuple(
            column
            for column, variable in zip(self._columns, self._chosen, strict=True)
            if solver.boolean_value(variable)
        )
        bound = min(self._target, round(solver.best_objective_bound))
        return Choice(bound, routes)


class _Stop(cp_model.CpSolverSolutionCallback):
    """Ends a solve at its next solution once it is cancelled."""

    def __init__(self, cancel: Cells) -> None:
        super().__init__()
        self._cancel = cancel

    def on_solution_callback(self) -> None:
        """Look at the cancel cell."""
        if self._cancel[0]:
            self.stop_search()
