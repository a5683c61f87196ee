"""`read_view`: what the MCP App draws of a job, and then what has changed since (SPEC O2).

Owns what an answer holds. The page alone calls it, again and again while a solve runs; no model sees it, so it has no
budget of tokens and is in no tool set. Masking is that of the resources `plan://` and `scenario://` (SPEC R3).
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any, ClassVar, Final, Literal

import anyio
from pydantic import Field

from planner_mcp.errors import NotFoundError, PlanNotReadyError
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_content import job_view, state_line
from planner_mcp.jobs.job_events import Event, position_key
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.masking.field_masking import masked_fields, plan_for, scenario_for
from planner_mcp.jobs.principals import READ, Principal
from planner_mcp.render.reason_texts import plan_in_words
from planner_mcp.server.resources.map_roads import map_ground
from planner_mcp.server.tools.answers.route_deltas import MAX_LENGTH, ViewPosition
from planner_mcp.server.tools.arguments.lookup_errors import JOB, naming_argument
from planner_mcp.server.tools.arguments.plan_context import JobId, run_in_thread
from planner_mcp.server.tools.jobs import read_progress
from planner_mcp.server.tools.tool_definition import Arguments, Tool, ToolAnnotations, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import Number, ToolOutput
from planner_mcp.text import Json, plain_fields
from planner_mcp.translation import Language

MAX_WAIT_S: Final = 20
"""Hosts end a call of a page after a minute, some earlier."""
_PLACE: Final = ("id", "lat", "lon", "x", "y", "name")
_OPTION: Final = ("currency",)
_PRICE: Final = ("cost_per_km", "cost_per_hour")
"""Whether an agent has one says what a cost is in."""
_TICKET: Final = ("id", "name", "location", "time_windows")

_SHOWN: Final = ("status", "progress", "cost", "elapsed_s", "tickets_served")
"""What an answer has of an event beside when it was and, of a step of a review, which."""

Part = Literal["day", "plan", "events", "bound", "roads", "lines"]


class ViewArguments(Arguments):
    """Arguments of `read_view`."""

    job_id: JobId
    since: Annotated[str, Field(max_length=MAX_LENGTH, description="position of the answer before")] = "0"
    wait_s: Annotated[float, Field(ge=0, le=MAX_WAIT_S, description="for something new")] = 0
    parts: Annotated[list[Part], Field(max_length=6, description="what is wanted")] = ["day", "plan", "events"]  # noqa: RUF012
    language: Annotated[Language | None, Field(description="of the reader")] = None


class ReadViewResult(ToolOutput):
    """Result of `read_view`; a part that has not changed is absent."""

    listed: ClassVar[tuple[str, ...]] = ("job_id", "position")
    job_id: str
    position: str = Field(description="value of since for the next call")
    job: Json
    day: Json | None = Field(None, description="name, locations and tickets; in the first answer")
    plan: Json | None = Field(
        None,
        description="as plan://, when it is another; a route that the plan before had is its place there, from 0, and "
        "unassigned is absent where it is the same",
    )
    events: list[Json] | None = Field(None, description="what has happened since, in order")
    roads: Json | None = Field(None, description="as plan://…/roads.json; of `lines` without the roads")
    lower_bound: Number | None = None
    gap: Number | None = None
    optimal: bool | None = None


async def run(ctx: ToolContext, asked: ViewArguments) -> ToolResult:
    """Return a job with the parts that are new after a position, waiting for an event if there is none yet."""
    since = ViewPosition.parse(asked.since, "/since")
    with naming_argument("/job_id", JOB):
        past, new = await _events(ctx, asked, since.event_id)
        job = await ctx.job_service.job(ctx.principal, asked.job_id)
    position, plan = since.at(new[-1].id if new else since.event_id), None
    if "plan" in asked.parts and _has_other_plan(past, new):
        position, plan = await _plan(ctx, job, position, asked.language)
    fields = dict(
        job_id=job.id,
        position=str(position),
        job={**job_view(job), **ctx.job_service.reviews.view_for(ctx.principal, job), "engine": job.request.engine},
        day=await _day(ctx, job) if "day" in asked.parts and not past else None,
        plan=plan,
        events=_reported(new, job) if "events" in asked.parts else None,
        roads=await _roads(ctx, job, asked.parts),
        **(await _bound(ctx, job) if "bound" in asked.parts else {}),
    )
    return await run_in_thread(ctx, _result, fields)


def _result(fields: Json) -> ToolResult:
    output = ReadViewResult(**fields)
    return ToolResult(output, state_line(output.job))


async def _events(ctx: ToolContext, asked: ViewArguments, since: str) -> tuple[list[Event], list[Event]]:
    """Return the events up to a position, and those after it: where there are none yet, the next one in time."""
    kept = await ctx.job_service.history(ctx.principal, asked.job_id)
    past = [event for event in kept if position_key(event.id) <= position_key(since)]
    new = list(kept[len(past) :])
    if not new and not (past and past[-1].is_final):
        with anyio.move_on_after(asked.wait_s):
            async with aclosing(ctx.job_service.follow(ctx.principal, asked.job_id, since)) as following:
                new = [] if (event := await anext(following, None)) is None else [event]
    return past, new


def _has_other_plan(past: Sequence[Event], new: Sequence[Event]) -> bool:
    """Return whether the best plan after some events is another than before; costs may be masked, counts never are."""
    before, after = ([event.data.improvements or 0 for event in events] for events in (past, new))
    return any(event.is_final for event in new) or max(after, default=0) > max(before, default=0)


async def _plan(
    ctx: ToolContext, job: Job, position: ViewPosition, language: Language | None
) -> tuple[ViewPosition, Json | None]:
    try:
        plan = await ctx.job_service.plan_of_job(ctx.principal, job.id)
    except (NotFoundError, PlanNotReadyError):
        return position, None  # the status says why there is none

    def shown() -> tuple[ViewPosition, Json]:
        return position.with_plan(plan_in_words(plan_for(ctx.principal, plan), language).as_json())

    return await run_in_thread(ctx, shown)


async def _roads(ctx: ToolContext, job: Job, parts: Sequence[Part]) -> Json | None:
    """Return the roads under the map with the routes along them, or those routes alone, which change with the plan."""
    if not {"roads", "lines"} & set(parts):
        return None
    try:
        ground = await map_ground(ctx.reading, plan_of(job.id))
    except (NotFoundError, PlanNotReadyError):
        return None
    return ground if "roads" in parts else {name: value for name, value in ground.items() if name != "roads"}


async def _day(ctx: ToolContext, job: Job) -> Json | None:
    """Return what a map and a table need of a scenario, as the principal may see it; None where it has expired."""
    try:
        kept = await ctx.job_service.scenario_to_show(ctx.principal, job.request.scenario_id)
    except NotFoundError:
        return None
    return await run_in_thread(ctx, _shown_day, ctx.principal, kept.body)


def _shown_day(principal: Principal, kept: Json) -> Json:
    body = scenario_for(principal, kept)
    return {
        "name": body.get("name"),
        "planning_date": body.get("planning_date"),
        "masked": masked_fields(principal, kept),
        "options": _only(_OPTION, body.get("options") or {}),
        "agents": [_only(_PRICE, agent) for agent in body["agents"]],
        "locations": [_only(_PLACE, place) for place in body.get("locations") or ()],
        "tickets": [_only(_TICKET, ticket) for ticket in body["tickets"]],
    }


def _only(names: Sequence[str], fields: Mapping[str, Any]) -> Json:
    return {name: fields[name] for name in names if fields.get(name) is not None}


def _reported(new: Sequence[Event], job: Job) -> list[Json]:
    """Return events for the history and the curve; the last event has no figures, so the job does."""
    now = job.progress
    last = {"cost": now.cost, "elapsed_s": now.elapsed_s, "tickets_served": now.tickets_served}
    return [_line(event, last if event.is_final else {}) for event in new]


def _line(event: Event, figures: Mapping[str, float | None]) -> Json:
    shown = _only(_SHOWN, {**plain_fields(event.data), **figures})
    return {"at": event.at, **({"event": event.kind.value} if event.is_review else {}), **shown}


async def _bound(ctx: ToolContext, job: Job) -> Json:
    """Return the bound that `read_progress` gives; it can take seconds, so the page asks for it last."""
    found = (await read_progress.run(ctx, read_progress.ProgressArguments(job_id=job.id, points=2))).output
    return {"lower_bound": found.lower_bound, "gap": found.gap, "optimal": found.optimal}


TOOL: Final = Tool(
    name="read_view",
    title="Read view",
    description=(
        "For the page that a host shows, never for a model: a job with its plan, the positions of its day and the "
        "points of its cost curve, then what has changed since a position."
    ),
    arguments=ViewArguments,
    output=ReadViewResult,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="app",
    meta={"example": {"job_id": "job-0-…", "since": "0", "wait_s": 20}, "ui": {"visibility": ["app"]}},
)
