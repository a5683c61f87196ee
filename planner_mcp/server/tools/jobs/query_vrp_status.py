"""`query_vrp_status`: where a job stands, now or once it has ended or changed (SPEC T3, J5)."""

from typing import Annotated, Final

from pydantic import Field

from planner_mcp.jobs.job_content import event_line
from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_service import WaitFor
from planner_mcp.server.tools.answers.job_output import JobOutput
from planner_mcp.server.tools.arguments.lookup_errors import JOB, naming_argument
from planner_mcp.server.tools.arguments.plan_context import JobId, job_id_of
from planner_mcp.server.tools.jobs.job_result import job_result
from planner_mcp.server.tools.tool_definition import READ, Arguments, Tool, ToolAnnotations, ToolContext, ToolResult


class QueryArguments(Arguments):
    """Arguments of `query_vrp_status`."""

    job_id: JobId
    wait_s: Annotated[float, Field(ge=0, le=45, description="0 answers at once")] = 0
    wait_for: Annotated[WaitFor, Field(description="change: for a better plan too")] = "end"


async def run(ctx: ToolContext, asked: QueryArguments) -> ToolResult[JobOutput]:
    """Return a job, after a wait if asked; progress is sent meanwhile."""

    async def report(event: Event) -> None:
        await ctx.notify_progress(float(event.data.progress), 100.0, event_line(event))

    with naming_argument("/job_id", JOB):
        job = await ctx.job_service.wait(ctx.principal, job_id_of(asked.job_id), asked.wait_s, report, asked.wait_for)
    return await job_result(ctx, job)


TOOL: Final = Tool(
    name="query_vrp_status",
    title="Query VRP status",
    description=(
        "Show a job's status, progress and best cost. With wait_s=45 it stays open until the job ends; while QUEUED or "
        "SOLVING call again, then read_plan."
    ),
    arguments=QueryArguments,
    output=JobOutput,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    meta={"example": {"job_id": "job-0-…", "wait_s": 45}},
)
