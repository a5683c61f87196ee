"""What the plan of a job that started from another changes, in words, for every tool that meets the end of one; and a
job as an answer with that."""

from contextlib import suppress
from typing import Final

from planner_mcp.errors import InsufficientScopeError, NotFoundError, PlanNotReadyError
from planner_mcp.jobs.job_model import Job
from planner_mcp.server.tools.answers.job_output import JobOutput
from planner_mcp.server.tools.answers.job_text import job_lines, job_links
from planner_mcp.server.tools.answers.token_estimates import fitting
from planner_mcp.server.tools.arguments.plan_context import load_plan_context
from planner_mcp.server.tools.arguments.plan_differences import plan_difference
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
        sentences = found.in_words(found.comparison.agents)
        shown = fitting(sentences, CHANGES_BYTES)
        return shown if len(shown) == len(sentences) else [*shown, MORE]
    return []


async def job_result(ctx: ToolContext, job: Job) -> ToolResult:
    """Return a job as an answer: how it stands, and what its plan changes."""
    changes = await changes_of(ctx, job)
    output = JobOutput.of(job).model_copy(update={"changes": changes or None})
    return ToolResult(output, "\n".join([job_lines(job), *changes]), job_links(job))
