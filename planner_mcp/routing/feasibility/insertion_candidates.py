"""Every way to insert one ticket into a plan that stands, and what is in the way of each (SPEC T5).

Owns the enumeration of places: each agent, each position of its route, with a reload beside it where the agent may make
one more, an idle agent with its breaks before or after. The order of the other stops stays. It answers why a ticket is
left out, agent by agent, and what the smallest change would be; a search may still find more by moving others.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from heapq import nlargest
from itertools import combinations_with_replacement

from planner_mcp.routing.evaluation.plan_builder import route_cost
from planner_mcp.routing.evaluation.route_schedule import schedule_route
from planner_mcp.routing.feasibility.route_violations import Violation, violations
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.routing.problem import Candidate, GroupKind, Problem, Route, Stop, StopKind

StopCheck = Callable[[], bool]
"""Whether the time is up."""


@dataclass(frozen=True, slots=True)
class InsertionCandidate:
    """One way to insert a ticket.

    Args:
        route: The agent's route with the ticket.
        violations: What it breaks; empty where it fits.
        cost: What the plan would cost more, its span with it, in cost units.
    """

    route: Route
    violations: tuple[Violation, ...]
    cost: int

    @property
    def effort(self) -> tuple[float, int]:
        """How far from fitting: the shares of all that is missing, then the cost."""
        return sum(each.share for each in self.violations), self.cost

    @property
    def limits(self) -> tuple[InfeasibilityReason, ...]:
        """Which limits are in the way, each once."""
        return tuple(sorted({each.limit for each in self.violations}))


def insertion_candidates(
    problem: Problem, candidate: Candidate, ticket: int, *, until: StopCheck = lambda: False
) -> Iterator[InsertionCandidate]:
    """Yield every way to insert a ticket, the other half of its shipment with it.

    Args:
        problem: The day.
        candidate: The plan as it stands; it does not serve the ticket.
        ticket: Index of the ticket.
        until: Asked after each way; true ends the search. The first way is always yielded.
    """
    standing = {route.agent: (route, schedule_route(problem, route)) for route in candidate.routes}
    spans = {agent: schedule.duration for agent, (_, schedule) in standing.items()}
    longest, second = nlargest(2, (0, 0, *spans.values()))
    pair = halves(problem, ticket)
    for agent in range(len(problem.agents)):
        old = standing[agent][0] if agent in standing else Route(agent, ())
        before = route_cost(problem, *standing[agent]) if agent in standing else 0
        others = second if spans.get(agent) == longest else longest
        for route in _ways(problem, old, pair):
            schedule = schedule_route(problem, route)
            longer = max(others, schedule.duration) - longest
            more = route_cost(problem, route, schedule) - before + problem.span_cost * longer
            yield InsertionCandidate(route, tuple(violations(problem, route, schedule)), more)
            if until():
                return


def halves(problem: Problem, ticket: int) -> tuple[int, ...]:
    """Return the ticket alone, or pickup and delivery of its shipment."""
    if (partner := problem.partner_of.get(ticket)) is None:
        return (ticket,)
    return (ticket, partner) if problem.tickets[ticket].pickup is None else (partner, ticket)


def whole_of(problem: Problem, ticket: int) -> set[int]:
    """Return a ticket with all that it stands and falls with: its all-or-none groups and shipments, and theirs."""
    members, wholes = {ticket}, [set(group.tickets) for group in problem.groups if group.kind is GroupKind.ALL]
    wholes += [{one, other} for one, other in problem.partner_of.items()]
    while more := [whole for whole in wholes if not members.isdisjoint(whole) and not members >= whole]:
        members.update(*more)
    return members


def joint_tickets(problem: Problem, ticket: int) -> tuple[int, ...]:
    """Return a ticket with those it stands and falls with, one of each shipment."""
    return tuple(sorted({halves(problem, member)[-1] for member in whole_of(problem, ticket)}))


def is_replaced(problem: Problem, ticket: int, served: Collection[int]) -> bool:
    """Return whether another ticket of a ONE_OF group is served in place of one."""
    choices = (group.tickets for group in problem.groups if group.kind is GroupKind.ONE_OF and ticket in group.tickets)
    return any(other in served for tickets in choices for other in tickets if other != ticket)


def with_tickets(
    problem: Problem, candidate: Candidate, tickets: Iterable[int], *, until: StopCheck
) -> Candidate | None:
    """Return a candidate with some tickets, each where it comes nearest to fitting; None if the time is up."""
    for ticket in tickets:
        if until():
            return None
        ways = insertion_candidates(problem, candidate, ticket, until=until)
        candidate = with_route(candidate, min(ways, key=lambda insertion: insertion.effort).route)
    return candidate


def with_route(candidate: Candidate, route: Route) -> Candidate:
    """Return a candidate in which one agent drives another route."""
    others = [each for each in candidate.routes if each.agent != route.agent]
    return Candidate((*others, route))


def _ways(problem: Problem, route: Route, pair: tuple[int, ...]) -> Iterator[Route]:
    """Yield the route with the tickets at all positions after its locked ones, where it may with one more reload.

    The halves of a shipment stand side by side first: where there is no time for all ways, the best is likely there.
    """
    for stops in [route.stops] if route.stops else _idle_starts(problem, route.agent):
        depots = _depots_to_spare(problem, route)
        first = _after_locks(problem, Route(route.agent, stops))
        ways = combinations_with_replacement(range(first, len(stops) + 1), len(pair))
        for places in sorted(ways, key=lambda way: way[-1] - way[0]):
            new = list(stops)
            for place, ticket in zip(reversed(places), reversed(pair), strict=True):
                new.insert(place, Stop(StopKind.TICKET, ticket))
            longer = Route(route.agent, tuple(new))
            yield longer
            begin, end = places[0], places[-1] + len(pair)
            for reload in depots:
                if begin > 0:
                    yield longer.with_stop(begin, reload)
                if end < len(new):
                    yield longer.with_stop(end, reload)


def _depots_to_spare(problem: Problem, route: Route) -> list[Stop]:
    """Return the reloads the agent of a route could still make."""
    agent = problem.agents[route.agent]
    depots = agent.reload_depots if route.reloads < agent.max_reloads else ()
    return [Stop(StopKind.RELOAD, depot) for depot in depots]


def _idle_starts(problem: Problem, agent: int) -> list[tuple[Stop, ...]]:
    """Return what an idle agent could start from: nothing at all, or all its breaks."""
    break_stops = tuple(Stop(StopKind.BREAK, index) for index in range(len(problem.agents[agent].breaks)))
    return [(), break_stops] if break_stops else [()]


def _after_locks(problem: Problem, route: Route) -> int:
    """Return the first place behind the locked tickets."""
    locked = set(problem.agents[route.agent].locked) & set(route.tickets)
    places = [place for place, stop in enumerate(route.stops) if stop.kind is StopKind.TICKET and stop.index in locked]
    return max(places, default=-1) + 1
