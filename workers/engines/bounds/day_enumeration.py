"""The cheapest plan of a small day: of all routes of its agents, CP-SAT chooses.

Owns the choice, and the longest duration where it costs something: no plan is cheaper whose longest route is above one
duration, then above a shorter one, and so on. The times of routes are no part of what CP-SAT has to prove.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ortools.sat.python import cp_model

from planner_mcp.routing.evaluation.plan_builder import price
from planner_mcp.routing.evaluation.time_dependent_travel import fastest_durations
from planner_mcp.routing.problem import Candidate, GroupKind, Route
from workers.engines.bounds.column_generation import DualBound
from workers.engines.bounds.native_pricing import dual_of_tickets
from workers.engines.bounds.relaxed_networks import RelaxedProblem
from workers.engines.bounds.route_enumeration import EnumeratedRoute, EnumerationEndedError, RouteEnumeration


@dataclass(frozen=True, slots=True)
class DayProof:
    """What was found."""

    bound: int
    """No plan costs less than this or the target, in cost units."""
    plan: Candidate | None
    """A plan that costs less than the target, where every hour is the best one."""


@dataclass(frozen=True, slots=True)
class _Choice:
    cost: int
    """In cost units, without the price of the longest duration."""
    plan: Candidate


class DayEnumeration:
    """The cheapest plan of one small day.

    Args:
        relaxed: The relaxed problem.
        dual: A bound of it, which limits the routes that a cheaper plan may have.
        target: Cost units; plans have to cost less.
        deadline: `time.monotonic()`.
    """

    def __init__(self, relaxed: RelaxedProblem, dual: DualBound, target: int, deadline: float) -> None:
        self._relaxed = relaxed
        self._problem = replace(relaxed.problem, durations=fastest_durations(relaxed.problem), travel_periods=())
        self._dual = dual
        self._target = target
        self._deadline = deadline
        prices = dual_of_tickets(relaxed.rows_of, dual.duals).tolist()
        self._enumerations = [
            RouteEnumeration(self._problem, network.agents[0], relaxed.factor, prices, self._is_over)
            for network in relaxed.networks
        ]

    def prove(self) -> DayProof | None:
        """Return the bound, and the cheapest plan below the target; None where time or memory did not suffice."""
        try:
            return self._balanced() if self._problem.span_cost else self._unbalanced()
        except EnumerationEndedError:
            return None

    def _unbalanced(self) -> DayProof:
        if (found := self._cheapest(self._target, None)) is None:
            return DayProof(self._target, None)
        return DayProof(found.cost, found.plan)

    def _balanced(self) -> DayProof | None:
        """Lower the longest duration that a cheaper plan can have, until there is none."""
        span_cost, target, plan = self._problem.span_cost, self._target, None
        longest = max(spec.latest_end - spec.shift[0] for spec in self._problem.agents)
        while longest >= 0:
            shorter = longest // 2 if longest else -1
            found = self._cheapest(target - span_cost * (shorter + 1), longest)
            if found is not None:
                if (cost := price(self._problem, found.plan)) < target:
                    target, plan = cost, found.plan
                # none costs less without the price of the longest duration, so a longer one than this is too dear
                shorter = max(-1, (target - found.cost - 1) // span_cost)
                if shorter >= longest:
                    return None  # the plan costs more than the choice of its routes says
            longest = shorter
        return DayProof(target, plan)

    def _cheapest(self, limit: int, max_duration: int | None) -> _Choice | None:
        """Return the cheapest choice of routes of at most a duration; None where none is below the limit.

        Raises:
            EnumerationEndedError: It was stopped, or would take too much memory.
        """
        budget = (limit - 1) * self._relaxed.factor + 1 - self._dual.value
        if budget <= 0:
            return None
        routes = [
            each.below(budget + min(0, least), max_duration)
            for each, least in zip(self._enumerations, self._dual.least, strict=True)
        ]
        return self._choice(routes, limit)

    def _is_over(self) -> bool:
        return time.monotonic() >= self._deadline

    def _choice(self, routes: list[dict[int, EnumeratedRoute]], limit: int) -> _Choice | None:
        model, factor = cp_model.CpModel(), self._relaxed.factor
        chosen = [{served: model.new_bool_var("") for served in each} for each in routes]
        by_ticket = [
            _sum([x for each in chosen for served, x in each.items() if served >> ticket & 1])
            for ticket in range(len(self._problem.tickets))
        ]
        cost: list[cp_model.LinearExprT] = [
            route.cost // factor * chosen[number][served]
            for number, each in enumerate(routes)
            for served, route in each.items()
        ]
        for network, each in zip(self._relaxed.networks, chosen, strict=True):
            used = _sum(list(each.values()))
            model.add_linear_constraint(used, network.count if network.is_used else 0, network.count)
        for row in self._relaxed.rows:
            served_once = _sum([by_ticket[ticket] for ticket in row.tickets])
            model.add_linear_constraint(served_once, 0 if row.penalty is not None else 1, 1)
            if row.penalty is not None:
                cost.append(row.penalty // factor * (1 - served_once))
        for group in self._problem.groups:
            for ticket in group.tickets[1:] if group.kind is GroupKind.ALL else ():
                model.add(by_ticket[ticket] == by_ticket[group.tickets[0]])
        model.add(_sum(cost) <= limit - 1)
        model.minimize(_sum(cost))
        solver = cp_model.CpSolver()
        solver.parameters.max_time_in_seconds = max(0.01, self._deadline - time.monotonic())
        solver.parameters.num_workers = 1
        status = solver.solve(model)
        if status == cp_model.INFEASIBLE:
            return None
        if status != cp_model.OPTIMAL:
            raise EnumerationEndedError
        plan: list[Route] = []
        for network, found, variables in zip(self._relaxed.networks, routes, chosen, strict=True):
            taken = [found[served].stops for served, x in variables.items() if solver.boolean_value(x)]
            plan += [Route(agent, stops) for agent, stops in zip(network.agents, taken, strict=False)]
        return _Choice(round(solver.objective_value), Candidate(tuple(plan)))


def _sum(terms: Sequence[cp_model.LinearExprT]) -> cp_model.LinearExpr:
    return cp_model.LinearExpr.sum(terms)
