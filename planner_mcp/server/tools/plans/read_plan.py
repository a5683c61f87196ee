"""`read_plan`: a plan by its figures, or one of its tables page by page (SPEC T5, T9)."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from planner_mcp.errors import Fault, NotFoundError, grouped, input_error
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_model import StoredScenario
from planner_mcp.jobs.masking.field_masking import plan_for, scenario_for
from planner_mcp.jobs.plan_summary import PlanSummary
from planner_mcp.jobs.principals import Principal
from planner_mcp.routing.plan import NO_TRAVEL, Plan
from planner_mcp.server.tools.answers.job_text import summary_lines
from planner_mcp.server.tools.answers.plan_pages import (
    BY_AGENT,
    USUAL_TOKENS,
    VIEWS,
    Page,
    is_over_days,
    page_of,
    summary,
)
from planner_mcp.server.tools.answers.table_result import table_page, table_text
from planner_mcp.server.tools.answers.token_estimates import fitting
from planner_mcp.server.tools.arguments.lookup_errors import PLAN, naming_argument
from planner_mcp.server.tools.arguments.missing_parameters import only_given
from planner_mcp.server.tools.arguments.plan_context import check_agents, job_id_of, run_in_thread
from planner_mcp.server.tools.tool_definition import (
    READ,
    Arguments,
    PageNumber,
    ResourceLink,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
)
from planner_mcp.server.tools.tool_output import Number, ToolOutput, Words
from planner_mcp.text import MAX_NAMED_BYTES, Json, named, plain

_Name = Annotated[str, Field(max_length=100)]


class ReadArguments(Arguments):
    """Arguments of `read_plan`."""

    job_id: Annotated[str | None, Field(max_length=100, description="from solve_vrp")] = None
    plan_id: Annotated[str | None, Field(max_length=100, description="instead of job_id")] = None
    view: Annotated[Literal["summary", "routes", "visits", "unassigned"], Field(description="what to show")] = "summary"
    agent_ids: Annotated[list[_Name], Field(max_length=50, description="these agents")] = []  # noqa: RUF012
    fields: Annotated[list[_Name], Field(max_length=20, description="columns")] = []  # noqa: RUF012
    page: PageNumber = 1
    size: Annotated[int | None, Field(ge=1, le=50, description=f"absent: up to {USUAL_TOKENS} tokens")] = None


class ReadPlanResult(ToolOutput):
    """Result of `read_plan`: the figures of a plan, or one page of a table."""

    listed: ClassVar[tuple[str, ...]] = ("rows", "next_page")
    plan_id: str
    columns: list[str] | None = Field(None, description="column names; window: the one that the visit starts in")
    rows: list[list[Any]] | None = None
    page: int | None = None
    total: int | None = None
    next_page: int | None = None
    size: int | None = Field(None, description="rows a page")
    without_route: list[str] | None = None
    plan_status: str | None = None
    cost: Number | None = None
    cost_in: str | None = None
    distance_m: Number | None = None
    duration_s: Number | None = None
    agents_used: int | None = None
    tickets_served: int | None = None
    tickets_total: int | None = None
    seed: int | None = None
    late_tickets: Number | None = None
    late_max_s: Number | None = None
    overtime_s: Number | None = None
    not_preferred: int | None = None
    not_preferred_ids: list[str] | None = None
    routes: int | None = None
    unassigned: int | None = None
    unassigned_reasons: dict[str, int] | None = None
    engine: str | None = None
    proof: str | None = Field(None, description="optimal, or the gap at most")
    assumptions: list[Words] | None = None


async def run(ctx: ToolContext, asked: ReadArguments) -> ToolResult[ReadPlanResult]:
    """Return the key figures of a plan or one page of a table."""
    name_argument = only_given(asked, "job_id", "plan_id")
    _check_fields(asked)
    with naming_argument(f"/{name_argument}", PLAN):
        job_id = job_id_of(asked.job_id or asked.plan_id or "")
        plan = await ctx.job_service.plan_of_job(ctx.principal, job_id)
    plan_id, plan = plan_of(job_id), plan_for(ctx.principal, plan)
    if asked.view == "summary":
        job = await ctx.job_service.job(ctx.principal, job_id)
        kept = job.summary or PlanSummary()
        from_job = {
            "cost_in": kept.cost_in,
            "not_preferred": kept.not_preferred,
            "not_preferred_ids": kept.not_preferred_ids,
        }
        return _summary(plan_id, {**await run_in_thread(ctx, summary, plan), **from_job})
    idle = await _without_route(ctx, asked.agent_ids, job_id, plan)
    day = await _day(ctx, job_id) if asked.view == "visits" or is_over_days(plan) else None
    page = await run_in_thread(ctx, _page, asked, ctx.principal, plan, day)
    return table(plan_id, asked.view, page, idle, [each for each in plan.assumptions if each == NO_TRAVEL])


def _page(asked: ReadArguments, principal: Principal, plan: Plan, day: StoredScenario | None) -> Page:
    """Return the page that is asked for, as the principal may see it."""
    return page_of(
        VIEWS[asked.view],
        plan,
        None if day is None else scenario_for(principal, day.body),
        columns=asked.fields,
        agents=asked.agent_ids,
        page=asked.page,
        size=asked.size,
    )


def _check_fields(asked: ReadArguments) -> None:
    known = VIEWS[asked.view].columns if asked.view != "summary" else {}
    accepted = f"one of {', '.join(known)}" if known else "no fields: the summary has no columns"
    faults = grouped(
        [
            Fault(f"/fields/{index}", f"This is not a column of the view {asked.view}.", accepted, which=(plain(name),))
            for index, name in enumerate(asked.fields)
            if name not in known
        ]
    )
    if asked.agent_ids and asked.view not in BY_AGENT:
        accepted = f"with view {' or '.join(BY_AGENT)}"
        faults.append(Fault("/agent_ids", f"The view {asked.view} has nothing by agent.", accepted, "Leave it out."))
    if faults:
        raise input_error(faults)


async def _without_route(ctx: ToolContext, asked: list[str], job_id: str, plan: Plan) -> list[str]:
    """Return the agents asked for that drive nothing in a plan.

    Raises:
        InputError: The day has no such agent; or, where it is kept no longer, the plan.
    """
    driving = [route.agent_id for route in plan.routes]
    if idle := [name for name in dict.fromkeys(asked) if name not in driving]:
        check_agents(asked, [*driving, *(name for name in await _agents(ctx, job_id) if name not in driving)])
    return idle


async def _agents(ctx: ToolContext, job_id: str) -> list[str]:
    day = await _day(ctx, job_id)
    return [] if day is None else [agent["id"] for agent in day.body["agents"]]


async def _day(ctx: ToolContext, job_id: str) -> StoredScenario | None:
    """Return what the plan plans; None where it is kept no longer."""
    with suppress(NotFoundError):
        job = await ctx.job_service.job(ctx.principal, job_id)
        return await ctx.job_service.scenario(ctx.principal, job.request.scenario_id)
    return None


def _summary(plan_id: str, figures: Json) -> ToolResult[ReadPlanResult]:
    output = ReadPlanResult(plan_id=plan_id, **figures)
    shown = {name: value for name, value in output.as_json().items() if name != "plan_id"}
    lines = [plan_id, *summary_lines(shown), *(output.assumptions or ())]
    lines.append("Next: view=routes, view=visits, view=unassigned.")
    return ToolResult(output, "\n".join(lines), _links(plan_id))


def table(
    plan_id: str, view: str, page: Page, idle: Sequence[str] = (), assumptions: Sequence[str] = ()
) -> ToolResult[ReadPlanResult]:
    """Return a page as an answer: a line of text a row, and the same cells as data.

    Args:
        plan_id: Of the plan.
        view: The table's name.
        page: Some of its rows.
        idle: Agents asked for that have no route; the first are named.
        assumptions: Without which its cells mislead.
    """
    shown = table_page(page.columns, page.rows, page=page.page, size=page.size, total=page.total)
    text = "\n".join([*assumptions, table_text(view, shown)])
    if idle:
        text += f"\nwithout a route: {named(idle)}"
    without_route = fitting(idle, MAX_NAMED_BYTES) if idle else None
    output = ReadPlanResult(
        plan_id=plan_id,
        **dict(shown),
        size=page.size,
        without_route=without_route,
        assumptions=list(assumptions) or None,
    )
    return ToolResult(output, text, _links(plan_id))


def _links(plan_id: str) -> tuple[ResourceLink, ...]:
    return (ResourceLink(f"plan://{plan_id}", "plan"),)


TOOL: Final = Tool(
    name="read_plan",
    title="Read plan",
    description=(
        "Read a job's plan, also while solving: summary (figures), routes (a line per agent), visits (times per "
        "ticket) or unassigned (reasons)."
    ),
    arguments=ReadArguments,
    output=ReadPlanResult,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    meta={"example": {"job_id": "job-0-…", "view": "routes"}},
)
