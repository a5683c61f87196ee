"""An engine for tests of those that combine engines."""

from planner_mcp.routing.problem import Candidate, Problem
from workers.engines.engine_interface import OnImprovement, SearchLimits, SearchOutcome, ShouldStop, StopReason


class ScriptedEngine:
    """An engine that hands over the plan it was told to, and notes what it was given."""

    def __init__(self, name: str, returns: Candidate | None) -> None:
        self.name = name
        self.returns = returns
        self.starts: list[Candidate | None] = []
        self.seeds: list[int] = []
        self.deadlines: list[float] = []

    def versions(self) -> dict[str, str]:
        return {self.name: "1"}

    def solve(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> SearchOutcome:
        self.starts.append(warm_start)
        self.seeds.append(limits.seed)
        self.deadlines.append(limits.deadline)
        return SearchOutcome(self.returns, StopReason.TIME_LIMIT, 1)
