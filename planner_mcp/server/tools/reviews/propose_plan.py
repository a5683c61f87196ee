"""`propose_plan`: hand a plan over to a person for review (SPEC A5)."""

from functools import partial
from typing import Final

from planner_mcp.jobs.plan_review import ReviewStep
from planner_mcp.server.tools.reviews.review_result import PlanArguments, ReviewResult, take_step
from planner_mcp.server.tools.tool_definition import WRITE, Tool, ToolAnnotations

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
    run=partial(take_step, step=ReviewStep.PROPOSE),
    scope=WRITE,
    toolset="planning",
    meta={"example": {"job_id": "job-0-…"}},
    is_review=True,
)
