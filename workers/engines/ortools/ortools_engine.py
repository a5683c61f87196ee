"""OR-Tools routing: the library engine with the most constraints.

Owns the search and its parameters; the model is `workers/engines/ortools/ortools_model.py`. The library holds the GIL
for a whole search, so only the solution callback runs meanwhile. It reports improvements and asks `should_stop`, tens
of times a second once a first plan exists. The library cannot interrupt its iterated local search before the time
limit: when `should_stop` is true, improvements end, and the process has to be killed from outside.
"""

import time
from typing import Any, Final

from ortools.constraint_solver import pywrapcp, routing_enums_pb2, routing_parameters_pb2

from planner_mcp.routing.engine_features import ENGINE_FEATURES
from planner_mcp.routing.evaluation.plan_builder import price
from planner_mcp.routing.problem import Candidate, Feature, GroupKind, Problem
from workers.engines.engine_interface import (
    OnImprovement,
    SearchLimits,
    SearchOutcome,
    ShouldStop,
    StopReason,
    version_of,
)
from workers.engines.heuristics.best_verified import is_feasible
from workers.engines.ortools.ortools_model import OrToolsModel

BACKHAUL_SHIPMENTS: Final = frozenset({Feature.BACKHAUL, Feature.SHIPMENTS})
"""A shipment between a pickup and a delivery hides their order from the forbidden arcs of a backhaul."""
GUIDED_SEARCH_TICKETS: Final = 20
"""Tickets up to which guided local search is used: on few tickets ruin and recreate has nothing to remove, and
simulated annealing stays in the first local optimum."""
MEAN_REMOVED_VISITS: Final = 15
"""Mean number of visits removed in each ruin; best in experiments on eight sets of instances."""
NEIGHBOUR_SHARE: Final = 0.05
"""Share of the tickets tried as neighbours in the first plan: faster and better than all of them."""
MIN_NEIGHBOURS: Final = 20
MAX_AGENT_LEGS: Final = 20_000_000
"""Largest number of legs over all agents with cost matrices of their own; more would take gigabytes."""
_DISABLED_OPERATORS: Final = (
    "use_lin_kernighan",
    "use_relocate_expensive_chain",
    "use_relocate_subtrip",
    "use_exchange_subtrip",
    "use_global_cheapest_insertion_path_lns",
    "use_local_cheapest_insertion_path_lns",
    "use_relocate_path_global_cheapest_insertion_insert_unperformed",
    "use_global_cheapest_insertion_visit_types_lns",
    "use_local_cheapest_insertion_visit_types_lns",
)
"""Operators whose time exceeds their benefit beside ruin and recreate."""
_BOOL_FALSE: Final = 2


class OrToolsEngine:
    """The routing library of OR-Tools with iterated local search.

    The temperature of its simulated annealing depends on the clock, so runs with one seed diverge.
    """

    name = "ortools"
    features = ENGINE_FEATURES["ortools"]

    def missing(self, problem: Problem) -> frozenset[Feature]:
        """Return the features of a problem that it does not support.

        It supports ONE_OF groups only, and preferences only on problems that are not too large.
        """
        unsupported = problem.features - self.features
        if any(group.kind is GroupKind.ALL for group in problem.groups):
            unsupported |= {Feature.GROUPS}
        if problem.features >= BACKHAUL_SHIPMENTS:
            unsupported |= BACKHAUL_SHIPMENTS
        if Feature.PREFERENCES in problem.features and len(problem.agents) * len(problem.tickets) ** 2 > MAX_AGENT_LEGS:
            unsupported |= {Feature.PREFERENCES}
        return unsupported

    def is_available(self) -> bool:
        """Return True: the library is a dependency of the planner."""
        return True

    def versions(self) -> dict[str, str]:
        """Return the version of OR-Tools."""
        return {self.name: version_of("ortools")}

    def solve(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> SearchOutcome:
        """Search until the deadline. After `should_stop` there are no improvements, and it returns at the deadline."""
        model = OrToolsModel(problem)
        callback = _SolutionCallback(model, limits.deadline, on_improvement, should_stop)
        if warm_start is not None:
            callback.begin_with(warm_start)
        model.build()
        parameters = search_parameters(len(problem.tickets))
        model.close(parameters)
        start = None if warm_start is None or _is_thinned(problem, warm_start) else model.assignment_of(warm_start)
        model.routing.AddAtSolutionCallback(callback.on_solution)
        left_s = limits.deadline - time.monotonic()
        if should_stop() or left_s <= 0:
            return SearchOutcome(callback.best, StopReason.STOPPED if should_stop() else StopReason.TIME_LIMIT)
        parameters.time_limit.FromMilliseconds(max(1, int(left_s * 1000)))
        model.routing.solver().ReSeed(limits.seed)
        search(model, parameters, start)
        reason = StopReason.STOPPED if callback.is_stopped else StopReason.TIME_LIMIT
        return SearchOutcome(callback.best, reason, callback.solutions)


class _SolutionCallback:
    """Reads each better solution inside the solution callback."""

    def __init__(
        self, model: OrToolsModel, deadline: float, on_improvement: OnImprovement, should_stop: ShouldStop
    ) -> None:
        self._model = model
        self._deadline = deadline
        self._on_improvement = on_improvement
        self._should_stop = should_stop
        self._best_cost: int | None = None
        """Of the model, which caps penalties: it is not comparable with the price of a plan from elsewhere."""
        self._price_to_beat: int | None = None
        """Price of the warm start, until a solution is cheaper."""
        self.best: Candidate | None = None
        self.solutions = 0
        self.is_stopped = False

    def begin_with(self, warm_start: Candidate) -> None:
        """Report a feasible plan before the search: the library may find no solution of its own in time."""
        problem = self._model.problem
        if is_feasible(problem, warm_start):
            self.best, self._price_to_beat = warm_start, price(problem, warm_start)
            self._on_improvement(warm_start)

    def on_solution(self) -> None:
        self.solutions += 1
        cost = self._model.cost()
        if cost is not None and (self._best_cost is None or cost < self._best_cost) and self._model.is_timed():
            candidate = self._model.candidate()
            if self._holds(candidate):
                self._best_cost = cost  # also where the warm start is cheaper: what costs more need not be read
                if self._beats_warm_start(candidate):
                    self.best, self._price_to_beat = candidate, None
                    self._on_improvement(candidate)
        self.is_stopped = self.is_stopped or self._should_stop()
        if self.is_stopped or time.monotonic() >= self._deadline:  # the first descent ignores the time limit
            self._model.routing.CancelSearch()

    def _beats_warm_start(self, candidate: Candidate) -> bool:
        return self._price_to_beat is None or price(self._model.problem, candidate) < self._price_to_beat

    def _holds(self, candidate: Candidate) -> bool:
        problem = self._model.problem
        is_certain = Feature.MIN_LOAD not in problem.features and not self._model.has_break_during_setup()
        return is_certain or is_feasible(problem, candidate)


def _is_thinned(problem: Problem, plan: Candidate) -> bool:
    """Return whether a plan leaves out wanted tickets, which some agent may serve, where agents have least loads.

    Such tickets need whole new routes, which guided local search does not find; it is better to begin anew.
    """
    served = plan.tickets
    left_out = (ticket for number, ticket in enumerate(problem.tickets) if number not in served)
    return Feature.MIN_LOAD in problem.features and any(
        ticket.penalty and not ticket.is_priced and ticket.agents != frozenset() for ticket in left_out
    )


def search_parameters(tickets: int) -> Any:
    """Return the parameters: parallel cheapest insertion, then SISR ruin and recreate with simulated annealing.

    They were the best in experiments on eight sets of instances.
    """
    strategies = routing_enums_pb2.FirstSolutionStrategy
    parameters: routing_parameters_pb2.RoutingSearchParameters = pywrapcp.DefaultRoutingSearchParameters()
    parameters.first_solution_strategy = strategies.PARALLEL_CHEAPEST_INSERTION
    parameters.global_cheapest_insertion_first_solution_parameters.neighbors_ratio = NEIGHBOUR_SHARE
    parameters.global_cheapest_insertion_first_solution_parameters.min_neighbors = MIN_NEIGHBOURS
    parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GREEDY_DESCENT
    for operator in _DISABLED_OPERATORS:
        setattr(parameters.local_search_operators, operator, _BOOL_FALSE)
    parameters.use_iterated_local_search = True
    ils = parameters.iterated_local_search_parameters
    ruin = ils.ruin_recreate_parameters.ruin_strategies.add().sisr
    ruin.max_removed_sequence_size = 10
    ruin.avg_num_removed_visits = max(1, min(MEAN_REMOVED_VISITS, tickets // 2))
    ruin.bypass_factor = 0.01
    ils.ruin_recreate_parameters.recreate_strategy.heuristic = strategies.PARALLEL_CHEAPEST_INSERTION
    ils.improve_perturbed_solution = True
    ils.reference_solution_acceptance_strategy.simulated_annealing.automatic_temperatures = True
    return parameters


def search(model: OrToolsModel, parameters: Any, start: Any | None) -> None:
    """Search by iterated local search or, from a warm start or on few tickets, by guided local search."""
    if start is None and len(model.problem.tickets) > GUIDED_SEARCH_TICKETS:
        model.routing.SolveWithIteratedLocalSearch(parameters)
        return
    parameters.use_iterated_local_search = False
    parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    if start is None:
        model.routing.SolveWithParameters(parameters)
    else:
        model.routing.SolveFromAssignmentWithParameters(start, parameters)
