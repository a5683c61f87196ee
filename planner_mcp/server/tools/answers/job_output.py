"""The fields of a job in a tool's result. What they hold is decided by `jobs/job_content.py`."""

from typing import ClassVar, Literal

from pydantic import Field

from planner_mcp.jobs.job_content import job_view
from planner_mcp.jobs.job_model import Job
from planner_mcp.server.tools.tool_output import Number, Timestamp, ToolOutput, Words
from planner_mcp.text import Json

JobStatus = Literal["QUEUED", "SOLVING", "COMPLETED", "FAILED", "CANCELLED"]


class PlanFigures(ToolOutput):
    """The key figures of a job's plan."""

    plan_status: str | None = None
    cost: Number | None = None
    cost_in: str | None = None
    distance_m: Number | None = None
    duration_s: Number | None = None
    agents_used: int | None = None
    tickets_served: int | None = None
    tickets_total: int | None = None
    unassigned: int | None = None
    unassigned_reasons: dict[str, int] | None = None
    late_tickets: Number | None = None
    late_max_s: Number | None = None
    overtime_s: Number | None = None
    not_preferred: int | None = None
    not_preferred_ids: list[str] | None = None
    optimal: bool | None = None


class ReviewOutput(ToolOutput):
    """How the review of a plan stands."""

    state: Literal["draft", "proposed", "approved", "rejected", "published"]
    reason: str | None = Field(None, description="why it was rejected")
    differs_from: str | None = Field(None, description="plan approved earlier for that day")
    proposed_at: Timestamp | None = None
    reviewed_at: Timestamp | None = None
    published_at: Timestamp | None = None


class JobOutput(ToolOutput):
    """A job with its progress and, once it has ended, its result."""

    listed: ClassVar[tuple[str, ...]] = ("status", "progress")
    job_id: str
    submitted_at: Timestamp | None = None
    status: JobStatus
    progress: int = Field(ge=0, le=100)
    cost: Number | None = None
    cost_in: str | None = None
    tickets_served: int | None = None
    tickets_total: int | None = None
    improvements: int | None = None
    elapsed_s: Number | None = None
    queue_position: int | None = None
    plan_id: str | None = None
    result: PlanFigures | None = None
    error: Json | None = None
    """Why the job failed, as its worker wrote it."""
    changes: list[Words] | None = Field(
        None, description="from the plan it started from: cost, who gains, who loses, late"
    )
    cancelled_at: Timestamp | None = None
    review: ReviewOutput | None = None
    """Only where plans are reviewed."""

    @staticmethod
    def of(job: Job) -> "JobOutput":
        """Return a job as a part of a result."""
        return JobOutput(**job_view(job))
