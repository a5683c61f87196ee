"""`solve_vrp`: a scenario becomes a job at once; the same call returns the same job (SPEC T2, W2)."""

from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, Field, ValidationInfo

from planner_mcp.errors import EndpointForbiddenError
from planner_mcp.jobs.job_model import SolveRequest
from planner_mcp.jobs.webhooks.address_guard import check_callback_url
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.engine_features import check_engine
from planner_mcp.routing.engine_names import AUTO, EngineName
from planner_mcp.routing.scenario.field_types import field_error
from planner_mcp.routing.scenario.scenario_parsing import read_stored
from planner_mcp.server.tools.arguments.lookup_errors import SCENARIO, naming_argument
from planner_mcp.server.tools.arguments.plan_context import run_in_thread, scenario_at
from planner_mcp.server.tools.arguments.solve_time import Cores, SolveTime, seconds_of
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
from planner_mcp.settings import Settings
from planner_mcp.text import timestamp


def _allowed(url: str, info: ValidationInfo) -> str:
    """Pass on a URL that the deployment's webhooks may call; without settings nothing is known of them."""
    if not isinstance(info.context, Settings):
        return url
    try:
        check_callback_url(url, info.context)
    except EndpointForbiddenError as error:
        (fault,) = error.errors
        raise field_error(fault.problem, fault.accepted, fault.hint, fault.kind) from None
    return url


CallbackUrl = Annotated[
    str,
    Field(max_length=2048, description="https webhook at the end", json_schema_extra={"format": "uri"}),
    AfterValidator(_allowed),
]


class SolveArguments(Arguments):
    """Arguments of `solve_vrp`."""

    scenario_id: Annotated[str, Field(max_length=100, description="from create_scenario")]
    solve_time: SolveTime = "PT30S"
    callback_url: CallbackUrl | None = None
    idempotency_key: Annotated[str | None, Field(min_length=1, max_length=200, description="same key, same job")] = None
    fresh: Annotated[bool, Field(description="always a new job")] = False
    engine: Annotated[EngineName, Field(description="solver")] = AUTO
    seed: Annotated[int, Field(ge=0, le=1_000_000, description="repeats a run of pyvrp")] = 0
    priority: Annotated[int, Field(ge=1, le=9, description="9 first")] = 5
    cores: Cores = None


class SolveVrpResult(ToolOutput):
    """Result of `solve_vrp`."""

    listed: ClassVar[tuple[str, ...]] = ("job_id", "submitted_at")
    job_id: str
    submitted_at: Timestamp
    status: str
    queue_position: int | None = None
    status_url: str | None = Field(None, description="the job as JSON; absent over stdio")
    events_url: str | None = Field(None, description="its events as SSE; absent over stdio")


FURTHER: Final = "Afterwards: maps, driver sheets and exports (tool set data), re-planning and alternatives (planning)."
"""What else there is, named where a model reads it."""


async def run(ctx: ToolContext, asked: SolveArguments) -> ToolResult[SolveVrpResult]:
    """Queue a solve, or find the job that the same call made before."""
    fields = asked.model_dump(exclude={"solve_time"})
    if asked.engine != AUTO:
        await _check_engine(ctx, asked)
    request = SolveRequest(solve_time_s=seconds_of(asked.solve_time, ctx.settings), **fields)
    with naming_argument("/scenario_id", SCENARIO):
        job = await ctx.job_service.submit(ctx.principal, request)
    output = SolveVrpResult(
        job_id=job.id,
        submitted_at=timestamp(job.submitted_at),
        status=job.state.upper(),
        queue_position=job.queue_position,
        **_urls(ctx, job.id),
    )
    lines = [f"{job.id} {output.status}, submitted {output.submitted_at}"]
    if output.events_url is not None:
        lines.append(f"Events: {output.events_url}")
    text = "\n".join([*lines, f"Next: query_vrp_status wait_s=45. {FURTHER}"])
    return ToolResult(output, text, (ResourceLink(f"job://{job.id}", "job"),))


def _urls(ctx: ToolContext, job_id: str) -> dict[str, str]:
    """Return where a program watches the job, where the server is reached by HTTP."""
    if ctx.base_url is None:
        return {}
    status_url = f"{ctx.base_url}/jobs/{job_id}"
    return {"status_url": status_url, "events_url": f"{status_url}/events"}


async def _check_engine(ctx: ToolContext, asked: SolveArguments) -> None:
    """Refuse an engine that cannot plan the scenario, where its travel is at hand.

    Raises:
        UnsupportedFeatureError: It lacks a feature.
    """
    stored = await scenario_at(ctx, asked.scenario_id)
    travel_matrices = await ctx.job_service.matrices.for_scenario(ctx.principal.id, stored.body)

    def check() -> None:
        scenario = read_stored(stored.body, travel_matrices)
        if travel_matrices is not None or not scenario.refers_to_matrices:
            check_engine(asked.engine, compile_scenario(scenario))

    await run_in_thread(ctx, check)


TOOL: Final = Tool(
    name="solve_vrp",
    title="Solve VRP",
    description="Queue a solve of a scenario and return job_id at once; same call, same job. Next: query_vrp_status.",
    arguments=SolveArguments,
    output=SolveVrpResult,
    hints=ToolAnnotations(idempotent=True, callback=True),
    run=run,
    scope=WRITE,
    meta={"example": {"scenario_id": "scn-0-…", "solve_time": "PT60S"}},
    may_be_task=True,
)
