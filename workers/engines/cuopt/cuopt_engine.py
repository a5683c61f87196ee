"""cuOpt as an engine: slices of a few seconds on a GPU, each from the best plan so far.

Owns the slices. cuOpt neither reports plans while it searches nor takes new ones; between slices both happen.
"""

import time
from typing import Final

from planner_mcp.errors import EngineError
from planner_mcp.routing.engine_features import ENGINE_FEATURES
from planner_mcp.routing.problem import Candidate, Feature, Problem
from workers.engines.cuopt import cuopt_model
from workers.engines.cuopt.cuopt_client import CuoptClient
from workers.engines.engine_interface import OnImprovement, SearchLimits, SearchOutcome, ShouldStop, StopReason
from workers.engines.heuristics.best_verified import BestVerified

SLICE_S: Final = 10.0
"""Longest time of one request."""
SHORTEST_S: Final = 1.0
"""No request is sent for less."""
RESERVE_S: Final = 0.5
"""Time of a slice for the request and its answer, in which cuOpt does not search."""


class CuoptEngine:
    """A cuOpt server. It takes no seed.

    Args:
        url: Its address; empty where there is none.
    """

    name = "cuopt"
    features = ENGINE_FEATURES["cuopt"]

    def __init__(self, url: str = "") -> None:
        self.url = url

    def is_available(self) -> bool:
        """Return whether the server answers."""
        return bool(self.url) and CuoptClient(self.url).is_healthy()

    def versions(self) -> dict[str, str]:
        """Return no version: the server is another one at any time."""
        return {self.name: ""}

    def missing(self, problem: Problem) -> frozenset[Feature]:
        """Return the features of a problem that it does not support."""
        return (problem.features - self.features) | cuopt_model.unsupported(problem)

    def solve(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> SearchOutcome:
        """Search in slices until the deadline or `should_stop`.

        Raises:
            EngineError: The server refuses, does not answer, or the problem is too large for it.
        """
        if not cuopt_model.is_in_reach(problem):
            raise EngineError("The scenario is too large for the requests of cuOpt, or has too many dimensions.")
        best = BestVerified(problem, on_improvement, warm_start)
        client, slices = CuoptClient(self.url), 0
        while not should_stop() and (left_s := limits.deadline - time.monotonic()) > SHORTEST_S + RESERVE_S:
            limit_s = min(SLICE_S, left_s) - RESERVE_S
            request = cuopt_model.request_of(problem, limit_s, best.settle())
            if (answer := client.solve(request, limits.deadline, should_stop)) is None:
                break
            slices += 1
            try:
                found = cuopt_model.candidate_of(problem, answer)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise EngineError("cuOpt answered with something that is no plan.") from error
            if found is None:
                break
            best.offer(found)
        reason = StopReason.STOPPED if should_stop() else StopReason.TIME_LIMIT
        return SearchOutcome(best.settle(), reason, slices)
