"""`resolve_vrp`: a day planned again from an earlier plan, with as much held as asked (SPEC T5)."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Final

from pydantic import Field

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.model import SolveRequest, StoredScenario
from planner_mcp.tools.answers import timestamp
from planner_mcp.tools.base import WRITE, Arguments, Hints, Link, Tool, ToolContext, ToolResult, parse, schema_of
from planner_mcp.tools.borrowing import lender, mask_cautions, with_roads
from planner_mcp.tools.days import (
    Json,
    Patch,
    PlanName,
    Subject,
    aside,
    named,
    parting_notes,
    revised,
    scenario_at,
    subject,
)
from planner_mcp.tools.lookups import all_found
from planner_mcp.tools.solve_time import SolveTime, seconds_of
from planner_mcp.vrp.advice.locks import begun, kept, ties
from planner_mcp.vrp.day.patch import revise


class ResolveArguments(Arguments):
    """Arguments of `resolve_vrp`."""

    warm_from: PlanName
    scenario_id: Annotated[str | None, Field(max_length=100, description="a revision; absent: the same day")] = None
    patch: Patch = {}  # noqa: RUF012
    keep_agents: Annotated[bool, Field(description="planned tickets stay with their agents; order may change")] = False
    switch_cost: Annotated[float, Field(ge=0, le=1e8, description="price of each that another agent gets")] = 0.0
    keep_until: Annotated[
        str | None,
        Field(
            pattern=r"^\d{1,2}:\d\d$",
            max_length=5,
            description="HH:MM, now: what has begun or set out by then stays, all else leaves later",
        ),
    ] = None
    solve_time: SolveTime = "PT10S"
    seed: Annotated[int, Field(ge=0, le=1_000_000)] = 0


_OUTPUT: Final = {
    "type": "object",
    "properties": {
        "job_id": {"type": "string"},
        "scenario_id": {"type": "string"},
        "submitted_at": {"type": "string", "format": "date-time"},
        "status": {"type": "string"},
        "kept_tickets": {"type": "integer"},
        "notes": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["job_id", "scenario_id", "submitted_at"],
}


async def run(ctx: ToolContext, args: dict[str, Any]) -> ToolResult:
    """Queue a solve that starts from a plan."""
    asked = parse(ResolveArguments, args)
    solve_time_s = seconds_of(asked.solve_time, ctx.settings)
    start, base = await _start(ctx, asked)
    day, notes = await _day(ctx, asked, start, base)
    count = kept(day.body)
    request = SolveRequest(day.id, solve_time_s, seed=asked.seed, warm_plan_id=start.plan_id)
    job = await ctx.planner.submit(ctx.principal, request)
    structured = {
        "job_id": job.id,
        "scenario_id": day.id,
        "submitted_at": timestamp(job.submitted_at),
        "status": job.state.upper(),
        "kept_tickets": count,
        "notes": notes,
    }
    held = f", {count} tickets held" if count else ""
    lines = [f"{job.id} {structured['status']} on {day.id}, from {start.plan_id}{held}", *notes]
    lines.append("Next: query_vrp_status wait_s=30, then compare_plans")
    return ToolResult(structured, "\n".join(lines), (Link(f"job://{job.id}", "job"),))


async def _start(ctx: ToolContext, asked: ResolveArguments) -> tuple[Subject, StoredScenario]:
    """Return the plan to start from and the day that is planned, its own where no other is named."""
    lookups: list[Callable[[], Awaitable[Any]]] = [partial(subject, ctx, asked.warm_from, "/warm_from")]
    if asked.scenario_id is not None:
        lookups.append(partial(scenario_at, ctx, asked.scenario_id))
    start, *others = await all_found(lookups)
    return start, others[0] if others else start.scenario


async def _day(
    ctx: ToolContext, asked: ResolveArguments, start: Subject, base: StoredScenario
) -> tuple[StoredScenario, list[str]]:
    """Return the scenario to solve, a new revision where anything is patched or held, and what is to be said of it."""
    until_s = _until(asked)
    if not (asked.patch or asked.keep_agents or asked.switch_cost or until_s):
        return base, []
    lend = lender(ctx)
    held = begun(start.plan, until_s) if until_s else None
    body, scenario = await aside(ctx, partial(revised, held=held), base.body, asked.patch, ctx.settings, lend)
    notes = mask_cautions(body) + _departed(revise(base.body, asked.patch), body)
    notes += parting_notes(base.body, asked.patch)
    if until_s or asked.keep_agents or asked.switch_cost:
        scenario = await with_roads(ctx, scenario, body)
        tie = partial(ties, agents=asked.keep_agents, switch_cost=asked.switch_cost)
        tied, said = await aside(ctx, tie, scenario, start.plan)
        notes += said
        body = {**body, "held": {**(body.get("held") or {}), **tied}} if tied else body
    return (base if body == base.body else await ctx.planner.create_scenario(ctx.principal, body, base)), notes


def _departed(asked: Json, settled: Json) -> list[str]:
    """Return a sentence of the tickets that left a day with the agents that had begun them."""
    here = {entry["id"] for entry in settled["tickets"]}
    left = [entry["id"] for entry in asked["tickets"] if entry["id"] not in here]
    return [f"Begun by agents that are gone, left out of the day: {named(left)}"] if left else []


def _until(asked: ResolveArguments) -> float:
    if asked.keep_until is None:
        return 0.0
    hours, minutes = map(int, asked.keep_until.split(":"))
    if hours > 47 or minutes > 59:
        raise input_error([Fault("/keep_until", "This is not an hour of the day.", "HH:MM, up to 47:59")])
    return hours * 3600.0 + minutes * 60.0


TOOL: Final = Tool(
    name="resolve_vrp",
    title="Re-solve VRP",
    description=(
        "Plan again from an earlier plan: after a revision, to insert new tickets (patch) with no change of agents "
        "(keep_agents) or few (switch_cost), while vehicles are out (keep_until), to prove a fix, to improve. "
        "Returns job_id at once."
    ),
    input_schema=schema_of(ResolveArguments),
    output_schema=_OUTPUT,
    hints=Hints(),
    run=run,
    scope=WRITE,
    toolset="planning",
    meta={
        "example": {
            "warm_from": "job-0-…",
            "patch": {"tickets": {"t-99": {"location": "LOC_A", "demand": 5}}},
            "keep_agents": True,
        }
    },
)
