"""The search of one member of a team on a large day: rounds in which each member improves another region (ADR 54).

Owns the rounds: their lengths, which region is whose, and what is done with plans of the others. The cut moves from
round to round, so that what was a border is inside a region later. Members agree on it without a word: rounds are
counted back from the end, and regions are numbered as the members are. A plan of the others is merged into the own one
as it comes. Where two had cut different plans, their regions overlap, and the merge keeps the cheaper part.
"""

import time
from dataclasses import replace
from typing import Final

from planner_mcp.routing.problem import Candidate, Problem
from workers.engines.engine_interface import (
    Engine,
    OnImprovement,
    SearchLimits,
    SearchOutcome,
    ShouldStop,
    StopReason,
    Team,
)
from workers.engines.heuristics.best_verified import BestVerified
from workers.engines.native.sisr_engine import SisrEngine
from workers.engines.selection.regions import Region, cut_into_regions, merged_plans, region_of
from workers.engines.selection.time_allocation import DECOMPOSITION_ROUTES, TICKETS_PER_PART

ROUND_SHARE: Final = 0.07
"""Length of a round, as a share of the time of the job."""
ROUND_S: Final = 2.0
"""Shortest length of a round, in seconds: a plan takes a second to reach all members."""
BORDER_SHARE: Final = 0.7
"""Share of the time for rounds; before them each member searches its region from nothing."""
WARM_SHARE: Final = 0.25
"""Share of the cooling at which a search from an earlier plan begins."""
LAST_PLAN_S: Final = 1.0
"""A seat ends this long before the owner, which merges its last plan."""
NEARLY_S: Final = 0.1
"""A round that would be shorter than this is left out."""
SEED_STEP: Final = 7919
"""Difference between the seeds of two rounds."""


class RegionSearch:
    """The search of one member.

    Args:
        engine: Searches a region.
        problem: The whole day.
        limits: Of the whole search.
        team: The other members.
        on_improvement: Called with each better plan of the whole day.
        should_stop: Asked as engines ask it.
    """

    def __init__(
        self,
        engine: Engine,
        problem: Problem,
        limits: SearchLimits,
        team: Team,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
    ) -> None:
        self._engine, self._problem, self._limits, self._team = engine, problem, limits, team
        self._on_improvement, self._stop = on_improvement, should_stop
        self._deadline = limits.deadline - (LAST_PLAN_S if team.number > 1 else 0.0)
        self._round_s = max(ROUND_S, ROUND_SHARE * team.span_s)
        self._best: BestVerified
        self._begins_at = 0.0

    def run(self, warm_start: Candidate | None) -> SearchOutcome:
        """Search until the deadline or a stop request."""
        self._best = BestVerified(self._problem, self._on_improvement, warm_start)
        is_cold, iterations, reason = warm_start is None, 0, StopReason.TIME_LIMIT
        self._begins_at = 0.0 if is_cold else WARM_SHARE
        if is_cold:
            self._build_first_plan()
        while reason is not StopReason.STOPPED and time.monotonic() < self._deadline:
            outcome = self._improve(self._best.settle(), self._rounds_left(), is_cold=is_cold)
            iterations, reason, is_cold = iterations + outcome.iterations, outcome.reason, False
            self._team.publish()
        return SearchOutcome(self._best.settle(), reason, iterations)

    def _build_first_plan(self) -> None:
        """Build the plan that every member builds alike."""
        if (first := SisrEngine().first_plan(self._problem, self._stop)) is not None:
            self._best.offer(first, by=self._engine.name)

    def _rounds_left(self) -> int:
        """Return how many rounds end after this one."""
        most = int(BORDER_SHARE * self._team.span_s / self._round_s)
        return min(most, int((self._limits.deadline - time.monotonic() - NEARLY_S) / self._round_s))

    def _improve(self, plan: Candidate | None, rounds_left: int, *, is_cold: bool) -> SearchOutcome:
        """Search one region until the round ends; the whole day where there is no plan to cut."""
        ends_at = min(self._deadline, self._limits.deadline - rounds_left * self._round_s)
        seed = self._limits.seed + rounds_left * SEED_STEP
        cooling = (0.0 if is_cold else self._cooled(time.monotonic()), self._cooled(ends_at))
        limits = replace(self._limits, deadline=ends_at, asked_s=None, seed=seed, team=None, cooling=cooling)
        region = None if plan is None else self._region(plan, rounds_left)
        if plan is None or region is None:
            return self._engine.solve(self._problem, limits, self._offer, self._should_stop, None if is_cold else plan)

        def offer(found: Candidate) -> None:
            self._offer(region.inserted(plan, found))

        start = None if is_cold else region.routes_of(plan)
        return self._engine.solve(region.problem, limits, offer, self._should_stop, start)

    def _cooled(self, at: float) -> float:
        """Return the share of the cooling that is over: all members cool as one search of the whole time would."""
        left = min(1.0, max(0.0, self._deadline - at) / self._team.span_s)
        return 1 - left * (1 - self._begins_at)

    def _region(self, plan: Candidate, turn: int) -> Region | None:
        """Return the region of this member, None for the whole day where there is nobody to share it with."""
        members = self._team.members()
        most = min(len(plan.tickets) // TICKETS_PER_PART, len(plan.routes) // DECOMPOSITION_ROUTES)
        if (count := min(len(members), most)) < 2:
            return None
        index = (members.index(self._team.number) + turn) % count  # where one is missing, another comes by
        return region_of(self._problem, plan, cut_into_regions(self._problem, plan, count, turn), index)

    def _should_stop(self) -> bool:
        if (plan := self._team.take_plan()) is not None:
            self._offer(plan)
        return self._stop()

    def _offer(self, plan: Candidate) -> None:
        best = self._best.candidate
        self._best.offer(plan if best is None else merged_plans(self._problem, best, plan), by=self._engine.name)
