"""Errors of the planner inside groups of tasks."""

import pytest

from planner_mcp.errors import StoreError, ungrouped


def test_a_refusal_inside_task_groups_is_raised_by_itself_with_its_cause() -> None:
    """SPEC O3, A3: else no command catches it by its name, and the log is a stack trace."""
    refusal, cause = StoreError(), OSError()
    refusal.__cause__ = cause
    with pytest.raises(StoreError) as caught, ungrouped():
        raise ExceptionGroup("outer", [ExceptionGroup("inner", [refusal]), StoreError()])
    assert (caught.value, caught.value.__cause__) == (refusal, cause)


def test_a_fault_of_ours_beside_a_refusal_stays_to_be_seen() -> None:
    """Our choice: what is wrong in the code must not pass for a store that is away."""
    with pytest.raises(ExceptionGroup), ungrouped():
        raise ExceptionGroup("both", [StoreError(), ZeroDivisionError()])
