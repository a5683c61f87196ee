"""`solve_alternatives`: other plans of a day, each by its own style (SPEC T5)."""

from typing import Any

import anyio
import pytest

from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.tools.tool_definition import ErrorResult, ToolResult
from tests.shared.scenarios.scenario_builders import agent, body, ticket
from tests.shared.scenarios.stored_plans import Call, created, finish, solved

pytestmark = pytest.mark.anyio


async def test_alternatives_of_a_day_with_nulls_are_queued(call: Call, store: RedisStore) -> None:
    """SPEC T5: every style of a day whose prices are null, and the same plan named twice is one row."""
    nulls = {"fixed_cost": None, "cost_per_km": None, "cost_per_hour": None}
    tickets = [ticket("a", penalty=None, soft_close=1, lateness_cost_per_hour=None), ticket("b", penalty=5)]
    day = body([agent("v", **nulls), agent("w", **nulls)], tickets, options=None, groups=None)
    job_id = await solved(call, store, await created(call, day), ["a"], ["b"])
    answer = await call("solve_alternatives", {"plan": job_id, "k": 5})
    styles = [each["style"] for each in answer.structured["alternatives"]]
    assert styles == ["fewest_agents", "balanced", "quickest", "punctual", "other_search"]
    twice = (await call("weigh_plans", {"plans": [job_id, job_id.replace("job", "plan", 1)]})).structured
    assert (len(twice["rows"]), twice["duplicates"]) == (1, {})


async def alternative(call: Call, store: RedisStore, plan: str, style: str) -> Claim:
    """Solve one alternative of a plan, with a worker that finds the routes [a, b] and [c]."""
    answer = await call("solve_alternatives", {"plan": plan, "styles": [style]})
    assert not answer.is_error, answer.text
    return await finish(store, ["a", "b"], ["c"])


async def answered(
    call: Call, store: RedisStore, asked: dict[str, Any], *plans: list[list[str]]
) -> tuple[ToolResult | ErrorResult, list[Claim]]:
    """Return the answer to a call that waits for alternatives, and the claims of the worker that finds these plans."""
    answers: list[ToolResult | ErrorResult] = []

    async def ask() -> None:
        answers.append(await call("solve_alternatives", {**asked, "wait_s": 30}))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            claims = [await finish(store, *routes) for routes in plans]
    return answers[0], claims


async def test_alternatives_of_an_alternative_leave_its_style_behind(call: Call, store: RedisStore) -> None:
    """SPEC T5: the balanced one is not looked for with few agents at any price, whichever plan it is asked of."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    first = (await alternative(call, store, base, "fewest_agents")).job.id
    of_base, of_first = [(await alternative(call, store, plan, "balanced")).scenario.body for plan in (base, first)]
    assert of_base == of_first
    anew = await alternative(call, store, first, "other_search")
    assert not any("fixed_cost" in entry for entry in anew.scenario.body["agents"])
    assert (anew.job.request.seed, anew.job.request.warm_plan_id) == (1, None)


async def test_alternatives_are_free_of_what_a_call_before_tied_to_agents(call: Call, store: RedisStore) -> None:
    """SPEC T5: keep_agents holds for its own call; all alternatives held by it would be the plan there is."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    asked = {"warm_from": base, "keep_agents": True, "switch_cost": 5, "keep_until": "00:01"}
    kept = str((await call("resolve_vrp", asked)).structured["job_id"])
    await finish(store, ["a", "b"], ["c"])
    for style in ("balanced", "other_search"):
        day = (await alternative(call, store, kept, style)).scenario.body
        assert set(day["held"]) == {"until_s", "routes"}, style


async def test_an_equal_plan_makes_way_for_the_next_style(call: Call, store: RedisStore) -> None:
    """SPEC T5: alternatives really differ; what is left out has its reason, and costs are by the base's prices."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    answer, (_, second) = await answered(call, store, {"plan": base, "k": 1}, [["a", "b"], ["c"]], [["c", "a"], ["b"]])
    assert answer.structured["left_out"] == {
        "fewest_agents": "its plan is hardly different from the base plan (0.000 of 1 < 0.05)"
    }
    (other,) = answer.structured["alternatives"]
    assert (other["style"], other["job_id"]) == ("balanced", second.job.id)
    weighed = (await call("weigh_plans", {"plans": [base, other["job_id"]]})).structured
    assert [row[2] for row in weighed["rows"]] == [answer.structured["base_cost"], other["cost"]]
    status = (await call("query_vrp_status", {"job_id": other["job_id"]})).structured
    assert (status["cost"], status["result"]["cost"]) == (other["cost"], other["cost"])


async def test_an_equal_plan_is_reported_to_who_reads_it_later(call: Call, store: RedisStore) -> None:
    """SPEC T5: by the same measure as where the call waits for it; a plan that really differs is not called so."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    asked = {"plan": base, "styles": ["fewest_agents", "balanced"]}
    equal, other = (await call("solve_alternatives", asked)).structured["alternatives"]
    await finish(store, ["a", "b"], ["c"])
    await finish(store, ["c", "a"], ["b"])
    twin = f"This plan is hardly different from {plan_of(base)} (0.000 of 1 < 0.05)."
    status = await call("query_vrp_status", {"job_id": equal["job_id"]})
    assert (status.structured["changes"][0], twin in status.text.splitlines()) == (twin, True)
    assert twin not in (await call("query_vrp_status", {"job_id": other["job_id"]})).text
    again = await call("resolve_vrp", {"warm_from": base, "patch": {"name": "same"}})
    await finish(store, ["a", "b"], ["c"])
    assert "hardly" not in (await call("query_vrp_status", {"job_id": again.structured["job_id"]})).text


async def test_an_alternative_has_no_cost_where_the_day_of_the_base_plan_is_gone(call: Call, store: RedisStore) -> None:
    """SPEC T5: costs are by the prices of the base plan; those that its search was given are made up."""
    day = await created(call)
    base = await solved(call, store, day, ["a", "b"], ["c"])
    answers: list[ToolResult | ErrorResult] = []

    async def ask() -> None:
        asked = {"plan": base, "styles": ["balanced", "fewest_agents"], "wait_s": 30}
        answers.append(await call("solve_alternatives", asked))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await finish(store, ["c", "a"], ["b"])
            await store.redis.delete(f"{{p0}}:scn:{day}")
            await finish(store, ["a", "b", "c"])
    (_, last) = answers[0].structured["alternatives"]
    assert "cost" not in last
    assert last["difference"] > 0


async def test_a_front_shows_what_fewer_agents_cost_and_what_is_proved(call: Call, store: RedisStore) -> None:
    """SPEC T5: plans under rising prices of an agent, by the prices of the day; bounds of cost and of agents."""
    base = await solved(call, store, await created(call), ["a"], ["b", "c"])
    asked = {"plan": base, "front": "agents", "k": 2}
    answer, (first, second) = await answered(call, store, asked, [["a", "b", "c"]], [["c", "b"], ["a"]])
    assert not answer.is_error, answer.text
    front = answer.structured["front"]
    assert front["columns"] == ["style", "job_id", "cost", "agents", "gap"]
    by_name = {row[0]: row for row in front["rows"]}
    assert by_name["agents 0.1"][1::2] == [first.job.id, 1]
    assert all(0 <= row[4] <= 1 and front["lower_bound"] <= row[2] for row in front["rows"])
    assert front["least"] == 1
    assert {*by_name, *front["beaten"], *(answer.structured.get("left_out") or {})} == {
        "base",
        "agents 0.1",
        "agents 10",
    }
    prices = [claim.scenario.body["agents"][0]["fixed_cost"] for claim in (first, second)]
    assert prices[0] < prices[1]
    assert "Pareto front" in answer.text


async def test_a_plan_that_leaves_out_tickets_is_not_on_the_front(call: Call, store: RedisStore) -> None:
    """SPEC T5: it is cheaper and has fewer agents because it serves less, so it beats no plan that serves all."""
    base = await solved(call, store, await created(call), ["a"], ["b", "c"])
    answer, _ = await answered(call, store, {"plan": base, "front": "agents", "k": 1}, [["c", "b"]])
    front = answer.structured["front"]
    assert [row[0] for row in front["rows"]] == ["base"]
    assert (front["partial"], front["beaten"]) == (["agents 1"], {})
    assert "agents 1 is not compared: it leaves out more tickets" in answer.text


async def test_a_front_of_plans_that_all_leave_out_tickets_has_no_gaps(call: Call, store: RedisStore) -> None:
    """SPEC T5, S2: a bound of plans that serve all says nothing of others."""
    base = await solved(call, store, await created(call), ["a"], ["b"])
    answer, _ = await answered(call, store, {"plan": base, "front": "agents", "k": 1}, [["b", "a"]])
    front = answer.structured["front"]
    assert "partial" not in front
    assert [row[4] for row in front["rows"]] == [None] * len(front["rows"])


async def test_a_front_is_bounded_by_the_day_its_plans_are_of(call: Call, store: RedisStore) -> None:
    """SPEC T5, S2: what is proved of a day whose tickets stay with their agents does not hold for the freed day."""
    agents = [agent(name, fixed_cost=1000) for name in ("v", "w")]
    base = await solved(call, store, await created(call, body(agents, [ticket("a"), ticket("b")])), ["a"], ["b"])
    asked = {"warm_from": base, "keep_agents": True}
    kept = str((await call("resolve_vrp", asked)).structured["job_id"])
    await finish(store, ["a"], ["b"])
    answer, _ = await answered(call, store, {"plan": kept, "front": "agents", "k": 1}, [["a", "b"]])
    front = answer.structured["front"]
    assert front["lower_bound"] <= min(row[2] for row in front["rows"])


async def test_a_front_is_refused_where_nothing_can_be_better_or_styles_are_named_too(
    call: Call, store: RedisStore
) -> None:
    """SPEC T7: at the argument that is wrong, with what would be accepted."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    for arguments, path in (
        ({"front": "lateness"}, "/front"),
        ({"front": "agents", "styles": ["quickest"]}, "/styles"),
    ):
        answer = await call("solve_alternatives", {"plan": base, **arguments})
        assert [fault["path"] for fault in answer.structured["errors"]] == [path]
