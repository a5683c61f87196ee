"""How many agents a day needs at least, whatever its plan (SPEC T5).

Owns what adds up without any search: goods against capacities, tickets against limits of stops, work against hours.
Only tickets that must be served count. A count of one more than there are agents says that not all tickets can be
served.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from planner_mcp import arrays as np
from planner_mcp.arrays import Integers
from planner_mcp.routing.evaluation.time_dependent_travel import fastest_durations
from planner_mcp.routing.feasibility.cheapest_legs import UNREACHABLE
from planner_mcp.routing.problem import AgentSpec, GroupKind, LoadKind, Matrix, Problem

_ROWS: Final = 256
"""Of a table, looked at together."""


def mandatory_tickets(problem: Problem) -> list[int]:
    """Return the tickets that a plan serving all that is wanted serves: neither priced nor one of several."""
    replaceable = one_of_several(problem)
    return [i for i, ticket in enumerate(problem.tickets) if not ticket.is_priced and i not in replaceable]


def one_of_several(problem: Problem) -> set[int]:
    """Return the tickets of ONE_OF groups, each of which another may stand in for."""
    return {index for group in problem.groups if group.kind is GroupKind.ONE_OF for index in group.tickets}


def agents_needed(problem: Problem, tickets: Sequence[int]) -> int:
    """Return how many agents must set out for some tickets at least; at least one where there is any."""
    covers = (_cover(amount, ((room, 1) for room in rooms)) for amount, rooms in _sums(problem, tickets))
    return max([int(bool(tickets)), *covers])


def least_fixed_cost(problem: Problem, tickets: Sequence[int]) -> int:
    """Return what setting out costs those who serve some tickets at least, in cost units."""
    fixed = [agent.fixed_cost for agent in problem.agents]
    by_count = sum(sorted(fixed)[: agents_needed(problem, tickets)])
    return max([by_count, *(_cheapest_cover(amount, rooms, fixed) for amount, rooms in _sums(problem, tickets))])


def _sums(problem: Problem, tickets: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield (amount, rooms by agent) of everything that some tickets take and an agent has no more of."""
    for dimension, amounts in _loads(problem, tickets):
        yield sum(amounts), [agent.capacity[dimension] * (1 + agent.max_reloads) for agent in problem.agents]
    for amounts, rooms in _duties(problem, tickets):
        yield sum(amounts), rooms


def trips_needed(problem: Problem, tickets: Sequence[int]) -> int:
    """Return how many trips, between two visits of a depot, some tickets take at least, by capacity."""
    counts = [int(bool(tickets))]
    for dimension, amounts in _loads(problem, tickets):
        rooms = ((agent.capacity[dimension], 1 + agent.max_reloads) for agent in problem.agents)
        counts.append(_cover(sum(amounts), rooms))
    return max(counts)


def capacity_shares(problem: Problem, tickets: Sequence[int]) -> Iterator[tuple[list[int], int]]:
    """Yield (amounts, room): what each ticket takes of something that no trip has more of than the room."""
    for dimension, amounts in _loads(problem, tickets):
        yield amounts, max(agent.capacity[dimension] for agent in problem.agents)
    for amounts, rooms in _duties(problem, tickets):
        yield amounts, max(rooms)


def _loads(problem: Problem, tickets: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield (dimension, amounts) of each kind of load. Shipments, carried in turn, take nothing."""
    for dimension in range(len(problem.dimensions)):
        for load in LoadKind:
            yield dimension, [problem.amounts(ticket, load)[dimension] for ticket in tickets]


def _duties(problem: Problem, tickets: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield (amounts, rooms by agent) of stops and of hours, which a reload does not renew."""
    yield [1] * len(tickets), [len(tickets) if a.max_stops is None else a.max_stops for a in problem.agents]
    into = least_arrival_legs(problem)
    hours = [problem.tickets[i].service + int(into[problem.tickets[i].location]) for i in tickets]
    yield hours, [max_route_time(agent) for agent in problem.agents]


def _cover(amount: int, rooms: Iterable[tuple[int, int]]) -> int:
    """Return how many of the largest rooms hold an amount, one more than there are where all do not.

    Args:
        amount: What is to be held.
        rooms: (size, how many of it), for there may be many more rooms than a list should have entries.
    """
    count = 0
    for room, times in sorted(rooms, reverse=True):
        if amount <= 0:
            return count
        used = min(times, -(-amount // room)) if room > 0 else times
        amount -= used * room
        count += used
    return count + int(amount > 0)


def _cheapest_cover(amount: int, rooms: Sequence[int], costs: Sequence[int]) -> int:
    """Return what rooms that hold an amount cost at least, as if the last one could be had in part."""
    total = 0
    for cost, room in sorted(((c, r) for c, r in zip(costs, rooms, strict=True) if r > 0), key=lambda e: e[0] / e[1]):
        if amount <= room:
            return total + cost * max(0, amount) // room
        amount, total = amount - room, total + cost
    return total


def max_route_time(agent: AgentSpec) -> int:
    """Return the time an agent can be on the way at most."""
    length = max(0, agent.latest_end - agent.shift[0])
    return length if agent.max_duration is None else min(length, agent.max_duration)


def least_arrival_legs(problem: Problem) -> Integers:
    """Return the least time a leg into each place takes; nothing where a route may begin or another ticket lies."""
    into = np.minimum.reduce([_least_from_elsewhere(table) for table in fastest_durations(problem)])
    stops = np.array([ticket.location for ticket in problem.tickets])
    crowded = np.bincount(stops, minlength=len(into)) > 1
    begins = {agent.start for agent in problem.agents} | {place for a in problem.agents for place in a.reload_at}
    if None in begins:
        return np.zeros(len(into), dtype=np.int64)
    free = crowded | np.isin(np.arange(len(into)), sorted(place for place in begins if place is not None))
    return np.where(free, 0, into)


def _least_from_elsewhere(table: Matrix) -> Integers:
    """Return the least of each column but for its own row, (L,), a few rows at a time: a large table is not copied."""
    least = np.full(len(table), UNREACHABLE)
    for first in range(0, len(table), _ROWS):
        rows = np.array(table[first : first + _ROWS], dtype=np.int64)
        rows[np.arange(len(rows)), first + np.arange(len(rows))] = UNREACHABLE
        least = np.minimum(least, rows.min(axis=0))
    return least
