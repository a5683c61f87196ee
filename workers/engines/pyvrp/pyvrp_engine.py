"""PyVRP: iterated local search, the strongest engine for most problems it can express.

Owns its features and availability. `workers/engines/pyvrp/pyvrp_run.py` searches and
`workers/engines/pyvrp/pyvrp_model.py` translates; both need the library, which is optional.
"""

from importlib import import_module
from typing import Final

from planner_mcp.routing.engine_features import ENGINE_FEATURES
from planner_mcp.routing.problem import Candidate, Feature, Problem
from workers.engines.engine_interface import OnImprovement, SearchLimits, SearchOutcome, ShouldStop, version_of

MAX_LEGS: Final = 20_000_000
"""Largest total of matrix cells over all vehicle profiles: about 600 MB."""


class PyvrpEngine:
    """The iterated local search of PyVRP, with a history length that fits the expected number of iterations.

    A seed repeats a run of equal limits (`SearchLimits.asked_s`), up to the shorter of two runs: a time limit ends runs
    at different numbers of iterations. The exception are problems that can hardly be served completely: the search for
    a complete plan is limited by time.
    """

    name = "pyvrp"
    features = ENGINE_FEATURES["pyvrp"]

    def missing(self, problem: Problem) -> frozenset[Feature]:
        """Return the features of a problem that it does not support, alone, in combination or at this size."""
        unsupported = problem.features - self.features
        if Feature.SHIPMENTS in problem.features:
            unsupported |= problem.features & {Feature.BACKHAUL, Feature.RELOAD}
        shipments = (
            (ticket, problem.tickets[ticket.pickup]) for ticket in problem.tickets if ticket.pickup is not None
        )
        if any(half.release for shipment in shipments for half in shipment):
            unsupported |= {Feature.RELEASE}
        if _legs(problem) > MAX_LEGS:
            unsupported |= problem.features & {Feature.SKILLS, Feature.PROFILES}
        return unsupported

    def is_available(self) -> bool:
        """Return whether PyVRP is installed."""
        try:
            import_module("workers.engines.pyvrp.pyvrp_run")
        except ImportError:
            return False
        return True

    def versions(self) -> dict[str, str]:
        """Return the version of PyVRP, `""` without it."""
        return {self.name: version_of("pyvrp")}

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
    """Return the number of matrix cells: all legs for each combination of profile and eligible tickets."""
    eligible_sets = {ticket.agents for ticket in problem.tickets if ticket.agents is not None}
    agents = enumerate(problem.agents)
    kinds = {(agent.profile, *(number in eligible for eligible in eligible_sets)) for number, agent in agents}
    depots = {place for agent in problem.agents for place in (agent.start, agent.end, *agent.reload_at)}
    return len(kinds) * (len(problem.tickets) + len(depots)) ** 2
