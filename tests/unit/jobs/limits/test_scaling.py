"""The slots that open jobs want."""

import pytest

from planner_mcp.jobs.job_ports import OpenWork, QueueStats
from planner_mcp.jobs.limits.scaling import wanted_scale
from planner_mcp.settings import Settings


@pytest.mark.parametrize(
    ("queued", "solving", "queued_cpu_s", "solving_cpu_s", "wanted"),
    [
        (0, 0, 0, 0, 0),
        (1, 0, 10, 0, 1),  # with no worker alive: the first one is asked for
        (100, 0, 3000, 0, 100),
        (1, 4, 10, 8, 5),  # four run: none of them is to be stopped, and one waits
        (0, 4, 0, 8, 4),
        (3, 2, 600, 60, 22),
    ],
)
def test_slots_follow_from_the_time_that_jobs_may_take(
    queued: int, solving: int, queued_cpu_s: float, solving_cpu_s: float, wanted: int
) -> None:
    """SPEC O8: a job submitted now starts within 30 s, and no running job loses its worker."""
    stats, work = QueueStats(queued, solving, 0, 0), OpenWork(queued_cpu_s, solving_cpu_s)
    assert wanted_scale(stats, work, Settings(target_wait_s=30)).wanted_slots == wanted


def test_a_solve_on_two_cores_takes_one_slot() -> None:
    """SPEC O8: work is counted in CPU seconds, slots in solves."""
    scale = wanted_scale(QueueStats(2, 0, 0, 0), OpenWork(240, 0), Settings(target_wait_s=60, solve_cores=2))
    assert (scale.wanted_slots, scale.queued_s) == (2, 120)


@pytest.mark.parametrize(("solving", "wanted"), [(0, 1), (3, 3)])
def test_a_webhook_that_is_due_wants_a_slot(solving: int, wanted: int) -> None:
    """SPEC O8, W3: workers send webhooks; with none left a retry waited for the next job, or was given up."""
    work = OpenWork(0, 0, has_due_webhooks=True)
    assert wanted_scale(QueueStats(0, solving, 0, 0), work, Settings()).wanted_slots == wanted
