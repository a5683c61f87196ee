"""The proof of what a route carries: loads, order, shipments, reloads.

Owns the reading of a route as a sequence of goods; its clock is `proof/route.py`'s. Part of the independent proof:
it shares nothing with what it judges.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from planner_mcp.vrp.plan import PlannedRoute
from planner_mcp.vrp.problem import AgentSpec, Load
from planner_mcp.vrp.proof.book import Book


class Cargo:
    """What one route carries and in which order it serves."""

    def __init__(self, book: Book, route: PlannedRoute) -> None:
        self.book = book
        self.route = route
        self.agent: AgentSpec = book.problem.agents[book.agents[route.agent_id]]
        self.tickets = [book.tickets[v.ticket_id] for v in route.visits if v.ticket_id is not None]

    def faults(self) -> Iterator[str]:
        """Yield everything wrong with loads, then with the order."""
        yield from self._loads()
        yield from self._order()

    def _say(self, text: str) -> str:
        return f"Agent {self.agent.id}: {text}"

    def _trips(self) -> list[list[int]]:
        """Return the tickets between reloads."""
        trips: list[list[int]] = [[]]
        for visit in self.route.visits:
            if visit.kind == "reload":
                trips.append([])
            elif visit.ticket_id is not None:
                trips[-1].append(self.book.tickets[visit.ticket_id])
        return trips

    def _leavings(self) -> list[int]:
        """Return when each trip leaves: the start, then each reload."""
        reloads = [self.book.units(visit.departure_s) for visit in self.route.visits if visit.kind == "reload"]
        return [self.book.units(self.route.start_s), *reloads]

    def _loads(self) -> Iterator[str]:
        for dimension, name in enumerate(self.book.problem.dimensions):
            yield from self._loads_of(dimension, name)

    def _loads_of(self, dimension: int, name: str) -> Iterator[str]:
        book, capacity = self.book, self.agent.capacity[dimension]
        trips = iter(self._trips())
        shipped, brought, collected = 0, self._brought(next(trips), dimension), 0
        if brought > capacity:
            yield self._say(f"leaves with more {name} than its capacity.")
        for visit in self.route.visits:
            if visit.kind == "reload":
                brought, collected = self._brought(next(trips), dimension), 0
            elif visit.ticket_id is not None:
                index = book.tickets[visit.ticket_id]
                ticket = book.problem.tickets[index]
                amount = ticket.demand[dimension]
                if book.is_shipment(index):
                    shipped += amount if ticket.pickup is None else -amount
                elif ticket.load is Load.PICKUP:
                    collected += amount
                else:
                    brought -= amount
            load = shipped + brought + collected
            if not 0 <= load <= capacity:
                yield self._say(f"carries {name} beyond its capacity after {visit.ticket_id or visit.kind}.")
            if round(visit.load[name] * book.problem.amount_scale) != load:
                yield self._say(f"states a wrong load of {name} after {visit.ticket_id or visit.kind}.")

    def _brought(self, trip: Sequence[int], dimension: int) -> int:
        tickets = (self.book.problem.tickets[index] for index in trip if not self.book.is_shipment(index))
        return sum(ticket.demand[dimension] for ticket in tickets if ticket.load is Load.DELIVERY)

    def _order(self) -> Iterator[str]:
        problem, tickets = self.book.problem, self.tickets
        if not tickets:
            yield self._say("has a route without tickets.")
        if tuple(tickets[: len(self.agent.locked)]) != self.agent.locked:
            yield self._say("does not serve its locked tickets first and in order.")
        yield from self._shipments()
        for low, high in self._excluding():
            yield self._say(
                f"serves {problem.tickets[low].id} and {problem.tickets[high].id}, which exclude each other."
            )
        for trip, leaving in zip(self._trips(), self._leavings(), strict=True):
            for index in trip:
                if problem.tickets[index].release > leaving:
                    yield self._say(f"leaves before ticket {problem.tickets[index].id} is released.")
            if problem.backhaul:
                yield from self._backhaul(trip)

    def _excluding(self) -> list[tuple[int, int]]:
        """Return the pairs served here that exclude each other, in order.

        A day may exclude a hundred thousand pairs and have hundreds of routes: most have far fewer pairs of their own.
        """
        served, apart = set(self.tickets), self.book.problem.incompatible
        if len(served) ** 2 < len(apart):
            return [pair for pair in combinations(sorted(served), 2) if pair in apart]
        return sorted(pair for pair in apart if served.issuperset(pair))

    def _shipments(self) -> Iterator[str]:
        position = {index: at for at, index in enumerate(self.tickets)}
        for index in self.tickets:
            ticket = self.book.problem.tickets[index]
            if ticket.pickup is not None and position.get(ticket.pickup, len(position)) > position[index]:
                yield self._say(f"delivers {ticket.id} without having picked it up.")
            if index in self.book.delivery_of and self.book.delivery_of[index] not in position:
                yield self._say(f"picks up {ticket.id} and never delivers it.")

    def _backhaul(self, trip: Sequence[int]) -> Iterator[str]:
        single = [self.book.problem.tickets[index] for index in trip if not self.book.is_shipment(index)]
        for before, after in pairwise(single):
            if before.load is Load.PICKUP and after.load is Load.DELIVERY:
                yield self._say(f"picks up {before.id} before delivering {after.id} on a backhaul day.")
