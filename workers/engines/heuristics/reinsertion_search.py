"""Improves a candidate with exact evaluation, after a search on a surrogate problem (SPEC S1).

Owns the insertion of unassigned tickets, with whole groups and reloads, and the reinsertion of a few tickets at a time
(ruin and recreate). Every position is evaluated exactly, with travel periods, so it is slow: it completes the result of
a search and does not replace one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, islice, product
from random import Random
from typing import Final

from planner_mcp.routing.analysis.plan_repair import with_breaks_placed
from planner_mcp.routing.evaluation.plan_builder import operating_cost, price
from planner_mcp.routing.feasibility.insertion_candidates import (
    InsertionCandidate,
    halves,
    insertion_candidates,
    is_replaced,
    joint_tickets,
    with_route,
)
from planner_mcp.routing.feasibility.route_violations import violations
from planner_mcp.routing.problem import Candidate, Problem, Route, Stop, StopKind
from workers.engines.engine_interface import ShouldStop

MAX_MOVED: Final = 4
MAX_RELOAD_PLACEMENTS: Final = 2000
"""Arrangements of reloads tried among the locked visits of an agent."""
MAX_IDLE_ROUNDS: Final = 60
"""Consecutive rounds without improvement after which the search ends."""

Bundle = tuple[int, ...]
"""Tickets inserted together or not at all; a shipment is represented by one of its tickets."""


def reinserted(problem: Problem, candidate: Candidate, seed: int, is_over: ShouldStop) -> Candidate:
    """Return the candidate or a cheaper one: unassigned tickets are inserted first, then tickets are moved."""
    best = with_unassigned_inserted(problem, candidate, is_over)
    random, idle = Random(seed), 0  # noqa: S311 — no secret
    while idle < MAX_IDLE_ROUNDS and not is_over() and (movable := _movable(problem, best)):
        idle += 1
        moved = random.sample(movable, min(len(movable), random.randint(1, MAX_MOVED)))
        changed = _without(problem, best, moved)
        unassigned_bundles = _unassigned(problem, changed)
        random.shuffle(unassigned_bundles)
        changed = _with(problem, changed, unassigned_bundles, is_over)
        if price(problem, changed) < price(problem, best):
            best, idle = changed, 0
    return best


def with_unassigned_inserted(problem: Problem, candidate: Candidate, is_over: ShouldStop) -> Candidate:
    """Return the candidate with unassigned tickets inserted where they cost least, as far as possible in time."""
    candidate = with_locked(problem, candidate, is_over)
    return _with(problem, candidate, _unassigned(problem, candidate), is_over)


def with_locked(problem: Problem, candidate: Candidate, is_over: ShouldStop) -> Candidate:
    """Return the candidate with the locked visits of agents that have no route, where these are feasible."""
    used = {route.agent for route in candidate.routes}
    for number, agent in enumerate(problem.agents):
        if agent.locked and number not in used:
            placements = (with_breaks_placed(problem, each) for each in locked_routes(problem, number) if not is_over())
            route = next((placement for placement in placements if not violations(problem, placement)), None)
            if route is not None:
                candidate = replace(with_route(candidate, route), found_by=candidate.found_by)
    return candidate


def locked_routes(problem: Problem, number: int) -> Iterator[Route]:
    """Yield routes of an agent's locked visits, without reloads first, then with increasing numbers of reloads."""
    agent = problem.agents[number]
    visits = [Stop(StopKind.TICKET, ticket) for ticket in agent.locked]
    depots = [Stop(StopKind.RELOAD, depot) for depot in agent.reload_depots]
    placements = (
        dict(zip(places, chosen, strict=True))
        for count in range(min(agent.max_reloads, len(visits)) + 1)
        for places in combinations(range(len(visits)), count)
        for chosen in product(depots, repeat=count)
    )
    for placement in islice(placements, MAX_RELOAD_PLACEMENTS):
        stops = ((placement[place], visit) if place in placement else (visit,) for place, visit in enumerate(visits))
        yield Route(number, tuple(chain.from_iterable(stops)))


def _with(problem: Problem, candidate: Candidate, bundles: Iterable[Bundle], is_over: ShouldStop) -> Candidate:
    """Return the candidate with each bundle at its cheapest position, if that reduces the price."""
    for bundle in bundles:
        if is_over():
            break
        served = candidate.tickets
        if not any(is_replaced(problem, ticket, served) for ticket in bundle):
            extended = _inserted(problem, candidate, bundle, is_over)
            if extended is not None and price(problem, extended) < price(problem, candidate):
                candidate = extended
    return candidate


def _inserted(problem: Problem, candidate: Candidate, bundle: Bundle, is_over: ShouldStop) -> Candidate | None:
    """Return the candidate with all tickets of a bundle, None where one does not fit."""
    for ticket in bundle:
        placements = chain.from_iterable(
            _fitting(problem, candidate, insertion)
            for insertion in insertion_candidates(problem, candidate, ticket, until=is_over)
        )
        best = min(placements, key=lambda placement: placement[0], default=None)
        if best is None:
            return None
        candidate = replace(with_route(candidate, best[1]), found_by=candidate.found_by)
    return candidate


def _fitting(problem: Problem, candidate: Candidate, insertion: InsertionCandidate) -> Iterator[tuple[int, Route]]:
    """Yield the cost and the route of an insertion, with its breaks moved where needed; nothing if it is infeasible.

    The cost of an insertion is its increase; the whole plan is priced only where breaks have moved.
    """
    if not insertion.violations:
        yield insertion.cost, insertion.route
    elif problem.agents[insertion.route.agent].breaks:
        route = with_breaks_placed(problem, insertion.route.without(StopKind.BREAK))
        if not violations(problem, route):
            yield operating_cost(problem, with_route(candidate, route)) - operating_cost(problem, candidate), route


def _unassigned(problem: Problem, candidate: Candidate) -> list[Bundle]:
    """Return the unassigned bundles, those with the highest penalty first."""
    served = candidate.tickets
    bundles = {joint_tickets(problem, ticket) for ticket in range(len(problem.tickets)) if ticket not in served}
    unassigned = {tuple(ticket for ticket in bundle if ticket not in served) for bundle in bundles}
    return sorted(unassigned, key=lambda bundle: (-sum(problem.tickets[ticket].penalty for ticket in bundle), bundle))


def _movable(problem: Problem, candidate: Candidate) -> list[Bundle]:
    locked = {ticket for agent in problem.agents for ticket in agent.locked}
    bundles = {joint_tickets(problem, ticket) for ticket in candidate.tickets}
    return sorted(bundle for bundle in bundles if locked.isdisjoint(_tickets(problem, bundle)))


def _tickets(problem: Problem, bundle: Bundle) -> set[int]:
    return {half for ticket in bundle for half in halves(problem, ticket)}


def _without(problem: Problem, candidate: Candidate, bundles: Sequence[Bundle]) -> Candidate:
    """Return the candidate without some bundles and without reloads that are no longer needed."""
    removed = {ticket for bundle in bundles for ticket in _tickets(problem, bundle)}
    routes = (_remaining_route(problem, route, removed) for route in candidate.routes)
    return replace(candidate, routes=tuple(route for route in routes if route.tickets))


def _remaining_route(problem: Problem, route: Route, removed: set[int]) -> Route:
    stops = tuple(stop for stop in route.stops if stop.kind is not StopKind.TICKET or stop.index not in removed)
    remaining = Route(route.agent, stops)
    without_reloads = remaining.without(StopKind.RELOAD)
    return remaining if without_reloads == remaining or violations(problem, without_reloads) else without_reloads
