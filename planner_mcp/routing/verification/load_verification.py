"""Verifies what a route carries: loads, order, shipments, reloads.

Owns loads and order; times are checked by `verification/route_verification.py`. Part of the independent verifier: it
shares no code with evaluation.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from planner_mcp.routing.problem import LoadKind
from planner_mcp.routing.verification.problem_index import RouteCheck


class LoadVerifier(RouteCheck):
    """The loads of one route and the order of its tickets."""

    def faults(self) -> Iterator[str]:
        """Yield all faults of the loads, then of the order."""
        yield from self._loads()
        yield from self._smallest_load()
        yield from self._order()

    def _trips(self) -> list[list[int]]:
        """Return the tickets between reloads."""
        trips: list[list[int]] = [[]]
        for visit in self.route.visits:
            if visit.kind == "reload":
                trips.append([])
            elif visit.ticket_id is not None:
                trips[-1].append(self.problem_index.tickets[visit.ticket_id])
        return trips

    def _trip_departures(self) -> list[int]:
        """Return the departure of each trip: at the start, then at each reload."""
        reloads = [self.units(visit.departure_s) for visit in self.route.visits if visit.kind == "reload"]
        return [self.units(self.route.start_s), *reloads]

    def _loads(self) -> Iterator[str]:
        for dimension, name in enumerate(self.problem.dimensions):
            yield from self._loads_of(dimension, name)

    def _loads_of(self, dimension: int, name: str) -> Iterator[str]:
        problem_index, capacity = self.problem_index, self.agent.capacity[dimension]
        trips = iter(self._trips())
        shipped, deliveries, pickups = 0, self._delivery_load(next(trips), dimension), 0
        if deliveries > capacity:
            yield self.violation(f"leaves with more {name} than its capacity.")
        for visit in self.route.visits:
            if visit.kind == "reload":
                deliveries, pickups = self._delivery_load(next(trips), dimension), 0
            elif visit.ticket_id is not None:
                index = problem_index.tickets[visit.ticket_id]
                ticket = self.problem.tickets[index]
                amount = ticket.demand[dimension]
                if problem_index.is_shipment(index):
                    shipped += amount if ticket.pickup is None else -amount
                elif ticket.load is LoadKind.PICKUP:
                    pickups += amount
                else:
                    deliveries -= amount
            load = shipped + deliveries + pickups
            if not 0 <= load <= capacity:
                yield self.violation(f"carries {name} beyond its capacity after {visit.ticket_id or visit.kind}.")
            if round(visit.load[name] * self.problem.amount_scale) != load:
                yield self.violation(f"states a wrong load of {name} after {visit.ticket_id or visit.kind}.")

    def _smallest_load(self) -> Iterator[str]:
        problem = self.problem
        for dimension, least in enumerate(self.agent.min_load):
            counted = (ticket for ticket in map(problem.tickets.__getitem__, self.tickets) if ticket.pickup is None)
            if sum(ticket.demand[dimension] for ticket in counted) < least:
                yield self.violation(f"serves less {problem.dimensions[dimension]} than its min_load.")

    def _delivery_load(self, trip: Sequence[int], dimension: int) -> int:
        tickets = (self.problem.tickets[index] for index in trip if not self.problem_index.is_shipment(index))
        return sum(ticket.demand[dimension] for ticket in tickets if ticket.load is LoadKind.DELIVERY)

    def _order(self) -> Iterator[str]:
        problem, tickets = self.problem, self.tickets
        if not tickets:
            yield self.violation("has a route without tickets.")
        if tuple(tickets[: len(self.agent.locked)]) != self.agent.locked:
            yield self.violation("does not serve its locked tickets first and in order.")
        yield from self._shipments()
        for low, high in self._excluding():
            yield self.violation(
                f"serves {problem.tickets[low].id} and {problem.tickets[high].id}, which exclude each other."
            )
        for trip, leaving in zip(self._trips(), self._trip_departures(), strict=True):
            for index in trip:
                if problem.tickets[index].release > leaving:
                    yield self.violation(f"leaves before ticket {problem.tickets[index].id} is released.")
            if problem.backhaul:
                yield from self._backhaul(trip)

    def _excluding(self) -> list[tuple[int, int]]:
        """Return the incompatible pairs served on this route, sorted.

        A problem may have a hundred thousand pairs and hundreds of routes, while most routes have few tickets.
        """
        served, apart = set(self.tickets), self.problem.incompatible
        if len(served) ** 2 < len(apart):
            return [pair for pair in combinations(sorted(served), 2) if pair in apart]
        return sorted(pair for pair in apart if served.issuperset(pair))

    def _shipments(self) -> Iterator[str]:
        position = {index: at for at, index in enumerate(self.tickets)}
        for index in self.tickets:
            ticket = self.problem.tickets[index]
            if ticket.pickup is not None and position.get(ticket.pickup, len(position)) > position[index]:
                yield self.violation(f"delivers {ticket.id} without having picked it up.")
            if index in self.problem_index.delivery_of and self.problem_index.delivery_of[index] not in position:
                yield self.violation(f"picks up {ticket.id} and never delivers it.")

    def _backhaul(self, trip: Sequence[int]) -> Iterator[str]:
        single = [self.problem.tickets[index] for index in trip if not self.problem_index.is_shipment(index)]
        for before, after in pairwise(single):
            if before.load is LoadKind.PICKUP and after.load is LoadKind.DELIVERY:
                yield self.violation(f"picks up {before.id} before delivering {after.id}, against the backhaul rule.")
