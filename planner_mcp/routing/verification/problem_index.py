"""Looks up agents, tickets and locations of a problem by id, for the verifier.

Owns the rounding of the numbers of a plan, and what checks of a route have in common. Used by `verification/` alone.
"""

from planner_mcp.routing.plan import PlannedRoute
from planner_mcp.routing.problem import AgentSpec, Problem


class ProblemIndex:
    """Indexes of a problem by id."""

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
        """Return whether the ticket is the pickup or the delivery of a shipment."""
        return self.problem.tickets[ticket].pickup is not None or ticket in self.delivery_of


class RouteCheck:
    """What the checks of one route have in common."""

    def __init__(self, problem_index: ProblemIndex, route: PlannedRoute) -> None:
        self.problem_index, self.problem, self.units = problem_index, problem_index.problem, problem_index.units
        self.route = route
        self.index = problem_index.agents[route.agent_id]
        self.agent: AgentSpec = self.problem.agents[self.index]
        self.tickets = [problem_index.tickets[name] for name in route.tickets]

    def violation(self, text: str) -> str:
        """Return what is wrong, with whose route it is."""
        return f"Agent {self.agent.id}: {text}"


def matches_cost(problem: Problem, stated: float | None, truth: int) -> bool:
    """Return whether a stated cost equals the computed one to half a unit, or to float precision beyond 2^52."""
    return stated is not None and abs(stated * problem.cost_scale - truth) <= max(0.499, abs(truth) * 2.0**-51)
