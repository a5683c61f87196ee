"""Solves set-partitioning models with OR-Tools: GLOP for the relaxation, HiGHS for whole routes.

Owns the calls and their time limit. A solver releases the GIL and runs in a thread of its own, so that a stop request
is noticed at once. The thread of a stopped solve is left to end by its time limit, because in OR-Tools 9.15 HiGHS has
no interruption and GSCIP fails with one.
"""

import threading
import time
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray
from ortools.math_opt import model_pb2
from ortools.math_opt.python import mathopt

from planner_mcp.errors import EngineError
from workers.engines.engine_interface import ShouldStop

POLL_S: Final = 0.01
_CHOSEN: Final = 0.5
"""Value from which on a variable counts as 1."""


class MasterSolver:
    """The solvers of one recombination.

    Args:
        deadline: `time.monotonic()` by which to end.
        should_stop: Polled while a solver works.
    """

    def __init__(self, deadline: float, should_stop: ShouldStop) -> None:
        self._deadline = deadline
        self._should_stop = should_stop
        self.solves = 0

    def reduced_costs(self, proto: model_pb2.ModelProto) -> NDArray[np.float64] | None:
        """Return the reduced costs of the variables of a linear model, None where it is not solved in time."""
        result = self._solve(mathopt.Model.from_model_proto(proto), mathopt.SolverType.GLOP)
        if result is None or result.termination.reason is not mathopt.TerminationReason.OPTIMAL:
            return None
        costs = result.reduced_costs()
        return np.array([costs[variable] for variable in sorted(costs, key=_id)])

    def chosen(self, proto: model_pb2.ModelProto, start: Iterable[int]) -> list[int] | None:
        """Return the numbers of the variables that are 1 in the best solution found, None without one in time.

        Args:
            proto: The integer model.
            start: The variables that are 1 in a first solution.
        """
        model, ones = mathopt.Model.from_model_proto(proto), set(start)
        variables = sorted(model.variables(), key=_id)
        values = {variable: float(number in ones) for number, variable in enumerate(variables)}
        hint = mathopt.ModelSolveParameters(solution_hints=[mathopt.SolutionHint(variable_values=values)])
        result = self._solve(model, mathopt.SolverType.HIGHS, hint)
        if result is None or not result.has_primal_feasible_solution():
            return None
        found = result.variable_values()
        return [number for number, variable in enumerate(variables) if found[variable] > _CHOSEN]

    def _solve(
        self,
        model: mathopt.Model,
        solver: mathopt.SolverType,
        hint: mathopt.ModelSolveParameters | None = None,
    ) -> mathopt.SolveResult | None:
        """Run a solver in a thread; None where no time is left or the caller asked to stop.

        Raises:
            EngineError: The solver failed.
        """
        if (left_s := self._deadline - time.monotonic()) <= 0 or self._should_stop():
            return None
        params = mathopt.SolveParameters(time_limit=timedelta(seconds=left_s))
        results: list[mathopt.SolveResult | Exception] = []

        def solve() -> None:
            try:
                results.append(mathopt.solve(model, solver, params=params, model_params=hint))
            except Exception as error:  # noqa: BLE001 — raised again by the thread that waits
                results.append(error)

        thread = threading.Thread(target=solve, name="recombination", daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(POLL_S)
            if self._should_stop():
                return None
        self.solves += 1
        if isinstance(results[0], Exception):
            raise EngineError("Recombination failed.") from results[0]
        return results[0]


def _id(variable: mathopt.Variable) -> int:
    return int(variable.id)
