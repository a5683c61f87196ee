"""`read_progress`: how a solve came to its plan, and how far from the best it can be (SPEC T5, J5)."""

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final

from pydantic import Field

from planner_mcp.errors import NotFoundError
from planner_mcp.jobs.events import Event
from planner_mcp.jobs.model import Job, Progress, plain_fields
from planner_mcp.text import counted, number
from planner_mcp.tools.arguments.lookups import PLAN, looked_up
from planner_mcp.tools.arguments.subjects import Json, PlanName, aside, job_id_of
from planner_mcp.tools.base import READ, Arguments, Hints, Tool, ToolContext, ToolResult, parse, schema_of
from planner_mcp.vrp.advice.bounds import Bound, lower_bound
from planner_mcp.vrp.advice.curve import Point, curve
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.day.tables import Tables
from planner_mcp.vrp.scenario import read_stored

_COLUMNS: Final = ("elapsed_s", "cost", "tickets_served")
_NOISE: Final = 1e-6
"""A gap is rounded up, but not for an error of arithmetic."""
MAX_KEPT: Final = 4096
"""Bounds, of a hundred bytes or so."""
_bounds: Final = OrderedDict[str, Bound]()
"""By job, the oldest first: each took seconds, and neither a job's day nor its travel changes."""


class ProgressArguments(Arguments):
    """Arguments of `read_progress`."""

    job_id: PlanName
    points: Annotated[int, Field(ge=2, le=50, description="most points")] = 12
    bound: Annotated[bool, Field(description="also a lower bound and the gap")] = True


_OUTPUT: Final = {
    "type": "object",
    "properties": {
        "job_id": {"type": "string"},
        "status": {"type": "string"},
        "columns": {"type": "array"},
        "rows": {"type": "array"},
        "agents_needed": {"type": "integer"},
        "lower_bound": {"type": "number"},
        "no_lower_bound": {"type": "string", "description": "why there is none"},
        "gap": {"type": "number", "description": "share of the cost; the true gap is at most this"},
    },
    "required": ["job_id", "status", "columns", "rows"],
}


async def run(ctx: ToolContext, args: dict[str, Any]) -> ToolResult:
    """Return the best cost over time, and a bound where one can be given."""
    asked = parse(ProgressArguments, args)
    with looked_up("/job_id", PLAN):
        job = await ctx.planner.job(ctx.principal, job_id_of(asked.job_id))
        past = await ctx.planner.history(ctx.principal, job.id)
    points = curve(_points(past, job.progress), most=asked.points)
    structured: Json = {
        "job_id": job.id,
        "status": job.state.upper(),
        "improvements": job.progress.improvements,
        "columns": list(_COLUMNS),
        "rows": [[number(point.elapsed_s), number(point.cost), point.served] for point in points],
    }
    if asked.bound:
        structured |= await _bound(ctx, job)
    return ToolResult(structured, _text(structured))


def _points(events: Iterable[Event], now: Progress) -> Iterator[Point]:
    """Yield the plans that were told, then the last: of a short search the end alone is told, without a time."""
    for event in events:
        if not event.is_final and event.data.get("cost") is not None:
            yield _point(event.data)
    if now.cost is not None:
        yield _point(plain_fields(now))


def _point(told: Json) -> Point:
    return Point(told["elapsed_s"] or 0.0, told["cost"], told["tickets_served"] or 0, told.get("penalty") or 0.0)


async def _bound(ctx: ToolContext, job: Job) -> Json:
    """Return the bound, and the gap where the job's plan serves every wanted ticket; nothing where there is none."""
    if (bound := _bounds.get(job.id) or await _worked_out(ctx, job)) is None:
        return {}
    told, now = bound.as_json(), job.progress
    gap = None if now.cost is None or now.penalty else bound.gap(now.cost)
    return told if gap is None else {**told, "gap": math.ceil(max(0.0, gap) * 1000 - _NOISE) / 1000}


async def _worked_out(ctx: ToolContext, job: Job) -> Bound | None:
    """Return the bound of a job's day, and keep it; None where the day has expired or its travel is not at hand."""
    try:
        scenario = await ctx.planner.scenario(ctx.principal, job.request.scenario_id)
    except NotFoundError:
        return None
    tables = await ctx.planner.matrices.of_day(ctx.principal.id, scenario.body)
    if (bound := await aside(ctx, _lower_bound, scenario.body, tables)) is not None:
        _bounds[job.id] = bound
        if len(_bounds) > MAX_KEPT:
            _bounds.popitem(last=False)
    return bound


def _lower_bound(body: Json, tables: Tables | None) -> Bound | None:
    scenario = read_stored(body, tables)
    if scenario.refers_to_tables and tables is None:
        return None
    return lower_bound(compile_scenario(scenario))


def _text(told: Json) -> str:
    lines = [f"{told['job_id']} {told['status']}, {counted(told['improvements'], 'improvement')}: {' '.join(_COLUMNS)}"]
    lines += [" ".join(map(str, row)) for row in told["rows"]]
    if "lower_bound" in told:
        needed, cost = told["agents_needed"], told["lower_bound"]
        lines.append(f"Agents needed: {needed} or more; no plan serving all wanted tickets costs less than {cost}.")
    if "no_lower_bound" in told:
        why = told["no_lower_bound"]
        lines.append(f"Agents needed: {told['agents_needed']} or more; no bound on the cost: {why}.")
    if "gap" in told:
        lines.append(f"The best one is at most {100 * told['gap']:.3g}% cheaper than this plan.")
    return "\n".join(lines)


TOOL: Final = Tool(
    name="read_progress",
    title="Read progress",
    description=(
        "Show how a job's best cost fell over time (a few points of the curve), also while solving, with a lower "
        "bound and the gap it leaves at most: to judge whether more time is worth it. read_plan shows the plan itself."
    ),
    input_schema=schema_of(ProgressArguments),
    output_schema=_OUTPUT,
    hints=Hints(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="planning",
    meta={"example": {"job_id": "job-0-…"}},
)
