"""What answers of the planning tools cost a model (SPEC T9), for a usual day and for the longest ids there can be."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import Candidate
from planner_mcp.server.tools.tool_definition import ToolResult
from planner_mcp.server.tools.tool_registry import REGISTRY, dispatch
from planner_mcp.settings import Settings
from tests.shared.scenarios.scenario_builders import compiled
from tests.shared.tools.token_costs import all_forms_tokens, dearer_form_tokens
from tests.shared.tools.tool_contexts import tool_context

pytestmark = pytest.mark.anyio
BASE_FACTOR, LONGEST = "t-{}", "\N{DELIVERY TRUCK}" * 90 + "{}"
Use = Callable[..., Awaitable[ToolResult]]


@pytest.fixture
def use(store: RedisStore, feed: EventFeed, settings: Settings) -> Use:
    """Call a tool as the local user."""

    ctx = tool_context(store, JobService(store, feed, settings=settings), settings)
    tools = {tool.name: tool for tool in REGISTRY}

    async def use(tool: str, /, **args: Any) -> ToolResult:
        result = await dispatch(tools[tool], ctx, args)
        assert not result.is_error, result.text
        return result

    return use


def day(form: str) -> dict[str, Any]:
    """Return a day of 60 tickets for 6 agents, of which a third cannot be served."""
    return {
        "name": "day",
        "planning_date": "2025-07-15",
        "depot": "D",
        "locations": [{"id": "D", "lat": 40, "lon": 116}, {"id": "A", "lat": 40.1, "lon": 116.1}],
        "agents": [
            {"id": form.format(f"v{n}"), "capacity": 7, "shift_start": "08:00", "shift_end": "18:00"} for n in range(6)
        ],
        "tickets": [
            {"id": form.format(n), "location": "A", "demand": 1, "time_windows": [["09:00", "12:00"]]}
            for n in range(60)
        ],
    }


async def solved(use: Use, store: RedisStore, body: dict[str, Any], turn: int) -> str:
    """Solve a day as a worker that deals the first 40 tickets out, and return the job id."""
    scenario_id = (await use("create_scenario", **body)).structured["scenario_id"]
    job_id = str((await use("solve_vrp", scenario_id=scenario_id)).structured["job_id"])
    await store.register("w1", 1)
    claim = await store.claim("w1", 1.0)
    assert claim is not None
    problem = compiled(body)
    dealt = {agent: [(ticket + turn) % 42 for ticket in range(agent, 42, 6)] for agent in range(6)}
    plan = build_plan(problem, Candidate.of_tickets(dealt))
    progress = Progress(100, plan.cost, tickets_served=42, tickets_total=60, improvements=321, elapsed_s=29.87)
    await store.complete(claim, progress, plan.as_json())
    return job_id


async def answers(use: Use, store: RedisStore, form: str) -> dict[str, ToolResult]:
    """Return an answer of each tool of the set."""
    body = day(form)
    a, b = [await solved(use, store, body, turn) for turn in (0, 7)]
    whole = await solved(use, store, {**body, "tickets": body["tickets"][:42]}, 0)
    scenario_id = (await use("create_scenario", **body)).structured["scenario_id"]
    fields = {"location": "A", "demand": 2}
    patch = {
        "tickets": {**{form.format(f"n{n}"): fields for n in range(9)}, form.format(3): None, form.format(5): fields}
    }
    return {
        "validate_scenario": await use("validate_scenario", scenario=body),
        "revise_scenario": await use("revise_scenario", scenario_id=scenario_id, patch=patch),
        "resolve_vrp": await use("resolve_vrp", warm_from=a, patch=patch, keep_agents=True),
        "solve_alternatives": await use("solve_alternatives", plan=a, k=3),
        "weigh_plans": await use("weigh_plans", plans=[a, b]),
        "what_if": await use("what_if", plan=a, cases={f"case {n}": {"patch": patch} for n in range(5)}, wait_s=0),
        "compare_plans": await use("compare_plans", plan_a=a, plan_b=b),
        "read_progress": await use("read_progress", job_id=a),
        "prove_plan": await use("prove_plan", plan=whole),
        "explain_unassigned": await use("explain_unassigned", plan=a),
        "suggest_fixes": await use("suggest_fixes", plan=a),
    }


LIMITS = {
    "validate_scenario": 350,
    "revise_scenario": 200,
    "resolve_vrp": 200,
    "solve_alternatives": 400,
    "weigh_plans": 350,
    "what_if": 900,
    "compare_plans": 600,
    "read_progress": 350,
    "prove_plan": 150,
    "explain_unassigned": 900,
    "suggest_fixes": 900,
}


async def test_what_the_usual_answers_cost(use: Use, store: RedisStore) -> None:
    """SPEC T9: a summary of a plan ≤ 350, a page ≤ 900, whichever form a host shows."""
    costs = {name: dearer_form_tokens(answer) for name, answer in (await answers(use, store, BASE_FACTOR)).items()}
    assert {name: cost for name, cost in costs.items() if cost > LIMITS[name]} == {}


async def test_a_page_without_a_size_keeps_its_budget_and_one_with_a_size_has_its_rows(
    use: Use, store: RedisStore
) -> None:
    """SPEC T9: ≤ 900 with UUIDs for ids too; null is no size; a size that is asked for may cost what any answer may."""
    job_id = await solved(use, store, day("550e8400-e29b-41d4-a716-{}"), 0)
    (tool,) = (tool for tool in REGISTRY if tool.name == "read_plan")
    assert "default" not in tool.input_schema["properties"]["size"]  # no size that may be named is the same as none
    for asked in ({}, {"size": None}):
        usual = await use("read_plan", job_id=job_id, view="visits", **asked)
        assert dearer_form_tokens(usual) <= 900
        assert len(usual.structured["rows"]) == usual.structured["size"] < 20
    wide = await use("read_plan", job_id=job_id, view="visits", size=20)
    assert (len(wide.structured["rows"]), all_forms_tokens(wide) <= 8000) == (20, True)


async def test_a_limit_cut_for_a_whole_fleet_that_is_out(use: Use, store: RedisStore) -> None:
    """SPEC T9: any result ≤ 8000, however many agents have done more than the patch allows."""
    fields = {"location": "A", "demand": 1, "time_windows": [["09:00", "10:00"]], "service_time_s": 3600}
    names = [LONGEST.format(f"v{n}") for n in range(300)]
    agents = [{"id": name, "capacity": 1, "shift_start": "08:00", "shift_end": "18:00"} for name in names]
    tickets = [{"id": f"t-{n}", **fields} for n in range(300)]
    body = {**day(BASE_FACTOR), "agents": agents, "tickets": tickets}
    scenario_id = (await use("create_scenario", **body)).structured["scenario_id"]
    job_id = (await use("solve_vrp", scenario_id=scenario_id)).structured["job_id"]
    await store.register("w1", 1)
    claim = await store.claim("w1", 1.0)
    assert claim is not None
    plan = build_plan(compiled(body), Candidate.of_tickets({n: [n] for n in range(300)}))
    await store.complete(claim, Progress(100, plan.cost), plan.as_json())
    patch = {"agents": {name: {"shift_end": "09:00", "max_duration_s": 60, "max_distance_m": 1} for name in names}}
    answer = await use("resolve_vrp", warm_from=job_id, keep_until="09:30", patch=patch)
    assert len(answer.structured["notes"]) == 3
    assert all_forms_tokens(answer) <= 1500


async def test_the_largest_answers_there_can_be(use: Use, store: RedisStore) -> None:
    """SPEC T9: any result ≤ 8000, with everything shown, whatever the ids."""
    costs = {name: all_forms_tokens(answer) for name, answer in (await answers(use, store, LONGEST)).items()}
    assert {name: cost for name, cost in costs.items() if cost > 8000} == {}
