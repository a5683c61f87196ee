"""A lower bound on what any plan of a day costs, and the gap it leaves (SPEC T5).

Owns a bound that is valid and quick: it says how far a plan is from the best one at most, never that it is the best. It
is the best of three, each adding up what nobody can avoid, for plans that serve every wanted ticket:

* *legs*: each ticket is reached from somewhere and left for somewhere, at least over the cheapest leg there is for it
  (the dual of the assignment relaxation, one sweep over columns and one over rows), or its price is paid;
* *trees*: all trips together join the tickets to a depot (`advice/forest.py`);
* *shares*: a trip to the farthest of its tickets and back is no shorter than the average over all it serves, each
  weighed by the share of a vehicle it fills (Haimovich and Rinnooy Kan, Mathematics of Operations Research 10, 1985).

To each are added the time that services are paid for, and what it costs that enough agents set out. Lateness, overtime,
balance and switches are left out; each can only add.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from planner_mcp.routing.analysis.one_tree_bound import TreeCosts, tree_bound
from planner_mcp.routing.feasibility import fleet_size_bounds
from planner_mcp.routing.feasibility.cheapest_legs import (
    CheapestLegs,
    Costs,
    cheapest_legs,
    legs_between_tickets,
    over_shortest_paths,
)
from planner_mcp.routing.problem import GroupKind, Problem
from planner_mcp.text import at_least

MAX_TICKETS: Final = 1500
"""Above, the table of all legs would cost more memory and time than a bound is worth."""
_TOO_LARGE: Final = f"the day has more than {MAX_TICKETS} tickets"
MAX_PLACES: Final = 400
"""Places up to which shortest ways are worked out, which trees need where some tickets may be left out."""


@dataclass(frozen=True, slots=True)
class LowerBound:
    """What any plan that serves every wanted ticket costs at least, in the caller's currency."""

    cost: float | None
    """None where the day is too large for it."""
    agents: int
    """Agents needed at least."""

    def gap(self, cost: float) -> float | None:
        """Return the gap of a plan's cost as a share of it, 0 … 1; None where there is nothing to compare."""
        return (cost - self.cost) / cost if self.cost is not None and cost > 0 else None

    def as_json(self) -> dict[str, Any]:
        """Return the bound as tools tell it; of a cost that has none, why."""
        described: dict[str, Any] = {"agents_needed": self.agents}
        return described | (
            {"no_lower_bound": _TOO_LARGE} if self.cost is None else {"lower_bound": at_least(self.cost)}
        )


def lower_bound(problem: Problem) -> LowerBound:
    """Return the bound; on the agents needed for a day of any size."""
    wanted = fleet_size_bounds.mandatory_tickets(problem)
    agents = fleet_size_bounds.agents_needed(problem, wanted)
    if len(problem.tickets) > MAX_TICKETS:
        return LowerBound(None, agents)
    legs = cheapest_legs(problem)
    direct = legs_between_tickets(problem, legs)
    work = int(_work(problem)[wanted].sum())
    serving = max(
        _assignment_bound(problem, legs, direct),
        work + _one_tree_bound(problem, legs, direct, wanted, agents),
        work + _radial_bound(problem, legs, wanted),
    )
    return LowerBound((serving + fleet_size_bounds.least_fixed_cost(problem, wanted)) / problem.cost_scale, agents)


def _work(problem: Problem) -> Costs:
    """Return what the service of each ticket costs at least."""
    hourly = min(agent.time_cost for agent in problem.agents)
    return np.array([ticket.service * hourly for ticket in problem.tickets], dtype=np.int64)


def _assignment_bound(problem: Problem, legs: CheapestLegs, direct: Costs) -> int:
    """Return the sum over what must be served, or priced and then the cheaper of serving and leaving out."""
    places = np.array([ticket.location for ticket in problem.tickets])
    into = np.minimum(direct.min(axis=0), legs.out[places])
    away = np.minimum((direct - into).min(axis=1), legs.back[places])
    least = into + np.maximum(0, away) + _work(problem)
    total = 0
    grouped = fleet_size_bounds.one_of_several(problem)
    for index, ticket in enumerate(problem.tickets):
        if index not in grouped:
            total += min(int(least[index]), ticket.penalty) if ticket.is_priced else int(least[index])
    for group in problem.groups:
        if group.kind is GroupKind.ONE_OF:
            cheapest = min(int(least[index]) for index in group.tickets)
            total += min(cheapest, group.penalty) if problem.tickets[group.tickets[0]].is_priced else cheapest
    return total


def _one_tree_bound(problem: Problem, legs: CheapestLegs, direct: Costs, wanted: list[int], agents: int) -> int:
    """Return what driving to the wanted tickets costs by trees; where others may lie between them, over any detours."""
    places = np.array([problem.tickets[index].location for index in wanted], dtype=np.int64)
    if len(wanted) < len(problem.tickets):
        if len(legs.table) > MAX_PLACES:
            return 0
        legs = over_shortest_paths(legs, everywhere=True)
        direct = legs.table[np.ix_(places, places)]
    trips = max(agents, fleet_size_bounds.trips_needed(problem, wanted))
    return tree_bound(TreeCosts(np.minimum(direct, direct.T), legs.out[places], legs.back[places], trips))


def _radial_bound(problem: Problem, legs: CheapestLegs, wanted: list[int]) -> int:
    """Return the best average of ways there and back, over all that can fill a vehicle."""
    legs = over_shortest_paths(legs, everywhere=False)
    ways = [int(legs.out[place] + legs.back[place]) for place in (problem.tickets[i].location for i in wanted)]
    found = (
        sum(amount * way for amount, way in zip(amounts, ways, strict=True)) // room
        for amounts, room in fleet_size_bounds.capacity_shares(problem, wanted)
        if room > 0
    )
    return max(found, default=0)
