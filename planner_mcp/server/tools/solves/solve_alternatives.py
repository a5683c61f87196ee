"""`solve_alternatives`: up to five further plans of a day, each with another goal (SPEC T5)."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

import anyio
from pydantic import Field

from planner_mcp.errors import Fault, PlannerError, input_error
from planner_mcp.jobs.job_model import Job, SolveRequest
from planner_mcp.jobs.job_service import MAX_WAIT_S
from planner_mcp.jobs.masking.masked_views import is_masked_for
from planner_mcp.routing.analysis.alternative_plans import front_styles, styles, twin_of
from planner_mcp.routing.analysis.frozen_prefix import without_assignments
from planner_mcp.routing.analysis.pareto_front import Criterion, FrontPoint, least_value, value_of
from planner_mcp.routing.analysis.plan_comparison import difference
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.scenario_body import ScenarioBody, ScenarioPatch
from planner_mcp.routing.scenario.scenario_parsing import read_stored
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.server.tools.answers.pareto_table import BASE, ParetoFront, pareto_lines, pareto_table
from planner_mcp.server.tools.arguments.comparison_pricing import Prices, priced_on_common_scenario, stated_prices
from planner_mcp.server.tools.arguments.day_reading import DayReader
from planner_mcp.server.tools.arguments.plan_context import PlanContext, PlanName, load_plan_context, run_in_thread
from planner_mcp.server.tools.arguments.plan_differences import small_share_text
from planner_mcp.server.tools.arguments.resolved_inputs import ScenarioBounds, input_resolver
from planner_mcp.server.tools.arguments.scenario_revision import revised
from planner_mcp.server.tools.arguments.solve_time import SolveTime, seconds_of
from planner_mcp.server.tools.jobs.read_progress import bound_and_gap, lower_bound_of
from planner_mcp.server.tools.tool_definition import (
    WRITE,
    Arguments,
    ResourceLink,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
)
from planner_mcp.server.tools.tool_output import Number, Timestamp, ToolOutput, Words
from planner_mcp.text import number, timestamp

Style = Literal["fewest_agents", "balanced", "quickest", "punctual", "shortest", "other_search"]
_BASE: Final = "the base plan"
_ANEW: Final = "other_search"
"""The style that changes no prices."""


class AlternativesArguments(Arguments):
    """Arguments of `solve_alternatives`."""

    plan: PlanName
    styles: Annotated[list[Style], Field(max_length=5, description="absent: the first k that apply")] = []  # noqa: RUF012
    front: Annotated[Criterion | None, Field(description="instead of styles: a Pareto front of cost against this")] = (
        None
    )
    k: Annotated[int, Field(ge=1, le=5, description="how many plans")] = 3
    solve_time: SolveTime = "PT10S"
    wait_s: Annotated[
        float, Field(ge=0, le=MAX_WAIT_S, description="45 advised: an equal plan is replaced by the next style")
    ] = 0


class QueuedAlternative(ToolOutput):
    """The job that looks for one alternative."""

    style: str
    job_id: str
    scenario_id: str
    cost: Number | None = Field(
        None, description="at the prices of the base plan; absent where the plan was not waited for"
    )
    difference: Number | None = Field(None, description="share of stops with other neighbours than in the base plan")


class SolveAlternativesResult(ToolOutput):
    """Result of `solve_alternatives`."""

    base_plan: str
    alternatives: list[QueuedAlternative]
    submitted_at: Timestamp
    base_cost: Number
    cost_in: str | None = None
    front: ParetoFront | None = Field(None, description="of the plans that were waited for, the base plan among them")
    left_out: dict[str, Words] | None = Field(None, description="why, by style")
    not_queued: list[str] | None = Field(None, description="styles to ask for again")


async def run(ctx: ToolContext, asked: AlternativesArguments) -> ToolResult:
    """Queue one solve for each style."""
    solve_time_s = seconds_of(asked.solve_time, ctx.settings)
    base = await load_plan_context(ctx, asked.plan, "/plan")
    own, prices, plan = await _with_stated_prices(ctx, base)
    patches = await run_in_thread(ctx, _patches, asked, own, plan)
    chosen = _chosen(asked, patches)
    reader = DayReader(ScenarioBounds.of(ctx.settings), input_resolver(ctx))

    async def queue(names: list[str]) -> dict[str, Job]:
        bodies = {style: await run_in_thread(ctx, _body, base, own, patches[style], reader) for style in names}
        return await _queued(ctx, base, bodies, solve_time_s)

    queued = await queue(chosen)
    submitted_at = timestamp(next(iter(queued.values())).submitted_at)
    later = [style for style in chosen if style not in queued]
    different, front = Different(queued, {}), None
    if asked.wait_s:
        spare = [] if asked.styles or asked.front or later else [style for style in patches if style not in chosen]
        different = await _different(ctx, base, prices, queued, spare, queue, asked.wait_s)
        queued = different.jobs
        if asked.front is not None and not is_masked_for(ctx.principal, base.job):
            front = await _front(ctx, asked.front, base, own, plan, different)
    output = SolveAlternativesResult(
        base_plan=base.plan_id,
        alternatives=[
            QueuedAlternative(
                style=style,
                job_id=job.id,
                scenario_id=job.request.scenario_id,
                cost=number(at_prices.cost) if (at_prices := different.plans.get(style)) else None,
                difference=number(different.differences.get(style)),
            )
            for style, job in queued.items()
        ],
        submitted_at=submitted_at,
        base_cost=number(plan.cost),
        cost_in=None if prices is None else prices.cost_unit,
        front=front,
        left_out=different.left_out or None,
        not_queued=later or None,
    )
    links = tuple(ResourceLink(f"job://{job.id}", "job") for job in queued.values())
    return ToolResult(output, "\n".join(_lines(output, different)), links)


def _lines(output: SolveAlternativesResult, different: "Different") -> Iterator[str]:
    """Yield the lines of the text form."""
    unit = f" · cost_in {output.cost_in}" if output.cost_in else ""
    yield f"base: {output.base_plan} cost {output.base_cost}{unit}"
    for each in output.alternatives:
        yield f"{each.style}: {each.job_id}{_cost_text(each)}"
    for style, reason in different.left_out.items():
        yield f"{style} is left out: {reason}"
    if output.front is not None:
        yield from pareto_lines(output.front)
    if output.not_queued:
        yield f"Not queued: {', '.join(output.not_queued)}. Ask for these again later."
    if output.alternatives:
        names = " ".join(each.job_id for each in output.alternatives)
        waited = "" if len(different.differences) == len(output.alternatives) else "query_vrp_status each, then "
        yield f"Next: {waited}weigh_plans plans={output.base_plan} {names}"


@dataclass(slots=True)
class Different:
    """Alternatives that are waited for, as far as they differ from the base plan and from each other."""

    jobs: dict[str, Job]
    left_out: dict[str, str]
    """The reason, by style."""
    differences: dict[str, float] = field(default_factory=dict)
    """From the base plan, by style."""
    plans: dict[str, Plan] = field(default_factory=dict)
    """By style, at the prices of the base plan; of plans that are there and have costs at these prices."""


async def _front(
    ctx: ToolContext, criterion: Criterion, base: PlanContext, own: ScenarioBody, plan: Plan, found: Different
) -> ParetoFront:
    """Return the front of the base plan and the alternatives that are there, with what is proved of the day."""
    points = [
        FrontPoint(name, each.cost, value_of(each, criterion), each.penalty)
        for name, each in ({BASE: plan} | found.plans).items()
    ]
    job_ids = {BASE: base.job.id} | {name: job.id for name, job in found.jobs.items()}
    least = await run_in_thread(ctx, _least_value, own, base.travel_matrices, criterion)
    if own == base.scenario.body:
        bound = (await bound_and_gap(ctx, base.job.id)).bound
    else:  # the base job kept tickets with their agents: what is proved of its day does not hold for the freed one
        bound = await run_in_thread(ctx, lower_bound_of, own, base.travel_matrices)
    return pareto_table(criterion, points, job_ids, bound=bound, least=least)


def _least_value(body: ScenarioBody, travel_matrices: TravelMatrices | None, criterion: Criterion) -> float:
    return least_value(compile_scenario(read_stored(body, travel_matrices)), criterion)


async def _different(
    ctx: ToolContext,
    base: PlanContext,
    prices: Prices | None,
    queued: Mapping[str, Job],
    spare: list[str],
    queue: Callable[[list[str]], Awaitable[dict[str, Job]]],
    wait_s: float,
) -> Different:
    """Wait for alternatives; one that is hardly different is left out, and the next style takes its place.

    Args:
        ctx: Of the call.
        base: The plan they must differ from.
        prices: Of the base plan.
        queued: Their jobs by style.
        spare: Styles that may take a place.
        queue: Queues styles.
        wait_s: For all together; jobs that take longer are kept as they stand.
    """
    ends = anyio.current_time() + wait_s
    found, plans, waiting = Different({}, {}), {_BASE: base.plan}, dict(queued)
    while waiting:
        style = next(iter(waiting))
        queued_job = waiting.pop(style)
        job = await ctx.job_service.wait(ctx.principal, queued_job.id, ends - anyio.current_time())
        if not job.is_terminal or job.plan_id is None:
            found.jobs[style] = job
            continue
        other = await load_plan_context(ctx, job.id, "/plan")
        if (twin := twin_of(other.plan, plans)) is None:
            found.jobs[style], found.differences[style] = job, difference(base.plan, other.plan)
            plans[style] = other.plan
            common, (_base, priced) = await priced_on_common_scenario(ctx, base, other)
            if common is not None and prices is not None and common.scenario_id == prices.scenario_id:
                found.plans[style] = priced
            continue
        name, share = twin
        found.left_out[style] = f"its plan is hardly different from {name} ({small_share_text(share)})"
        if spare and anyio.current_time() < ends:
            waiting |= await queue([spare.pop(0)])
    return found


def _cost_text(alternative: QueuedAlternative) -> str:
    return "" if alternative.cost is None else f" cost {alternative.cost}"


def _patches(asked: AlternativesArguments, own: ScenarioBody, plan: Plan) -> dict[str, ScenarioPatch]:
    """Return the styles that can change the plan, or the prices of the front that is asked for."""
    if asked.front is None:
        return styles(read_stored(own), plan)
    if asked.styles:
        raise input_error(
            [Fault("/styles", "A front has prices of its own.", "styles or front", "Leave one of them out.")]
        )
    if not (found := front_styles(read_stored(own), plan, asked.front, asked.k)):
        raise input_error(
            [Fault("/front", "The plan cannot be better by this.", "another criterion", "Use styles instead.")]
        )
    return found


def _chosen(asked: AlternativesArguments, patches: dict[str, ScenarioPatch]) -> list[str]:
    faults = [
        Fault(f"/styles/{index}", "This style makes no difference on this day.", f"one of {', '.join(patches)}")
        for index, style in enumerate(asked.styles)
        if style not in patches
    ]
    if faults:
        raise input_error(faults)
    return list(dict.fromkeys(asked.styles)) or list(patches)[: asked.k]


async def _with_stated_prices(ctx: ToolContext, base: PlanContext) -> tuple[ScenarioBody, Prices | None, Plan]:
    """Return a day, its prices and its plan, all without the prices of a style and without tickets tied to agents."""
    fair = await stated_prices(ctx, base.scenario)
    prices, (plan, _same) = await priced_on_common_scenario(ctx, base, base)
    body = without_assignments(base.scenario.body) if fair is None else fair[1]
    return body, prices, plan


def _body(base: PlanContext, own: ScenarioBody, patch: ScenarioPatch, reader: DayReader) -> ScenarioBody | None:
    """Return the day of one style; None where it is the same day."""
    if not patch and own == base.scenario.body:
        return None
    return revised(own, patch, reader)[0]


async def _queued(
    ctx: ToolContext, base: PlanContext, bodies: Mapping[str, ScenarioBody | None], solve_time_s: int
) -> dict[str, Job]:
    """Queue one style after the other until one is refused; whoever has a job gets its id.

    A revision is made when its turn comes: those of styles after a refusal would lie there for nothing.
    """
    queued: dict[str, Job] = {}
    for style, body in bodies.items():
        try:
            alternative_request = await _alternative_request(ctx, base, style, body, solve_time_s)
            queued[style] = await ctx.job_service.submit(ctx.principal, alternative_request)
        except PlannerError:
            if not queued:
                raise
            break
    return queued


async def _alternative_request(
    ctx: ToolContext, base: PlanContext, style: str, body: ScenarioBody | None, solve_time_s: int
) -> SolveRequest:
    """Return what one style asks: a revision, from the plan there is; another search begins anew with another seed."""
    day = base.scenario
    if body is not None:
        day = await ctx.job_service.create_scenario(ctx.principal, body, base.scenario, has_own_prices=style == _ANEW)
    if style == _ANEW:
        return SolveRequest(day.id, solve_time_s, seed=(base.job.request.seed + 1) % 1_000_000)
    return SolveRequest(day.id, solve_time_s, warm_plan_id=base.plan_id)


TOOL: Final = Tool(
    name="solve_alternatives",
    title="Solve alternatives",
    description=(
        "Queue up to 5 further plans of a solved scenario, each with another goal: fewer agents, balance, time, "
        "punctuality, distance, or another search; or a Pareto front of cost against one of them. With wait_s=45 equal "
        "plans are replaced. Then weigh_plans."
    ),
    arguments=AlternativesArguments,
    output=SolveAlternativesResult,
    hints=ToolAnnotations(),
    run=run,
    scope=WRITE,
    toolset="planning",
    meta={"example": {"plan": "job-0-…", "k": 3}},
)
