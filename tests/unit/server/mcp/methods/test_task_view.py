"""What a task of 2025-11-25 tells of its progress."""

from itertools import pairwise

from planner_mcp.server.mcp.methods.task_view import task_progress


def test_progress_of_a_task_rises_with_every_event_and_stays_below_its_total() -> None:
    """SPEC J5; spec 2025-11-25, progress: each value is above the last, and none is 100 before the end."""
    first = [task_progress(percent, number) for number, percent in enumerate([0, 0, 0, 5, 5, 40, 98, 98.5, 99, 99.9])]
    long = [task_progress(98 if number < 20_000 else 99.9, number) for number in range(10, 200_000, 7)]
    for values in (first, [task_progress(98, number) for number in range(24_000, 24_100)], long):
        assert all(earlier < later for earlier, later in pairwise(values))
        assert values[-1] < 100
