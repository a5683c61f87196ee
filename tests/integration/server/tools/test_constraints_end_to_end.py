"""Each constraint of the model, end to end: through the tools, by each engine that claims it (SPEC S1, S2)."""

from typing import Any

import anyio
import pytest

from planner_mcp.jobs.principals import LOCAL
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Feature
from planner_mcp.routing.verification.plan_verification import verify
from tests.integration.server.tools.conftest import ToolClient
from tests.shared.scenarios.rule_case import RuleCase
from tests.shared.scenarios.rule_cases import RULE_CASES
from workers.engines.selection import engine_registry

pytestmark = pytest.mark.anyio
LONGEST_S = 60
ENGINES = [engine for engine in engine_registry.engines() if engine.is_available()]
QUICK_FEATURES = (None, Feature.TIME_WINDOWS, Feature.RUSH_HOURS)
"""The quick suite has these; `tests/contract/test_engine_contract.py` has every feature, in process."""


def quick_for_some(day: RuleCase) -> Any:
    """Return the marks of a day."""
    return [] if day.feature in QUICK_FEATURES else pytest.mark.slow


CLAIMED = [
    pytest.param(
        engine.name,
        day,
        id=f"{engine.name}-{day}",
        marks=quick_for_some(day),
    )
    for engine in ENGINES
    for day in RULE_CASES
    if day.feature is Feature.RUSH_HOURS or not engine.missing(day.problem)
]


async def planned(tools_client: ToolClient, day: RuleCase, engine: str) -> dict[str, Any]:
    """Solve a day through the tools; the search is ended as soon as it has the plan that the day is about."""
    goal = round(day.cost, 2)
    scenario_id = (await tools_client.use("create_scenario", **day.body))["scenario_id"]
    job_id = (await tools_client.use("solve_vrp", scenario_id=scenario_id, solve_time="PT5S", engine=engine))["job_id"]
    with anyio.fail_after(LONGEST_S):
        async for event in tools_client.ctx.job_service.follow(LOCAL, job_id):
            served, cost = event.data.tickets_served, event.data.cost
            if not event.is_final and served == day.served and cost is not None and abs(cost - goal) < 0.01:
                await tools_client.ctx.job_service.finish_now(LOCAL, job_id)
    return (await tools_client.ctx.job_service.plan_of_job(LOCAL, job_id)).as_json()


def judge(day: RuleCase, stored: dict[str, Any]) -> None:
    """It is the plan that the feature asks for, and the verifier agrees with what was stored."""
    plan = Plan.from_json(stored)
    assert verify(day.problem, plan) == []
    assert tuple(sorted(entry.ticket_id for entry in plan.unassigned)) == day.left
    assert plan.cost == pytest.approx(day.cost, abs=0.01)


@pytest.mark.parametrize("day", [pytest.param(day, id=str(day), marks=quick_for_some(day)) for day in RULE_CASES])
async def test_auto_respects_it(tools_client: ToolClient, day: RuleCase) -> None:
    """SPEC S1: create_scenario, solve_vrp, and the stored plan."""
    judge(day, await planned(tools_client, day, "auto"))


@pytest.mark.parametrize(("engine", "day"), CLAIMED)
async def test_each_engine_respects_what_it_claims(tools_client: ToolClient, engine: str, day: RuleCase) -> None:
    """SPEC S1, S2: the same by name, the search itself instead of trying everything."""
    judge(day, await planned(tools_client, day, engine))
