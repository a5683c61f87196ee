"""Adapts an engine without least loads to problems that have them.

Owns what becomes of its plans. The engine searches as if no agent had a least load; of each plan the routes that serve
too little are left out. An engine that knows least loads goes on from there.
"""

from dataclasses import replace

from planner_mcp.routing.evaluation.plan_builder import price
from planner_mcp.routing.problem import Candidate, Feature, Problem, Route
from workers.engines.adapted_engine import AdaptedEngine
from workers.engines.engine_interface import Engine, OnImprovement, SearchLimits, SearchOutcome, ShouldStop
from workers.engines.heuristics.best_verified import is_feasible


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
        best: list[tuple[int, Candidate]] = []

        def offer(found: Candidate) -> None:
            loaded = replace(found, routes=tuple(route for route in found.routes if _is_loaded(problem, route)))
            cost = price(problem, loaded)
            if (not best or cost < best[-1][0]) and is_feasible(problem, loaded):
                best.append((cost, loaded))
                on_improvement(loaded)

        agents = tuple(replace(agent, min_load=()) for agent in problem.agents)
        free = replace(problem, agents=agents, features=problem.features - {Feature.MIN_LOAD})
        outcome = self.engine.solve(free, replace(limits, route_log=None), offer, should_stop, warm_start)
        if outcome.best is not None:
            offer(outcome.best)
        return replace(outcome, best=best[-1][1] if best else None)


def _is_loaded(problem: Problem, route: Route) -> bool:
    """Return whether a route serves the least load of its agent; a shipment counts once."""
    served = [ticket.demand for ticket in map(problem.tickets.__getitem__, route.tickets) if ticket.pickup is None]
    return all(
        sum(demand[dimension] for demand in served) >= least
        for dimension, least in enumerate(problem.agents[route.agent].min_load)
    )
