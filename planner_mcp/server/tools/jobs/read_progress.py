"""`read_progress`: how a solve came to its plan, and how far from the best it can be (SPEC T5, J5)."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from planner_mcp.errors import NotFoundError, PlanNotReadyError
from planner_mcp.jobs.job_content import cost_unit_of_job
from planner_mcp.jobs.job_events import Event, EventData
from planner_mcp.jobs.job_model import Job, Progress
from planner_mcp.jobs.masking.masked_views import is_masked_for
from planner_mcp.jobs.principals import SENSITIVE
from planner_mcp.routing.analysis.convergence import ConvergencePoint, convergence_curve
from planner_mcp.routing.analysis.cost_bound import LowerBound, lower_bound
from planner_mcp.routing.compilation.assumptions import assumptions_of
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.engine_names import PROVE
from planner_mcp.routing.plan import CENT, NO_TRAVEL, Plan, ProofRecord
from planner_mcp.routing.scenario.cost_unit import cost_unit
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.scenario_parsing import read_stored
from planner_mcp.routing.scenario.shown_scenario import as_shown
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.server.tools.answers.job_text import OPTIMAL
from planner_mcp.server.tools.arguments.comparison_pricing import stated_prices
from planner_mcp.server.tools.arguments.lookup_errors import PLAN, naming_argument
from planner_mcp.server.tools.arguments.plan_context import PlanName, job_id_of, run_in_thread, unit_lines
from planner_mcp.server.tools.tool_definition import READ, Arguments, Tool, ToolAnnotations, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import Number, ToolOutput, Words
from planner_mcp.text import counted, number
from planner_mcp.translation import phrase, translated

_COLUMNS: Final = ("elapsed_s", "cost", "tickets_served")
_PROOF_COLUMNS: Final = ("elapsed_s", "cost", "lower_bound")
"""Of a job that proves a plan."""
MAX_KEPT: Final = 4096
"""Bounds, of a hundred bytes or so."""
_bounds: Final = OrderedDict[str, LowerBound]()
"""By job, the oldest first: each took seconds, and neither a job's day nor its travel changes."""


class ProgressArguments(Arguments):
    """Arguments of `read_progress`."""

    job_id: PlanName
    points: Annotated[int, Field(ge=2, le=50, description="most points")] = 12
    bound: Annotated[bool, Field(description="also a lower bound and the gap")] = True


class ReadProgressResult(ToolOutput):
    """Result of `read_progress`."""

    listed: ClassVar[tuple[str, ...]] = (
        "job_id",
        "status",
        "columns",
        "rows",
        "agents_needed",
        "lower_bound",
        "no_lower_bound",
        "gap",
    )
    job_id: str
    status: str
    improvements: int
    columns: list[str]
    rows: list[list[Any]]
    cost_in: str | None = None
    agents_needed: int | None = None
    lower_bound: Number | None = None
    no_lower_bound: Words | None = Field(None, description="why there is none")
    gap: Number | None = Field(None, description="share of the cost; the true gap is at most this")
    optimal: bool | None = Field(None, description="true: proved, and the proof was checked")
    relaxed: list[str] | None = Field(None, description="features that the proof leaves out, so the gap may be smaller")


async def run(ctx: ToolContext, asked: ProgressArguments) -> ToolResult[ReadProgressResult]:
    """Return the best cost over time, and a bound where one can be given."""
    with naming_argument("/job_id", PLAN):
        job = await ctx.job_service.job(ctx.principal, job_id_of(asked.job_id))
        past = await ctx.job_service.history(ctx.principal, job.id)
    is_proof = job.request.engine == PROVE
    rows = (_gap_curve if is_proof else _cost_curve)(past, job.progress, most=asked.points)
    hides_costs = is_masked_for(ctx.principal, job)
    found = await bound_and_gap(ctx, job.id) if asked.bound else BoundAndGap()
    bound = None if hides_costs else found.bound
    has_costs = not hides_costs and bool(rows or (bound is not None and bound.cost is not None))
    output = ReadProgressResult(
        job_id=job.id,
        status=job.state.upper(),
        improvements=job.progress.improvements,
        columns=list(_PROOF_COLUMNS if is_proof else _COLUMNS),
        rows=rows,
        cost_in=await _cost_unit(ctx, job) if has_costs else None,
        gap=found.gap,
        optimal=found.is_optimal or None,
        relaxed=list(found.relaxed) or None,
        **({} if bound is None else bound.as_json()),
    )
    return ToolResult(output, _text(output))


async def _cost_unit(ctx: ToolContext, job: Job) -> str | None:
    """Return what the costs of a job are in; before its first plan as its day says it."""
    if job.summary is not None:
        return cost_unit_of_job(job)
    with suppress(NotFoundError):
        scenario = await ctx.job_service.scenario(ctx.principal, job.request.scenario_id)
        if (stated := await stated_prices(ctx, scenario)) is not None:
            return await run_in_thread(ctx, _cost_unit_of_day, stated[1])
    return None


def _cost_unit_of_day(body: ScenarioBody) -> str | None:
    """Return what the costs of plans of a day are in; None where they count legs."""
    return None if NO_TRAVEL in assumptions_of(read_stored(body)) else cost_unit(as_shown(body))


def _reports(events: Iterable[Event], now: Progress) -> Iterator[EventData | Progress]:
    yield from (event.data for event in events if not event.is_final)
    yield now


def _points(events: Iterable[Event], now: Progress) -> Iterator[ConvergencePoint]:
    """Yield the plans that were reported, then the last: of a short search only the end is reported, without a time."""
    for each in _reports(events, now):
        if each.cost is not None:
            yield ConvergencePoint(each.elapsed_s or 0.0, each.cost, each.tickets_served or 0, each.penalty or 0.0)


def _cost_curve(events: Iterable[Event], now: Progress, *, most: int) -> list[list[Any]]:
    """Return how the best cost fell, at most so many points."""
    points = convergence_curve(_points(events, now), most=most)
    return [[number(point.elapsed_s), number(point.cost), point.served] for point in points]


def _gap_curve(events: Iterable[Event], now: Progress, *, most: int) -> list[list[Any]]:
    """Return how the bound of a proof rose, at most so many points, the first and the last among them."""
    steps: list[list[Any]] = []
    for each in _reports(events, now):
        bound = number(each.lower_bound)
        if bound is not None and (not steps or steps[-1][2] != bound):
            steps.append([number(each.elapsed_s or 0), number(each.cost), bound])
    if len(steps) <= most:
        return steps
    return [steps[place * (len(steps) - 1) // (most - 1)] for place in range(most)]


@dataclass(frozen=True, slots=True)
class BoundAndGap:
    """How good a plan is, as far as it is known."""

    bound: LowerBound | None = None
    gap: float | None = None
    """None where the plan leaves out wanted tickets or there is none."""
    is_optimal: bool = False
    relaxed: tuple[str, ...] = ()


async def bound_and_gap(ctx: ToolContext, job_id: str) -> BoundAndGap:
    """Return the bound of a job's scenario and the gap of its plan, which readers who see no costs may know too.

    A plan that costs less than the bound was made by a version that read the travel of the day otherwise: of such a
    plan the bound says nothing.
    """
    seeing = replace(ctx, principal=replace(ctx.principal, scopes=ctx.principal.scopes | {SENSITIVE}))
    job = await ctx.job_service.job(seeing.principal, job_id)
    if (bound := _bounds.get(job.id) or await _worked_out(seeing, job)) is None:
        return BoundAndGap()
    plan = await _plan(seeing, job.id)
    if (proof := await _proof(seeing, job, plan)) is not None and proof.lower_bound < (bound.cost or 0.0):
        proof = None
    best = bound if proof is None else replace(bound, cost=proof.lower_bound)
    cost = None if plan is None or plan.penalty else plan.cost  # that of a status is rounded
    if cost is not None and best.cost is not None and cost < best.cost - CENT:
        return BoundAndGap()
    gap = None if cost is None else best.gap(cost)
    if proof is None:
        return BoundAndGap(best, gap)
    return BoundAndGap(best, gap, proof.is_optimal and gap == 0, proof.relaxed)


async def _plan(ctx: ToolContext, job_id: str) -> Plan | None:
    """Return the best plan of a job so far; None where there is none."""
    with suppress(NotFoundError, PlanNotReadyError):
        return await ctx.job_service.plan_of_job(ctx.principal, job_id)
    return None


async def _proof(ctx: ToolContext, job: Job, plan: Plan | None) -> ProofRecord | None:
    """Return the best that was proved of a job's day, of its plan or another: it holds for every plan of that."""
    try:
        scenario = await ctx.job_service.scenario(ctx.principal, job.request.scenario_id)
    except NotFoundError:
        return None
    if scenario.prices_of is not None:
        return None
    plans = [plan, *[await _plan(ctx, proof_id) for proof_id in scenario.proof_ids]]
    found = [each.proof for each in plans if each is not None and each.proof is not None]
    return max(found, key=lambda each: (each.lower_bound, each.is_optimal), default=None)


async def _worked_out(ctx: ToolContext, job: Job) -> LowerBound | None:
    """Return the bound of a job's day, and keep it; None where the day has expired or its travel is not at hand."""
    try:
        scenario = await ctx.job_service.scenario(ctx.principal, job.request.scenario_id)
    except NotFoundError:
        return None
    body = scenario.body
    if scenario.prices_of is not None:  # costs follow from those prices
        if (stated := await stated_prices(ctx, scenario)) is None:
            return None
        _priced_on, body = stated
    travel_matrices = await ctx.job_service.matrices.for_scenario(job.principal, body)
    if (bound := await run_in_thread(ctx, lower_bound_of, body, travel_matrices)) is not None:
        _bounds[job.id] = bound
        if len(_bounds) > MAX_KEPT:
            _bounds.popitem(last=False)
    return bound


def lower_bound_of(body: ScenarioBody, travel_matrices: TravelMatrices | None) -> LowerBound | None:
    """Return the bound of a stored scenario; None where its travel is not at hand."""
    scenario = read_stored(body, travel_matrices)
    if scenario.refers_to_matrices and travel_matrices is None:
        return None
    return lower_bound(compile_scenario(scenario))


def _text(output: ReadProgressResult) -> str:
    lines = [
        f"{output.job_id} {output.status}, {counted(output.improvements, 'improvement')}: {' '.join(output.columns)}"
    ]
    lines += [" ".join(map(str, row)) for row in output.rows]
    lines += unit_lines(output.cost_in)
    needed, cost = output.agents_needed, output.lower_bound
    if cost is not None:
        lines.append(f"Agents needed: {needed} or more; no plan serving all wanted tickets costs less than {cost}.")
    if output.no_lower_bound is not None:
        why = translated(output.no_lower_bound)
        lines.append(phrase("Agents needed: {} or more; no bound on the cost: {}.", needed, why))
    if output.optimal:
        lines.append(OPTIMAL)
    elif output.gap is not None:
        lines.append(f"The best one is at most {100 * output.gap:.3g}% cheaper than this plan.")
    if output.relaxed:
        lines.append(f"The proof leaves out {', '.join(output.relaxed)}.")
    return "\n".join(lines)


TOOL: Final = Tool(
    name="read_progress",
    title="Read progress",
    description=(
        "Show how a job's best cost fell over time (a few points of the curve), also while solving, with a lower "
        "bound and the gap it leaves at most: to judge whether more time is worth it. read_plan shows the plan itself."
    ),
    arguments=ProgressArguments,
    output=ReadProgressResult,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="planning",
    meta={"example": {"job_id": "job-0-…"}},
)
