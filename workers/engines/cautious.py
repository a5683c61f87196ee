"""An engine on a day whose travel depends on the hour, which no engine knows of.

Owns the way round that: the engine plans as if every agent always drove at the slowest pace of its shift, save where it
breaks a lock (`workers/engines/slow_day.py`). Such a plan keeps every promise on the day itself, where real legs leave
time to spare, or is mended; afterwards what was left out for fear of a rush, or costs less elsewhere, is put where the
real clock has room (`workers/engines/refill.py`). A plan that serves everything is never worse than feasible; on tight
days it may use more agents than needed.
"""

import time
from dataclasses import replace
from typing import Final

from planner_mcp.vrp.advice.repair import repair
from planner_mcp.vrp.layout.schedule import lay_out, price
from planner_mcp.vrp.problem import Candidate, Feature, Problem
from planner_mcp.vrp.proof.verify import verify
from workers.engines import tiny
from workers.engines.base import Engine, Limits, OnImprovement, Outcome, ShouldStop
from workers.engines.mending import mended
from workers.engines.refill import refilled
from workers.engines.slow_day import slow_day

SEARCH_SHARE: Final = 0.9
"""Of the time the engine has; the rest is for the real clock."""


class Cautious:
    """Runs an engine on the slowest day there could be.

    Args:
        engine: Respects every other feature of the day.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.name = engine.name
        self.features = engine.features | {Feature.RUSH_HOURS}
        self.is_deterministic = engine.is_deterministic

    def is_available(self) -> bool:
        """Return whether the engine is."""
        return self.engine.is_available()

    def version(self) -> str:
        """Return the version of the engine."""
        return self.engine.version()

    def solve(
        self,
        problem: Problem,
        limits: Limits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> Outcome:
        """Search on the slowest day, then fill in on the real one; try everything where there is time for it."""
        if not tiny.is_tiny(problem):
            return self._search(problem, limits, on_improvement, should_stop, warm_start)
        tried = tiny.solve(problem, limits, on_improvement, should_stop)
        if not tiny.is_given_up(tried, limits):
            return tried
        start = _cheapest(problem, tried.best, warm_start)
        outcome = self._search(problem, replace(limits, asked_s=None), on_improvement, should_stop, start)
        return replace(outcome, best=_cheapest(problem, tried.best, outcome.best))

    def _search(
        self,
        problem: Problem,
        limits: Limits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None,
    ) -> Outcome:
        """Search on the slowest day, then fill in on the real one."""

        def is_over() -> bool:
            return should_stop() or time.monotonic() >= limits.deadline

        slow, now = slow_day(problem, is_over), time.monotonic()
        start = None if warm_start is None else mended(slow, warm_start, limits.deadline, should_stop)
        span_s = None if limits.asked_s is None else SEARCH_SHARE * limits.asked_s
        searching = replace(limits, deadline=now + SEARCH_SHARE * (limits.deadline - now), asked_s=span_s)
        outcome = self.engine.solve(slow, searching, on_improvement, should_stop, start)
        found = repair(problem, outcome.best or Candidate((), (self.name,)), is_over)
        best = refilled(problem, found, limits.seed, is_over)
        if best == outcome.best or verify(problem, lay_out(problem, best)):
            return outcome
        on_improvement(best)
        return replace(outcome, best=best)


def _cheapest(problem: Problem, *candidates: Candidate | None) -> Candidate | None:
    """Return the cheapest of those there are."""
    found = [candidate for candidate in candidates if candidate is not None]
    return min(found, key=lambda candidate: price(problem, candidate), default=None)
