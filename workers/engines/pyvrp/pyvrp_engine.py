"""PyVRP: iterated local search, the strongest engine for most days it can express.

Owns what it can do and whether it is here. `workers/engines/pyvrp/pyvrp_run.py` searches,
`workers/engines/pyvrp/pyvrp_model.py` translates; both need the library, which is optional.
"""

from importlib import import_module
from typing import Final

from planner_mcp.routing.problem import Candidate, Feature, Problem
from workers.engines.engine_interface import OnImprovement, SearchLimits, SearchOutcome, ShouldStop, version_of

MAX_LEGS: Final = 20_000_000
"""Legs of all kinds of agents together up to which each kind may have tables of its own: some 600 MB of them."""


class PyvrpEngine:
    """The iterated local search of PyVRP with a history that fits the number of iterations to come."""

    name = "pyvrp"
    features = frozenset(
        {
            Feature.MULTI_CAPACITY,
            Feature.TIME_WINDOWS,
            Feature.SETUP,
            Feature.HETEROGENEOUS,
            Feature.TIME_COST,
            Feature.MULTI_DEPOT,
            Feature.OPEN_ROUTES,
            Feature.SHIFTS,
            Feature.MAX_DISTANCE,
            Feature.MAX_DURATION,
            Feature.SKILLS,
            Feature.SHIPMENTS,
            Feature.PICKUPS,
            Feature.BACKHAUL,
            Feature.RELOAD,
            Feature.RELEASE,
            Feature.OPTIONAL,
            Feature.PROFILES,
        }
    )
    is_deterministic = True
    """For equal limits (`SearchLimits.asked_s`), as far as both get: seconds end two runs at different numbers of
    iterations.

    A day that can hardly be served whole is the exception: for a plan that serves all it searches so many seconds only.
    """

    def missing(self, problem: Problem) -> frozenset[Feature]:
        """Return the features of a problem that it does not respect, alone, in this company or on so large a day."""
        lacking = problem.features - self.features
        if Feature.SHIPMENTS in problem.features:
            lacking |= problem.features & {Feature.BACKHAUL, Feature.RELOAD}
        halves = ((ticket, problem.tickets[ticket.pickup]) for ticket in problem.tickets if ticket.pickup is not None)
        if any(half.release for shipment in halves for half in shipment):
            lacking |= {Feature.RELEASE}
        if _legs(problem) > MAX_LEGS:
            lacking |= problem.features & {Feature.SKILLS, Feature.PROFILES}
        return lacking

    def is_available(self) -> bool:
        """Return whether PyVRP is installed."""
        try:
            import_module("workers.engines.pyvrp.pyvrp_run")
        except ImportError:
            return False
        return True

    def version(self) -> str:
        """Return the version of PyVRP, `""` without it."""
        return version_of("pyvrp")

    def solve(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> SearchOutcome:
        """Search until the deadline or `should_stop`."""
        from workers.engines.pyvrp import pyvrp_run

        return pyvrp_run.run(problem, limits, on_improvement, should_stop, warm_start)


def _legs(problem: Problem) -> int:
    """Return how many legs the library is given: all of them for each profile and each choice of tickets to serve."""
    welcome = {ticket.agents for ticket in problem.tickets if ticket.agents is not None}
    agents = enumerate(problem.agents)
    kinds = {(agent.profile, *(number in those for those in welcome)) for number, agent in agents}
    depots = {place for agent in problem.agents for place in (agent.start, agent.end, *agent.reload_at)}
    return len(kinds) * (len(problem.tickets) + len(depots)) ** 2
