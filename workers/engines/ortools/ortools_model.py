"""Translates a `Problem` into a model of OR-Tools' routing library.

Owns the translation and nothing of the search. Costs are registered as matrices and amounts as vectors, which the
search reads without Python. Times and distances are the `item` method of an array, which is compiled code as well.
Nodes are the tickets, then one node for each depot location, then one node with free arcs for open ends of routes.

Departures from the plain use of the library, each required by the model of `routing/problem.py`:
1. The time dimension counts the *start of service*. Setup time is part of the arc, since it is spent only where the
   location changes. A break may interrupt arcs, so such a plan is verified before it is reported.
2. Times and distances are not registered as matrices. The library copies a registered evaluator whenever it propagates
   the times of a route: of a matrix all of it (8 MB and 2 ms with 1,000 tickets), of a Python function a pointer.
3. With deliveries and pickups, the load at the start equals the deliveries of the whole route.
4. Penalties are limited so that their sum fits into 64 bits.
5. A ticket that opens after the latest shift end has no vehicle: a bound on its time would make the model infeasible.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from ortools.constraint_solver import pywrapcp

from planner_mcp.routing.problem import Candidate, Feature, LoadKind, Problem, Route, Stop, StopKind

UNASSIGNED_VEHICLE: Final = -1
"""Vehicle of an unassigned ticket."""
_MAX_TOTAL_PENALTY: Final = 1 << 60
_TIME_FEATURES: Final = frozenset(
    {
        Feature.TIME_WINDOWS,
        Feature.MULTI_WINDOWS,
        Feature.SOFT_WINDOWS,
        Feature.TIME_COST,
        Feature.SHIFTS,
        Feature.OVERTIME,
        Feature.MAX_DURATION,
        Feature.BREAKS,
        Feature.BALANCE,
    }
)
"""Features that need the time dimension; without any of them it is left out of the model."""


class OrToolsModel:
    """The routing model of one problem.

    Args:
        problem: A problem whose features are all supported by the engine.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._depots = _depot_nodes(problem)
        starts = [self._depots[agent.start] for agent in problem.agents]
        ends = [self._depots[agent.end] for agent in problem.agents]
        count = len(problem.tickets) + len(self._depots)
        self._manager = pywrapcp.RoutingIndexManager(count, len(problem.agents), starts, ends)
        self.routing = pywrapcp.RoutingModel(self._manager)
        self._solver = self.routing.solver()
        self._break_intervals: list[list[Any]] = [[] for _ in problem.agents]
        indexes = range(self._manager.GetNumberOfIndices())
        self._nodes = np.array([self._manager.IndexToNode(index) for index in indexes])

    def build(self) -> None:
        """Add every constraint of the problem."""
        self._add_costs()
        self._add_loads()
        self._add_limits()
        if self.problem.features & _TIME_FEATURES:
            self._add_time()
        self._add_pairs()
        self._add_choices()
        self._add_relations()

    def close(self, parameters: Any) -> None:
        """Close the model."""
        self.routing.CloseModelWithParameters(parameters)

    def cost(self) -> int | None:
        """Return the model's cost of the current solution, inside the solution callback only.

        None while times and their costs are unbound: the iterated local search calls back with a recreated solution
        before it improves it.
        """
        cost = self.routing.CostVar()
        return int(cost.Value()) if cost.Bound() else None

    def is_timed(self) -> bool:
        """Return whether the times that `candidate` reads are bound, inside the solution callback only."""
        agents_with_breaks = [agent for agent, intervals in enumerate(self._break_intervals) if intervals]
        return all(time.Bound() for agent in agents_with_breaks for time in self._times(agent))

    def has_break_during_setup(self) -> bool:
        """Return whether a break overlaps setup time, which is travel to the library; requires `is_timed`.

        The plan may be feasible all the same: at other times, or with the break earlier.
        """
        return any(
            intervals and self._has_setup_in(agent, intervals) for agent, intervals in enumerate(self._break_intervals)
        )

    def candidate(self) -> Candidate:
        """Return the current solution, inside the solution callback only; requires `is_timed`."""
        routes = (Route(agent, tuple(self._stops(agent))) for agent in range(len(self.problem.agents)))
        return Candidate(tuple(route for route in routes if route.stops))

    def assignment_of(self, candidate: Candidate) -> Any | None:
        """Return a candidate as a start of the search, or None when the model refuses it."""
        routes: list[list[int]] = [[] for _ in self.problem.agents]
        for route in candidate.routes:
            routes[route.agent] = [self._index(stop.index) for stop in route.stops if stop.kind is StopKind.TICKET]
        return self.routing.ReadAssignmentFromRoutes(routes, True)

    def _stops(self, agent: int) -> list[Stop]:
        """Return the stops of a route; a break precedes the first visit that starts after its end."""
        tickets = self._tickets(agent)
        if not tickets or not self._break_intervals[agent]:
            return [Stop(StopKind.TICKET, ticket) for _, ticket in tickets]
        time = self.routing.GetDimensionOrDie("time")
        begins, ends = (time.CumulVar(at(agent)).Value() for at in (self.routing.Start, self.routing.End))
        timed = [(time.CumulVar(index).Value(), 1, Stop(StopKind.TICKET, ticket)) for index, ticket in tickets]
        for number, interval in enumerate(self._break_intervals[agent]):
            if interval.StartMin() < ends and interval.EndMin() > begins:
                timed.append((interval.EndMin(), 0, Stop(StopKind.BREAK, number)))
        return [stop for _, _, stop in sorted(timed, key=lambda entry: entry[:2])]

    def _has_setup_in(self, agent: int, intervals: list[Any]) -> bool:
        time = self.routing.GetDimensionOrDie("time")
        previous = None
        for index, ticket in self._tickets(agent):
            place, start = self._places[ticket], time.CumulVar(index).Value()
            begin = start if place == previous else start - self.problem.tickets[ticket].setup
            if any(interval.StartMin() < start and interval.EndMin() > begin for interval in intervals):
                return True
            previous = place
        return False

    def _times(self, agent: int) -> Iterator[Any]:
        """Yield the time variables of the start, the services and the end of a route."""
        time = self.routing.GetDimensionOrDie("time")
        indexes = [self.routing.Start(agent), *(index for index, _ in self._tickets(agent)), self.routing.End(agent)]
        yield from map(time.CumulVar, indexes)

    def _tickets(self, agent: int) -> list[tuple[int, int]]:
        """Return (index, ticket) along a route."""
        tickets = []
        index = self.routing.NextVar(self.routing.Start(agent)).Value()
        while not self.routing.IsEnd(index):
            tickets.append((index, self._manager.IndexToNode(index)))
            index = self.routing.NextVar(index).Value()
        return tickets

    def _index(self, ticket: int) -> int:
        return int(self._manager.NodeToIndex(ticket))

    # ---- travel and money

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Location of each node; -1 for the node of open ends."""
        depots = [-1 if location is None else location for location in self._depots]
        return np.array([*(ticket.location for ticket in self.problem.tickets), *depots], dtype=np.int64)

    def _expand(self, matrix: NDArray[np.int64]) -> NDArray[np.int64]:
        """Expand a matrix over locations to one over nodes, with free arcs to and from open ends."""
        expanded = matrix[np.ix_(self._places, self._places)].astype(np.int64)  # also a narrow table
        is_open_end = self._places < 0
        expanded[is_open_end, :] = 0
        expanded[:, is_open_end] = 0
        return expanded

    def _register(self, matrix: NDArray[np.int64]) -> int:
        """Register a non-negative matrix over nodes as an evaluator that is cheap to copy; return its number."""
        table = matrix.astype(np.min_scalar_type(int(matrix.max())))[np.ix_(self._nodes, self._nodes)]
        sign = self.routing.kTransitEvaluatorSignPositiveOrZero
        return int(self.routing.RegisterTransitCallback(table.item, sign))

    def _add_costs(self) -> None:
        registered: dict[tuple[int, int, bytes], int] = {}
        for number, agent in enumerate(self.problem.agents):
            switch_costs = self._switch_costs(number)
            distances = self.problem.distances[agent.profile]  # mostly one table for all: speeds change times alone
            key = (id(distances), agent.distance_cost, switch_costs.tobytes())
            if key not in registered:
                costs = self._expand(distances) * agent.distance_cost + switch_costs
                registered[key] = self.routing.RegisterTransitMatrix(costs.tolist())
            self.routing.SetArcCostEvaluatorOfVehicle(registered[key], number)
            self.routing.SetFixedCostOfVehicle(agent.fixed_cost, number)

    def _switch_costs(self, number: int) -> NDArray[np.int64]:
        """Return, by node, the switch cost of service by this agent; each node is entered once."""
        tickets = self.problem.tickets
        prices = [0 if ticket.preferred in (None, number) else ticket.switch_cost for ticket in tickets]
        return np.array(prices + [0] * len(self._depots), dtype=np.int64)

    # ---- load

    def _add_loads(self) -> None:
        for dimension in range(len(self.problem.dimensions)):
            capacities = [agent.capacity[dimension] for agent in self.problem.agents]
            delivered, gained = self._amounts(dimension)
            if not any(gained):
                self._add_amount(delivered, capacities, f"load{dimension}")
            elif not any(delivered):
                self._add_amount(gained, capacities, f"load{dimension}")
            else:
                self._add_mixed_load(dimension, capacities, delivered, gained)

    def _amounts(self, dimension: int) -> tuple[list[int], list[int]]:
        """Return, by node, the amount delivered from the depot and the change of load (negative: shipment delivery)."""
        delivered = [0] * len(self._places)
        gained = [0] * len(self._places)
        for node, ticket in enumerate(self.problem.tickets):
            amount = ticket.demand[dimension]
            if ticket.pickup is not None:
                gained[node] = -amount
            elif ticket.load is LoadKind.DELIVERY and node not in self.problem.partner_of:
                delivered[node] = amount
            else:
                gained[node] = amount
        return delivered, gained

    def _add_amount(self, amounts: list[int], capacities: list[int], name: str, *, from_zero: bool = True) -> Any:
        evaluator = self.routing.RegisterUnaryTransitVector(amounts)
        self.routing.AddDimensionWithVehicleCapacity(evaluator, 0, capacities, from_zero, name)
        return self.routing.GetDimensionOrDie(name)

    def _add_mixed_load(self, dimension: int, capacities: list[int], delivered: list[int], gained: list[int]) -> None:
        delivered_so_far = self._add_amount(delivered, capacities, f"delivered{dimension}")
        changes = [gain - delivery for gain, delivery in zip(gained, delivered, strict=True)]
        load = self._add_amount(changes, capacities, f"load{dimension}", from_zero=False)
        for agent in range(len(capacities)):
            at_start = load.CumulVar(self.routing.Start(agent))
            at_end = delivered_so_far.CumulVar(self.routing.End(agent))
            self._solver.Add(at_start == at_end)

    # ---- limits

    def _add_limits(self) -> None:
        if Feature.MAX_STOPS in self.problem.features:
            is_ticket = [int(node < len(self.problem.tickets)) for node in range(len(self._places))]
            most = len(self.problem.tickets)
            limits = [most if agent.max_stops is None else agent.max_stops for agent in self.problem.agents]
            self._add_amount(is_ticket, limits, "stops")
        if Feature.MAX_DISTANCE in self.problem.features:
            self._add_distance()
        if Feature.MIN_LOAD in self.problem.features:
            self._add_min_loads()

    def _add_min_loads(self) -> None:
        """Charge what a used agent serves too little, more for each unit than all tickets are worth.

        As a constraint it would keep the search from building routes ticket by ticket.
        """
        worth = sum(ticket.penalty for ticket in self.problem.tickets) + sum(g.penalty for g in self.problem.groups)
        for dimension in range(len(self.problem.dimensions)):
            least = [agent.min_load[dimension] if agent.min_load else 0 for agent in self.problem.agents]
            if not (most := max(least)):
                continue
            amounts = [0 if ticket.pickup is not None else ticket.demand[dimension] for ticket in self.problem.tickets]
            served = self._add_amount(
                [*amounts, *(0 for _ in self._depots)], [sum(amounts)] * len(least), f"served{dimension}"
            )
            for agent, amount in enumerate(least):
                price = min(worth + 1, _MAX_TOTAL_PENALTY // (most * len(least)))
                served.SetCumulVarSoftLowerBound(self.routing.End(agent), amount, price)

    def _add_distance(self) -> None:
        matrices = [self._expand(matrix) for matrix in self.problem.distances]
        registered = [self._register(matrix) for matrix in matrices]
        longest = sum(int(matrix.max()) for matrix in matrices) * (len(self._places) + 1)
        agents = self.problem.agents
        evaluators = [registered[agent.profile] for agent in agents]
        limits = [longest if agent.max_distance is None else agent.max_distance for agent in agents]
        self.routing.AddDimensionWithVehicleTransitAndCapacity(evaluators, 0, limits, True, "distance")

    # ---- time

    def _add_time(self) -> None:
        agents = self.problem.agents
        registered = [self._register(self._time_matrix(profile)) for profile in range(len(self.problem.durations))]
        evaluators = [registered[agent.profile] for agent in agents]
        latest = [agent.latest_end for agent in agents]
        self.routing.AddDimensionWithVehicleTransitAndCapacity(evaluators, max(latest), latest, False, "time")
        time = self.routing.GetDimensionOrDie("time")
        for number in range(len(agents)):
            self._add_shift(time, number)
        for ticket in range(len(self.problem.tickets)):
            self._add_windows(time, ticket)
        if self.problem.span_cost:
            self._add_balance(time, evaluators, latest)

    def _time_matrix(self, profile: int) -> NDArray[np.int64]:
        """Return the time from start of service to start of service: service, travel, setup."""
        travel = self._expand(self.problem.durations[profile])
        depots = [0] * len(self._depots)
        service = np.array([*(ticket.service for ticket in self.problem.tickets), *depots], dtype=np.int64)
        setup = np.array([*(ticket.setup for ticket in self.problem.tickets), *depots], dtype=np.int64)
        is_ticket = np.arange(len(self._places)) < len(self.problem.tickets)
        is_elsewhere = (self._places[:, None] != self._places[None, :]) | ~is_ticket[:, None]
        total: NDArray[np.int64] = travel + service[:, None] + setup[None, :] * is_elsewhere
        return total

    def _add_shift(self, time: Any, number: int) -> None:
        agent = self.problem.agents[number]
        start, end = self.routing.Start(number), self.routing.End(number)
        time.CumulVar(start).SetMin(agent.shift[0])
        if agent.overtime:
            time.SetCumulVarSoftUpperBound(end, agent.shift[1], agent.overtime_cost)
        if agent.max_duration is not None:
            time.SetSpanUpperBoundForVehicle(agent.max_duration, number)
        if agent.time_cost:
            time.SetSpanCostCoefficientForVehicle(agent.time_cost, number)
        if agent.breaks:
            self._add_breaks(time, number)
        self.routing.AddVariableMinimizedByFinalizer(time.CumulVar(end))
        self.routing.AddVariableMaximizedByFinalizer(time.CumulVar(start))

    def _add_breaks(self, time: Any, number: int) -> None:
        """Add the breaks of an agent, between services; a break may lie outside the route."""
        for interval in self.problem.agents[number].breaks:
            self._break_intervals[number].append(
                self._solver.FixedDurationIntervalVar(
                    interval.window[0], interval.window[1], interval.duration, False, "rest"
                )
            )
        service = [ticket.service for ticket in self.problem.tickets] + [0] * len(self._depots)
        visits = [service[self._manager.IndexToNode(index)] for index in range(self.routing.Size())]
        time.SetBreakIntervalsOfVehicle(self._break_intervals[number], number, visits)
        for one, other in combinations(self._break_intervals[number], 2):
            self._forbid_overlap(time, number, one, other)

    def _forbid_overlap(self, time: Any, number: int, one: Any, other: Any) -> None:
        """Allow two breaks to overlap only where one lies outside the route; the library has no such constraint."""
        if one.StartMax() + one.DurationMax() <= other.StartMin() or other.EndMax() <= one.StartMin():
            return
        start, end = (time.CumulVar(at(number)) for at in (self.routing.Start, self.routing.End))
        after = [one.StartExpr() >= other.EndExpr(), other.StartExpr() >= one.EndExpr()]
        outside = [
            condition
            for interval in (one, other)
            for condition in (interval.EndExpr() <= start, interval.StartExpr() >= end)
        ]
        self._solver.Add(self._solver.Max([condition.Var() for condition in (*after, *outside)]) == 1)

    def _add_windows(self, time: Any, ticket: int) -> None:
        spec = self.problem.tickets[ticket]
        index = self._index(ticket)
        at = time.CumulVar(index)
        if spec.windows and spec.windows[0][0] > at.Max():
            self.routing.VehicleVar(index).SetValues([UNASSIGNED_VEHICLE])
        elif spec.windows:
            at.SetRange(spec.windows[0][0], spec.windows[-1][1])
            gaps = [(shut + 1, opens - 1) for (_, shut), (opens, _) in pairwise(spec.windows) if shut + 1 < opens]
            if gaps:  # as a constraint: to cut a gap out of the variable takes time for each of its moments
                self._solver.Add(self._solver.NotMemberCt(at, *map(list, zip(*gaps, strict=True))))
        if spec.soft_close is not None and spec.lateness_cost:
            time.SetCumulVarSoftUpperBound(index, spec.soft_close, spec.lateness_cost)

    def _add_balance(self, time: Any, evaluators: list[int], latest: list[int]) -> None:
        """Charge the longest duration: a time dimension that starts at zero on each route, with a global span cost."""
        self.routing.AddDimensionWithVehicleTransitAndCapacity(evaluators, max(latest), latest, True, "span")
        span = self.routing.GetDimensionOrDie("span")
        span.SetGlobalSpanCostCoefficient(self.problem.span_cost)
        for agent in range(len(latest)):
            start, end = self.routing.Start(agent), self.routing.End(agent)
            self._solver.Add(span.CumulVar(end) == time.CumulVar(end) - time.CumulVar(start))
            self.routing.AddVariableMinimizedByFinalizer(span.CumulVar(end))

    # ---- who serves what

    def _add_pairs(self) -> None:
        for delivery, ticket in enumerate(self.problem.tickets):
            if ticket.pickup is None:
                continue
            first, second = self._index(ticket.pickup), self._index(delivery)
            self.routing.AddPickupAndDelivery(first, second)
            self._solver.Add(self.routing.VehicleVar(first) == self.routing.VehicleVar(second))

    def _add_choices(self) -> None:
        """Make tickets optional at their penalty, and restrict them to eligible agents."""
        ceiling = _MAX_TOTAL_PENALTY // (len(self.problem.tickets) + len(self.problem.groups) + 1)
        locked = {ticket for agent in self.problem.agents for ticket in agent.locked}
        grouped = {ticket for group in self.problem.groups for ticket in group.tickets}
        for ticket, spec in enumerate(self.problem.tickets):
            if ticket not in locked and ticket not in grouped:
                self.routing.AddDisjunction([self._index(ticket)], min(spec.penalty, ceiling))
            if spec.agents is not None:
                self.routing.VehicleVar(self._index(ticket)).SetValues([UNASSIGNED_VEHICLE, *sorted(spec.agents)])
        for group in self.problem.groups:
            indexes = [self._index(ticket) for ticket in group.tickets]
            self.routing.AddDisjunction(indexes, min(group.penalty, ceiling), 1)

    def _add_relations(self) -> None:
        if self.problem.incompatible:
            self._add_incompatibilities()
        if self.problem.backhaul:
            self._add_backhaul()
        self._add_locks()

    def _add_incompatibilities(self) -> None:
        """Give each ticket of an incompatible pair a visit type of its own; incompatible types share no route."""
        for ticket in {ticket for pair in self.problem.incompatible for ticket in pair}:
            self.routing.SetVisitType(self._index(ticket), ticket, self.routing.TYPE_ADDED_TO_VEHICLE)
        for first, second in sorted(self.problem.incompatible):
            self.routing.AddHardTypeIncompatibility(first, second)

    def _add_backhaul(self) -> None:
        """Forbid every arc from a pickup to a delivery: a route with the wrong order would have one."""
        kinds = [ticket.load for ticket in self.problem.tickets]
        deliveries = [self._index(ticket) for ticket, kind in enumerate(kinds) if kind is LoadKind.DELIVERY]
        for ticket, kind in enumerate(kinds):
            if kind is LoadKind.PICKUP:
                self.routing.NextVar(self._index(ticket)).RemoveValues(deliveries)

    def _add_locks(self) -> None:
        """Let each route begin with its locked visits: locks of the library do not bind the iterated local search."""
        for number, agent in enumerate(self.problem.agents):
            at = self.routing.Start(number)
            for ticket in agent.locked:
                self._solver.Add(self.routing.NextVar(at) == self._index(ticket))
                at = self._index(ticket)


def _depot_nodes(problem: Problem) -> dict[int | None, int]:
    """Return the node of each location where a route starts or ends, and of None where one is open."""
    places = {place: None for agent in problem.agents for place in (agent.start, agent.end)}
    return {place: len(problem.tickets) + number for number, place in enumerate(places)}
