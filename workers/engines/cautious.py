"""An engine on a day whose travel depends on the hour, which no engine knows of.

Owns the way round that: the engine plans as if every agent always drove at the slowest pace of its shift. Such a plan
keeps every promise on the day itself, where real legs leave time to spare; afterwards whatever was left out for fear of
a rush is inserted where the real clock has room. A plan that serves everything is never worse than feasible; on tight
days it may use more agents than needed.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from planner_mcp.vrp.advice.fits import tickets_of
from planner_mcp.vrp.advice.insertion import trials, with_route
from planner_mcp.vrp.advice.repair import repair
from planner_mcp.vrp.layout.pace import at_worst
from planner_mcp.vrp.layout.schedule import price
from planner_mcp.vrp.problem import Candidate, Feature, GroupKind, Problem
from workers.engines import tiny
from workers.engines.base import Engine, Limits, OnImprovement, Outcome, ShouldStop

SHARE: Final = 0.9
"""Of the time the engine has; the rest is for putting back what it left out."""


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
        """Search on the slowest day, then fill in on the real one; tiny days are tried out on the real one."""
        if tiny.is_tiny(problem):
            return tiny.solve(problem, limits, on_improvement, should_stop)
        slow, now = at_worst(problem), time.monotonic()
        start = None if warm_start is None else repair(slow, warm_start)
        searching = replace(limits, deadline=now + SHARE * (limits.deadline - now))
        outcome = self.engine.solve(slow, searching, on_improvement, should_stop, start)
        found = outcome.best or Candidate((), (self.name,))
        best = _filled(problem, found, lambda: should_stop() or time.monotonic() >= limits.deadline)
        if best is found:
            return outcome
        on_improvement(best)
        return replace(outcome, best=best)


def _filled(problem: Problem, candidate: Candidate, is_over: ShouldStop) -> Candidate:
    """Return the candidate with what it leaves out inserted where the real day has room, the dearest first."""
    for ticket in _left_out(problem, candidate):
        if is_over():
            break
        fitting = (each for each in trials(problem, candidate, ticket, until=is_over) if not each.obstacles)
        if (best := min(fitting, key=lambda trial: trial.cost, default=None)) is not None:
            fuller = replace(with_route(candidate, best.route), found_by=candidate.found_by)
            if price(problem, fuller) < price(problem, candidate):
                candidate = fuller
    return candidate


def _left_out(problem: Problem, candidate: Candidate) -> Sequence[int]:
    """Return unserved tickets that can be served by themselves, one of each shipment."""
    served = {ticket for route in candidate.routes for ticket in tickets_of(route)}
    bound = {ticket for group in problem.groups for ticket in _bound(group.kind, group.tickets, served)}
    pickups = {ticket.pickup for ticket in problem.tickets}
    free = [i for i in range(len(problem.tickets)) if i not in served and i not in bound and i not in pickups]
    return sorted(free, key=lambda ticket: -problem.tickets[ticket].penalty)


def _bound(kind: GroupKind, tickets: tuple[int, ...], served: set[int]) -> tuple[int, ...]:
    """Return the members of a group that cannot be added alone."""
    return () if kind is GroupKind.ONE_OF and served.isdisjoint(tickets) else tickets
