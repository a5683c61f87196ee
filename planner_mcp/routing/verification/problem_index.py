"""What the proof of a plan looks things up in: the problem by name, and the rules of rounding.

Owns how a number of a plan is read, for `proof/verify.py` and its parts alone.
"""

from planner_mcp.routing.problem import Problem


class ProblemIndex:
    """The problem by name."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.agents = {agent.id: index for index, agent in enumerate(problem.agents)}
        self.tickets = {ticket.id: index for index, ticket in enumerate(problem.tickets)}
        self.locations = {name: index for index, name in enumerate(problem.locations)}
        self.delivery_of = {t.pickup: index for index, t in enumerate(problem.tickets) if t.pickup is not None}

    def units(self, value: float) -> int:
        """Return a time or length in integer units."""
        return round(value * self.problem.scale)

    def is_shipment(self, ticket: int) -> bool:
        """Return whether the ticket is either half of a shipment."""
        return self.problem.tickets[ticket].pickup is not None or ticket in self.delivery_of


def matches_cost(problem: Problem, stated: float, truth: int) -> bool:
    """Return whether a stated cost is the true one to half a unit, or to float precision beyond 2^52."""
    return abs(stated * problem.cost_scale - truth) <= max(0.499, abs(truth) * 2.0**-51)
