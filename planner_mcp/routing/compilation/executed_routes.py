"""What agents have done of an earlier plan, read from what a day holds into the indexes and units of a problem.

Owns the reading alone: names that the day no longer has are passed over, tickets among them noted, and a ticket counts
only the first time it is named. What follows from it is `compile/held.py`'s.
"""

from dataclasses import dataclass

from planner_mcp.routing.problem import Break, Problem
from planner_mcp.routing.scenario.scenario_model import Held, HeldRoute


@dataclass(slots=True)
class ExecutedVisit:
    """A visit that has begun."""

    ticket: int
    start: int
    leave: int
    breaks: list[Break]
    """Breaks on the way to it."""


@dataclass(slots=True)
class ExecutedRoute:
    """What one agent has done, in indexes and time units."""

    left: int
    visits: list[ExecutedVisit]
    after: list[Break]
    """Breaks begun since the last visit."""
    next: int | None
    arrival: int
    end: int | None
    """Arrival at its end, if it has set out for it."""
    lost: tuple[str, ...] = ()
    """Ids of tickets it has begun that the day no longer has: nobody knows where they took it."""
    has_slipped: bool = False
    """On the changed day these times are no longer possible; each visit is then as early as it can be."""

    @property
    def tickets(self) -> list[int]:
        """What has been served, in order."""
        return [visit.ticket for visit in self.visits]

    @property
    def breaks(self) -> list[Break]:
        """All breaks begun."""
        return [*(break_spec for visit in self.visits for break_spec in visit.breaks), *self.after]


def executed_routes(problem: Problem, held: Held) -> dict[int, ExecutedRoute]:
    """Return what has been done, by index of the agent."""
    agents = {agent.id: number for number, agent in enumerate(problem.agents)}
    tickets = {ticket.id: number for number, ticket in enumerate(problem.tickets)}
    known = frozenset(tickets)
    found: dict[int, ExecutedRoute] = {}
    for route in held.routes:
        if (number := agents.get(route.agent)) is not None and number not in found:
            found[number] = _executed_route(route, tickets, problem.scale)
            found[number].lost = tuple(v.ticket for v in route.visits if v.ticket is not None and v.ticket not in known)
    return found


def _executed_route(route: HeldRoute, tickets: dict[str, int], scale: int) -> ExecutedRoute:
    """Return one past; tickets are taken out as they are met."""

    def unit(seconds: float) -> int:
        return round(seconds * scale)

    executed = ExecutedRoute(unit(route.start_s), [], [], None, unit(route.arrival_s), None)
    for visit in route.visits:
        start, leave = unit(visit.start_s), max(unit(visit.start_s), unit(visit.departure_s))
        if visit.ticket is None:
            executed.after.append(Break((start, start), leave - start))
        elif (ticket := tickets.pop(visit.ticket, None)) is not None:
            executed.visits.append(ExecutedVisit(ticket, start, leave, executed.after))
            executed.after = []
    executed.next = None if route.next_ticket is None else tickets.pop(route.next_ticket, None)
    executed.end = None if route.end_s is None else unit(route.end_s)
    return executed
