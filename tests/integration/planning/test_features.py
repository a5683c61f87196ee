"""Each constraint of the model, end to end: through the tools, by each engine that claims it (SPEC S1, S2)."""

from typing import Any

import anyio
import pytest

from planner_mcp.jobs.model import LOCAL
from planner_mcp.vrp.plan import Plan
from planner_mcp.vrp.problem import Feature
from planner_mcp.vrp.proof.verify import verify
from tests.integration.planning.conftest import Desk
from tests.shared.rule_day import Day
from tests.shared.rule_days import DAYS
from workers.engines import registry

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::ResourceWarning")]
LONGEST_S = 60
ENGINES = [engine for engine in registry.engines() if engine.is_available()]
CLAIMED = [
    (engine.name, day)
    for engine in ENGINES
    for day in DAYS
    if day.feature is Feature.RUSH_HOURS or not registry.missing(engine, day.problem)
]


async def planned(desk: Desk, day: Day, engine: str) -> dict[str, Any]:
    """Solve a day through the tools; the search is ended as soon as it has the plan that the day is about."""
    goal = round(day.cost, 2)
    scenario_id = (await desk.use("create_scenario", **day.body))["scenario_id"]
    job_id = (await desk.use("solve_vrp", scenario_id=scenario_id, solve_time="PT5S", engine=engine))["job_id"]
    with anyio.fail_after(LONGEST_S):
        async for event in desk.ctx.planner.follow(LOCAL, job_id):
            served, cost = event.data.get("tickets_served"), event.data.get("cost", -1)
            if not event.is_final and served == day.served and abs(cost - goal) < 0.01:
                await desk.ctx.planner.finish_now(LOCAL, job_id)
    return await desk.ctx.planner.plan_of_job(LOCAL, job_id)


def judge(day: Day, stored: dict[str, Any]) -> None:
    """It is the plan that the feature asks for, and the verifier agrees with what was stored."""
    plan = Plan.from_json(stored)
    assert verify(day.problem, plan) == []
    assert tuple(sorted(entry.ticket_id for entry in plan.unassigned)) == day.left
    assert plan.cost == pytest.approx(day.cost, abs=0.01)


@pytest.mark.parametrize("day", DAYS, ids=str)
async def test_auto_respects_it(desk: Desk, day: Day) -> None:
    """SPEC S1: create_scenario, solve_vrp, and the stored plan."""
    judge(day, await planned(desk, day, "auto"))


@pytest.mark.parametrize(("engine", "day"), CLAIMED, ids=[f"{engine}-{day}" for engine, day in CLAIMED])
async def test_each_engine_respects_what_it_claims(desk: Desk, engine: str, day: Day) -> None:
    """SPEC S1, S2: the same by name, the search itself instead of trying everything."""
    judge(day, await planned(desk, day, engine))
