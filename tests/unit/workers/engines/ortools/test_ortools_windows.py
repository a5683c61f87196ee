"""Several windows a ticket in the model of OR-Tools: the gaps between them are a constraint."""

import time
from dataclasses import replace

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.scenario_builders import agent, problem, ticket
from workers.engines.engine_interface import SearchLimits
from workers.engines.ortools.ortools_engine import OrToolsEngine

MORNING, EVENING = ["08:00", "10:00"], ["15:00", "17:00"]


@pytest.mark.slow
def test_two_windows_on_a_fine_scale_take_no_time_to_say() -> None:
    """SPEC S3: a day reckoned in thousandths of a second is planned within the time asked, not modelled in it."""
    tickets = [ticket(f"t{number}", "ABCE"[number % 4], time_windows=[MORNING, EVENING]) for number in range(12)]
    day = problem([agent(capacity=20, shift_start="07:00", shift_end="18:00")], tickets, travel={"decimals": 3})
    found: list[Candidate] = []
    OrToolsEngine().solve(day, SearchLimits(time.monotonic() + 3), found.append, lambda: False)
    plan = build_plan(day, found[-1])
    assert verify(day, plan) == []
    assert plan.tickets_served == 12


def test_windows_that_touch_leave_no_gap() -> None:
    """SPEC S1: nothing lies between a window and the next moment's, and both are open."""
    day = problem([agent(shift_end=100)], [ticket(time_windows=[[10, 19], [20, 30]])])
    windows = ((10, 19), (20, 30), (40, 50))
    day = replace(day, tickets=tuple(replace(each, windows=windows) for each in day.tickets))
    found: list[Candidate] = []
    OrToolsEngine().solve(day, SearchLimits(time.monotonic() + 0.3), found.append, lambda: False)
    assert verify(day, build_plan(day, found[-1])) == []
