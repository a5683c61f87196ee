"""`prove_plan`: a job that bounds from below what any plan of a day costs, and so says how good a plan is (SPEC T5)."""

from typing import Annotated, Final

from pydantic import Field

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.job_model import SolveRequest
from planner_mcp.routing.engine_names import PROVE, PROVE_MAX_TICKETS
from planner_mcp.routing.plan import PlanStatus
from planner_mcp.server.tools.answers.job_text import job_links
from planner_mcp.server.tools.arguments.plan_context import PlanName, load_plan_context
from planner_mcp.server.tools.arguments.solve_time import SolveTime, seconds_of
from planner_mcp.server.tools.tool_definition import WRITE, Arguments, Tool, ToolAnnotations, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import Timestamp, ToolOutput
from planner_mcp.text import timestamp


class ProveArguments(Arguments):
    """Arguments of `prove_plan`."""

    plan: PlanName
    solve_time: SolveTime = "PT60S"
    fresh: Annotated[bool, Field(description="true: prove again")] = False


class ProvePlanResult(ToolOutput):
    """Result of `prove_plan`."""

    job_id: str
    scenario_id: str
    submitted_at: Timestamp
    status: str


async def run(ctx: ToolContext, asked: ProveArguments) -> ToolResult:
    """Queue the proof of a plan."""
    solve_time_s = seconds_of(asked.solve_time, ctx.settings)
    base = await load_plan_context(ctx, asked.plan, "/plan")
    if (problem := _refusal(base.plan.status, base.scenario.prices_of, len(base.scenario.body["tickets"]))) is not None:
        raise input_error([problem])
    request = SolveRequest(base.scenario.id, solve_time_s, engine=PROVE, warm_plan_id=base.plan_id, fresh=asked.fresh)
    job = await ctx.job_service.submit(ctx.principal, request)
    output = ProvePlanResult(
        job_id=job.id,
        scenario_id=base.scenario.id,
        submitted_at=timestamp(job.submitted_at),
        status=job.state.upper(),
    )
    lines = [f"{job.id} proves {base.plan_id}", f"Next: query_vrp_status, then read_progress job_id={job.id}"]
    return ToolResult(output, "\n".join(lines), job_links(job))


def _refusal(status: PlanStatus, prices_of: str | None, tickets: int) -> Fault | None:
    """Return why a plan cannot be proved; None where it can."""
    if status is PlanStatus.PARTIAL:
        hint = "A bound holds for plans that serve all of them. suggest_fixes shows what makes that possible."
        return Fault("/plan", "This plan leaves out wanted tickets.", "a plan that serves every wanted ticket", hint)
    if prices_of is not None:
        hint = "Its prices were made up by solve_alternatives."
        return Fault("/plan", "This plan belongs to an alternative.", "a plan of a scenario of its own", hint)
    if tickets > PROVE_MAX_TICKETS:
        return Fault("/plan", f"This scenario has {tickets} tickets.", f"at most {PROVE_MAX_TICKETS} tickets", "")
    return None


TOOL: Final = Tool(
    name="prove_plan",
    title="Prove plan",
    description=(
        f"Queue a job that computes a proven lower bound on the cost of a plan (up to {PROVE_MAX_TICKETS} tickets). "
        "The bound rises while the job works; the job may also find a cheaper plan. read_progress shows the gap, or "
        "that the plan is optimal."
    ),
    arguments=ProveArguments,
    output=ProvePlanResult,
    hints=ToolAnnotations(),
    run=run,
    scope=WRITE,
    toolset="planning",
    meta={"example": {"plan": "job-0-…"}},
)
