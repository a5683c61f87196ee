"""How many slots the open jobs want, for autoscalers (SPEC O8).

A slot solves one job at a time. The figure comes from the time limits of jobs, not from their number: ten jobs of a
minute want more than ten of a second.
"""

import math
from dataclasses import dataclass

from planner_mcp.jobs.job_ports import OpenWork, QueueStats
from planner_mcp.settings import Settings


@dataclass(frozen=True, slots=True)
class Scale:
    """What an autoscaler reads."""

    wanted_slots: int
    live_slots: int
    queued_s: float
    """Time that one slot would need for the jobs that wait."""
    solving_s: float
    """Time that one slot would need for what is left of running jobs."""


def wanted_scale(stats: QueueStats, work: OpenWork, settings: Settings) -> Scale:
    """Return the slots with which a job submitted now starts within `target_wait_s`.

    It is never below the number of running jobs: a worker that is stopped hands its job back, and another would have to
    go on with it. A webhook that is due wants one slot, as a worker sends it. Nothing that runs or waits wants no slot.

    Args:
        stats: The queue at a glance.
        work: What waits and what is left.
        settings: Cores of a solve, and the wait to aim at.
    """
    queued_s, solving_s = work.queued_cpu_s / settings.solve_cores, work.solving_cpu_s / settings.solve_cores
    for_the_wait = math.ceil((queued_s + solving_s) / settings.target_wait_s)
    waiting = min(1, stats.queued)
    return Scale(
        max(stats.solving + waiting, for_the_wait, int(work.has_due_webhooks)),
        stats.live_slots,
        round(queued_s, 1),
        round(solving_s, 1),
    )
