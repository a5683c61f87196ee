"""`review_plan`: a person approves or rejects a proposed plan (SPEC A5).

Where the client can ask its user, the user decides and not the model: what a call says is then only what the form
suggests.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_content import job_view
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.plan_review import MAX_REASON, ReviewState, ReviewStep
from planner_mcp.jobs.principals import APPROVE
from planner_mcp.server.tools.answers.job_text import figures_line
from planner_mcp.server.tools.arguments.lookup_errors import PLAN, naming_argument
from planner_mcp.server.tools.arguments.plan_context import job_id_of
from planner_mcp.server.tools.reviews.review_result import PlanArguments, ReviewResult, differences_of, review_result
from planner_mcp.server.tools.tool_definition import Tool, ToolAnnotations, ToolContext, ToolResult, parse
from planner_mcp.text import Json
from planner_mcp.translation import phrase


class ReviewArguments(PlanArguments):
    """Arguments of `review_plan`."""

    decision: Annotated[Literal["approve", "reject"] | None, Field(description="of a person, never your own")] = None
    reason: Annotated[str, Field(max_length=MAX_REASON, description="why it is rejected")] = ""


async def run(ctx: ToolContext, asked: ReviewArguments) -> ToolResult:
    """Approve or reject the proposed plan of a job."""
    with naming_argument("/job_id", PLAN):
        job_id = job_id_of(asked.job_id)
        asked, differences = await _decided_by_user(ctx, asked, job_id)
    if asked.decision is None:
        problem, hint = "Nobody has decided.", "Ask the person who reviews the plan."
        raise input_error([Fault("/decision", problem, "approve or reject", hint, kind="missing")])
    if asked.decision == "reject" and not asked.reason.strip():
        raise input_error(
            [Fault("/reason", "A rejection needs its reason.", "what has to change", "Ask who rejects it.")]
        )
    reason = asked.reason.strip() if asked.decision == "reject" else ""
    with naming_argument("/job_id", PLAN):
        job = await ctx.job_service.review(ctx.principal, job_id, ReviewStep(asked.decision), reason)
    return await review_result(ctx, job, differences)


async def _decided_by_user(
    ctx: ToolContext, asked: ReviewArguments, job_id: str
) -> tuple[ReviewArguments, list[str] | None]:
    """Return the arguments with what the user of the client decides, where there is one who can be asked, and the
    difference that this person was shown.

    Without an answer nothing is decided. A plan that is not proposed is refused anyway, so nobody is asked.
    """
    job = await ctx.job_service.job(ctx.principal, job_id)
    if ctx.ask_user is None or job.review is None or job.review.state is not ReviewState.PROPOSED:
        return asked, None
    decision: Json = {"type": "string", "title": "Decision", "enum": ["approve", "reject"]}
    decision |= {"default": asked.decision} if asked.decision else {}
    reason = {"type": "string", "title": "Reason, for a rejection", "maxLength": MAX_REASON}
    schema = {"type": "object", "properties": {"decision": decision, "reason": reason}, "required": ["decision"]}
    differences = await differences_of(ctx, job)
    answer = await ctx.ask_user(_question(job, differences), schema)
    return parse(ReviewArguments, {**answer, "job_id": asked.job_id}), differences


def _question(job: Job, differences: list[str] | None) -> str:
    """Return what a person needs to decide: the figures of the plan, and what it changes."""
    lines = [phrase("Do you approve {}?", plan_of(job.id)), figures_line(job_view(job).get("result", {}))]
    return "\n".join([*lines, *(differences or ())])


TOOL: Final = Tool(
    name="review_plan",
    title="Review plan",
    description=(
        "Approve or reject a proposed plan on behalf of a person who has seen it. Ask them first; their client may ask "
        "again. A rejection needs a reason."
    ),
    arguments=ReviewArguments,
    output=ReviewResult,
    hints=ToolAnnotations(idempotent=True),
    run=run,
    scope=APPROVE,
    toolset="planning",
    meta={"example": {"job_id": "job-0-…", "decision": "approve"}},
    is_review=True,
)
