"""Engines as others would run them, to compare ours with: PyVRP and OR-Tools as documented, VROOM, HGS-CVRP.

Owns their translation where ours does not serve. VROOM (`pyvroom`) and HGS-CVRP (`hygese`) are installed for the
benchmark alone (`pip install --group bench`); a rival that is not there, or cannot express a day, is left out.

Kinder than as documented: OR-Tools gets registered matrices, PyVRP our translation of the day.
"""

import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
from ortools.constraint_solver import pywrapcp, routing_enums_pb2

from planner_mcp.routing.problem import AgentSpec, Candidate, Feature, LoadKind, Problem
from workers.engines.engine_interface import SearchLimits
from workers.engines.ortools.ortools_engine import OrToolsEngine
from workers.engines.ortools.ortools_model import OrToolsModel

ReferenceEngine = Callable[[Problem, SearchLimits], Candidate | None]

_HGS: Final = frozenset[Feature]()
_VROOM: Final = frozenset(
    {Feature.TIME_WINDOWS, Feature.SHIFTS, Feature.MULTI_DEPOT, Feature.SHIPMENTS, Feature.MULTI_WINDOWS}
)
FEW_VEHICLES: Final = 120
"""VROOM and HGS-CVRP plan for a fleet of this size where a set has none: one vehicle a ticket would slow them."""


def pyvrp_default(problem: Problem, limits: SearchLimits) -> Candidate | None:
    """PyVRP with the parameters it comes with."""
    from pyvrp import solve
    from pyvrp.stop import MaxRuntime

    from workers.engines.pyvrp.pyvrp_model import PyvrpModel

    day = PyvrpModel(problem)
    stop = MaxRuntime(max(0.01, limits.deadline - time.monotonic()))
    best = solve(day.data, stop, limits.seed, collect_stats=False, display=False).best
    return day.candidate_of(best) if best.is_feasible() else None


def ortools_default(problem: Problem, limits: SearchLimits) -> Candidate | None:
    """OR-Tools as its guide advises: cheapest arcs first, then guided local search."""
    day = OrToolsModel(problem)
    day.build()
    parameters: Any = pywrapcp.DefaultRoutingSearchParameters()
    parameters.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PATH_CHEAPEST_ARC
    parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    parameters.time_limit.FromSeconds(1)  # without any, closing the model complains
    day.close(parameters)
    parameters.time_limit.FromMilliseconds(max(1, int(1000 * (limits.deadline - time.monotonic()))))
    day.routing.solver().ReSeed(limits.seed)
    best: list[Candidate] = []
    day.routing.AddAtSolutionCallback(lambda: best.append(day.candidate()))
    day.routing.SolveWithParameters(parameters)
    return best[-1] if best else None


def hgs(problem: Problem, limits: SearchLimits) -> Candidate | None:
    """HGS-CVRP by `hygese`: one depot, one kind of vehicle, capacity alone."""
    hygese: Any = import_module("hygese")
    depot = problem.agents[0].start
    assert depot is not None
    places = [depot, *(ticket.location for ticket in problem.tickets)]
    matrix = problem.distances[0][np.ix_(places, places)]
    data = {
        "distance_matrix": matrix,
        "num_vehicles": min(len(problem.agents), FEW_VEHICLES + len(problem.tickets) // 4),
        "depot": 0,
        "demands": [0, *(ticket.demand[0] for ticket in problem.tickets)],
        "vehicle_capacity": problem.agents[0].capacity[0],
        "service_times": [0] * len(places),
    }
    seconds = max(0.1, limits.deadline - time.monotonic())
    parameters = hygese.AlgorithmParameters(timeLimit=seconds, seed=limits.seed)
    found = hygese.Solver(parameters=parameters, verbose=False).solve_cvrp(data)
    return Candidate.of_tickets({n: [node - 1 for node in route] for n, route in enumerate(found.routes)})


def vroom(problem: Problem, limits: SearchLimits) -> Candidate | None:
    """VROOM by `pyvroom` at its deepest exploration; it ends when it is done, or at the limit."""
    library: Any = import_module("vroom")
    day = library.Input()
    scale = 1 + max(int(matrix.max()) for matrix in (*problem.distances, *problem.durations)) // 2**30
    day.set_durations_matrix("car", (problem.durations[0] // scale).astype(np.uint32))
    day.set_distances_matrix("car", (problem.distances[0] // scale).astype(np.uint32))
    day.set_costs_matrix("car", (problem.distances[0] // scale).astype(np.uint32))
    for number, agent in enumerate(_few(problem)):
        day.add_vehicle(_vehicle(library, number, agent, scale))
    for number, ticket in enumerate(problem.tickets):
        if ticket.pickup is not None:
            halves = [_step(library, half, problem, scale) for half in (ticket.pickup, number)]
            day.add_shipment(*halves, amount=library.Amount(list(ticket.demand)))
        elif number not in {other.pickup for other in problem.tickets}:
            day.add_job(_job(library, number, problem, scale))
    from datetime import timedelta

    found = day.solve(5, 1, timeout=timedelta(seconds=max(0.1, limits.deadline - time.monotonic())))
    return _read(found.routes)


def _few(problem: Problem) -> list[AgentSpec]:
    is_unlimited = len(problem.agents) == len(problem.tickets)
    return list(problem.agents[:FEW_VEHICLES] if is_unlimited and len(set(_likeness(problem))) == 1 else problem.agents)


def _likeness(problem: Problem) -> list[tuple[object, ...]]:
    return [(agent.capacity, agent.start, agent.fixed_cost, agent.distance_cost) for agent in problem.agents]


def _vehicle(library: Any, number: int, agent: AgentSpec, scale: int) -> Any:
    return library.Vehicle(
        number,
        start=agent.start,
        end=agent.end,
        capacity=list(agent.capacity),
        time_window=library.TimeWindow(*(min(time // scale, 2**31) for time in agent.shift)),
        costs=library.VehicleCosts(fixed=agent.fixed_cost // scale),
    )


def _windows(library: Any, number: int, problem: Problem, scale: int) -> dict[str, Any]:
    windows = problem.tickets[number].windows
    return {"time_windows": [library.TimeWindow(a // scale, b // scale) for a, b in windows]} if windows else {}


def _job(library: Any, number: int, problem: Problem, scale: int) -> Any:
    ticket = problem.tickets[number]
    amount = {"pickup" if ticket.load is LoadKind.PICKUP else "delivery": library.Amount(list(ticket.demand))}
    more = _windows(library, number, problem, scale)
    return library.Job(number, ticket.location, default_service=ticket.service // scale, **amount, **more)


def _step(library: Any, number: int, problem: Problem, scale: int) -> Any:
    ticket = problem.tickets[number]
    more = _windows(library, number, problem, scale)
    return library.ShipmentStep(number, ticket.location, default_service=ticket.service // scale, **more)


def _read(routes: Any) -> Candidate | None:
    """Return the steps that carry a ticket, by vehicle."""
    served = routes[routes["type"].isin(["job", "pickup", "delivery"])]
    by_vehicle: dict[int, list[int]] = {}
    for vehicle, ticket in zip(served["vehicle_id"], served["id"], strict=True):
        by_vehicle.setdefault(int(vehicle), []).append(int(ticket))
    return Candidate.of_tickets(by_vehicle)


REFERENCE_ENGINES: Final[dict[str, tuple[ReferenceEngine, str, frozenset[Feature]]]] = {
    "pyvrp-default": (pyvrp_default, "pyvrp", frozenset(Feature)),
    "ortools-default": (ortools_default, "ortools", OrToolsEngine.features),
    "hgs": (hgs, "hygese", _HGS),
    "vroom": (vroom, "vroom", _VROOM),
}
"""Rivals by name, each with its library and the features it is given."""


def can_run(name: str, problem: Problem) -> bool:
    """Return whether a rival is installed and knows every feature of a day."""
    _, library, features = REFERENCE_ENGINES[name]
    return find_spec(library) is not None and problem.features <= features
