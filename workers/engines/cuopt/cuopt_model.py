"""A problem as a request of cuOpt, and its answer as routes.

Owns the translation. Task `n` is ticket `n`, vehicle `n` is agent `n`; both go by these numbers as names. The cost
matrix of a type of vehicle is what its agents pay for a leg, so the objective is our cost except for waiting and
service that an agent is paid for; the caller prices every plan itself.

Source: the OpenAPI models of cuOpt 26.10 (`OptimizedRoutingData` and `FeasibleResultData`).
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from planner_mcp.routing.problem import Candidate, Feature, LoadKind, Problem, Route, Stop, StopKind
from planner_mcp.text import Json

MAX_CELLS: Final = 40_000_000
"""Numbers in all matrices of a request: some 250 MB of JSON, 60 MB compressed."""
MAX_DIMENSIONS: Final = 3
"""Of capacities, `max_tickets` among them."""
_INT32: Final = 2**31 - 1
_PRIZE_LEGS: Final = 4
"""A ticket is worth no more than this many of the longest legs: cuOpt adds in 32 bits, where more hides the costs."""


def is_in_reach(problem: Problem) -> bool:
    """Return whether a request can hold a problem: by its size, its capacities and its numbers of 32 bits."""
    cells = (len(_cost_types(problem)) * 2) * len(problem.locations) ** 2
    dimensions = len(problem.dimensions) + _has_most_stops(problem)
    latest = max(agent.shift[1] for agent in problem.agents)
    amounts = (amount for agent in problem.agents for amount in agent.capacity)
    return cells <= MAX_CELLS and dimensions <= MAX_DIMENSIONS and max(latest, *amounts, 0) <= _INT32


def unsupported(problem: Problem) -> frozenset[Feature]:
    """Return features that the others of a problem put out of reach."""
    lacking: set[Feature] = set()
    if Feature.SHIPMENTS in problem.features:
        paired = problem.partner_of.keys()
        if any(index not in paired and any(ticket.demand) for index, ticket in enumerate(problem.tickets)):
            lacking.add(Feature.SHIPMENTS)  # what is on board from the depot would count from its stop on
    if any(agent.max_distance is not None and (agent.time_cost or not agent.distance_cost) for agent in problem.agents):
        lacking.add(Feature.MAX_DISTANCE)  # limits hold for the cost of legs, which is a length only there
    return frozenset(lacking)


def request_of(problem: Problem, limit_s: float, start: Candidate | None) -> Json:
    """Return the body of a request.

    Args:
        problem: Within the features of the engine and `is_in_reach`.
        limit_s: Time for the solver.
        start: A plan to start from.
    """
    types = _cost_types(problem)
    costs = {str(number): _costs(problem, *kind).tolist() for kind, number in types.items()}
    times = {str(number): problem.durations[kind[0]].tolist() for kind, number in types.items()}
    objectives: dict[str, float] = {"cost": 1, "vehicle_fixed_cost": 1, "travel_time": 0}
    if Feature.OPTIONAL in problem.features:
        objectives["prize"] = 1
    request: Json = {
        "cost_matrix_data": {"data": costs},
        "travel_time_matrix_data": {"data": times},
        "fleet_data": _fleet(problem, types),
        "task_data": _tasks(problem),
        "solver_config": {"time_limit": round(limit_s, 3), "objectives": objectives},
    }
    if start is not None:
        request["initial_solution"] = [_initial_solution(problem, start)]
    return request


def _cost_types(problem: Problem) -> dict[tuple[int, int, int], int]:
    """Return a number for each (profile, cost of distance, cost of time) that some agent has."""
    kinds = ((agent.profile, agent.distance_cost, agent.time_cost) for agent in problem.agents)
    return {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}


def _costs(problem: Problem, profile: int, per_distance: int, per_time: int) -> Any:
    metres, seconds = (table[profile].astype(np.float64) for table in (problem.distances, problem.durations))
    return per_distance * metres + per_time * seconds


def _has_most_stops(problem: Problem) -> bool:
    return any(agent.max_stops is not None for agent in problem.agents)


def _fleet(problem: Problem, types: Mapping[tuple[int, int, int], int]) -> Json:
    agents = problem.agents
    anywhere = problem.tickets[0].location
    fleet: Json = {
        "vehicle_ids": [str(number) for number in range(len(agents))],
        "vehicle_locations": [
            [anywhere if agent.start is None else agent.start, anywhere if agent.end is None else agent.end]
            for agent in agents
        ],
        "vehicle_types": [types[agent.profile, agent.distance_cost, agent.time_cost] for agent in agents],
        "vehicle_time_windows": [list(agent.shift) for agent in agents],
        # without costs of vehicles cuOpt minimizes their number first
        "vehicle_fixed_costs": [float(agent.fixed_cost) for agent in agents],
        "skip_first_trips": [agent.start is None for agent in agents],
        "drop_return_trips": [agent.end is None for agent in agents],
    }
    capacities = [[agent.capacity[at] for agent in agents] for at in range(len(problem.dimensions))]
    if _has_most_stops(problem):
        most = len(problem.tickets)
        capacities.append([most if agent.max_stops is None else agent.max_stops for agent in agents])
    if capacities:
        fleet["capacities"] = capacities
    if any(agent.max_distance is not None for agent in agents):
        fleet["vehicle_max_costs"] = [
            float(_INT32 if agent.max_distance is None else agent.max_distance * agent.distance_cost)
            for agent in agents
        ]
    if any(agent.max_duration is not None for agent in agents):
        longest = [agent.shift[1] - agent.shift[0] for agent in agents]
        fleet["vehicle_max_times"] = [
            float(whole if agent.max_duration is None else min(whole, agent.max_duration))
            for agent, whole in zip(agents, longest, strict=True)
        ]
    return fleet


def _tasks(problem: Problem) -> Json:
    tickets = problem.tickets
    latest = max(agent.shift[1] for agent in problem.agents)
    tasks: Json = {
        "task_ids": [str(number) for number in range(len(tickets))],
        "task_locations": [ticket.location for ticket in tickets],
        "task_time_windows": [
            [max(0, ticket.windows[0][0]), min(_INT32, ticket.windows[0][1])] if ticket.windows else [0, latest]
            for ticket in tickets
        ],
        "service_times": [ticket.service for ticket in tickets],
    }
    demand = [[_on_board(problem, index, at) for index in range(len(tickets))] for at in range(len(problem.dimensions))]
    if _has_most_stops(problem):
        demand.append([1] * len(tickets))
    if demand:
        tasks["demand"] = demand
    if pairs := [[ticket.pickup, index] for index, ticket in enumerate(tickets) if ticket.pickup is not None]:
        tasks["pickup_and_delivery_pairs"] = pairs
    if restricted := [
        {"order_id": index, "vehicle_ids": sorted(ticket.agents)}
        for index, ticket in enumerate(tickets)
        if ticket.agents is not None
    ]:
        tasks["order_vehicle_match"] = restricted
    if Feature.OPTIONAL in problem.features:
        longest = max(float(_costs(problem, *kind).max()) for kind in _cost_types(problem))
        most = _PRIZE_LEGS * longest + max(agent.fixed_cost for agent in problem.agents)
        tasks["prizes"] = [min(float(ticket.penalty), most) for ticket in tickets]
    return tasks


def _on_board(problem: Problem, index: int, dimension: int) -> int:
    """Return what a stop adds to the load: a delivery of a shipment takes away what its pickup brought."""
    ticket = problem.tickets[index]
    return -ticket.demand[dimension] if ticket.pickup is not None else ticket.demand[dimension]


def _initial_solution(problem: Problem, start: Candidate) -> Json:
    routes: Json = {}
    for route in start.routes:
        agent = problem.agents[route.agent]
        names = [str(ticket) for ticket in route.tickets]
        kinds = [_kind(problem, ticket) for ticket in route.tickets]
        before, after = ([] if end is None else ["Depot"] for end in (agent.start, agent.end))
        routes[str(route.agent)] = {"task_id": [*before, *names, *after], "type": [*before, *kinds, *after]}
    return routes


def _kind(problem: Problem, ticket: int) -> str:
    is_pickup = problem.tickets[ticket].load is LoadKind.PICKUP
    return "Pickup" if is_pickup and ticket in problem.partner_of else "Delivery"


def candidate_of(problem: Problem, answer: Json) -> Candidate | None:
    """Return the plan of a solver's answer; None where it has none.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: It is no such answer.
    """
    if answer.get("status") != 0:
        return None
    routes = []
    for name, vehicle in answer["vehicle_data"].items():
        stops = zip(vehicle["task_id"], vehicle["type"], strict=True)
        tickets = [int(task) for task, kind in stops if kind in ("Delivery", "Pickup")]
        if int(name) not in range(len(problem.agents)) or not {*tickets} <= {*range(len(problem.tickets))}:
            raise ValueError(name)
        if tickets:
            routes.append(Route(int(name), tuple(Stop(StopKind.TICKET, ticket) for ticket in tickets)))
    return Candidate(tuple(sorted(routes, key=lambda route: route.agent)))
