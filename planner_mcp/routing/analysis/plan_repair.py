"""Repairs an earlier plan for a changed problem by removing as few stops as possible (SPEC T5).

Owns the choice of what is removed. First, locked visits are moved to the front, tickets that the agent may not serve
are removed, and breaks are placed where they cost least. Then each route loses, one by one, the stop whose removal
reduces the violation most. Last, tickets that violate group rules are removed. When the time is up, an infeasible route
is truncated instead. The result is verified by `verification/plan_verification.py` like any other plan.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, takewhile
from typing import Final

from planner_mcp.routing.feasibility.insertion_candidates import StopCheck
from planner_mcp.routing.feasibility.route_violations import violation_share, violations
from planner_mcp.routing.problem import Candidate, GroupKind, Problem, Route, Stop, StopKind

MAX_THINNED_TICKETS: Final = 60
"""Tickets of a route above which it is truncated first: removing single stops takes time cubic in their number."""


def repair(problem: Problem, candidate: Candidate, is_over: StopCheck = lambda: False) -> Candidate:
    """Return the candidate without the tickets that make it infeasible; equal to it where it is feasible.

    Args:
        problem: The changed problem.
        candidate: A candidate for the problem before the change, or with other travel times.
        is_over: Whether the time to remove single stops is up; asked often, and once true it stays true. A route that
            is infeasible by then is truncated, after a few attempts.
    """
    owners = {ticket: number for number, agent in enumerate(problem.agents) for ticket in agent.locked}
    driving = {route.agent for route in candidate.routes}
    unused = [Route(number, ()) for number in sorted({*owners.values()} - driving)]
    routes = [
        _fitting(problem, _with_locked_first(problem, route, owners), is_over) for route in (*candidate.routes, *unused)
    ]
    while unwanted := _against_groups(problem, routes, owners):
        routes = [_fitting(problem, _without(problem, route, unwanted), is_over) for route in routes]
    return replace(candidate, routes=tuple(route for route in routes if route.tickets))


def _with_locked_first(problem: Problem, route: Route, owners: Mapping[int, int]) -> Route:
    """Return the route with its agent's locked visits at the front, without those locked to other agents.

    A matching beginning stays as it is, reloads included; breaks are removed and placed again later. The delivery of a
    locked pickup is added too.
    """
    if foreign := {ticket for ticket in route.tickets if owners.get(ticket, route.agent) != route.agent}:
        route = _without(problem, route, foreign)
    locked, tickets = problem.agents[route.agent].locked, route.tickets
    leading = next((n for n, pair in enumerate(zip(locked, tickets, strict=False)) if pair[0] != pair[1]), len(tickets))
    if leading >= len(locked):
        return route
    kept_stops = 1 + route.stops.index(Stop(StopKind.TICKET, locked[leading - 1])) if leading else 0
    moved, here = set(locked[leading:]), {*locked, *tickets}
    deliveries = [number for number, each in enumerate(problem.tickets) if each.pickup in moved and number not in here]
    added = [*locked[leading:], *deliveries]
    others = (stop for stop in route.stops[kept_stops:] if _is_moved_along(stop, locked))
    return Route(route.agent, (*route.stops[:kept_stops], *(Stop(StopKind.TICKET, each) for each in added), *others))


def _is_moved_along(stop: Stop, locked: Sequence[int]) -> bool:
    return stop.index not in locked if stop.kind is StopKind.TICKET else stop.kind is not StopKind.BREAK


def _fitting(problem: Problem, route: Route, is_over: StopCheck) -> Route:
    """Return the route with stops removed until it is feasible; empty where nothing else helps."""
    route = with_breaks_placed(problem, _permitted(problem, route), is_over)
    if not violations(problem, route):
        return route
    route = _without(problem, route, ())  # what followed a reload may have left the day
    if len(route.tickets) > MAX_THINNED_TICKETS:
        route = _truncated(problem, route, MAX_THINNED_TICKETS)
    route = _without_worst_stops(problem, route, is_over)
    if not violations(problem, route):
        return route
    truncated = _truncated(problem, route, 0)
    return Route(route.agent, ()) if violations(problem, truncated) else truncated


def _permitted(problem: Problem, route: Route) -> Route:
    """Return the route without the tickets its agent may not serve, and without more reloads than it may make."""
    reloads = [at for at, stop in enumerate(route.stops) if stop.kind is StopKind.RELOAD]
    if surplus := set(reloads[problem.agents[route.agent].max_reloads :]):
        route = Route(route.agent, tuple(stop for at, stop in enumerate(route.stops) if at not in surplus))
    forbidden = {ticket for ticket in route.tickets if not problem.tickets[ticket].admits(route.agent)}
    return _without(problem, route, forbidden) if forbidden else route


def with_breaks_placed(problem: Problem, route: Route, is_over: StopCheck = lambda: False) -> Route:
    """Return the route with each missing break at the position of least violation, or outside the route.

    Only positions that are tried before `is_over` count.
    """
    breaks = problem.agents[route.agent].breaks
    if not breaks or not violations(problem, route):
        return route
    without_breaks = route.without(StopKind.BREAK)
    break_stops = [Stop(StopKind.BREAK, index) for index in range(len(breaks))]
    for missing_break in [each for each in break_stops if each not in route.stops]:
        places = takewhile(lambda _: not is_over(), range(len(route.stops) + 1))
        options = map(partial(route.with_stop, stop=missing_break), places)
        route = min(chain([route], options), key=lambda each: _rank(problem, each))
    return min((route, without_breaks), key=lambda each: violation_share(problem, each))


def _without_worst_stops(problem: Problem, route: Route, is_over: StopCheck) -> Route:
    """Return the route with stops removed until it is feasible or time is up, the worst first, locked ones last.

    Only removals that are tried before `is_over` count.
    """
    locked = set(problem.agents[route.agent].locked)
    while not is_over() and violations(problem, route) and (tickets := route.tickets):
        shorter = [_without(problem, route, {ticket}) for ticket in tickets]
        keeping = [each for each in shorter if locked.issubset(each.tickets)]
        options = takewhile(lambda _: not is_over(), keeping or shorter)
        route = min(options, key=lambda each: _rank(problem, each), default=route)
    return route


def _truncated(problem: Problem, route: Route, least: int) -> Route:
    """Return the longest feasible beginning of a route, found by bisection.

    Locked tickets and the deliveries of locked pickups stay. At least `least` others stay, feasible or not.
    """
    locked = problem.agents[route.agent].locked
    free = [each for each in route.tickets if each not in locked and problem.tickets[each].pickup not in locked]
    fits, fails = least, len(free)
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if violations(problem, _without(problem, route, free[middle:])):
            fails = middle
        else:
            fits = middle
    return _without(problem, route, free[fits:])


def _rank(problem: Problem, route: Route) -> tuple[float, int]:
    """Return what orders routes: the least violation first, of equal ones that with most stops."""
    return violation_share(problem, route), -len(route.stops)


def _without(problem: Problem, route: Route, left_out: Iterable[int]) -> Route:
    """Return the route without some tickets, their shipment partners, and reloads that no ticket follows any more."""
    gone = set(left_out)
    for index in route.tickets:
        pickup = problem.tickets[index].pickup
        if pickup is not None and (index in gone or pickup in gone):
            gone |= {index, pickup}
    kept = [stop for stop in route.stops if stop.kind is not StopKind.TICKET or stop.index not in gone]
    last = max((at for at, stop in enumerate(kept) if stop.kind is StopKind.TICKET), default=-1)
    return Route(route.agent, tuple(s for at, s in enumerate(kept) if s.kind is not StopKind.RELOAD or at < last))


def _against_groups(problem: Problem, routes: Iterable[Route], owners: Mapping[int, int]) -> set[int]:
    """Return unlocked tickets that violate groups: all but one of a ONE_OF, all of an incomplete ALL."""
    served = [ticket for route in routes for ticket in route.tickets]
    found: set[int] = set()
    for group in problem.groups:
        members = [ticket for ticket in served if ticket in group.tickets]
        if group.kind is GroupKind.ONE_OF:
            found.update(sorted(members, key=lambda ticket: ticket not in owners)[1:])
        elif len(members) < len(set(group.tickets)):
            found.update(members)
    return found - owners.keys()
