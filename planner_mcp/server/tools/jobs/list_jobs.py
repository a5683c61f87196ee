"""`list_jobs`: the caller's jobs, newest first (SPEC T5)."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field

from planner_mcp.jobs.job_content import cost_unit_of_job, job_view
from planner_mcp.server.tools.answers.table_result import TablePage, table_result
from planner_mcp.server.tools.tool_definition import (
    READ,
    Arguments,
    PageNumber,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
)
from planner_mcp.text import Json, number, timestamp

COLUMNS: Final[Mapping[str, Json]] = {
    "job_id": {"type": "string"},
    "status": {"type": "string"},
    "progress": {"type": "integer", "minimum": 0},
    "cost": {"type": ["number", "null"]},
    "submitted_at": {"type": "string", "format": "date-time"},
    "cost_in": {"type": ["string", "null"]},
}
"""The JSON Schema of each."""


class JobsArguments(Arguments):
    """Arguments of `list_jobs`."""

    status: Annotated[
        Literal["QUEUED", "SOLVING", "COMPLETED", "FAILED", "CANCELLED", "PROPOSED"] | None,
        Field(description="only these; PROPOSED: plans that wait for review"),
    ] = None
    page: PageNumber = 1
    size: Annotated[int, Field(ge=1, le=50, description="jobs a page")] = 10


async def run(ctx: ToolContext, asked: JobsArguments) -> ToolResult:
    """Return one page of jobs."""
    offset = (asked.page - 1) * asked.size
    state = asked.status.lower() if asked.status else None
    jobs, total = await ctx.job_service.jobs(ctx.principal, state, offset=offset, count=asked.size)
    rows = []
    for job in jobs:
        view = job_view(job)
        cost = number(job.progress.cost)
        rows.append(
            [job.id, view["status"], view["progress"], cost, timestamp(job.submitted_at), cost_unit_of_job(job)]
        )
    return table_result("jobs", COLUMNS, rows, page=asked.page, size=asked.size, total=total)


TOOL: Final = Tool(
    name="list_jobs",
    title="List jobs",
    description=(
        "List your solves, newest first: after a break, or when a job_id is lost. Next: query_vrp_status or read_plan."
    ),
    arguments=JobsArguments,
    output=TablePage,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="data",
    meta={"example": {"status": "COMPLETED"}},
)
