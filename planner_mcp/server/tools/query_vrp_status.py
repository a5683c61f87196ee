"""`query_vrp_status`: where a job stands, now or once it has ended or changed (SPEC T3, J5)."""

from dataclasses import replace
from typing import Annotated, Final

from pydantic import Field

from planner_mcp.jobs.job_content import event_line
from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.job_service import WaitFor
from planner_mcp.server.tools.answers.job_output import JobOutput
from planner_mcp.server.tools.answers.job_text import job_lines, job_links
from planner_mcp.server.tools.arguments.comparison_pricing import priced_on_common_scenario
from planner_mcp.server.tools.arguments.lookup_errors import JOB, naming_argument
from planner_mcp.server.tools.arguments.plan_context import load_plan_context
from planner_mcp.server.tools.tool_definition import (
    READ,
    Arguments,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
    parse,
    schema_of,
)
from planner_mcp.server.tools.tool_output import Json


class QueryArguments(Arguments):
    """Arguments of `query_vrp_status`."""

    job_id: Annotated[str, Field(max_length=100, description="from solve_vrp")]
    wait_s: Annotated[float, Field(ge=0, le=45, description="45 advised; 0 answers at once")] = 0
    wait_for: Annotated[WaitFor, Field(description="change: for a better plan too")] = "end"


async def run(ctx: ToolContext, args: Json) -> ToolResult:
    """Return a job, after a wait if asked; progress is sent meanwhile."""
    asked = parse(QueryArguments, args)

    async def report(event: Event) -> None:
        await ctx.notify_progress(float(event.data.get("progress", 0)), 100.0, event_line(event))

    with naming_argument("/job_id", JOB):
        job = await ctx.job_service.wait(ctx.principal, asked.job_id, asked.wait_s, report, asked.wait_for)
    job = await _with_stated_cost(ctx, job)
    return ToolResult(JobOutput.of(job), job_lines(job), job_links(job))


async def _with_stated_cost(ctx: ToolContext, job: Job) -> Job:
    """Return the job of an alternative with its cost by the prices of the day, not by those made up for its style."""
    if job.request.warm_plan_id is None or job.plan_id is None:
        return job
    found = await load_plan_context(ctx, job.id, "/job_id")
    if found.scenario.prices_of is None:
        return job
    _prices, (plan, _same) = await priced_on_common_scenario(ctx, found, found)
    summary = job.summary and {**job.summary, "cost": plan.cost}
    return replace(job, progress=replace(job.progress, cost=plan.cost), summary=summary)


TOOL: Final = Tool(
    name="query_vrp_status",
    title="Query VRP status",
    description=(
        "Show a job's status, progress and best cost. With wait_s=45 it stays open until the job ends; while QUEUED or "
        "SOLVING call again, then read_plan."
    ),
    input_schema=schema_of(QueryArguments),
    output=JobOutput,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    meta={"example": {"job_id": "job-0-…", "wait_s": 45}},
)
