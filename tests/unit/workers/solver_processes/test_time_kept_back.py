"""The time of a solve that is kept back for what follows its search."""

import pytest

from workers.solver_processes.solver_child import kept_back_s


def test_time_is_kept_back_by_size_and_by_how_busy_the_machine_is() -> None:
    """SPEC O8: so that a solve of 10,000 tickets ends near its time, and one of ten loses nothing."""
    assert kept_back_s(10, 8, 1) < 0.001
    assert kept_back_s(10_000, 30, 1) == pytest.approx(0.8)
    assert kept_back_s(10_000, 30, 3) == pytest.approx(2.4)
    assert kept_back_s(1000, 8, 0.5) == pytest.approx(0.08), "searches in parallel use more CPU than time"


def test_most_of_a_solve_is_search_at_any_load() -> None:
    """SPEC S3: a machine so busy that the end takes longer is told by the plan that is there."""
    assert kept_back_s(10_000, 8, 50) == pytest.approx(1.6)
