"""Breaks in the model of OR-Tools: its library lets two rests overlap, ours does not."""

import time

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.scenario_builders import agent, problem, ticket
from workers.engines.engine_interface import SearchLimits
from workers.engines.ortools.ortools_engine import OrToolsEngine

DURING = [{"earliest": 10, "latest": 12, "duration_s": 3}, {"earliest": 8, "latest": 8, "duration_s": 6}]
BEFORE = [{"earliest": 3, "latest": 11, "duration_s": 6}, {"earliest": 6, "latest": 7, "duration_s": 6}]


@pytest.mark.parametrize(("breaks", "opens", "served"), [(DURING, 4, 1), (BEFORE, 4, 1), (BEFORE, 16, 2)])
def test_a_plan_never_rests_twice_at_the_same_time(breaks: list[dict[str, int]], opens: int, served: int) -> None:
    """SPEC S1: two breaks nobody can both take on the way: one ticket is left, unless both are over before leaving."""
    tickets = [ticket("a", time_windows=[[opens, opens]]), ticket("e", "E", time_windows=[[25, 34]])]
    day = problem([agent(shift_end=40, breaks=breaks)], tickets)
    found: list[Candidate] = []
    OrToolsEngine().solve(day, SearchLimits(time.monotonic() + 0.3), found.append, lambda: False)
    plans = [build_plan(day, candidate) for candidate in found]
    assert [verify(day, plan) for plan in plans] == [[] for _ in plans]
    assert plans[-1].tickets_served == served
