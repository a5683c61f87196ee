"""Plans as a worker stores them, of any size; and days that are solved with the test as the worker."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.analysis.alternative_plans import at_prices_of
from planner_mcp.routing.analysis.plan_repricing import repriced_on
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility.unassigned_reasons import with_reasons
from planner_mcp.routing.plan import ProofRecord
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.server.tools.tool_definition import ErrorResult, ToolResult
from tests.shared.scenarios.scenario_builders import agent, body, compiled, ticket

Name = Callable[[str, int], str]
Call = Callable[..., Awaitable[ToolResult | ErrorResult]]
"""Of a tool by its name, with its arguments."""
CODES = ("NO_ROOM_FOUND", "ALL_CAPACITY_USED", "TIME_WINDOW")
DAY = body(
    [agent("v", shift_end=20), agent("w", shift_end=20)],
    [ticket("a"), ticket("b", "B"), ticket("c", "C", time_windows=[[3, 9]])],
)


def stored_plan(*, routes: int, visits: int, left_out: int = 0, name: Name = "{}-{}".format) -> dict[str, Any]:
    """Return a plan in the form of `Plan.as_json()`.

    Args:
        routes: How many agents drive.
        visits: Tickets of each.
        left_out: Tickets nobody serves.
        name: How kind and number become an id.
    """
    served = routes * visits
    return {
        "status": "partial" if left_out else "feasible",
        "cost": 1234.5678,
        "routes": [_route(number, visits, name) for number in range(routes)],
        "unassigned": [
            {
                "ticket_id": name("t", served + n),
                "code": CODES[n % len(CODES)],
                "detail": "The search found no route with room for it; more time or agents may help.",
            }
            for n in range(left_out)
        ],
        "distance_m": 412_345.678,
        "duration_s": 98_765.4,
        "agents_used": routes,
        "tickets_served": served,
        "tickets_total": served + left_out,
        "assumptions": ["Roads are not known: distances are straight lines (haversine) times 1.3 at 40 km/h."],
        "engine": "auto",
        "seed": 0,
        "versions": {},
        "input_hash": "",
    }


def _route(number: int, visits: int, name: Name) -> dict[str, Any]:
    return {
        "agent_id": name("veh", number),
        "visits": [_visit(number * visits + n, n, name) for n in range(visits)],
        "start_location": "depot",
        "end_location": "depot",
        "start_s": 28_800.0,
        "end_s": 28_800.0 + 900.0 * visits,
        "distance_m": 42_123.456,
        "travel_s": 7200.0,
        "waiting_s": 300.5,
        "cost": 42.1234,
    }


def _visit(ticket: int, position: int, name: Name) -> dict[str, Any]:
    arrival = 28_800.0 + 900.0 * position
    return {
        "kind": "ticket",
        "ticket_id": name("t", ticket),
        "location": name("LOC", ticket),
        "arrival_s": arrival,
        "start_s": arrival + 60,
        "departure_s": arrival + 360,
        "load": {"load": 20.0},
        "distance_m": 1234.567,
        "late_s": 0.0,
    }


async def created(call: Call, day: dict[str, Any] = DAY) -> str:
    """Create a scenario."""
    return str((await call("create_scenario", day)).structured["scenario_id"])


async def solved(call: Call, store: RedisStore, scenario_id: str, *routes: list[str]) -> str:
    """Solve a scenario as a worker that finds just these routes, one an agent; return the job id."""
    job = await call("solve_vrp", {"scenario_id": scenario_id, "fresh": True})
    await finish(store, *routes)
    return str(job.structured["job_id"])


async def claimed(store: RedisStore) -> Claim:
    """Take the next job as a worker."""
    await store.register("w1", 1)
    claim = await store.claim("w1", 1.0)
    assert claim is not None
    return claim


async def finish(
    store: RedisStore,
    *routes: list[str],
    is_end: bool = True,
    bound: float | None = None,
    travel_matrices: TravelMatrices | None = None,
) -> Claim:
    """Complete the next job with these routes, or tell of them and search on.

    Args:
        store: Where the job is.
        routes: Tickets of each agent.
        is_end: Whether the search ends.
        bound: What the job proves: a share of the cost that no plan is below.
        travel_matrices: Those that the day names.
    """
    claim = await claimed(store)
    problem = compiled(claim.scenario.body, travel_matrices=travel_matrices)
    index = {spec.id: number for number, spec in enumerate(problem.tickets)}
    orders = {number: [index[name] for name in route] for number, route in enumerate(routes)}
    plan = build_plan(problem, Candidate.of_tickets(orders), input_hash=claim.scenario.input_hash)
    plan = with_reasons(problem, plan)
    if claim.prices is not None:
        plan = repriced_on(at_prices_of(claim.scenario.body, claim.prices, None), plan) or plan
    least = None if bound is None else bound * plan.cost
    if least is not None:
        plan = replace(plan, proof=ProofRecord(least, seconds=0.5))
    await (store.complete if is_end else store.report)(
        claim, Progress(cost=plan.cost, lower_bound=least), plan.as_json()
    )
    return claim


async def revised(call: Call, store: RedisStore, job_id: str, patch: dict[str, Any], *routes: list[str]) -> str:
    """Solve a day again under a patch, with a worker that finds just these routes; return the job id."""
    answer = await call("resolve_vrp", {"warm_from": job_id, "patch": patch})
    await finish(store, *routes)
    return str(answer.structured["job_id"])
