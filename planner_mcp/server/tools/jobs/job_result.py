"""A job as an answer: how it stands and, where it started from another, what its plan changes, in words."""

from contextlib import suppress
from typing import Final

from planner_mcp.errors import InsufficientScopeError, NotFoundError, PlanNotReadyError
from planner_mcp.jobs.job_model import Job
from planner_mcp.routing.analysis.alternative_plans import twin_of
from planner_mcp.server.tools.answers.job_output import JobOutput
from planner_mcp.server.tools.answers.job_text import job_lines, job_links
from planner_mcp.server.tools.answers.token_estimates import fitting
from planner_mcp.server.tools.arguments.plan_context import PlanContext, load_plan_context
from planner_mcp.server.tools.arguments.plan_differences import plan_difference, small_share_text
from planner_mcp.server.tools.tool_definition import ToolContext, ToolResult

CHANGES_BYTES: Final = 240
"""Of the sentences on what a plan changes; the most important come first."""
MORE: Final = "compare_plans has the rest."
"""Stands behind sentences of which not all have room."""


async def changes_of(ctx: ToolContext, job: Job) -> list[str]:
    """Return the changes, the most important first; nothing where either plan has expired."""
    if job.request.warm_plan_id is None or not job.is_terminal or job.plan_id is None:
        return []
    with suppress(NotFoundError, PlanNotReadyError, InsufficientScopeError):
        after = await load_plan_context(ctx, job.id, "/job_id")
        before = await load_plan_context(ctx, job.request.warm_plan_id, "/job_id")
        found = await plan_difference(ctx, before, after)
        sentences = [*_as_alternative(before, after), *found.in_words(found.comparison.agents)]
        shown = fitting(sentences, CHANGES_BYTES)
        return shown if len(shown) == len(sentences) else [*shown, MORE]
    return []


def _as_alternative(before: PlanContext, after: PlanContext) -> list[str]:
    """Return a sentence where a plan was looked for as an alternative of another and hardly differs from it."""
    is_alternative = after.scenario.prices_of is not None and before.scenario.prices_of is None
    twin = twin_of(after.plan, {before.plan_id: before.plan}) if is_alternative else None
    return [] if twin is None else [f"This plan is hardly different from {twin[0]} ({small_share_text(twin[1])})."]


async def job_result(ctx: ToolContext, job: Job) -> ToolResult[JobOutput]:
    """Return a job as an answer: how it stands, and what its plan changes."""
    changes = await changes_of(ctx, job)
    output = JobOutput.of(job).model_copy(update={"changes": changes or None})
    return ToolResult(output, "\n".join([job_lines(job), *changes]), job_links(job))
