"""`cancel_vrp_job`: stop a job, queued or solving, and keep its best plan (SPEC T4)."""

from datetime import UTC, datetime
from typing import Annotated, ClassVar, Final

from pydantic import Field

from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job
from planner_mcp.server.tools.arguments.lookup_errors import JOB, naming_argument
from planner_mcp.server.tools.arguments.plan_context import JobId, job_id_of
from planner_mcp.server.tools.jobs.job_result import changes_of
from planner_mcp.server.tools.tool_definition import (
    WRITE,
    Arguments,
    ResourceLink,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
)
from planner_mcp.server.tools.tool_output import Timestamp, ToolOutput, Words
from planner_mcp.text import timestamp
from planner_mcp.translation import phrase, translated

SETTLE_S: Final = 5.0
"""How long the answer waits for the solver to stop. It takes well under a second; a lost worker takes its lease."""


_ASKED: Final = " (cancel is asked; its worker has not answered yet)"


class CancelArguments(Arguments):
    """Arguments of `cancel_vrp_job`."""

    job_id: JobId
    keep_best: Annotated[bool, Field(description="keep the best plan")] = True


class CancelVrpJobResult(ToolOutput):
    """Result of `cancel_vrp_job`."""

    listed: ClassVar[tuple[str, ...]] = ("cancelled", "cancelled_at")
    cancelled: bool
    cancelled_at: Timestamp = Field(description="when the job ended")
    job_id: str
    status: str
    plan_id: str | None = None
    changes: list[Words] | None = Field(None, description="from the plan it started from")


async def run(ctx: ToolContext, asked: CancelArguments) -> ToolResult:
    """Cancel a job and return how it ended: a job that had ended otherwise is not cancelled, and that is no error."""
    with naming_argument("/job_id", JOB):
        job = await ctx.job_service.cancel(ctx.principal, job_id_of(asked.job_id), asked.keep_best)
    job = await settled_job(ctx, job)
    changes = await changes_of(ctx, job)
    is_cancelled = job.state is JobState.CANCELLED
    output = CancelVrpJobResult(
        cancelled=is_cancelled,
        cancelled_at=timestamp(job.finished_at or datetime.now(UTC)),
        job_id=job.id,
        status=job.state.upper(),
        plan_id=plan_of(job.id) if job.plan_id else None,
        changes=changes or None,
    )
    if output.plan_id is None:
        return ToolResult(output, f"{job.id} {output.status}{_note(job)}{translated(', no plan')}")
    lines = [f"{job.id} {output.status}{_note(job)}", *changes, f"read_plan job_id={job.id} shows its best plan."]
    return ToolResult(output, "\n".join(lines), (ResourceLink(f"plan://{output.plan_id}", "plan"),))


async def settled_job(ctx: ToolContext, job: Job) -> Job:
    """Return the job once its solver has stopped, or as it stands after `SETTLE_S`."""
    return job if job.is_terminal else await ctx.job_service.wait(ctx.principal, job.id, SETTLE_S)


def _note(job: Job) -> str:
    if job.state is JobState.CANCELLED:
        return phrase(" at {}", timestamp(job.finished_at)) if job.finished_at else ""
    return translated(" (it had ended before)" if job.is_terminal else _ASKED)


TOOL: Final = Tool(
    name="cancel_vrp_job",
    title="Cancel VRP job",
    description=(
        "Stop a queued or solving job for good; its plan stays. An ended job stays as it is (cancelled=false)."
    ),
    arguments=CancelArguments,
    output=CancelVrpJobResult,
    hints=ToolAnnotations(destructive=True, idempotent=True),
    run=run,
    scope=WRITE,
    meta={"example": {"job_id": "job-0-…"}},
)
