"""Reads the executed part of an earlier plan from a scenario into the indexes and units of a problem.

Owns the reading alone. Ids that the scenario no longer has are skipped, tickets among them are recorded, and a ticket
counts only the first time it occurs. `compilation/frozen_prefix_compilation.py` applies the result.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner_mcp.routing.problem import BreakSpec, Problem
from planner_mcp.routing.scenario.scenario_model import Held, HeldRoute


@dataclass(slots=True)
class ExecutedVisit:
    """A visit that has begun; times in units."""

    ticket: int
    start: int
    departure: int
    breaks: list[BreakSpec]
    """Breaks on the leg to it."""
    setup: int = 0
    """Part of the time before the start that its setup took: no more than what was left after the travel."""


@dataclass(slots=True)
class ExecutedRoute:
    """The executed part of one route, in indexes and time units."""

    agent: int
    departed_at: int
    arrival: int
    end: int | None
    """Arrival at the end of the route, if the agent is driving there."""
    next: int | None = None
    visits: list[ExecutedVisit] = field(default_factory=list)
    later_breaks: list[BreakSpec] = field(default_factory=list)
    """Breaks begun since the last visit."""
    reloads: list[tuple[int, int]] | None = None
    """Of each reload its location and the number of visits before it; None where they are not recorded."""
    removed_tickets: tuple[str, ...] = ()
    """Ids of begun tickets that were removed from the scenario, so that the position of the agent is unknown."""
    is_delayed: bool = False
    """Whether the changed scenario makes the recorded times infeasible; each visit is then as early as possible."""

    @property
    def tickets(self) -> list[int]:
        """The served tickets, in order."""
        return [visit.ticket for visit in self.visits]

    @property
    def breaks(self) -> list[BreakSpec]:
        """All breaks that have begun."""
        return [*(break_spec for visit in self.visits for break_spec in visit.breaks), *self.later_breaks]


def executed_routes(problem: Problem, held: Held) -> dict[int, ExecutedRoute]:
    """Return the executed parts of routes, by agent index."""
    agents = {agent.id: number for number, agent in enumerate(problem.agents)}
    tickets = {ticket.id: number for number, ticket in enumerate(problem.tickets)}
    known = frozenset(tickets)
    places = {name: number for number, name in enumerate(problem.locations)}
    found: dict[int, ExecutedRoute] = {}
    for route in held.routes:
        if (number := agents.get(route.agent)) is not None and number not in found:
            found[number] = _executed_route(number, route, tickets, problem.scale)
            found[number].reloads = _executed_reloads(route, places, known)
            found[number].removed_tickets = tuple(
                v.ticket for v in route.visits if v.ticket is not None and v.ticket not in known
            )
    return found


def _executed_route(agent: int, route: HeldRoute, tickets: dict[str, int], scale: int) -> ExecutedRoute:
    """Return one executed route; removes its tickets from `tickets`."""

    def unit(seconds: float) -> int:
        return round(seconds * scale)

    end = None if route.end_s is None else unit(route.end_s)
    executed = ExecutedRoute(agent, unit(route.start_s), unit(route.arrival_s), end)
    for visit in route.visits:
        start, departure = unit(visit.start_s), max(unit(visit.start_s), unit(visit.departure_s))
        if visit.ticket is None:
            executed.later_breaks.append(BreakSpec((start, start), departure - start))
        elif (ticket := tickets.pop(visit.ticket, None)) is not None:
            executed.visits.append(ExecutedVisit(ticket, start, departure, executed.later_breaks))
            executed.later_breaks = []
    executed.next = None if route.next_ticket is None else tickets.pop(route.next_ticket, None)
    return executed


def _executed_reloads(
    route: HeldRoute, places: Mapping[str, int], known: frozenset[str]
) -> list[tuple[int, int]] | None:
    """Return the reloads of a route at places that the scenario has, each after so many of its known visits."""
    if route.reloads is None:
        return None
    begun = [visit.ticket in known for visit in route.visits if visit.ticket is not None]
    here = (reload for reload in route.reloads if reload.location in places)
    return [(places[reload.location], sum(begun[: reload.after])) for reload in here]
