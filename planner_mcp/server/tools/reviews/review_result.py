"""The steps of the tools that review a plan, and their answer: its state, what it changes against the approved plan,
the next step.

Owns also the audit line of a step, which says what was decided beside the line of the tool.
"""

from contextlib import suppress
from typing import ClassVar, Final

from planner_mcp.errors import InsufficientScopeError, NotFoundError, PlanNotReadyError
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.plan_review import TAKEN_OUT, PlanReview, ReviewState, ReviewStep
from planner_mcp.server.auth.audit_trail import OK
from planner_mcp.server.tools.answers.job_output import ReviewOutput
from planner_mcp.server.tools.arguments.lookup_errors import PLAN, naming_argument
from planner_mcp.server.tools.arguments.plan_context import PlanName, job_id_of
from planner_mcp.server.tools.plans import compare_plans
from planner_mcp.server.tools.plans.compare_plans import CompareArguments
from planner_mcp.server.tools.tool_definition import Arguments, ResourceLink, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import ToolOutput
from planner_mcp.translation import phrase

_NEXT: Final = {
    ReviewState.DRAFT: "Next: propose_plan.",
    ReviewState.PROPOSED: "Next: a person decides, on the dashboard or by review_plan.",
    ReviewState.APPROVED: "Next: publish_plan. ",
    ReviewState.REJECTED: "Next: change the day with resolve_vrp, then propose_plan the new job.",
    ReviewState.PUBLISHED: "",
}


class ReviewResult(ToolOutput):
    """Result of `propose_plan`, `review_plan` and `publish_plan`."""

    listed: ClassVar[tuple[str, ...]] = ("job_id", "review", "differences")
    job_id: str
    plan_id: str
    review: ReviewOutput
    differences: list[str] | None = None
    """In words, from the plan approved earlier for that day."""


class PlanArguments(Arguments):
    """Arguments of `propose_plan` and `publish_plan`."""

    job_id: PlanName


async def take_step(ctx: ToolContext, asked: PlanArguments, step: ReviewStep) -> ToolResult:
    """Take a step of the plan's owner, and return how its review stands."""
    with naming_argument("/job_id", PLAN):
        job = await ctx.job_service.review(ctx.principal, job_id_of(asked.job_id), step)
    return await review_result(ctx, job)


async def review_result(ctx: ToolContext, job: Job, differences: list[str] | None = None) -> ToolResult:
    """Record how the review of a plan stands, and return it; of a plan that follows another, with the difference.

    Args:
        ctx: The call.
        job: After the step.
        differences: What `differences_of` returned before the step, where it was asked.
    """
    review, plan_id = job.review or PlanReview(), plan_of(job.id)
    if ctx.audit is not None:
        what = f"plan.{review.state}"
        await ctx.audit.record(ctx.principal, what, outcome=OK, trace_id=ctx.trace_id, target=job.id)
    if differences is None:
        differences = await differences_of(ctx, job)
    output = ReviewResult(
        job_id=job.id, plan_id=plan_id, review=ReviewOutput(**review.as_json()), differences=differences
    )
    lines = [f"{plan_id} {review.state.upper()}" + (f": {review.reason}" if review.reason else "")]
    if differences is not None:
        lines += [phrase("Against {}, approved before:", review.differs_from), *differences]
    files = f"Its files are those of the day: scenario://{job.request.scenario_id}/plan/sheets.html, stops.csv, …"
    lines.append(_NEXT[review.state] + (files if review.state in TAKEN_OUT else ""))
    return ToolResult(output, "\n".join(lines), (ResourceLink(f"plan://{plan_id}", "plan"),))


async def differences_of(ctx: ToolContext, job: Job) -> list[str] | None:
    """Return in words what the plan of a job changes against the approved one; None where there is none, or no more.

    A step that was taken is not refused because a day has expired, or is masked so that nothing can be worked out.
    """
    if job.review is None or job.review.differs_from is None:
        return None
    asked = CompareArguments(plan_a=job.review.differs_from, plan_b=plan_of(job.id))
    with suppress(NotFoundError, PlanNotReadyError, InsufficientScopeError):
        compared = await compare_plans.run(ctx, asked)
        return list(compared.structured["in_words"])
    return None
