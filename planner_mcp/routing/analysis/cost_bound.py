"""A lower bound on the cost of any plan of a problem, and the gap to it (SPEC T5).

Owns a bound that is valid and fast: it limits how far a plan is from the optimum, and never proves optimality. It is
the maximum of three bounds on plans that serve every wanted ticket:

* assignment bound: each ticket has one incoming and one outgoing leg, each at least as expensive as the cheapest there
  is (a dual solution of the assignment relaxation: one reduction of columns, one of rows), or its penalty is paid;
* 1-tree bound: all trips together connect the tickets to a depot (`analysis/one_tree_bound.py`);
* radial bound: a trip to the farthest of its tickets and back is no shorter than the average over all its tickets,
  weighted by the share of the vehicle each fills.

Each adds the paid service time and the fixed costs of the agents that are needed at least. Lateness, overtime, balance
and switch costs are left out; each can only increase the cost.

Source: the radial bound is that of Haimovich and Rinnooy Kan, Mathematics of Operations Research 10, 1985.
"""

from dataclasses import dataclass
from typing import Final

from planner_mcp import arrays as np
from planner_mcp.routing.analysis.one_tree_bound import TreeCosts, tree_bound
from planner_mcp.routing.feasibility import fleet_size_bounds
from planner_mcp.routing.feasibility.cheapest_legs import (
    CheapestLegs,
    Costs,
    cheapest_legs,
    legs_between_tickets,
    with_detours,
)
from planner_mcp.routing.plan import gap_at_most
from planner_mcp.routing.problem import GroupKind, Problem
from planner_mcp.text import Json, at_least

MAX_TICKETS: Final = 1500
"""Above this number the matrix of all legs takes too much memory and time."""
_TOO_LARGE: Final = f"the scenario has more than {MAX_TICKETS} tickets"
MAX_PLACES: Final = 400
"""Locations up to which shortest paths are computed; the 1-tree bound needs them where tickets are optional."""


@dataclass(frozen=True, slots=True)
class LowerBound:
    """A lower bound on the cost of any plan that serves every wanted ticket, in the caller's currency."""

    cost: float | None
    """None where the problem is too large."""
    agents: int
    """A lower bound on the number of agents."""

    def gap(self, cost: float) -> float | None:
        """Return the gap of a plan of this cost, as `gap_at_most`; None also where there is no bound."""
        return None if self.cost is None else gap_at_most(cost, self.cost)

    def as_json(self) -> Json:
        """Return the bound as tools report it, or the reason why there is none."""
        described: Json = {"agents_needed": self.agents}
        return described | (
            {"no_lower_bound": _TOO_LARGE} if self.cost is None else {"lower_bound": at_least(self.cost)}
        )


def lower_bound(problem: Problem) -> LowerBound:
    """Return the bound on the cost, None for large problems, and the bound on the number of agents."""
    wanted = fleet_size_bounds.mandatory_tickets(problem)
    agents = fleet_size_bounds.agents_needed(problem, wanted)
    least = _least_cost(problem, wanted, agents)
    return LowerBound(None if least is None else least / problem.cost_scale, agents)


def least_cost(problem: Problem) -> int | None:
    """Return the bound on the cost, in cost units; None for large problems."""
    wanted = fleet_size_bounds.mandatory_tickets(problem)
    return _least_cost(problem, wanted, fleet_size_bounds.agents_needed(problem, wanted))


def _least_cost(problem: Problem, wanted: list[int], agents: int) -> int | None:
    if len(problem.tickets) > MAX_TICKETS:
        return None
    legs = cheapest_legs(problem)
    direct = legs_between_tickets(problem, legs)
    work = int(_work(problem)[wanted].sum())
    serving = max(
        _assignment_bound(problem, legs, direct),
        work + _one_tree_bound(problem, legs, direct, wanted, agents),
        work + _radial_bound(problem, legs, wanted),
    )
    return int(serving + fleet_size_bounds.least_fixed_cost(problem, wanted))


def _work(problem: Problem) -> Costs:
    """Return a lower bound on the cost of the service time, (tickets,)."""
    hourly = min(agent.time_cost for agent in problem.agents)
    return np.array([ticket.service * hourly for ticket in problem.tickets], dtype=np.int64)


def _assignment_bound(problem: Problem, legs: CheapestLegs, direct: Costs) -> int:
    """Return the sum over tickets of their cheapest legs; of optional tickets, the penalty where that is less."""
    locations = np.array([ticket.location for ticket in problem.tickets])
    incoming = np.minimum(direct.min(axis=0), legs.out[locations])
    outgoing = np.minimum((direct - incoming).min(axis=1), legs.back[locations])
    least = incoming + np.maximum(0, outgoing) + _work(problem)
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
    """Return the 1-tree bound on travel to the wanted tickets; over shortest paths where others may lie between."""
    locations = np.array([problem.tickets[index].location for index in wanted], dtype=np.int64)
    if len(wanted) < len(problem.tickets):
        if len(legs.table) > MAX_PLACES:
            return 0
        legs = with_detours(legs, everywhere=True)
        direct = legs.table[np.ix_(locations, locations)]
    trips = max(agents, fleet_size_bounds.trips_needed(problem, wanted))
    return tree_bound(TreeCosts(np.minimum(direct, direct.T), legs.out[locations], legs.back[locations], trips))


def _radial_bound(problem: Problem, legs: CheapestLegs, wanted: list[int]) -> int:
    """Return the largest radial bound over all capacity dimensions."""
    legs = with_detours(legs, everywhere=False)
    round_trips = [int(legs.out[place] + legs.back[place]) for place in (problem.tickets[i].location for i in wanted)]
    found = (
        sum(amount * round_trip for amount, round_trip in zip(amounts, round_trips, strict=True)) // room
        for amounts, room in fleet_size_bounds.capacity_shares(problem, wanted)
        if room > 0
    )
    return max(found, default=0)
