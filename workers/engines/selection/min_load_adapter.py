"""Adapts an engine without least loads to problems that have them.

Owns what becomes of its plans. The engine searches as if no agent had a least load; of each plan the routes that serve
too little are left out. An engine that knows least loads goes on from there.
"""

from dataclasses import replace

from planner_mcp.routing.feasibility.route_violations import smallest_loads
from planner_mcp.routing.problem import Candidate, Feature, Problem
from workers.engines.adapted_engine import AdaptedEngine
from workers.engines.engine_interface import Engine, OnImprovement, SearchLimits, SearchOutcome, ShouldStop
from workers.engines.heuristics.best_verified import BestVerified


class MinLoadAdapter(AdaptedEngine):
    """Runs an engine on problems without their least loads."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, Feature.MIN_LOAD)

    def solve(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> SearchOutcome:
        """Search without least loads; hand over what keeps them. Routes are not logged: they may serve too little."""
        best = BestVerified(problem, on_improvement)

        def offer(found: Candidate) -> None:
            loaded = (route for route in found.routes if not any(smallest_loads(problem, route)))
            best.offer(replace(found, routes=tuple(loaded)))

        agents = tuple(replace(agent, min_load=()) for agent in problem.agents)
        free = replace(problem, agents=agents, features=problem.features - {Feature.MIN_LOAD})
        outcome = self.engine.solve(free, replace(limits, route_log=None), offer, should_stop, warm_start)
        if outcome.best is not None:
            offer(outcome.best)
        return replace(outcome, best=best.settle())
