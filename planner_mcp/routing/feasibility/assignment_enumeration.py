"""Whether a few tickets could be shared out among some agents at all (SPEC T5).

Owns the enumeration of every way to share them: which of their sets each agent might have on one route
(`route_bounds.py`), by its capacity and its limit of stops too, and what such sets come to together. A set that is not
reached is served by no plan, whatever else the plan leaves out.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from planner_mcp.routing.feasibility.route_bounds import RouteBounds
from planner_mcp.routing.problem import AgentSpec, LoadKind, Problem

MAX_SHARED_TICKETS: Final = 8
"""Tickets that are shared out in every way."""
MAX_STEPS: Final = 20_000
"""Beginnings of routes, n · 2ⁿ for each kind of agent, up to which they are: some tenths of a second."""
AgentKind = tuple[AgentSpec, int]
"""An agent without what is its own, and the tickets, as bits, that it may serve."""


def smallest_unassignable_subset(
    problem: Problem,
    tickets: Sequence[int],
    agents: Iterable[int],
    route_bounds: RouteBounds | None,
    most: int,
) -> list[int]:
    """Return the fewest of some tickets that cannot all be served; none where they might, or where it takes too long.

    Args:
        problem: The day.
        tickets: Indexes; more than `MAX_SHARED_TICKETS` are not looked at.
        agents: All who may serve any of them.
        route_bounds: Their routes on the whole day; None to look at what each may carry and serve alone.
        most: Steps there is time for.
    """
    count = len(tickets)
    kinds = Counter(_kind(problem, tickets, agent) for agent in agents)
    if count > MAX_SHARED_TICKETS or len(kinds) * count * 2**count > most:
        return []
    shared, orders = {0}, [problem.tickets[index] for index in tickets]
    for kind, times in kinds.items():
        may = _loadable(problem, tickets, kind)
        carried = {bits for bits, is_allowed in enumerate(may) if is_allowed}
        sets = carried if route_bounds is None else route_bounds.of(kind[0]).sets(orders, may.__getitem__)
        for _ in range(min(times, count)):
            shared |= {some | others for some in shared for others in sets if not some & others}
        if 2**count - 1 in shared:
            return []
    missing = min((bits for bits in range(2**count) if bits not in shared), key=int.bit_count, default=0)
    return [index for at, index in enumerate(tickets) if missing >> at & 1]


def _kind(problem: Problem, tickets: Sequence[int], number: int) -> AgentKind:
    mine = 0
    for at, index in enumerate(tickets):
        mine |= problem.tickets[index].admits(number) << at
    agent = replace(problem.agents[number], id="", breaks=(), locked=())
    return replace(agent, fixed_cost=0, distance_cost=0, time_cost=0, overtime_cost=0), mine


def _loadable(problem: Problem, tickets: Sequence[int], kind: AgentKind) -> list[bool]:
    """Return, for each set as bits, whether an agent may serve and could carry all of it."""
    agent, mine = kind
    apart = [
        1 << low | 1 << high
        for high, other in enumerate(tickets)
        for low, one in enumerate(tickets[:high])
        if (min(one, other), max(one, other)) in problem.incompatible
    ]
    burdens = [
        ([problem.amounts(index, load)[dimension] for index in tickets], room * (1 + agent.max_reloads))
        for dimension, room in enumerate(agent.capacity)
        for load in LoadKind
    ]

    def may(bits: int) -> bool:
        if bits & ~mine or any(bits & pair == pair for pair in apart):
            return False
        if agent.max_stops is not None and bits.bit_count() > agent.max_stops:
            return False
        return all(sum(n for at, n in enumerate(amounts) if bits >> at & 1) <= room for amounts, room in burdens)

    return [may(bits) for bits in range(2 ** len(tickets))]
