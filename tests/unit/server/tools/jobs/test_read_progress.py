"""`read_progress`: the cost of a job over time, its bound and its gap (SPEC T5, J5)."""

from dataclasses import replace

import pytest

from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import Candidate
from planner_mcp.server.tools.tool_definition import ToolContext
from tests.shared.scenarios.scenario_builders import agent, body, compiled, ticket
from tests.shared.scenarios.stored_plans import DAY, Call, created, solved

pytestmark = pytest.mark.anyio


async def test_progress_is_a_curve_with_a_bound(call: Call, store: RedisStore) -> None:
    """SPEC T5, J5: the best cost over time, also while solving; a gap only where every wanted ticket is served."""
    scenario_id = await created(call)
    job = await call("solve_vrp", {"scenario_id": scenario_id})
    job_id = job.structured["job_id"]
    await store.register("w1", 1)
    claim = await store.claim("w1", 1.0)
    assert claim is not None
    problem = compiled(DAY)
    for second, order in enumerate(([2, 1, 0], [0, 2, 1], [0, 1, 2]), start=1):
        plan = build_plan(problem, Candidate.of_tickets({0: order[:1], 1: order[1:]} if second == 1 else {0: order}))
        progress = Progress(10 * second, plan.cost, tickets_served=3, tickets_total=3, elapsed_s=second)
        await store.report(claim, progress, plan.as_json())
    solving = (await call("read_progress", {"job_id": job_id})).structured
    assert solving["status"] == "SOLVING"
    assert solving["columns"] == ["elapsed_s", "cost", "tickets_served"]
    assert solving["rows"] == [[1, 10, 3], [2, 6, 3]]
    assert 0 < solving["lower_bound"] <= 6
    assert 0 <= solving["gap"] < 1
    assert solving["rows"][-1][1] * (1 - solving["gap"]) <= solving["lower_bound"] + 0.01  # both away from the claim
    plain = await call("read_progress", {"job_id": job_id, "bound": False})
    assert "lower_bound" not in plain.structured


async def test_a_gap_is_that_of_the_plan_there_is(call: Call, store: RedisStore) -> None:
    """SPEC T5, J5: none where the job's own plan leaves a wanted ticket out, whatever stood before it."""
    job_id = (await call("solve_vrp", {"scenario_id": await created(call)})).structured["job_id"]
    await store.register("w1", 1)
    claim = await store.claim("w1", 1.0)
    assert claim is not None
    problem = compiled(DAY)
    for second, order in enumerate(([0, 1, 2], [0, 1]), start=1):
        plan = build_plan(problem, Candidate.of_tickets({0: order}))
        progress = Progress(10 * second, plan.cost, plan.penalty or None, len(order), 3, elapsed_s=second)
        await store.report(claim, progress, plan.as_json())
    answered = (await call("read_progress", {"job_id": job_id})).structured
    assert answered["lower_bound"] > 0
    assert "gap" not in answered


async def test_a_plan_cheaper_than_any_of_its_day_has_no_bound(call: Call, store: RedisStore) -> None:
    """SPEC S2, O7: an earlier version read its travel otherwise, so nothing is proved of it, not that it is optimal."""
    job_id = (await call("solve_vrp", {"scenario_id": await created(call)})).structured["job_id"]
    await store.register("w1", 1)
    claim = await store.claim("w1", 1.0)
    assert claim is not None
    found = build_plan(compiled(DAY), Candidate.of_tickets({0: [0, 1, 2]}))
    plan = replace(found, cost=found.cost / 10)
    progress = Progress(10, plan.cost, tickets_served=3, tickets_total=3, elapsed_s=1)
    await store.report(claim, progress, plan.as_json())
    answered = await call("read_progress", {"job_id": job_id})
    assert not answered.structured.keys() & {"lower_bound", "gap", "optimal"}
    assert "cheaper" not in answered.text


async def test_a_bound_is_worked_out_once(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5, T9: equal reads are answered from what is kept, even when the day has expired."""
    scenario_id = await created(call)
    job_id = await solved(call, store, scenario_id, ["a", "b"], ["c"])
    first = (await call("read_progress", {"job_id": job_id})).structured
    await store.redis.delete(f"{{p0}}:scn:{scenario_id}")
    assert first["lower_bound"] > 0
    assert (await call("read_progress", {"job_id": job_id})).structured == first


async def test_the_answer_for_a_large_day_says_why_there_is_no_bound(call: Call, store: RedisStore) -> None:
    """SPEC T5, T6: the agents needed all the same, in structure and text alike, as `validate_scenario` does."""
    day = body([agent("v", capacity=1000), agent("w", capacity=1000)], [ticket(f"t{n}") for n in range(1501)])
    scenario_id = await created(call, day)
    queued = (await call("solve_vrp", {"scenario_id": scenario_id})).structured["job_id"]
    assert "cost_in" not in (await call("read_progress", {"job_id": queued})).structured
    await call("cancel_vrp_job", {"job_id": queued})
    job_id = await solved(call, store, scenario_id, ["t0"], ["t1"])
    for answered in (
        await call("read_progress", {"job_id": job_id}),
        await call("validate_scenario", {"scenario": day}),
    ):
        assert "lower_bound" not in answered.structured
        assert "gap" not in answered.structured
        assert answered.structured["agents_needed"] == 2
        assert answered.structured["no_lower_bound"] == "the scenario has more than 1500 tickets"
        assert (
            "Agents needed: 2 or more; no bound on the cost: the scenario has more than 1500 tickets." in answered.text
        )


async def test_a_curve_outlives_the_day_it_belongs_to(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5, T7: what is kept is told, without the bound that only the day could tell."""
    scenario_id = await created(call)
    base = await solved(call, store, scenario_id, ["a", "b"], ["c"])
    await store.redis.delete(f"{{p0}}:scn:{scenario_id}")
    answered = (await call("read_progress", {"job_id": base})).structured
    assert (answered["status"], len(answered["rows"]), "lower_bound" in answered) == ("COMPLETED", 1, False)
