"""The day as an engine plans it that knows no hours: at the slowest pace, so that its plans hold on the real day.

Owns the one exception: locked visits that only the real clock can keep. They come first on their route, so it is known
when they happen, and their legs take what they take then. The rest of the day goes on at the slowest pace.
"""

from dataclasses import replace

import numpy as np

from planner_mcp.vrp.advice.fits import obstacles, tickets_of
from planner_mcp.vrp.layout.pace import at_worst
from planner_mcp.vrp.layout.timeline import time_route
from planner_mcp.vrp.problem import Candidate, Feature, Problem, StopKind
from workers.engines.base import ShouldStop
from workers.engines.refill import with_locked


def slow_day(problem: Problem, is_over: ShouldStop) -> Problem:
    """Return the day at the slowest pace of each agent's shift, save on locked visits that cannot be kept at it.

    Agents, tickets and locations keep their numbers; behind the locations those visits have places of their own, so
    that nobody else drives their legs.
    """
    slow = at_worst(problem)
    rushed = [route for route in with_locked(problem, Candidate(()), is_over).routes if obstacles(slow, route)]
    if not rushed:
        return slow
    visits = [ticket for route in rushed for ticket in tickets_of(route)]
    shared = len(slow.locations)
    own = {ticket: shared + number for number, ticket in enumerate(visits)}
    places = [*range(shared), *(slow.tickets[ticket].location for ticket in visits)]
    wider = np.ix_(places, places)
    durations = tuple(table[wider] for table in slow.durations)
    agents, tickets = list(slow.agents), list(slow.tickets)
    for route in rushed:
        agent, line = agents[route.agent], time_route(problem, route)
        agents[route.agent] = replace(agent, shift=(line.start, agent.shift[1]))
        here = agent.start
        for leg, time in zip(line.legs, line.times, strict=True):
            there = leg.location
            if leg.stop is not None and leg.stop.kind is StopKind.TICKET:
                there = own[leg.stop.index]
                # a place of its own is always another than the one before, where setup may not be needed
                tickets[leg.stop.index] = replace(tickets[leg.stop.index], location=there, setup=leg.setup)
            if here is not None and there is not None and max(here, there) >= shared:
                durations[agent.profile][here, there] = time.driven
            here = there
    return replace(
        slow,
        agents=tuple(agents),
        tickets=tuple(tickets),
        locations=tuple(slow.locations[place] for place in places),
        positions=tuple(slow.positions[place] for place in places) if slow.positions else (),
        distances=tuple(table[wider] for table in slow.distances),
        durations=durations,
        features=slow.features | {Feature.SHIFTS},
    )
