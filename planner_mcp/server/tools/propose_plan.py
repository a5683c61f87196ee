"""`propose_plan`: hand a plan over to a person for review (SPEC A5)."""

from typing import Final

from planner_mcp.jobs.plan_review import ReviewStep
from planner_mcp.server.tools.arguments.lookup_errors import PLAN, naming_argument
from planner_mcp.server.tools.arguments.plan_context import PlanName, job_id_of
from planner_mcp.server.tools.review_result import ReviewResult, review_result
from planner_mcp.server.tools.tool_definition import WRITE, Arguments, Tool, ToolAnnotations, ToolContext, ToolResult


class PlanArguments(Arguments):
    """Arguments of `propose_plan` and `publish_plan`."""

    job_id: PlanName


async def run(ctx: ToolContext, asked: PlanArguments) -> ToolResult:
    """Propose the final plan of a job."""
    with naming_argument("/job_id", PLAN):
        job = await ctx.job_service.review(ctx.principal, job_id_of(asked.job_id), ReviewStep.PROPOSE)
    return await review_result(ctx, job)


TOOL: Final = Tool(
    name="propose_plan",
    title="Propose plan",
    description=(
        "Hand the plan of an ended job to a person for approval, once you have checked it. Returns the difference "
        "from the plan approved earlier for that day."
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
