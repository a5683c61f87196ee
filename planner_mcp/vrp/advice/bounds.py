"""A lower bound on what any plan of a day costs, and the gap it leaves (SPEC T5).

Owns a bound that is valid, quick and weak: it says how far a plan is from the best one at most, never that it is the
best. It adds up what nobody can avoid:

* each ticket that must be served is reached from somewhere and left for somewhere, at least over the cheapest leg there
  is for it (the dual of the assignment relaxation, one sweep over columns and one over rows), or its price is paid;
* its service takes time that somebody is paid for;
* enough agents set out to carry everything, at least the cheapest of them.

It holds for plans that serve every wanted ticket, so a gap is told only for those. Lateness, overtime and balance are
left out; each can only add.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner_mcp.vrp.layout.pace import quickest
from planner_mcp.vrp.problem import GroupKind, Load, Problem

MAX_TICKETS: Final = 1500
"""Above, the table of all legs would cost more memory and time than a weak bound is worth."""
Table = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bound:
    """What any plan that serves every wanted ticket costs at least, in the caller's currency."""

    cost: float
    agents: int
    """Agents needed at least, by capacity alone."""

    def gap(self, cost: float) -> float | None:
        """Return the gap of a plan's cost as a share of it, 0 … 1; None where there is nothing to compare."""
        return (cost - self.cost) / cost if cost > 0 else None


def lower_bound(problem: Problem) -> Bound | None:
    """Return the bound, or None where the day is too large for it."""
    if len(problem.tickets) > MAX_TICKETS:
        return None
    least = _least(problem)
    agents, fixed = _agents_needed(problem)
    return Bound((_chosen(problem, least) + fixed) / problem.cost_scale, agents)


def _least(problem: Problem) -> Table:
    """Return what serving each ticket costs at least: the leg to it, the reduced leg from it, its time."""
    places = np.array([ticket.location for ticket in problem.tickets])
    legs = _legs(problem)
    between = legs[np.ix_(places, places)]
    np.fill_diagonal(between, np.iinfo(np.int64).max // 4)
    into = np.minimum(between.min(axis=0), _from_depots(problem, legs)[places])
    away = (between - into[np.newaxis, :]).min(axis=1)
    away = np.maximum(0, np.minimum(away, _to_depots(problem, legs)[places]))
    hourly = min(agent.time_cost for agent in problem.agents)
    work = np.array([ticket.service * hourly for ticket in problem.tickets])
    return np.asarray(into + away + work, dtype=np.int64)


def _legs(problem: Problem) -> Table:
    """Return the least any agent pays for each leg."""
    durations = quickest(problem)
    tables = [
        agent.distance_cost * problem.distances[agent.profile] + agent.time_cost * durations[agent.profile]
        for agent in {(a.profile, a.distance_cost, a.time_cost): a for a in problem.agents}.values()
    ]
    return np.asarray(np.minimum.reduce(tables), dtype=np.int64)


def _from_depots(problem: Problem, legs: Table) -> Table:
    """Return the cheapest leg to each place from where a trip may begin; nothing where one begins anywhere."""
    starts = {agent.start for agent in problem.agents} | {place for a in problem.agents for place in a.reload_at}
    if None in starts:
        return np.zeros(len(legs), dtype=np.int64)
    return np.asarray(legs[sorted(place for place in starts if place is not None)].min(axis=0))


def _to_depots(problem: Problem, legs: Table) -> Table:
    """Return the cheapest leg from each place to where a trip may end; nothing where one ends anywhere."""
    ends = {agent.end for agent in problem.agents} | {place for a in problem.agents for place in a.reload_at}
    if None in ends:
        return np.zeros(len(legs), dtype=np.int64)
    return np.asarray(legs[:, sorted(place for place in ends if place is not None)].min(axis=1))


def _chosen(problem: Problem, least: Table) -> int:
    """Return the sum over what must be served, or priced and then the cheaper of serving and leaving out."""
    replaceable = {index for g in problem.groups if g.kind is GroupKind.ONE_OF for index in g.tickets}
    total = 0
    for index, ticket in enumerate(problem.tickets):
        if index not in replaceable:
            total += min(int(least[index]), ticket.penalty) if ticket.is_priced else int(least[index])
    for group in problem.groups:
        if group.kind is GroupKind.ONE_OF and len(set(group.tickets) & replaceable) == len(set(group.tickets)):
            cheapest = min(int(least[index]) for index in group.tickets)
            total += min(cheapest, group.penalty) if problem.tickets[group.tickets[0]].is_priced else cheapest
    return total


def _agents_needed(problem: Problem) -> tuple[int, int]:
    """Return how many agents must set out to carry the wanted goods at least, and what setting out costs them."""
    count = max(
        (_needed(problem, dimension, load) for dimension in range(len(problem.dimensions)) for load in Load), default=0
    )
    wanted = any(not ticket.is_priced for ticket in problem.tickets)
    count = max(count, int(wanted))
    return count, sum(sorted(agent.fixed_cost for agent in problem.agents)[:count])


def _needed(problem: Problem, dimension: int, load: Load) -> int:
    """Return how many agents one kind of load needs in one dimension, one more than there are where all do not suffice.

    Shipments, carried in turn, do not count.
    """
    halves = {ticket.pickup for ticket in problem.tickets if ticket.pickup is not None}
    replaceable = {index for g in problem.groups if g.kind is GroupKind.ONE_OF for index in g.tickets}
    amount = sum(
        ticket.demand[dimension]
        for index, ticket in enumerate(problem.tickets)
        if ticket.load is load and not ticket.is_priced and ticket.pickup is None
        if index not in halves and index not in replaceable
    )
    rooms = sorted((agent.capacity[dimension] * (1 + agent.max_reloads) for agent in problem.agents), reverse=True)
    for count, room in enumerate(rooms):
        if amount <= 0:
            return count
        amount -= room
    return len(rooms) + int(amount > 0)
