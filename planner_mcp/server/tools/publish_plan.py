"""`publish_plan`: an approved plan is put into effect (SPEC A5)."""

from typing import Final

from planner_mcp.jobs.plan_review import ReviewStep
from planner_mcp.server.tools.arguments.lookup_errors import PLAN, naming_argument
from planner_mcp.server.tools.arguments.plan_context import job_id_of
from planner_mcp.server.tools.propose_plan import PlanArguments
from planner_mcp.server.tools.review_result import ReviewResult, review_result
from planner_mcp.server.tools.tool_definition import WRITE, Tool, ToolAnnotations, ToolContext, ToolResult


async def run(ctx: ToolContext, asked: PlanArguments) -> ToolResult:
    """Publish the approved plan of a job."""
    with naming_argument("/job_id", PLAN):
        job = await ctx.job_service.review(ctx.principal, job_id_of(asked.job_id), ReviewStep.PUBLISH)
    return await review_result(ctx, job)


TOOL: Final = Tool(
    name="publish_plan",
    title="Publish plan",
    description=(
        "Put an approved plan into effect: its webhook receives plan.published. It must be the plan approved "
        "last for its day."
    ),
    arguments=PlanArguments,
    output=ReviewResult,
    hints=ToolAnnotations(idempotent=True),
    run=run,
    scope=WRITE,
    toolset="planning",
    meta={"example": {"job_id": "job-0-…"}},
    is_review=True,
)
