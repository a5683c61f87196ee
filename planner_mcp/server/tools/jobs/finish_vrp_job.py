"""`finish_vrp_job`: end a solve now, completed with the best plan it has (SPEC T5)."""

from typing import Final

from planner_mcp.server.tools.answers.job_output import JobOutput
from planner_mcp.server.tools.arguments.lookup_errors import JOB, naming_argument
from planner_mcp.server.tools.arguments.plan_context import JobId, job_id_of
from planner_mcp.server.tools.jobs.cancel_vrp_job import settled_job
from planner_mcp.server.tools.jobs.job_result import job_result
from planner_mcp.server.tools.tool_definition import WRITE, Arguments, Tool, ToolAnnotations, ToolContext, ToolResult


class FinishArguments(Arguments):
    """Arguments of `finish_vrp_job`."""

    job_id: JobId


async def run(ctx: ToolContext, asked: FinishArguments) -> ToolResult:
    """Ask a solving job to complete, and return how it stands; one that has ended stays as it is."""
    with naming_argument("/job_id", JOB):
        job = await ctx.job_service.finish_now(ctx.principal, job_id_of(asked.job_id))
    return await job_result(ctx, await settled_job(ctx, job))


TOOL: Final = Tool(
    name="finish_vrp_job",
    title="Finish VRP job",
    description=(
        "End a solving job now, as COMPLETED with the best plan so far, when read_progress shows that more time is not "
        "worth it. A queued job is refused; to stop for good use cancel_vrp_job."
    ),
    arguments=FinishArguments,
    output=JobOutput,
    hints=ToolAnnotations(idempotent=True),
    run=run,
    scope=WRITE,
    toolset="planning",
    meta={"example": {"job_id": "job-0-…"}},
)
