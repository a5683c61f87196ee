"""The day at the slowest pace, for an engine that knows no hours, so that its plans hold on the real day.

Owns the one exception: locked visits that only the real clock can keep. They come first on their route, so it is known
when they happen, and their legs take what they take then. The rest of the day goes on at the slowest pace.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from planner_mcp.vrp.advice.fits import obstacles
from planner_mcp.vrp.layout.legs import Leg
from planner_mcp.vrp.layout.pace import at_worst
from planner_mcp.vrp.layout.timeline import Timeline, time_route
from planner_mcp.vrp.problem import Feature, Problem, Route, StopKind


def slow_day(problem: Problem, locked: Iterable[Route]) -> Problem:
    """Return the day at the slowest pace of each agent's shift, save on locked visits that cannot be kept at it.

    Agents, tickets and locations keep their numbers; behind the locations those visits have places of their own, so
    that nobody else drives their legs.

    Args:
        problem: A day with rushes.
        locked: Routes of locked visits alone that can be kept on it.
    """
    slow = at_worst(problem)
    rushed = [route for route in locked if obstacles(slow, route)]
    if not rushed:
        return slow
    visits = [ticket for route in rushed for ticket in route.tickets]
    wide = _with_own_places(slow, visits)
    agents, tickets = list(wide.agents), list(wide.tickets)
    for route in rushed:
        line = time_route(problem, route)
        agents[route.agent] = replace(wide.agents[route.agent], shift=(line.start, wide.agents[route.agent].shift[1]))
        _drive_for_real(wide, route.agent, line)
        for ticket, leg in _visits(line):
            # a place of its own is always another than the one before, where setup may not be needed
            tickets[ticket] = replace(wide.tickets[ticket], setup=leg.setup)
    return replace(wide, agents=tuple(agents), tickets=tuple(tickets), features=slow.features | {Feature.SHIFTS})


def _with_own_places(slow: Problem, visits: Sequence[int]) -> Problem:
    """Return the day with a place of its own for each of these visits, behind those there are; its tables are new."""
    shared = len(slow.locations)
    places = [*range(shared), *(slow.tickets[ticket].location for ticket in visits)]
    wider = np.ix_(places, places)
    tickets = list(slow.tickets)
    for number, ticket in enumerate(visits):
        tickets[ticket] = replace(tickets[ticket], location=shared + number)
    return replace(
        slow,
        tickets=tuple(tickets),
        locations=tuple(slow.locations[place] for place in places),
        positions=tuple(slow.positions[place] for place in places) if slow.positions else (),
        distances=tuple(table[wider] for table in slow.distances),
        durations=tuple(table[wider] for table in slow.durations),
    )


def _visits(line: Timeline) -> Iterator[tuple[int, Leg]]:
    """Yield the tickets of a timed route with the legs that lead to them."""
    for leg in line.legs:
        if leg.stop is not None and leg.stop.kind is StopKind.TICKET:
            yield leg.stop.index, leg


def _drive_for_real(wide: Problem, agent: int, line: Timeline) -> None:
    """Let the legs of a timed route to and from places of its own take what they take by the clock, in place."""
    places = {ticket: wide.tickets[ticket].location for ticket, _ in _visits(line)}
    here = wide.agents[agent].start
    for leg, time in zip(line.legs, line.times, strict=True):
        there = leg.location
        if leg.stop is not None and leg.stop.kind is StopKind.TICKET:
            there = places[leg.stop.index]
        if here is not None and there is not None and {here, there} & set(places.values()):
            wide.durations[wide.agents[agent].profile][here, there] = time.driven
        here = there
