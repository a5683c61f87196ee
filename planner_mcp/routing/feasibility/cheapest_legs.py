"""What the legs of a day cost at least, whoever drives them (SPEC T5).

Owns the table of cheapest legs, the ways out of the depots and back to them, and which tickets nobody can serve in a
row. A depot is wherever a trip may begin or end: the ends of routes, and places of reload. Every number is one that no
plan goes below; `analysis/cost_bound.py` adds them up.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from planner_mcp import arrays as np
from planner_mcp.arrays import Flags, Integers
from planner_mcp.routing.evaluation.time_dependent_travel import fastest_durations
from planner_mcp.routing.problem import Problem, TicketSpec

UNREACHABLE: Final = 2**60
"""Length of a leg that no plan drives."""
Costs = Integers


@dataclass(frozen=True, slots=True)
class CheapestLegs:
    """The least that legs cost, in cost units."""

    table: Costs
    """(L, L), between places."""
    out: Costs
    """(L,), from a depot; nothing where routes may begin anywhere."""
    back: Costs
    """(L,), to a depot; nothing where routes may end anywhere."""


def cheapest_legs(problem: Problem) -> CheapestLegs:
    """Return what the cheapest agent pays, at the best hour of the day."""
    durations = fastest_durations(problem)
    kinds = {(agent.profile, agent.distance_cost, agent.time_cost) for agent in problem.agents}
    tables = [
        metre * problem.distances[at].astype(np.int64, copy=False) + second * durations[at].astype(np.int64, copy=False)
        for at, metre, second in kinds
    ]
    table = np.asarray(np.minimum.reduce(tables), dtype=np.int64)
    reloads = {place for agent in problem.agents for place in agent.reload_at}
    starts, ends = ({getattr(agent, end) for agent in problem.agents} | reloads for end in ("start", "end"))
    nothing = np.zeros(len(table), dtype=np.int64)
    out = nothing if None in starts else table[sorted(starts)].min(axis=0)
    back = nothing if None in ends else table[:, sorted(ends)].min(axis=1)
    return CheapestLegs(table, out, back)


def with_detours(legs: CheapestLegs, *, everywhere: bool) -> CheapestLegs:
    """Return the same over any detours that are cheaper than the direct way.

    Args:
        legs: As they are.
        everywhere: Between all places (the cube of their number), or only out of the depots and back.
    """
    table = shortest_paths_over(legs.table, range(len(legs.table))) if everywhere else legs.table
    return CheapestLegs(table, _relaxed(legs.out, table), _relaxed(legs.back, table.T))


def shortest_paths_over(table: Integers, places: Iterable[int]) -> Integers:
    """Return the (L, L) lengths of the shortest ways, directly or over some places (Floyd and Warshall)."""
    ways = table.copy()
    for middle in places:
        np.minimum(ways, ways[:, middle, None] + ways[None, middle, :], out=ways)
    return ways


def _relaxed(costs: Costs, table: Costs) -> Costs:
    """Return the costs of the cheapest ways, given those of direct ones (Bellman and Ford)."""
    while True:
        shorter = np.minimum(costs, (costs[:, None] + table).min(axis=0))
        if np.array_equal(shorter, costs):
            return costs
        costs = np.asarray(shorter, dtype=np.int64)


def legs_between_tickets(problem: Problem, legs: CheapestLegs) -> Costs:
    """Return the (n, n) legs between tickets; endless from one to itself, and where no agent serves both in a row."""
    tickets = problem.tickets
    places = np.array([ticket.location for ticket in tickets])
    table = legs.table[np.ix_(places, places)]
    opens = min(agent.shift[0] for agent in problem.agents)
    ready = np.array([max(opens, _first(ticket)) + ticket.service for ticket in tickets])
    closes = np.array([ticket.windows[-1][1] if ticket.windows else UNREACHABLE for ticket in tickets])
    hours = np.minimum.reduce(list(fastest_durations(problem)))[np.ix_(places, places)]
    table[ready[:, None] + hours > closes] = UNREACHABLE
    table[_disjoint_agents(tickets)] = UNREACHABLE
    for low, high in problem.incompatible:
        table[low, high] = table[high, low] = UNREACHABLE
    np.fill_diagonal(table, UNREACHABLE)
    return np.asarray(table, dtype=np.int64)


def _first(ticket: TicketSpec) -> int:
    return ticket.windows[0][0] if ticket.windows else 0


def _disjoint_agents(tickets: Iterable[TicketSpec]) -> Flags:
    """Return which pairs of tickets no agent may serve both."""
    sets = [ticket.agents for ticket in tickets]
    kinds = list(dict.fromkeys(sets))
    apart = [[a is not None and b is not None and a.isdisjoint(b) for b in kinds] for a in kinds]
    place = {kind: number for number, kind in enumerate(kinds)}
    number = np.array([place[each] for each in sets])
    return np.asarray(np.array(apart)[np.ix_(number, number)], dtype=np.bool_)
