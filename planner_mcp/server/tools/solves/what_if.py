"""`what_if`: several changes of a solved day side by side, as one table of what each would save (SPEC T5).

Owns the table. How one change becomes a revision and a warm solve is `resolve_vrp`'s; bounds are `read_progress`'s. The
day as it is gets the same time from the same plan, so that what a change saves is not what more time would have saved.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Final

import anyio
from pydantic import Field

from planner_mcp.errors import Fault, InputError, PlannerError, input_error, placed
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.job_service import MAX_WAIT_S
from planner_mcp.jobs.masking.masked_views import is_masked_for
from planner_mcp.routing.analysis.cost_bound import LowerBound
from planner_mcp.routing.analysis.pareto_front import value_of
from planner_mcp.routing.scenario.checks.reference_checks import did_you_mean
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.server.tools.answers.unservable_findings import unservable_lines
from planner_mcp.server.tools.arguments.plan_context import (
    PlanContext,
    PlanName,
    cost_unit_of_plan,
    load_plan_context,
    unit_lines,
)
from planner_mcp.server.tools.arguments.solve_time import SolveTime, seconds_of
from planner_mcp.server.tools.jobs.read_progress import bound_and_gap
from planner_mcp.server.tools.solves.resolve_vrp import ChangedPlan, Notice, ResolveArguments, changed_plan
from planner_mcp.server.tools.tool_definition import (
    WRITE,
    Arguments,
    ResourceLink,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
    parse,
)
from planner_mcp.server.tools.tool_output import ToolOutput, Words
from planner_mcp.text import Json, at_least, number
from planner_mcp.translation import phrase, translated, translated_line

AS_IT_IS: Final = "as it is"
"""The row of the day without a change."""
_COLUMNS: Final = (
    "case",
    "job_id",
    "status",
    "cost",
    "saves",
    "saves_at_least",
    "served",
    "agents",
    "distance_km",
    "late_min",
    "gap",
)
_OF_ALL: Final = frozenset({"warm_from", "solve_time", "seed", "fresh"})
"""Arguments of `resolve_vrp` that hold for all cases."""
_MAX_CASES: Final = 5
_Case = Annotated[Json, Field(max_length=20)]


class WhatIfArguments(Arguments):
    """Arguments of `what_if`."""

    plan: PlanName
    cases: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=60)], _Case],
        Field(
            min_length=1,
            max_length=_MAX_CASES,
            description="by name, what resolve_vrp takes: patch, absent, late_by, new_ticket, keep_agents, …",
        ),
    ]
    solve_time: SolveTime = "PT10S"
    wait_s: Annotated[float, Field(ge=0, le=MAX_WAIT_S, description="for all together")] = MAX_WAIT_S


class WhatIfResult(ToolOutput):
    """Result of `what_if`."""

    base_plan: str
    columns: list[str]
    rows: list[list[Any]] = Field(
        description="saves: against the first row; saves_at_least: proved, against every plan of the day as it is; "
        "gap: the plan's cost is at most this share above the best one's"
    )
    cost_in: str | None = None
    changes: dict[str, list[Words]] = Field(description="what each case changed")
    warnings: list[Words] | None = Field(None, description="of the day as it is")
    notes: list[Words] | None = Field(None, description="of all cases")
    refused: dict[str, str] | None = Field(None, description="cases without a job, and why; ask again later")


@dataclass(frozen=True, slots=True)
class _Row:
    """One case whose solve has ended, or its job so far."""

    job: Job
    context: PlanContext | None = None
    bound: LowerBound | None = None
    gap: float | None = None


async def run(ctx: ToolContext, asked: WhatIfArguments) -> ToolResult:
    """Queue one warm solve for each case and one for the day as it is; wait, and compare."""
    solve_time_s = seconds_of(asked.solve_time, ctx.settings)
    wanted = {AS_IT_IS: _resolve_arguments(asked, {})} | _cases(asked)
    ends = anyio.current_time() + asked.wait_s
    jobs, notices, refused = dict[str, Job](), dict[str, Notice](), dict[str, str]()
    for name, changed in (await _changed(ctx, wanted, solve_time_s)).items():
        try:
            jobs[name] = await ctx.job_service.submit(ctx.principal, changed.request)
        except PlannerError as error:
            if not error.retryable or not jobs:
                raise
            refused[name] = error.message
            continue
        notices[name] = changed.notice
    rows = {name: await _row(ctx, job, ends) for name, job in jobs.items()}
    base = await load_plan_context(ctx, asked.plan, "/plan")
    output = WhatIfResult(
        base_plan=base.plan_id,
        columns=list(_COLUMNS),
        rows=[_cells(ctx, name, row, rows[AS_IT_IS]) for name, row in rows.items()],
        cost_in=cost_unit_of_plan(base.scenario.body, base.plan),
        changes=dict(_changes(notices)),
        warnings=list(dict.fromkeys(each for notice in notices.values() for each in notice.standing)) or None,
        notes=notices[AS_IT_IS].notes or None,
        refused=refused or None,
    )
    links = tuple(ResourceLink(f"job://{job.id}", "job") for job in jobs.values())
    return ToolResult(output, _text(output), links)


def _changes(notices: Mapping[str, Notice]) -> Iterator[tuple[str, list[str]]]:
    """Yield what there is to say of each case alone, by its name."""
    of_all = notices[AS_IT_IS].notes
    for name, notice in notices.items():
        lines = [*notice.changes, *unservable_lines(notice.newly_unservable), *notice.warnings]
        lines += [note for note in notice.notes if note not in of_all]
        if lines:
            yield name, lines


def _cases(asked: WhatIfArguments) -> dict[str, ResolveArguments]:
    """Return what each case asks of `resolve_vrp`; raise all that is wrong with any."""
    faults = [
        Fault(f"/cases{pointer([name, field])}", "This holds for all cases.", "only what changes", "Leave it out.")
        for name, case in asked.cases.items()
        for field in sorted(_OF_ALL & case.keys())
    ]
    faults += [
        Fault(f"/cases{pointer([name])}", "This is the name of the first row.", "another name")
        for name in asked.cases
        if name == AS_IT_IS
    ]
    if faults:
        raise input_error(faults)
    found, refused = dict[str, ResolveArguments](), list[InputError]()
    for name, case in asked.cases.items():
        with _collected(refused, name):
            found[name] = _resolve_arguments(asked, case)
    _raise_all(refused)
    return found


async def _changed(
    ctx: ToolContext, wanted: Mapping[str, ResolveArguments], solve_time_s: int
) -> dict[str, ChangedPlan]:
    """Return the day of each case; nothing is queued where one has a mistake, and those of all are raised."""
    found, refused = dict[str, ChangedPlan](), list[InputError]()
    for name, arguments in wanted.items():
        with _collected(refused, name):
            found[name] = await changed_plan(ctx, arguments, solve_time_s)
    _raise_all(refused)
    return found


@contextmanager
def _collected(refused: list[InputError], name: str) -> Iterator[None]:
    """Keep the mistakes of a case, at its place, for those of the others; raise those of the day as it is."""
    try:
        with placed(partial(_in_case, name=name)):
            yield
    except InputError as error:
        if name == AS_IT_IS:
            raise
        refused.append(error)


def _raise_all(refused: Sequence[InputError]) -> None:
    """Raise the mistakes of all cases; of one alone as it is, and so what has no place."""
    if len(refused) == 1 or not all(error.errors for error in refused):
        raise refused[0]
    if refused:
        raise input_error([fault for error in refused for fault in error.errors])


def _resolve_arguments(asked: WhatIfArguments, case: Mapping[str, Any]) -> ResolveArguments:
    return parse(ResolveArguments, {**case, "warm_from": asked.plan, "solve_time": asked.solve_time})


def _in_case(fault: Fault, *, name: str) -> Fault:
    """Return a fault at its place in the arguments of this tool; what holds for all cases is no field of one."""
    if fault.path == "/warm_from":
        return replace(fault, path="/plan")
    if fault.kind == "unknown":
        accepted = [each for each in fault.accepted.split(", ") if each not in _OF_ALL]
        hint = "" if fault.hint in map(did_you_mean, _OF_ALL) else fault.hint
        fault = replace(fault, accepted=", ".join(accepted), hint=hint)
    return replace(fault, path=f"/cases{pointer([name])}{fault.path}")


async def _row(ctx: ToolContext, job: Job, ends: float) -> _Row:
    """Wait for a job, and return its plan with the gap; the job so far where it takes longer or has no plan."""
    job = await ctx.job_service.wait(ctx.principal, job.id, max(0.0, ends - anyio.current_time()))
    if not job.is_terminal or job.plan_id is None:
        return _Row(job)
    found = await bound_and_gap(ctx, job.id)
    return _Row(job, await load_plan_context(ctx, job.id, "/plan"), found.bound, found.gap)


def _cells(ctx: ToolContext, name: str, row: _Row, base: _Row) -> list[Any]:
    cells: list[Any] = [name, row.job.id, row.job.state.upper()]
    if row.context is None:
        return [*cells, *(None for _ in _COLUMNS[len(cells) :])]
    plan = row.context.plan
    costs: list[float | None] = [None, None, None]
    if not is_masked_for(ctx.principal, row.job):
        costs = [plan.cost, *((None, None) if row is base else (_saving(row, base), _proved_saving(row, base)))]
    return [
        *cells,
        *map(number, costs),
        f"{plan.tickets_served}/{plan.tickets_total}",
        plan.agents_used,
        number(plan.distance_m / 1000),
        number(value_of(plan, "lateness")),
        row.gap,
    ]


def _saving(row: _Row, base: _Row) -> float | None:
    """Return what a case saves against the plan of the day as it is; None where it leaves more tickets out."""
    if row.context is None or base.context is None:
        return None
    if len(row.context.plan.unassigned) > len(base.context.plan.unassigned):
        return None
    return base.context.plan.cost - row.context.plan.cost


def _proved_saving(row: _Row, base: _Row) -> float | None:
    """Return what a case saves against every plan that serves the day as it is; None where nothing is proved.

    A plan that leaves wanted tickets out is no rival of one that serves them.
    """
    if base.bound is None or base.bound.cost is None or row.context is None or row.job.progress.penalty:
        return None
    least = at_least(at_least(base.bound.cost) - row.context.plan.cost)
    return least if least > 0 else None


def _text(output: WhatIfResult) -> str:
    lines = [" ".join(output.columns)]
    lines += [" ".join("-" if cell is None else str(cell) for cell in _shown(row)) for row in output.rows]
    lines += unit_lines(output.cost_in)
    for name, changed in output.changes.items():
        lines += [f"{name}:", *(f"  {translated_line(each)}" for each in changed)]
    lines += [*(f"Warning: {caution}" for caution in output.warnings or ()), *(output.notes or ())]
    lines += [phrase("{} has no job: {}", name, translated_line(why)) for name, why in (output.refused or {}).items()]
    if any(row[2] not in ("COMPLETED", "FAILED", "CANCELLED") for row in output.rows):
        lines.append("Next: query_vrp_status of those that still run")
    return "\n".join(lines)


def _shown(row: list[Any]) -> list[Any]:
    return [translated(AS_IT_IS), *row[1:]] if row[0] == AS_IT_IS else row


TOOL: Final = Tool(
    name="what_if",
    title="What if",
    description=(
        "Compare up to 5 changes of a solved day (one more van, windows 30 min wider, an earlier shift) with the day "
        "as it is: each solved warm for the same time, in one table with cost, what it saves, service and gap."
    ),
    arguments=WhatIfArguments,
    output=WhatIfResult,
    hints=ToolAnnotations(),
    run=run,
    scope=WRITE,
    toolset="planning",
    meta={
        "example": {
            "plan": "job-0-…",
            "cases": {"one more van": {"patch": {"agents": {"veh-9": {"capacity": 100}}}}},
        }
    },
)
