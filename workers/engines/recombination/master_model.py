"""The set-partitioning model over a pool of routes, for MathOpt.

Owns what a plan costs and must keep in terms of whole routes. A variable chooses a route, and each ticket is served by
one chosen route or left out:

* ticket: chosen routes that serve it + left out = 1; leaving it out costs its penalty;
* ONE_OF group: at most one of its tickets is served, none costs the penalty of the group; ALL group: all or none;
* agents of a type: at most as many routes as agents, exactly one where an agent has locked visits;
* balance: the span is at least the duration of the route that serves a ticket, and has its price.

All other rules concern one route alone, and each route of the pool keeps them.
"""

from collections import Counter
from collections.abc import Sequence, Set
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from ortools.math_opt import model_pb2

from planner_mcp.routing.problem import GroupKind, Problem
from workers.engines.recombination.route_pool import Column

_INFINITE: Final = float("inf")
Floats = NDArray[np.float64]


class MasterModel:
    """The model but for its columns.

    Args:
        problem: The problem.
        types: The type of each agent.
        served: The tickets of the incumbent. The wanted ones stay served: their penalties exceed all costs by far,
            which spoils the precision of the solvers. For the same reason the other penalties are capped.
        cap: Largest penalty.
    """

    def __init__(self, problem: Problem, types: Sequence[int], served: Set[int], cap: int) -> None:
        self._problem = problem
        self._type_sizes = Counter(types)
        self._locked_types = {types[number] for number, agent in enumerate(problem.agents) if agent.locked}
        self._one_of = [group for group in problem.groups if group.kind is GroupKind.ONE_OF]
        penalties = [self._penalty(ticket.penalty, [number], served) for number, ticket in enumerate(problem.tickets)]
        penalties += [self._penalty(group.penalty, group.tickets, served) for group in self._one_of]
        has_span = problem.span_cost > 0
        self._upper = [0.0 if penalty is None else 1.0 for penalty in penalties] + [_INFINITE] * has_span
        self._costs = [float(min(penalty or 0, cap)) for penalty in penalties] + [float(problem.span_cost)] * has_span

    def _penalty(self, penalty: int, tickets: Sequence[int], served: Set[int]) -> int | None:
        """Return the penalty of leaving out all of some tickets; None where one of them has to be served."""
        is_wanted = penalty > 0 and not self._problem.tickets[tickets[0]].is_priced
        return None if is_wanted and not served.isdisjoint(tickets) else penalty

    def model(self, columns: Sequence[Column], *, is_integer: bool) -> model_pb2.ModelProto:
        """Return the model over some columns: first their variables, then those of tickets, groups and the span."""
        model, count, others = model_pb2.ModelProto(), len(columns), len(self._costs)
        variables = model.variables
        variables.ids.extend(range(count + others))
        variables.lower_bounds.extend([0.0] * (count + others))
        variables.upper_bounds.extend([1.0] * count + self._upper)
        variables.integers.extend([is_integer] * count + [False] * others)
        model.objective.linear_coefficients.ids.extend(variables.ids)
        model.objective.linear_coefficients.values.extend([float(column.cost) for column in columns] + self._costs)
        rows = _Rows()
        self._add_tickets(rows, columns)
        self._add_groups(rows, count)
        self._add_agents(rows, columns)
        if self._problem.span_cost:
            self._add_span(rows, columns)
        rows.write(model)
        return model

    def _add_tickets(self, rows: "_Rows", columns: Sequence[Column]) -> None:
        tickets, count = len(self._problem.tickets), len(columns)
        rows.put(*_served(columns))
        rows.put(range(tickets), range(count, count + tickets))
        rows.close([(1.0, 1.0)] * tickets)

    def _add_groups(self, rows: "_Rows", count: int) -> None:
        """Add the rows of groups, in terms of the variables that leave tickets out."""
        ungrouped = count + len(self._problem.tickets)
        for number, group in enumerate(self._one_of):
            rows.put(0, [count + ticket for ticket in group.tickets])
            rows.put(0, ungrouped + number, -1)
            rows.close([(len(group.tickets) - 1.0,) * 2])
        for group in self._problem.groups:
            if group.kind is GroupKind.ALL:
                for ticket in group.tickets[1:]:
                    rows.put(0, count + group.tickets[0])
                    rows.put(0, count + ticket, -1)
                    rows.close([(0.0, 0.0)])

    def _add_agents(self, rows: "_Rows", columns: Sequence[Column]) -> None:
        rows.put([column.type for column in columns], range(len(columns)))
        sizes = (self._type_sizes[type_number] for type_number in range(len(self._type_sizes)))
        rows.close([(float(number in self._locked_types), float(size)) for number, size in enumerate(sizes)])

    def _add_span(self, rows: "_Rows", columns: Sequence[Column]) -> None:
        """Add that the span is at least the duration of the route of each ticket."""
        tickets, span = range(len(self._problem.tickets)), len(columns) + len(self._costs) - 1
        served, by = _served(columns)
        rows.put(served, by, -np.array([float(column.duration) for column in columns])[by])
        rows.put(tickets, [span] * len(tickets))
        rows.close([(0.0, _INFINITE)] * len(tickets))


def _served(columns: Sequence[Column]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the tickets of all columns, and the number of the column of each."""
    counts = [len(column.tickets) for column in columns]
    served = np.fromiter(chain.from_iterable(column.tickets for column in columns), np.int64, sum(counts))
    return served, np.repeat(np.arange(len(columns)), counts)


class _Rows:
    """The constraints in the order in which they are added: `put` coefficients of rows to come, then `close` them."""

    def __init__(self) -> None:
        self._bounds: list[tuple[float, float]] = []
        self._parts: list[Floats] = []

    def put(self, rows: ArrayLike, variables: ArrayLike, value: float | Floats = 1.0) -> None:
        """Give variables a coefficient in rows, counted from the next one to be closed."""
        part = np.broadcast_arrays(np.add(rows, len(self._bounds)), variables, value)
        self._parts.append(np.array([np.atleast_1d(each) for each in part], dtype=float))

    def close(self, bounds: Sequence[tuple[float, float]]) -> None:
        """End some rows, with their lower and upper bounds."""
        self._bounds.extend(bounds)

    def write(self, model: model_pb2.ModelProto) -> None:
        """Write the constraints into a model."""
        constraints = model.linear_constraints
        constraints.ids.extend(range(len(self._bounds)))
        constraints.lower_bounds.extend(lower for lower, _ in self._bounds)
        constraints.upper_bounds.extend(upper for _, upper in self._bounds)
        rows, variables, values = np.concatenate(self._parts, axis=1)
        order = np.lexsort((variables, rows))
        matrix = model.linear_constraint_matrix
        matrix.row_ids.extend(rows[order].astype(int).tolist())
        matrix.column_ids.extend(variables[order].astype(int).tolist())
        matrix.coefficients.extend(values[order].tolist())
