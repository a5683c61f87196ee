"""Worst-case speeds: a surrogate problem in which each agent drives at the slowest speed of its shift.

Owns one exception: locked visits that are only feasible at their actual speeds. They come first on their route, so
their times are known, and their legs take their actual travel times. All other legs take the worst-case time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from planner_mcp.routing.evaluation.route_legs import Leg
from planner_mcp.routing.evaluation.route_schedule import RouteSchedule, schedule_route
from planner_mcp.routing.evaluation.time_dependent_travel import at_worst_case_speeds
from planner_mcp.routing.feasibility.route_violations import violations
from planner_mcp.routing.problem import Feature, Problem, Route, StopKind


def worst_case_problem(problem: Problem, locked: Iterable[Route]) -> Problem:
    """Return the problem at the slowest speed of each shift, except for locked visits that are infeasible at it.

    Indexes of agents, tickets and locations are unchanged. Exceptional visits get locations of their own, appended to
    the others, so that no other visit uses their legs.

    Args:
        problem: A problem with travel periods.
        locked: Routes of locked visits alone, feasible in the problem.
    """
    worst_case = at_worst_case_speeds(problem)
    violated = [route for route in locked if violations(worst_case, route)]
    if not violated:
        return worst_case
    visits = [ticket for route in violated for ticket in route.tickets]
    extended = _with_own_places(worst_case, visits)
    agents, tickets = list(extended.agents), list(extended.tickets)
    for route in violated:
        schedule = schedule_route(problem, route)
        agents[route.agent] = replace(
            extended.agents[route.agent], shift=(schedule.start, extended.agents[route.agent].shift[1])
        )
        _use_actual_travel_times(extended, route.agent, schedule)
        for ticket, leg in _ticket_legs(schedule):
            # its location differs from the one before, so the setup time that applies is set explicitly
            tickets[ticket] = replace(extended.tickets[ticket], setup=leg.setup)
    return replace(
        extended, agents=tuple(agents), tickets=tuple(tickets), features=worst_case.features | {Feature.SHIFTS}
    )


def _with_own_places(worst_case: Problem, visits: Sequence[int]) -> Problem:
    """Return the problem with a location of its own, appended, for each of these visits; matrices are copied."""
    shared = len(worst_case.locations)
    places = [*range(shared), *(worst_case.tickets[ticket].location for ticket in visits)]
    cells = np.ix_(places, places)
    tickets = list(worst_case.tickets)
    for number, ticket in enumerate(visits):
        tickets[ticket] = replace(tickets[ticket], location=shared + number)
    return replace(
        worst_case,
        tickets=tuple(tickets),
        locations=tuple(worst_case.locations[place] for place in places),
        positions=tuple(worst_case.positions[place] for place in places) if worst_case.positions else (),
        distances=tuple(table[cells] for table in worst_case.distances),
        durations=tuple(table[cells] for table in worst_case.durations),
    )


def _ticket_legs(schedule: RouteSchedule) -> Iterator[tuple[int, Leg]]:
    """Yield the tickets of a scheduled route with the legs that lead to them."""
    for leg in schedule.legs:
        if leg.stop is not None and leg.stop.kind is StopKind.TICKET:
            yield leg.stop.index, leg


def _use_actual_travel_times(extended: Problem, agent: int, schedule: RouteSchedule) -> None:
    """Set the travel times of a route's legs to and from locations of their own to the actual ones, in place."""
    places = {ticket: extended.tickets[ticket].location for ticket, _ in _ticket_legs(schedule)}
    origin = extended.agents[agent].start
    for leg, time in zip(schedule.legs, schedule.times, strict=True):
        target = leg.location
        if leg.stop is not None and leg.stop.kind is StopKind.TICKET:
            target = places[leg.stop.index]
        if origin is not None and target is not None and {origin, target} & set(places.values()):
            extended.durations[extended.agents[agent].profile][origin, target] = time.driven
        origin = target
