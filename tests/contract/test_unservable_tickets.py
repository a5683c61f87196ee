"""Tickets that nobody can serve are left out by every engine, with the proved reason, and all others are served."""

import time
from typing import Any

import pytest

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility.infeasibility_faults import infeasibility_faults
from planner_mcp.routing.feasibility.unassigned_reasons import with_reasons
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.scenario_builders import agent, body, ticket
from workers.engines.engine_interface import Engine, SearchLimits
from workers.engines.selection.engine_registry import choose, engines

FAR = {"id": "F", "x": 50_000, "y": 0}
UNSERVABLE: dict[str, tuple[dict[str, Any], str]] = {
    "heavy": ({"demand": 99}, "CAPACITY"),
    "strange": ({"demand": {"m3": 1}}, "CAPACITY"),
    "crane": ({"skills": ["crane"]}, "SKILL_OR_AGENT"),
    "evening": ({"time_windows": [["20:00", "21:00"]]}, "SHIFT_END"),
    "night": ({"time_windows": [["01:00", "02:00"]]}, "TIME_WINDOW"),
    "far": ({"location": "F"}, "SHIFT_END"),
}
"""What is wrong with a ticket, and the code of the plan."""


@pytest.mark.parametrize("engine", [each for each in engines() if each.is_available()], ids=lambda engine: engine.name)
def test_tickets_nobody_can_serve_are_left_out_with_their_reason(engine: Engine) -> None:
    """SPEC S2, T7: each costs its penalty like any wanted ticket, and takes no other with it."""
    impossible = [{**ticket(name), **fields} for name, (fields, _) in UNSERVABLE.items()]
    day = body([agent(shift_start="08:00", shift_end="12:00")], [ticket("a", "A"), ticket("b", "B"), *impossible])
    day["locations"] = [*day["locations"], FAR]
    scenario = parse_scenario(day, prove_infeasible=infeasibility_faults)
    problem = compile_scenario(scenario)
    assert {fault.which[0].partition(" ")[0]: fault.reason for fault in scenario.findings} == {
        name: code for name, (_, code) in UNSERVABLE.items()
    }
    assert choose(problem, engine.name).name == engine.name
    served = 0

    def note(candidate: Candidate) -> None:
        nonlocal served
        served = max(served, len(candidate.tickets))

    found = engine.solve(problem, SearchLimits(time.monotonic() + 2.0), note, lambda: served == 2).best
    assert found is not None
    plan = with_reasons(problem, build_plan(problem, found))
    assert verify(problem, plan) == []
    assert {entry.ticket_id: entry.code for entry in plan.unassigned} == {
        name: code for name, (_, code) in UNSERVABLE.items()
    }
