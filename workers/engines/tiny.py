"""Days so small that every plan can be tried.

Owns the enumeration: every choice of tickets, in every order, over every split among the agents. It needs no library
and ends in milliseconds, so that the smallest job does not wait out its whole solve time.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, permutations
from math import comb, factorial
from typing import Final

from planner_mcp.vrp.layout.schedule import lay_out, price
from planner_mcp.vrp.problem import Candidate, Feature, Problem
from planner_mcp.vrp.proof.verify import verify
from workers.engines.base import Limits, OnImprovement, Outcome, ShouldStop, StopReason

NAME: Final = "enumeration"
"""Who found such a plan."""
MOST_PLANS: Final = 3000
"""Plans that are tried in well under a second."""
_NOT_ENUMERATED: Final = frozenset({Feature.BREAKS, Feature.RELOAD})
"""Features whose stops are not tickets."""


def is_tiny(problem: Problem) -> bool:
    """Return whether every plan can be tried quickly, or no ticket fits any agent at all."""
    if problem.features & _NOT_ENUMERATED:
        return False
    return _plans(len(_servable(problem)), len(problem.agents)) <= MOST_PLANS


def solve(problem: Problem, limits: Limits, on_improvement: OnImprovement, should_stop: ShouldStop) -> Outcome:
    """Try every plan; the best one is handed over once, at the end."""
    best, least, tried = Candidate(()), None, 0
    reason = StopReason.EXHAUSTED
    for candidate in _candidates(_servable(problem), len(problem.agents)):
        tried += 1
        cost = price(problem, candidate)
        if (least is None or cost < least) and not verify(problem, lay_out(problem, candidate)):
            best, least = replace(candidate, found_by=(NAME,)), cost
        if should_stop() or time.monotonic() >= limits.deadline:
            reason = StopReason.STOPPED if should_stop() else StopReason.TIME_LIMIT
            break
    if least is None:
        return Outcome(None, reason, tried)
    on_improvement(best)
    return Outcome(best, reason, tried)


def _servable(problem: Problem) -> list[int]:
    """Return the tickets that some agent may serve and could carry."""
    found = []
    for number, ticket in enumerate(problem.tickets):
        allowed = range(len(problem.agents)) if ticket.agents is None else ticket.agents
        rooms = (problem.agents[agent].capacity for agent in allowed)
        if any(all(need <= room for need, room in zip(ticket.demand, rooms_, strict=True)) for rooms_ in rooms):
            found.append(number)
    return found


def _plans(tickets: int, agents: int) -> int:
    """Return how many plans there are; more than `MOST_PLANS` for anything not tiny."""
    if tickets > 8:
        return MOST_PLANS + 1
    return sum(comb(tickets, k) * factorial(k) * comb(k + agents - 1, k) for k in range(tickets + 1))


def _candidates(tickets: list[int], agents: int) -> Iterator[Candidate]:
    """Yield every plan, those that serve most tickets first."""
    for count in range(len(tickets), -1, -1):
        for chosen in combinations(tickets, count):
            for order in permutations(chosen):
                for cuts in combinations(range(count + agents - 1), agents - 1):
                    yield _split(order, cuts, agents)


def _split(order: tuple[int, ...], cuts: tuple[int, ...], agents: int) -> Candidate:
    """Cut an order into one route for each agent. Source: stars and bars, the cuts are the places of the bars."""
    ends = [cut - number for number, cut in enumerate(cuts)] + [len(order)]
    starts = [0, *ends]
    return Candidate.of_tickets({agent: list(order[starts[agent] : ends[agent]]) for agent in range(agents)})
