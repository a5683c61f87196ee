"""`share_plan`: a link that shows one plan to people without an account (SPEC O2)."""

from typing import Annotated, Final

from pydantic import Field

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.ids import plan_of
from planner_mcp.server.tools.arguments.lookup_errors import PLAN, naming_argument
from planner_mcp.server.tools.arguments.plan_context import PlanName, job_id_of
from planner_mcp.server.tools.tool_definition import (
    WRITE,
    Arguments,
    ResourceLink,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
)
from planner_mcp.server.tools.tool_output import Timestamp, ToolOutput
from planner_mcp.text import timestamp
from planner_mcp.translation import phrase

HOUR_S: Final = 3600.0


class ShareArguments(Arguments):
    """Arguments of `share_plan`."""

    job_id: PlanName
    hours: Annotated[int, Field(ge=1, le=720, description="the link works this long")] = 72
    revoke: Annotated[bool, Field(description="end all links of this plan instead")] = False


class SharePlanResult(ToolOutput):
    """Result of `share_plan`."""

    plan_id: str
    revoked: bool
    url: str | None = Field(None, description="the link")
    expires_at: Timestamp | None = None


async def run(ctx: ToolContext, asked: ShareArguments) -> ToolResult:
    """Make a link, or end those there are."""
    with naming_argument("/job_id", PLAN):
        job_id = job_id_of(asked.job_id)
        if asked.revoke:
            await ctx.job_service.share_generation(ctx.principal, job_id, revoke=True)
            output = SharePlanResult(plan_id=plan_of(job_id), revoked=True)
            return ToolResult(output, f"No link of {output.plan_id} works any more.")
        if (await ctx.job_service.job(ctx.principal, job_id)).plan_id is None:
            await ctx.job_service.plan_of_job(ctx.principal, job_id)  # raises why there is none
        if ctx.offer_share is None:
            raise input_error([Fault("", "Links need a server that is reached over HTTP.", "planner-mcp serve")])
        link = await ctx.offer_share(job_id, asked.hours * HOUR_S)
    ends = timestamp(link.expires_at) if link.expires_at is not None else None
    output = SharePlanResult(plan_id=plan_of(job_id), revoked=False, url=link.address, expires_at=ends)
    text = phrase("{}, masked and read only, until {}: {}", output.plan_id, ends, link.address)
    return ToolResult(output, text, (ResourceLink(link.address, "shared plan", "text/html"),))


TOOL: Final = Tool(
    name="share_plan",
    title="Share plan",
    description=(
        "Make a link that shows a plan on a page to people without an account: read only, names and prices hidden, "
        "until it expires. revoke=true ends all links of the plan."
    ),
    arguments=ShareArguments,
    output=SharePlanResult,
    hints=ToolAnnotations(),
    run=run,
    scope=WRITE,
    toolset="planning",
    meta={"example": {"job_id": "job-0-…", "hours": 24}},
)
