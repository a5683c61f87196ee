"""A program of somebody else: `test_typed_package.py` type-checks it against the built wheel."""

import json
import time
from typing import Any, assert_type

from planner_mcp.errors import InputError
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.plan import Plan, PlannedRoute
from planner_mcp.routing.problem import Problem
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.verification.plan_verification import verify
from planner_mcp.settings import Settings
from workers.engines.engine_interface import Engine, SearchLimits
from workers.engines.selection.engine_registry import choose


def plan_day(text: str, seconds: float) -> Plan:
    """Plan a scenario in this process and return the verified plan."""
    scenario = assert_type(parse_scenario(json.loads(text)), Scenario)
    problem = assert_type(compile_scenario(scenario), Problem)
    engine = assert_type(choose(problem), Engine)
    outcome = engine.solve(problem, SearchLimits(time.monotonic() + seconds), lambda _: None, lambda: False)
    if outcome.best is None:
        raise RuntimeError("no plan was found in time")
    plan = assert_type(build_plan(problem, outcome.best), Plan)
    assert_type(verify(problem, plan), list[str])
    return plan


def lines(plan: Plan) -> list[str]:
    """Return one line for each route."""
    routes = assert_type(plan.routes, tuple[PlannedRoute, ...])
    return [
        f"{route.agent_id}: {', '.join(visit.ticket_id or visit.kind for visit in route.visits)}" for route in routes
    ]


def faults(body: dict[str, Any]) -> list[str]:
    """Return where a scenario is wrong."""
    try:
        parse_scenario(body)
    except InputError as error:
        return [fault.path for fault in error.errors]
    return []


assert_type(Settings().port, int)
