"""`resolve_vrp`: a day planned again from an earlier plan, with as much held as asked (SPEC T5)."""

from functools import partial
from typing import Annotated, Any, Final

from pydantic import Field

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.model import SolveRequest, StoredScenario
from planner_mcp.tools.answers import timestamp
from planner_mcp.tools.base import WRITE, Arguments, Hints, Link, Tool, ToolContext, ToolResult, parse, schema_of
from planner_mcp.tools.borrowing import lender, with_roads
from planner_mcp.tools.days import Patch, PlanName, Subject, aside, revised, subject
from planner_mcp.tools.solve_time import SolveTime, seconds_of
from planner_mcp.vrp.advice.locks import locks


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
            description="HH:MM, now: visits begun before stay first, others start later",
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
    },
    "required": ["job_id", "scenario_id", "submitted_at"],
}


async def run(ctx: ToolContext, args: dict[str, Any]) -> ToolResult:
    """Queue a solve that starts from a plan."""
    asked = parse(ResolveArguments, args)
    solve_time_s = seconds_of(asked.solve_time, ctx.settings)
    start = await subject(ctx, asked.warm_from)
    base = start.scenario
    if asked.scenario_id is not None:
        base = await ctx.planner.scenario(ctx.principal, asked.scenario_id)
    day, kept = await _day(ctx, asked, start, base)
    request = SolveRequest(day.id, solve_time_s, seed=asked.seed, warm_plan_id=start.plan_id)
    job = await ctx.planner.submit(ctx.principal, request)
    structured = {
        "job_id": job.id,
        "scenario_id": day.id,
        "submitted_at": timestamp(job.submitted_at),
        "status": job.state.upper(),
        "kept_tickets": kept,
    }
    held = f", {kept} tickets held" if kept else ""
    text = f"{job.id} {structured['status']} on {day.id}, from {start.plan_id}{held}\nNext: query_vrp_status wait_s=30"
    return ToolResult(structured, f"{text}, then compare_plans", (Link(f"job://{job.id}", "job"),))


async def _day(
    ctx: ToolContext, asked: ResolveArguments, start: Subject, base: StoredScenario
) -> tuple[StoredScenario, int]:
    """Return the scenario to solve, a new revision where anything is patched or held, and how many tickets are held."""
    until_s = _until(asked)
    holds = asked.keep_agents or asked.switch_cost or until_s
    if not (asked.patch or holds):
        return base, 0
    lend = lender(ctx)
    body, scenario = await aside(ctx, revised, base.body, asked.patch, ctx.settings, lend)
    kept = 0
    if holds:
        scenario = await with_roads(ctx, scenario, body)
        hold = partial(locks, agents=asked.keep_agents, switch_cost=asked.switch_cost, until_s=until_s)
        patch = await aside(ctx, hold, scenario, start.plan)
        first = {name for entry in patch.get("agents", {}).values() for name in entry.get("locked_tickets", ())}
        bound = {name for name, entry in patch.get("tickets", {}).items() if "agents" in entry}
        kept = len(first | bound)
        body, _ = await aside(ctx, revised, body, patch, ctx.settings, lend)
    return (base, kept) if body == base.body else (await ctx.planner.create_scenario(ctx.principal, body, base), kept)


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
