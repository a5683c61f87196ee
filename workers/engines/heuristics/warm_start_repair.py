"""Time for mending the plan a search starts from (SPEC T5).

Owns the share of it. What is left out for want of time is put back by the search, so mending may not eat the search up.
"""

import time
from collections.abc import Callable
from typing import Final

from planner_mcp.routing.analysis.plan_repair import repair
from planner_mcp.routing.problem import Candidate, Problem
from workers.engines.engine_interface import ShouldStop

REPAIR_SHARE: Final = 0.2
"""Of the time that is left."""


def repaired(
    problem: Problem,
    candidate: Candidate,
    deadline: float,
    should_stop: ShouldStop,
    clock: Callable[[], float] = time.monotonic,
) -> Candidate:
    """Return what is left of a candidate on a day, as `repair` finds it in its share of the time.

    Args:
        problem: The day that is searched.
        candidate: As it was planned on another.
        deadline: When the search is over, by the clock.
        should_stop: Asked all along.
        clock: Monotonic seconds.
    """
    now = clock()
    ends = now + REPAIR_SHARE * (deadline - now)
    return repair(problem, candidate, lambda: should_stop() or clock() >= ends)
