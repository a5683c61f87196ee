"""Builds the smallest plan that keeps all locks: locked visits and the tickets they require (SPEC S1).

Owns the construction of its routes: reloads, breaks and the deliveries of locked pickups at the positions of least
violation, then the rest of all-or-none groups. It is the fallback where a search found nothing. If even this plan is
infeasible, faults name the agents or visits concerned.
"""

from collections.abc import Iterable
from dataclasses import replace
from math import inf
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.routing.analysis.plan_repair import with_breaks_placed
from planner_mcp.routing.feasibility.insertion_candidates import joint_tickets, with_tickets
from planner_mcp.routing.feasibility.route_violations import violation_share, violations
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.routing.problem import Candidate, GroupKind, Problem, Route, Stop, StopKind
from workers.engines.engine_interface import ShouldStop
from workers.engines.heuristics.reinsertion_search import locked_routes

_ORDER: Final = "the order of pickups and deliveries"


def locked_only(problem: Problem, is_over: ShouldStop) -> Candidate:
    """Return the locked visits with their deliveries; each route has the least violation found in time."""
    agents = (number for number, agent in enumerate(problem.agents) if agent.locked)
    return Candidate(tuple(_least_infeasible(problem, number, is_over) for number in agents))


def tickets_of_incomplete_groups(problem: Problem, locked: Candidate) -> list[int]:
    """Return the locked tickets whose all-or-none group is not fully served."""
    grouped = {ticket for group in problem.groups if group.kind is GroupKind.ALL for ticket in group.tickets}
    served = locked.tickets
    return [ticket for ticket in sorted(served & grouped) if not served.issuperset(joint_tickets(problem, ticket))]


def with_required_tickets(
    problem: Problem, locked: Candidate, tickets: Iterable[int], is_over: ShouldStop
) -> Candidate:
    """Return the candidate with the tickets that some tickets require, inserted at least violation, if time allows."""
    served = locked.tickets
    required = dict.fromkeys(
        other for ticket in tickets for other in joint_tickets(problem, ticket) if other not in served
    )
    return with_tickets(problem, locked, required, until=is_over) or locked


def broken_locks(problem: Problem, locked: Candidate, is_over: ShouldStop) -> list[Fault]:
    """Return the reasons why no plan keeps the locked visits; at least one fault.

    Args:
        problem: The problem.
        locked: The result of `locked_only`.
        is_over: Whether to stop looking for reasons.
    """
    faults = [_broken_lock_fault(problem, route) for route in locked.routes if violations(problem, route)]
    if not faults:
        required = {
            ticket: with_required_tickets(problem, locked, [ticket], is_over)
            for ticket in tickets_of_incomplete_groups(problem, locked)
        }
        infeasible = [
            ticket
            for ticket, placement in required.items()
            if any(violations(problem, route) for route in placement.routes)
        ]
        faults = list(dict.fromkeys(_incomplete_group_fault(problem, ticket) for ticket in infeasible or required))
    return faults or [Fault("/agents", "The locked visits cannot all be kept.", "", "Unlock some of them.")]


def _broken_lock_fault(problem: Problem, route: Route) -> Fault:
    """Return why an agent cannot make its locked visits, or only its breaks do not fit."""
    without_breaks = replace(problem, agents=tuple(replace(agent, breaks=()) for agent in problem.agents))
    limits = dict.fromkeys(
        _ORDER if each.limit is InfeasibilityReason.ORDER else each.limit
        for each in violations(without_breaks, route.without(StopKind.BREAK))
    )
    message = (
        f"The locked visits break {', '.join(limits)}." if limits else "The locked visits leave no time for breaks."
    )
    if len(route.tickets) > len(problem.agents[route.agent].locked):
        message += " Deliveries of locked pickups count."
    hint = "Unlock the last of them, or widen what is in the way."
    return Fault(f"/agents/{route.agent}/locked_tickets", message, "visits the agent can make", hint)


def _incomplete_group_fault(problem: Problem, ticket: int) -> Fault:
    """Return that a locked visit, or its delivery, requires group members for which no position was found."""
    locked = [(number, at, each) for number, agent in enumerate(problem.agents) for at, each in enumerate(agent.locked)]
    shipment = {ticket, problem.tickets[ticket].pickup}
    number, at = next((number, at) for number, at, each in locked if each in shipment)
    message, hint = "No room was found for the rest of its all-or-none group.", "Unlock it, or make room for the rest."
    return Fault(f"/agents/{number}/locked_tickets/{at}", message, "a group that can be served whole", hint)


def _least_infeasible(problem: Problem, number: int, is_over: ShouldStop) -> Route:
    """Return the first feasible arrangement of an agent's locked visits, else the one with the least violation."""
    best, least_violation = Route(number, ()), inf
    for placement in locked_routes(problem, number):
        route = with_breaks_placed(problem, _with_deliveries(problem, placement, is_over))
        if (violation := violation_share(problem, route)) < least_violation:
            best, least_violation = route, violation
        if not violation or is_over():
            break
    return best


def _with_deliveries(problem: Problem, route: Route, is_over: ShouldStop) -> Route:
    """Return a route of locked visits with the deliveries they require, each at the position of least violation."""
    visits, served = len(route.stops), set(route.tickets)
    for number, ticket in enumerate(problem.tickets):
        if ticket.pickup in served and number not in served:
            places = [len(route.stops)] if is_over() else range(visits, len(route.stops) + 1)
            placements = [route.with_stop(place, Stop(StopKind.TICKET, number)) for place in places]
            route = min(placements, key=lambda placement: violation_share(problem, placement))
    return route
