"""What a broken rule costs PyVRP's search, and what waiting counts, in the cost units of the day.

The library begins in the middle between the least and the most that a unit may cost, whatever a unit and a cost are.
Where that is far beyond the price of a detour no plan that breaks a rule is ever passed through on the way to a better
one; where it is far below, breaking rules pays and no plan that holds is found.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from pyvrp import CostEvaluator, Solution
from pyvrp.search import NeighbourhoodParams

from planner_mcp.routing.problem import Matrix, Problem

LOAD_IN_LEGS: Final = 1.0
"""Mean legs that the load of a mean ticket costs where there is no room for it …"""
TRAVEL_IN_LEGS: Final = 10.0
"""… and those that a mean leg costs for which there is no time, or no distance, left."""
WAIT: Final = 0.2
"""Share of a unit of travel that a unit of waiting counts where neighbours are looked for: the library's own number."""
UPDATED_EVERY: Final = 100
"""Plans looked at before penalties rise or fall: a search of seconds sees some thousands."""
TARGET: Final = 0.65
"""Share of plans that keep a rule at which its penalty is right …"""
TOLERANCE: Final = 0.05
"""… and how far from it nothing is changed yet; these and what follows are the library's own numbers."""
RISE: Final = 1.5
FALL: Final = 0.9
FALLS_TO: Final = 0.01
"""Share of what it is to begin with that a penalty may fall to."""

InitialPenalties = tuple[list[float], float, float]
"""What a unit too much costs: of load by dimension, of time, of distance."""


@dataclass(slots=True)
class RulePenalty:
    """What one unit too much costs, its bounds, and in how many plans of late there was none."""

    penalty: float
    least: float
    most: float
    kept: int = 0

    def adapt(self) -> None:
        """Rise where too few plans kept the rule, fall where more did than need be."""
        short, self.kept = TARGET - self.kept / UPDATED_EVERY, 0
        if abs(short) >= TOLERANCE:
            self.penalty = min(self.most, max(self.least, self.penalty * (RISE if short > 0 else FALL)))


class Penalties:
    """What broken rules cost while a search goes on.

    Each rule has a least of its own: units of load, time and distance have nothing in common.

    Args:
        start: What the search begins with.
        most: The most one unit may cost.
    """

    def __init__(self, start: InitialPenalties, most: float) -> None:
        begin = [min(most, each) for each in (*start[0], *start[1:])]
        self._rules = [RulePenalty(penalty, FALLS_TO * penalty, most) for penalty in begin]
        self._looked_at = 0
        self.evaluator = self._evaluator()
        """What plans cost as things stand."""
        self.strictest = _evaluator_of([most] * len(begin))
        """What plans cost where every rule is at its most."""

    def register(self, plan: Solution) -> None:
        """Count the rules that a plan keeps; a new evaluator after every `UPDATED_EVERY` plans."""
        excess = (*plan.excess_load(), plan.time_warp(), plan.excess_distance())
        for rule, units in zip(self._rules, excess, strict=True):
            rule.kept += units == 0
        self._looked_at += 1
        if self._looked_at % UPDATED_EVERY == 0:
            for rule in self._rules:
                rule.adapt()
            self.evaluator = self._evaluator()

    def _evaluator(self) -> CostEvaluator:
        return _evaluator_of([rule.penalty for rule in self._rules])


def _evaluator_of(penalties: list[float]) -> CostEvaluator:
    *loads, late, far = penalties
    return CostEvaluator(loads, late, far)


def neighbourhood_of(start: InitialPenalties) -> NeighbourhoodParams:
    """Return how near a stop is to another, its waiting weighed as the day pays for time."""
    return NeighbourhoodParams(weight_wait_time=WAIT * start[1] / TRAVEL_IN_LEGS)


def initial_penalties(problem: Problem) -> InitialPenalties:
    """Return what a unit too much costs to begin with, in cost units a unit."""
    tickets, agents = problem.tickets, problem.agents
    ends = [place for agent in agents for place in (agent.start, agent.end) if place is not None]
    places = np.unique([*(ticket.location for ticket in tickets), *ends])
    mean_distance, mean_duration = (
        _mean_leg(legs[0][np.ix_(places, places)]) for legs in (problem.distances, problem.durations)
    )
    per_distance = float(np.mean([agent.distance_cost for agent in agents]))
    per_time = float(np.mean([agent.time_cost for agent in agents]))
    leg = max(1.0, per_distance * mean_distance + per_time * mean_duration)
    loads = [float(np.mean([ticket.demand[d] for ticket in tickets])) for d in range(len(problem.dimensions))]
    begin = [LOAD_IN_LEGS * leg / max(1.0, load) for load in loads]
    return begin, TRAVEL_IN_LEGS * leg / max(1.0, mean_duration), TRAVEL_IN_LEGS * leg / max(1.0, mean_distance)


def _mean_leg(table: Matrix) -> float:
    """Return the mean between two different places."""
    count = len(table)
    return float(table.sum() - table.trace()) / max(1, count * (count - 1))
