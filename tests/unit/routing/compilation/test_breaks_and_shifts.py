"""Breaks that lie outside the shift of their agent."""

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.scenario_builders import agent, candidate, problem, ticket


@pytest.mark.parametrize(("earliest", "latest"), [("12:00", "12:30"), ("17:30", "18:00")])
def test_a_break_outside_the_shift_delays_nobody(earliest: str, latest: str) -> None:
    """SPEC S1: for a shift from 12:45 a break that had to begin by 12:30 is over, however long it is."""
    rest = {"earliest": earliest, "latest": latest, "duration_s": 3600}
    driver = agent(shift_start="12:45", shift_end="17:00", breaks=[rest])
    day = problem([driver], [ticket("a", time_windows=[["12:45", "12:46"]])])
    plan = build_plan(day, candidate(day, "a"))
    assert verify(day, plan) == []
    assert [visit.kind for visit in plan.routes[0].visits] == ["ticket"]


def test_a_break_that_the_shift_begins_within_is_taken() -> None:
    """SPEC S1: it is spared by a start at or after earliest + duration alone."""
    rest = {"earliest": "12:00", "latest": "13:00", "duration_s": 1800}
    tickets = [ticket("a", time_windows=[["12:05", "12:06"]]), ticket("b", time_windows=[["14:00", "15:00"]])]
    day = problem([agent(shift_start="12:01", breaks=[rest])], tickets)
    assert verify(day, build_plan(day, candidate(day, "a", "b"))) != []
