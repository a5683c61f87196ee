"""What a broken rule costs PyVRP's search, to begin with, and what waiting counts, in the cost units of the day.

The library begins in the middle between the least and the most that a unit may cost, whatever a unit and a cost are.
Where that is far beyond the price of a detour no plan that breaks a rule is ever passed through on the way to a better
one; where it is far below, breaking rules pays and no plan that holds is found.
"""

from typing import Final

import numpy as np
from pyvrp import PenaltyParams, ProblemData
from pyvrp.search import NeighbourhoodParams

from planner_mcp.vrp.problem import Matrix, Problem

LOAD_IN_LEGS: Final = 1.0
"""Mean legs that the load of a mean ticket costs where there is no room for it …"""
WAY_IN_LEGS: Final = 10.0
"""… and those that a mean leg costs for which there is no time, or no distance, left."""
WAIT: Final = 0.2
"""Share of a unit of travel that a unit of waiting counts where neighbours are looked for: the library's own number."""
UPDATED_EVERY: Final = 100
"""Plans looked at before penalties rise or fall: a search of seconds sees some thousands."""
_LEAST: Final = 0.1
_FALLS_TO: Final = 0.01
"""Share of what it is to begin with that a penalty may fall to."""

Start = tuple[list[float], float, float]
"""What a unit too much costs: of load by dimension, of time, of distance."""


class DayPenalties(PenaltyParams):
    """The library's penalties with a start that suits the day.

    Args:
        problem: The day.
        most: The most one unit may cost.
    """

    def __init__(self, problem: Problem, most: float) -> None:
        self.start = start_of(problem)
        loads, time, distance = self.start
        least = min(_LEAST, *(_FALLS_TO * each for each in (*loads, time, distance)))
        super().__init__(solutions_between_updates=UPDATED_EVERY, min_penalty=least, max_penalty=most)

    @property
    def neighbourhood(self) -> NeighbourhoodParams:
        """How near a stop is to another, its waiting weighed as this day pays for time."""
        return NeighbourhoodParams(weight_wait_time=WAIT * self.start[1] / WAY_IN_LEGS)

    def midpoint_penalties(self, data: ProblemData) -> Start:
        """Return what the search begins with, instead of the middle between least and most."""
        del data
        return self.start


def start_of(problem: Problem) -> Start:
    """Return what a unit too much costs to begin with, in cost units a unit."""
    tickets, agents = problem.tickets, problem.agents
    ends = [place for agent in agents for place in (agent.start, agent.end) if place is not None]
    places = np.unique([*(ticket.location for ticket in tickets), *ends])
    way, ride = (_mean_leg(legs[0][np.ix_(places, places)]) for legs in (problem.distances, problem.durations))
    per_distance = float(np.mean([agent.distance_cost for agent in agents]))
    per_time = float(np.mean([agent.time_cost for agent in agents]))
    leg = max(1.0, per_distance * way + per_time * ride)
    loads = [float(np.mean([ticket.demand[d] for ticket in tickets])) for d in range(len(problem.dimensions))]
    begin = [LOAD_IN_LEGS * leg / max(1.0, load) for load in loads]
    return begin, WAY_IN_LEGS * leg / max(1.0, ride), WAY_IN_LEGS * leg / max(1.0, way)


def _mean_leg(table: Matrix) -> float:
    """Return the mean between two different places."""
    count = len(table)
    return float(table.sum() - table.trace()) / max(1, count * (count - 1))
