"""Repairs the plan a search starts from, within a share of its time (SPEC T5).

Owns the share. The search itself inserts what the repair leaves out, so the repair must leave most of the time to it.
"""

import time
from collections.abc import Callable
from typing import Final

from planner_mcp.routing.analysis.plan_repair import repair
from planner_mcp.routing.problem import Candidate, Problem
from workers.engines.engine_interface import ShouldStop

REPAIR_SHARE: Final = 0.2
"""Share of the remaining time."""


def repaired(
    problem: Problem,
    candidate: Candidate,
    deadline: float,
    should_stop: ShouldStop,
    clock: Callable[[], float] = time.monotonic,
) -> Candidate:
    """Return the feasible part of a candidate, as `repair` finds it in its share of the time.

    Args:
        problem: The problem to be searched.
        candidate: A candidate of another problem.
        deadline: End of the search, by the clock.
        should_stop: Whether to stop early; asked often.
        clock: Monotonic seconds.
    """
    now = clock()
    ends = now + REPAIR_SHARE * (deadline - now)
    return repair(problem, candidate, lambda: should_stop() or clock() >= ends)
