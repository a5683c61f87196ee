"""`prove_plan`: what it queues and refuses, and what `read_progress` tells of a proof (SPEC T5, S2)."""

from dataclasses import replace
from typing import Any

import pytest

from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.engine_names import PROVE
from planner_mcp.routing.plan import Plan, ProofRecord
from planner_mcp.server.tools.tool_definition import ToolContext
from tests.shared.scenarios.scenario_builders import agent, body, ticket
from tests.shared.scenarios.stored_plans import Call, created, solved

pytestmark = pytest.mark.anyio


async def proved(call: Call, ctx: ToolContext, store: RedisStore, base: str, *records: ProofRecord) -> str:
    """Return the job that proves the plan of another, with the test as its worker."""
    job_id: str = (await call("prove_plan", {"plan": base})).structured["job_id"]
    claim = await store.claim("w1", 1.0)
    assert claim is not None
    assert claim.job.id == job_id
    assert claim.job.request.engine == PROVE
    assert claim.best_plan is not None
    plan = Plan.from_json(claim.best_plan)
    for second, record in enumerate(records, start=1):
        written: dict[str, Any] = replace(plan, proof=record).as_json()
        progress = Progress(second, plan.cost, None, 3, 3, elapsed_s=second, lower_bound=record.lower_bound)
        await store.report(claim, progress, written)
    await store.complete(claim, progress, written)
    return job_id


async def test_a_proof_holds_for_every_plan_of_its_day(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5, S2: a curve of the bound, the gap, optimal where it was checked; also for the plan it began with."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    cost = (await call("read_plan", {"job_id": base})).structured["cost"]
    found = ProofRecord(cost - 0.5, relaxed=("breaks",)), ProofRecord(cost, is_optimal=True)
    job_id = await proved(call, ctx, store, base, *found)
    answer = await call("read_progress", {"job_id": job_id})
    assert answer.structured["columns"] == ["elapsed_s", "cost", "lower_bound"]
    assert answer.structured["rows"] == [[1, cost, cost - 0.5], [2, cost, cost]]
    assert answer.structured["optimal"] is True
    assert "This plan is optimal" in answer.text
    of_base = (await call("read_progress", {"job_id": base})).structured
    assert (of_base["lower_bound"], of_base["gap"], of_base["optimal"]) == (cost, 0, True)
    assert (await call("read_plan", {"job_id": job_id})).structured["proof"] == "optimal"
    view = (await call("read_view", {"job_id": base, "parts": ["bound"]})).structured
    assert (view["gap"], view["optimal"]) == (0, True)
    status = await call("query_vrp_status", {"job_id": job_id})
    assert status.structured["result"]["optimal"] is True
    assert "This plan is optimal" in status.text and "optimal True" not in status.text


async def test_a_proof_is_reported_after_later_jobs_of_its_day(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T5: another solve and a proof without a bound do not hide what was proved before."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    cost = (await call("read_plan", {"job_id": base})).structured["cost"]
    await proved(call, ctx, store, base, ProofRecord(cost, is_optimal=True))
    scenario_id = (await call("prove_plan", {"plan": base, "fresh": True})).structured["scenario_id"]
    later = (await call("solve_vrp", {"scenario_id": scenario_id, "fresh": True})).structured["job_id"]
    assert later != base
    assert (await call("read_progress", {"job_id": base})).structured["optimal"] is True


async def test_a_checked_proof_counts_where_the_quick_bound_meets_it(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC S2, T5: one ticket costs what the quick bound says; that this is optimal was checked all the same."""
    base = await solved(call, store, await created(call, body([agent("v")], [ticket("a")])), ["a"])
    unproved = (await call("read_progress", {"job_id": base})).structured
    assert unproved["lower_bound"] == unproved["rows"][-1][1]
    assert "optimal" not in unproved
    await proved(call, ctx, store, base, ProofRecord(unproved["lower_bound"], is_optimal=True))
    assert (await call("read_progress", {"job_id": base})).structured["optimal"] is True


async def test_a_plan_just_above_its_bound_is_not_optimal(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """SPEC S2: bound and cost meet, or the gap is above 0, however small it is."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    cost = (await ctx.job_service.plan_of_job(ctx.principal, base)).cost
    job_id = await proved(call, ctx, store, base, ProofRecord(cost * (1 - 1e-14), is_optimal=True))
    answer = (await call("read_progress", {"job_id": job_id})).structured
    assert (answer["gap"], "optimal" in answer) == (0.001, False)


async def test_a_gap_names_what_the_proof_leaves_out(call: Call, ctx: ToolContext, store: RedisStore) -> None:
    """Our choice: the bound stays valid and says which features were relaxed; nothing is called optimal unchecked."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    cost = (await call("read_plan", {"job_id": base})).structured["cost"]
    job_id = await proved(call, ctx, store, base, ProofRecord(cost, relaxed=("balance", "breaks")))
    answer = await call("read_progress", {"job_id": job_id})
    assert answer.structured["gap"] == 0
    assert "optimal" not in answer.structured
    assert answer.structured["relaxed"] == ["balance", "breaks"]
    assert "leaves out balance, breaks" in answer.text


async def test_what_cannot_be_proved_is_refused(call: Call, store: RedisStore) -> None:
    """SPEC T7: a plan without wanted tickets, and a day of too many tickets, each with its reason."""
    partial = await solved(call, store, await created(call), ["a", "b"])
    day = body([agent("v", capacity=1000), agent("w", capacity=1000)], [ticket(f"t{n}") for n in range(257)])
    large = await solved(
        call, store, await created(call, day), [f"t{n}" for n in range(200)], [f"t{n}" for n in range(200, 257)]
    )
    for name, reason in ((partial, "leaves out wanted tickets"), (large, "has 257 tickets")):
        refused = await call("prove_plan", {"plan": name})
        assert refused.structured["errors"][0]["path"] == "/plan"
        assert reason in refused.structured["errors"][0]["problem"]
