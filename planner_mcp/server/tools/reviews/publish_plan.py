"""`publish_plan`: an approved plan is put into effect (SPEC A5)."""

from functools import partial
from typing import Final

from planner_mcp.jobs.plan_review import ReviewStep
from planner_mcp.server.tools.reviews.review_result import PlanArguments, ReviewResult, take_step
from planner_mcp.server.tools.tool_definition import WRITE, Tool, ToolAnnotations

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
    run=partial(take_step, step=ReviewStep.PUBLISH),
    scope=WRITE,
    toolset="planning",
    meta={"example": {"job_id": "job-0-…"}},
    is_review=True,
)
