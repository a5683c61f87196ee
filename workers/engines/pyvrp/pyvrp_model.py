"""Translates a `Problem` into PyVRP's data, and solutions into candidates.

Owns the translation and nothing of the search. Each ticket has a location of its own in the matrices, then each depot,
then one location with free arcs for open ends of routes. Identical agents become one vehicle type.

Departures from the plain use of the library, each required by the model of `routing/problem.py`:
1. Setup time is part of the arc, since it is spent only where the location changes. It is also spent after a reload at
   the ticket's own location, where the model requires none: plans are conservative there.
2. Forbidden service (skills, a pickup before a delivery with backhaul) is an arc longer than any shift.
3. Wanted tickets are required at first. Where no plan serves them all, they get prizes instead, limited to the scale of
   real detours so that the search still distinguishes plans.
4. A shipment is left out as a whole, so it is wanted where either of its tickets is.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from math import log
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pyvrp import (
    Activity,
    ActivityType,
    Client,
    CostEvaluator,
    Depot,
    Location,
    ProblemData,
    Shipment,
    Solution,
    VehicleType,
)
from pyvrp import Route as PyvrpRoute

from planner_mcp.routing.problem import AgentSpec, Candidate, LoadKind, Problem, Route, Stop, StopKind, TicketSpec

MIN_PRIZE_IN_LEGS: Final = 10
"""The smallest prize of a wanted ticket, in longest arcs."""
DEFAULT_MAX_PENALTY: Final = 100_000.0
MAX_PENALTIES: Final = 1 << 60
"""Largest total penalty of one constraint in one plan: the library adds constraints and compares plans in 64 bits."""
MAX_PRIZES: Final = 1 << 52
"""Largest sum of all prizes: exact in a float as well."""
UNLIMITED: Final = int(np.iinfo(np.int64).max)
Matrix = NDArray[np.int64]
PyvrpMatrix = Any  # its stub says `ndarray[int]`, which no array is


class PyvrpModel:
    """PyVRP's data of one problem.

    Args:
        problem: A problem whose features are all supported by the engine.
        is_complete: Whether tickets without a caller's penalty must be served.
    """

    def __init__(self, problem: Problem, *, is_complete: bool = True) -> None:
        self.problem = problem
        self._is_complete = is_complete
        self._depots = _depot_numbers(problem)
        self._shipments = [number for number, ticket in enumerate(problem.tickets) if ticket.pickup is not None]
        shipment_tickets = {half for number in self._shipments for half in (number, problem.tickets[number].pickup)}
        self._clients = [number for number in range(len(problem.tickets)) if number not in shipment_tickets]
        self._types = self._identical_agents()
        self.data = self._build()
        self._evaluator = CostEvaluator([0.0] * len(problem.dimensions), 0.0, 0.0)

    @property
    def max_penalty(self) -> float:
        """The largest penalty of one unit of violation: above any prize or detour, so that violations do not pay.

        Limited so that the cost of a plan with the largest violation still fits into 64 bits.
        """
        prizes = [self._prize(ticket) for ticket in self.problem.tickets]
        wish = max(DEFAULT_MAX_PENALTY, self._extra_vehicle_cost, 2 * max(prizes))
        return min(wish, MAX_PENALTIES // self._max_violation)

    # ---- solutions

    def cost_of(self, solution: Solution) -> int:
        """Return the cost of a feasible solution, including uncollected prizes."""
        return int(self._evaluator.cost(solution))

    def candidate_of(self, solution: Solution) -> Candidate:
        """Return a solution as routes of agents."""
        free = {kind: iter(agents) for kind, agents in enumerate(self._types.values())}
        routes = [Route(next(free[route.vehicle_type()]), tuple(self._stops(route))) for route in solution.routes()]
        return Candidate(tuple(sorted(routes, key=lambda route: route.agent)))

    def solution_of(self, candidate: Candidate) -> Solution:
        """Return a candidate as a start of the search."""
        kind_of = {agent: kind for kind, agents in enumerate(self._types.values()) for agent in agents}
        routes = [
            PyvrpRoute(self.data, [self._activity(stop) for stop in route.stops], kind_of[route.agent])
            for route in candidate.routes
        ]
        return Solution(self.data, routes)

    def _stops(self, route: PyvrpRoute) -> Iterator[Stop]:
        steps = list(route)[1:-1]
        for step in steps:
            if step.type == ActivityType.CLIENT:
                yield Stop(StopKind.TICKET, self._clients[step.idx])
            elif step.type == ActivityType.DEPOT:
                yield Stop(StopKind.RELOAD, self._place_of_depot[step.idx])
            else:
                delivery = self._shipments[step.idx]
                pickup = self.problem.tickets[delivery].pickup
                yield Stop(
                    StopKind.TICKET, pickup if step.type == ActivityType.PICKUP and pickup is not None else delivery
                )

    def _activity(self, stop: Stop) -> Activity:
        if stop.kind is StopKind.RELOAD:
            return Activity(ActivityType.DEPOT, self._depots[stop.index])
        return self._activities[stop.index]

    @cached_property
    def _activities(self) -> dict[int, Activity]:
        """The activity of each ticket."""
        found = {ticket: Activity(ActivityType.CLIENT, index) for index, ticket in enumerate(self._clients)}
        for index, delivery in enumerate(self._shipments):
            found[delivery] = Activity(ActivityType.DELIVERY, index)
            if (pickup := self.problem.tickets[delivery].pickup) is not None:
                found[pickup] = Activity(ActivityType.PICKUP, index)
        return found

    @cached_property
    def _place_of_depot(self) -> list[int]:
        return [-1 if place is None else place for place in self._depots]

    # ---- data

    def _build(self) -> ProblemData:
        tickets = self.problem.tickets
        profiles = list(dict.fromkeys(key[-2:] for key in self._types))
        return ProblemData(
            locations=[Location(0, 0) for _ in self._places],
            clients=[self._client(number, tickets[number]) for number in self._clients],
            depots=[Depot(len(tickets) + number) for number in range(len(self._depots))],
            vehicle_types=[
                self._vehicle_type(self.problem.agents[agents[0]], len(agents), profiles.index(key[-2:]))
                for key, agents in self._types.items()
            ],
            distance_matrices=[self._distances(profile) for profile, _ in profiles],
            duration_matrices=[self._durations(profile, forbidden) for profile, forbidden in profiles],
            shipments=[self._shipment(number) for number in self._shipments],
        )

    def _identical_agents(self) -> dict[tuple[Any, ...], list[int]]:
        """Return the agents of each vehicle type. A key ends with the profile and the forbidden tickets."""
        forbidden: defaultdict[int, list[int]] = defaultdict(list)
        everyone = frozenset(range(len(self.problem.agents)))
        for number, ticket in enumerate(self.problem.tickets):
            eligible = frozenset() if self._is_unservable(ticket) else ticket.agents
            for ineligible_agent in () if eligible is None else everyone - eligible:
                forbidden[ineligible_agent].append(number)
        types: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
        for number, agent in enumerate(self.problem.agents):
            types[*_identity_key(agent), agent.profile, tuple(forbidden[number])].append(number)
        return dict(types)

    def _client(self, number: int, ticket: TicketSpec) -> Client:
        opens, closes = ticket.windows[0] if ticket.windows else (0, self._horizon)
        return Client(
            location=number,
            delivery=list(ticket.demand) if ticket.load is LoadKind.DELIVERY else [],
            pickup=list(ticket.demand) if ticket.load is LoadKind.PICKUP else [],
            service_duration=ticket.service,
            tw_early=opens,
            tw_late=closes,
            release_time=min(ticket.release, closes),
            prize=self._prize(ticket),
            required=self._is_complete and not ticket.is_priced,
        )

    def _shipment(self, number: int) -> Shipment:
        delivery = self.problem.tickets[number]
        assert delivery.pickup is not None  # noqa: S101 — that is what makes it a shipment
        pickup = self.problem.tickets[delivery.pickup]
        (pickup_opens, pickup_closes), (opens, closes) = (
            half.windows[0] if half.windows else (0, self._horizon) for half in (pickup, delivery)
        )
        return Shipment(
            pickup_location=delivery.pickup,
            delivery_location=number,
            pickup_tw_early=min(pickup_opens, closes),
            pickup_tw_late=pickup_closes,
            pickup_service_duration=pickup.service,
            delivery_tw_early=opens,
            delivery_tw_late=closes,
            delivery_service_duration=delivery.service,
            amount=list(delivery.demand),
            prize=self._prize(pickup) + self._prize(delivery),
            required=self._is_complete and not (delivery.is_priced and pickup.is_priced),
        )

    def _is_unservable(self, ticket: TicketSpec) -> bool:
        """Return whether a ticket closes before it is released or opens; the library refuses such clients."""
        if ticket.release > (ticket.windows[0][1] if ticket.windows else self._horizon):
            return True
        if ticket.pickup is None or not ticket.windows:
            return False
        pickup = self.problem.tickets[ticket.pickup]
        return bool(pickup.windows) and ticket.windows[0][1] < pickup.windows[0][0]

    def _prize(self, ticket: TicketSpec) -> int:
        if ticket.is_priced:
            return ticket.penalty
        return 0 if self._is_complete else self._prizes[ticket.penalty]

    @cached_property
    def _prizes(self) -> dict[int, int]:
        """The prize of a wanted ticket, by its penalty; at least the smallest prize.

        Proportional to the penalties, or compressed by a power where the largest would be too large.
        """
        penalties = sorted({ticket.penalty for ticket in self.problem.tickets if not ticket.is_priced})
        if not penalties:
            return {}
        least = min(self._min_prize, penalties[0])
        ratio = penalties[-1] / penalties[0]
        spread = max(1.0, min(ratio, MAX_PRIZES / (least * len(self.problem.tickets))))
        power = log(spread) / log(ratio) if ratio > 1 else 1.0
        return {penalty: int(least * (penalty / penalties[0]) ** power) for penalty in penalties}

    @cached_property
    def _min_prize(self) -> int:
        """The smallest prize, which makes leaving out a wanted ticket the last choice: detours plus other prizes."""
        other_prizes = sum(ticket.penalty for ticket in self.problem.tickets if ticket.is_priced)
        return MIN_PRIZE_IN_LEGS * self._longest_leg + self._max_fixed_cost + other_prizes

    @property
    def _extra_vehicle_cost(self) -> int:
        """The cost of satisfying a constraint by another vehicle."""
        return 2 * self._longest_leg + self._max_fixed_cost

    @cached_property
    def _longest_leg(self) -> int:
        agents = self.problem.agents
        arc = max(int(matrix.max()) for matrix in self.problem.distances) * max(a.distance_cost for a in agents)
        return arc + max(int(matrix.max()) for matrix in self.problem.durations) * max(a.time_cost for a in agents) + 1

    @property
    def _max_fixed_cost(self) -> int:
        return max(agent.fixed_cost for agent in self.problem.agents)

    @cached_property
    def _max_violation(self) -> int:
        """Upper bound of the violation of one constraint, in units of time, distance or load."""
        tickets = self.problem.tickets
        stops = len(tickets) + len(self.problem.agents)
        leg = max(int(matrix.max()) for matrix in self.data.distance_matrices())
        late = max(int(matrix.max()) for matrix in self.data.duration_matrices()) + max(t.service for t in tickets)
        loads = (sum(ticket.demand[d] for ticket in tickets) for d in range(len(self.problem.dimensions)))
        return max(1, stops * leg, stops * late, *loads)

    def _vehicle_type(self, agent: AgentSpec, count: int, profile: int) -> VehicleType:
        return VehicleType(
            num_available=count,
            capacity=list(agent.capacity),
            start_depot=self._depots[agent.start],
            end_depot=self._depots[agent.end],
            fixed_cost=agent.fixed_cost,
            tw_early=agent.shift[0],
            tw_late=agent.shift[1],
            unit_distance_cost=agent.distance_cost,
            unit_duration_cost=agent.time_cost,
            profile=profile,
            reload_depots=[self._depots[place] for place in agent.reload_at],
            max_reloads=agent.max_reloads,
            max_distance=UNLIMITED if agent.max_distance is None else agent.max_distance,
            shift_duration=UNLIMITED if agent.max_duration is None else agent.max_duration,
        )

    # ---- travel

    @cached_property
    def _horizon(self) -> int:
        return max(agent.shift[1] for agent in self.problem.agents)

    @cached_property
    def _forbidden_duration(self) -> int:
        """A duration longer than any shift."""
        return 2 * self._horizon + 1

    @cached_property
    def _places(self) -> Matrix:
        """Location of each ticket and depot; -1 for open ends."""
        return np.array([*(ticket.location for ticket in self.problem.tickets), *self._place_of_depot], dtype=np.int64)

    def _expand(self, matrix: Matrix) -> Matrix:
        """Expand a matrix over locations to one over tickets and depots, with free arcs to and from open ends."""
        expanded = matrix[np.ix_(self._places, self._places)].astype(np.int64)  # also a narrow table
        is_open_end = self._places < 0
        expanded[is_open_end, :] = 0
        expanded[:, is_open_end] = 0
        np.fill_diagonal(expanded, 0)
        return expanded

    def _distances(self, profile: int) -> PyvrpMatrix:
        return self._expand(self.problem.distances[profile])

    def _durations(self, profile: int, forbidden: tuple[int, ...]) -> PyvrpMatrix:
        tickets = self.problem.tickets
        travel = self._expand(self.problem.durations[profile])
        setup = np.array([*(ticket.setup for ticket in tickets), *(0 for _ in self._depots)], dtype=np.int64)
        is_ticket = np.arange(len(self._places)) < len(tickets)
        is_elsewhere = (self._places[:, None] != self._places[None, :]) | ~is_ticket[:, None]
        travel += setup[None, :] * is_elsewhere
        if self.problem.backhaul:
            loads = np.array([ticket.load is LoadKind.PICKUP for ticket in tickets])
            travel[: len(tickets), : len(tickets)][np.ix_(loads, ~loads)] = self._forbidden_duration
        if forbidden:
            travel[list(forbidden), :] = self._forbidden_duration
            travel[:, list(forbidden)] = self._forbidden_duration
        np.fill_diagonal(travel, 0)
        return travel


def _depot_numbers(problem: Problem) -> dict[int | None, int]:
    """Return a number for each location where routes start, end or reload, and for None where one is open."""
    places = [place for agent in problem.agents for place in (agent.start, agent.end, *agent.reload_at)]
    return {place: number for number, place in enumerate(dict.fromkeys(places))}


def _identity_key(agent: AgentSpec) -> tuple[Any, ...]:
    """Return everything that makes two agents interchangeable, apart from travel and skills."""
    return (
        agent.capacity,
        (agent.start, agent.end, agent.shift),
        (agent.fixed_cost, agent.distance_cost, agent.time_cost),
        (agent.max_distance, agent.max_duration),
        (agent.reload_at, agent.max_reloads),
    )
