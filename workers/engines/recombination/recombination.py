"""Recombination: OR-Tools chooses the best plan among the routes that all searches of a solve found.

Owns the pool of one solve, and which of its routes a solver sees. The relaxation prices the newest routes; whole routes
are chosen among those of lowest reduced cost, with the incumbent as start. The answer is a candidate like that of an
engine: the caller prices and verifies it.
"""

import time
from collections import deque
from collections.abc import Iterable
from typing import Final

import numpy as np

from planner_mcp.routing.evaluation.plan_builder import price
from planner_mcp.routing.plan import RecombinationRecord
from planner_mcp.routing.problem import Candidate, Problem, Route
from workers.engines.engine_interface import ShouldStop
from workers.engines.native.native_arrays import Numbers
from workers.engines.recombination.master_model import MasterModel
from workers.engines.recombination.master_solver import MasterSolver
from workers.engines.recombination.route_pool import Column, RoutePool, route_log

NAME: Final = "recombination"
"""Name of the finder in plans found by recombination."""
PRICED_PER_S: Final = 10_000
"""Routes of the pool, the newest, that are priced for each second of a pause."""
MAX_PRICED: Final = 6000
"""Most routes that are priced: 0.2 to 0.7 s of CPU."""
MAX_CANDIDATES: Final = 100
"""Candidates of searches whose routes are added, the newest."""
CHOICES: Final = (500, 1000)
"""Routes to choose from, few and then, from the better plan, more: 0.05 and 0.1 s of CPU, sometimes 1 s."""


class Recombination:
    """The recombination of one solve.

    Args:
        problem: The problem.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._logs: list[Numbers] = []
        self._candidates: deque[Candidate] = deque(maxlen=MAX_CANDIDATES)
        self._pool = RoutePool(problem)
        self.record = RecombinationRecord()

    def logs(self, count: int) -> list[Numbers]:
        """Return a buffer for each of `count` parallel searches; `improved` reads them."""
        self._logs.extend(route_log() for _ in range(count - len(self._logs)))
        return self._logs[:count]

    def add(self, candidate: Candidate) -> None:
        """Take a candidate of a search, for the routes of engines that log none."""
        self._candidates.append(candidate)

    def improved(self, incumbent: Candidate, deadline: float, should_stop: ShouldStop) -> Candidate:
        """Return the best plan that the routes of all searches make, the incumbent where none better is found in time.

        Raises:
            EngineError: A solver failed.
        """
        began, solver = time.monotonic(), MasterSolver(deadline, should_stop)
        for log in self._logs:
            self._pool.add_logged(log)
        while self._candidates:
            self._pool.add_candidate(self._candidates.popleft())
        self._pool.keep_newest(min(MAX_PRICED, round(PRICED_PER_S * (deadline - began))))
        best = self._best(solver, incumbent)
        before, after = (price(self._problem, candidate) for candidate in (incumbent, best))
        self.record = RecombinationRecord(
            max(self.record.columns, len(self._pool)),
            self.record.solves + solver.solves,
            round(self.record.seconds + time.monotonic() - began, 3),
            round(self.record.gain_percent + 100 * (before - after) / max(1, before), 4),
        )
        return best

    def _best(self, solver: MasterSolver, incumbent: Candidate) -> Candidate:
        """Return the best plan found, the incumbent where there is no better one."""
        current = self._pool.add_candidate(incumbent)
        if not (columns := self._pool.columns):
            return incumbent
        cap = 2 * sum(column.cost for column in current) + max(column.cost for column in columns)
        master = MasterModel(self._problem, self._pool.types, incumbent.tickets, cap)
        if (reduced_costs := solver.reduced_costs(master.model(columns, is_integer=False))) is None:
            return incumbent
        by_reduced_cost = np.argsort(reduced_costs[: len(columns)], kind="stable")
        best = incumbent
        for count in CHOICES:
            choice = [*dict.fromkeys([*current, *(columns[number] for number in by_reduced_cost[:count])])]
            numbers = solver.chosen(master.model(choice, is_integer=True), range(len(current)))
            if numbers is None:
                break
            found = [choice[number] for number in numbers if number < len(choice)]
            candidate = self._candidate(found)
            if price(self._problem, candidate) < price(self._problem, best):
                best, current = candidate, found
        return best

    def _candidate(self, columns: Iterable[Column]) -> Candidate:
        """Return the plan of some columns; each goes to its own agent, or to another of its type that is free."""
        free = dict.fromkeys(range(len(self._problem.agents)))
        routes, displaced = [], []
        for column in columns:
            route = column.route(self._problem)
            if route.agent in free:
                del free[route.agent]
                routes.append(route)
            else:
                displaced.append((column.type, route))
        for type_number, route in displaced:
            agent = next(agent for agent in free if self._pool.types[agent] == type_number)
            del free[agent]
            routes.append(Route(agent, route.stops))
        return Candidate(tuple(sorted(routes, key=lambda route: route.agent)))
