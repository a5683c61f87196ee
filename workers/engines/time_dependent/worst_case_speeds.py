"""The day at the slowest pace, for an engine that knows no hours, so that its plans hold on the real day.

Owns the one exception: locked visits that only the real clock can keep. They come first on their route, so it is known
when they happen, and their legs take what they take then. The rest of the day goes on at the slowest pace.
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
    """Return the day at the slowest pace of each agent's shift, save on locked visits that cannot be kept at it.

    Agents, tickets and locations keep their numbers; behind the locations those visits have places of their own, so
    that nobody else drives their legs.

    Args:
        problem: A day with rushes.
        locked: Routes of locked visits alone that can be kept on it.
    """
    worst_case = at_worst_case_speeds(problem)
    violated = [route for route in locked if violations(worst_case, route)]
    if not violated:
        return worst_case
    visits = [ticket for route in violated for ticket in route.tickets]
    wide = _with_own_places(worst_case, visits)
    agents, tickets = list(wide.agents), list(wide.tickets)
    for route in violated:
        schedule = schedule_route(problem, route)
        agents[route.agent] = replace(
            wide.agents[route.agent], shift=(schedule.start, wide.agents[route.agent].shift[1])
        )
        _use_actual_travel_times(wide, route.agent, schedule)
        for ticket, leg in _visits(schedule):
            # a place of its own is always another than the one before, where setup may not be needed
            tickets[ticket] = replace(wide.tickets[ticket], setup=leg.setup)
    return replace(wide, agents=tuple(agents), tickets=tuple(tickets), features=worst_case.features | {Feature.SHIFTS})


def _with_own_places(worst_case: Problem, visits: Sequence[int]) -> Problem:
    """Return the day with a place of its own for each of these visits, behind those there are; its tables are new."""
    shared = len(worst_case.locations)
    places = [*range(shared), *(worst_case.tickets[ticket].location for ticket in visits)]
    wider = np.ix_(places, places)
    tickets = list(worst_case.tickets)
    for number, ticket in enumerate(visits):
        tickets[ticket] = replace(tickets[ticket], location=shared + number)
    return replace(
        worst_case,
        tickets=tuple(tickets),
        locations=tuple(worst_case.locations[place] for place in places),
        positions=tuple(worst_case.positions[place] for place in places) if worst_case.positions else (),
        distances=tuple(table[wider] for table in worst_case.distances),
        durations=tuple(table[wider] for table in worst_case.durations),
    )


def _visits(schedule: RouteSchedule) -> Iterator[tuple[int, Leg]]:
    """Yield the tickets of a timed route with the legs that lead to them."""
    for leg in schedule.legs:
        if leg.stop is not None and leg.stop.kind is StopKind.TICKET:
            yield leg.stop.index, leg


def _use_actual_travel_times(wide: Problem, agent: int, schedule: RouteSchedule) -> None:
    """Let the legs of a timed route to and from places of its own take what they take by the clock, in place."""
    places = {ticket: wide.tickets[ticket].location for ticket, _ in _visits(schedule)}
    here = wide.agents[agent].start
    for leg, time in zip(schedule.legs, schedule.times, strict=True):
        there = leg.location
        if leg.stop is not None and leg.stop.kind is StopKind.TICKET:
            there = places[leg.stop.index]
        if here is not None and there is not None and {here, there} & set(places.values()):
            wide.durations[wide.agents[agent].profile][here, there] = time.driven
        here = there
