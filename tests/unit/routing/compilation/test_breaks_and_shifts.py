"""Breaks that lie outside the shift of their agent."""

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.scenario_builders import agent, candidate, problem, ticket


def seconds(time_of_day: str) -> int:
    """Return seconds after midnight."""
    hours, minutes = time_of_day.split(":")
    return int(hours) * 3600 + int(minutes) * 60


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


@pytest.mark.parametrize(("departure", "is_missed"), [("09:25", False), ("09:40", True)])
def test_a_break_that_a_late_agent_can_begin_no_more_is_named(departure: str, is_missed: bool) -> None:
    """SPEC T5: the plan has no such break, which its driver is owed, so the answer says whose it was."""
    rest = {"earliest": "09:00", "latest": "09:30", "duration_s": 1800}
    visit = {"ticket": "a", "start_s": 9 * 3600, "departure_s": seconds(departure)}
    held = {"until_s": 9 * 3600 + 900, "routes": [{"agent": "v", "start_s": 8 * 3600, "visits": [visit]}]}
    day = problem(
        [agent("v", shift_start="08:00", shift_end="17:00", breaks=[rest])],
        [ticket("a", service_time_s=seconds(departure) - 9 * 3600), ticket("b")],
        held=held,
    )
    named = "Breaks that have not begun by their latest start are left out: v (09:30)."
    assert (named in day.frozen_prefix_assumptions) == is_missed
