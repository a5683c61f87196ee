"""Penalties of violated constraints in PyVRP's search, and the weight of waiting, in cost units of the problem.

The library starts in the middle between the smallest and the largest penalty per unit, whatever the units are. Where
that is far above the price of a detour, infeasible plans are never used as steps to better ones. Where it is far below,
violations pay and no feasible plan is found.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from pyvrp import CostEvaluator, Solution
from pyvrp.search import NeighbourhoodParams

from planner_mcp.routing.problem import Matrix, Problem

LOAD_IN_LEGS: Final = 1.0
"""Initial penalty of the mean demand in excess of capacity, in costs of a mean leg."""
TRAVEL_IN_LEGS: Final = 10.0
"""Initial penalty of the duration or distance of a mean leg in excess of a limit, in costs of a mean leg."""
WAIT_WEIGHT: Final = 0.2
"""Weight of a unit of waiting relative to travel in neighbour lists: the library's own number."""
UPDATE_INTERVAL: Final = 100
"""Iterations between two updates of the penalties: a search of seconds has some thousands."""
TARGET_FEASIBLE: Final = 0.65
"""Target share of plans that satisfy a constraint."""
TOLERANCE: Final = 0.05
"""Deviation from the target that changes no penalty; this and the following are the library's own numbers."""
INCREASE: Final = 1.5
DECREASE: Final = 0.9
MIN_SHARE: Final = 0.01
"""Smallest penalty, as a share of the initial one."""

InitialPenalties = tuple[list[float], float, float]
"""Initial penalties per unit: load by dimension, time, distance."""


@dataclass(slots=True)
class RulePenalty:
    """The penalty of one constraint, its bounds, and the number of recent plans that satisfied it."""

    penalty: float
    minimum: float
    maximum: float
    satisfied: int = 0

    def adapt(self) -> None:
        """Raise the penalty where too few plans satisfied the constraint, lower it where too many did."""
        shortfall, self.satisfied = TARGET_FEASIBLE - self.satisfied / UPDATE_INTERVAL, 0
        if abs(shortfall) >= TOLERANCE:
            self.penalty = min(
                self.maximum, max(self.minimum, self.penalty * (INCREASE if shortfall > 0 else DECREASE))
            )


class Penalties:
    """The penalties of all constraints during a search.

    Each constraint has a minimum of its own, since units of load, time and distance are not comparable.

    Args:
        start: Initial penalties.
        maximum: The largest penalty per unit.
    """

    def __init__(self, start: InitialPenalties, maximum: float) -> None:
        begin = [min(maximum, each) for each in (*start[0], *start[1:])]
        self._rules = [RulePenalty(penalty, MIN_SHARE * penalty, maximum) for penalty in begin]
        self._registered = 0
        self.evaluator = self._evaluator()
        """The cost evaluator at the current penalties."""
        self.strictest = _evaluator_of([maximum] * len(begin))
        """The cost evaluator with every penalty at its maximum."""

    def register(self, plan: Solution) -> None:
        """Count the constraints a plan satisfies; update the evaluator after every `UPDATE_INTERVAL` plans."""
        excess = (*plan.excess_load(), plan.time_warp(), plan.excess_distance())
        for rule, units in zip(self._rules, excess, strict=True):
            rule.satisfied += units == 0
        self._registered += 1
        if self._registered % UPDATE_INTERVAL == 0:
            for rule in self._rules:
                rule.adapt()
            self.evaluator = self._evaluator()

    def _evaluator(self) -> CostEvaluator:
        return _evaluator_of([rule.penalty for rule in self._rules])


def _evaluator_of(penalties: list[float]) -> CostEvaluator:
    *loads, time_penalty, distance_penalty = penalties
    return CostEvaluator(loads, time_penalty, distance_penalty)


def neighbourhood_of(start: InitialPenalties) -> NeighbourhoodParams:
    """Return the neighbourhood parameters, with waiting weighted by the initial time penalty."""
    return NeighbourhoodParams(weight_wait_time=WAIT_WEIGHT * start[1] / TRAVEL_IN_LEGS)


def initial_penalties(problem: Problem) -> InitialPenalties:
    """Return the initial penalties, in cost units per unit."""
    tickets, agents = problem.tickets, problem.agents
    ends = [place for agent in agents for place in (agent.start, agent.end) if place is not None]
    places = np.unique([*(ticket.location for ticket in tickets), *ends])
    mean_distance, mean_duration = (
        _mean_leg(legs[0][np.ix_(places, places)]) for legs in (problem.distances, problem.durations)
    )
    per_distance = float(np.mean([agent.distance_cost for agent in agents]))
    per_time = float(np.mean([agent.time_cost for agent in agents]))
    mean_leg = max(1.0, per_distance * mean_distance + per_time * mean_duration)
    loads = [float(np.mean([ticket.demand[d] for ticket in tickets])) for d in range(len(problem.dimensions))]
    begin = [LOAD_IN_LEGS * mean_leg / max(1.0, load) for load in loads]
    return (
        begin,
        TRAVEL_IN_LEGS * mean_leg / max(1.0, mean_duration),
        TRAVEL_IN_LEGS * mean_leg / max(1.0, mean_distance),
    )


def _mean_leg(matrix: Matrix) -> float:
    """Return the mean over pairs of different locations."""
    count = len(matrix)
    return float(matrix.sum() - matrix.trace()) / max(1, count * (count - 1))
