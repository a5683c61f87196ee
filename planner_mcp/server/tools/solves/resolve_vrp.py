"""`resolve_vrp`: a day planned again from an earlier plan, with as much held as asked (SPEC T5)."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field
from pydantic_core import PydanticCustomError

from planner_mcp.errors import Fault, InputError, input_error, placed
from planner_mcp.jobs.job_model import SolveRequest, StoredScenario
from planner_mcp.routing.analysis.frozen_prefix import (
    agent_assignments,
    count_held,
    frozen_prefix,
    removed_begun_tickets,
    without_assignments,
)
from planner_mcp.routing.analysis.goods_on_board import goods_on_board
from planner_mcp.routing.analysis.second_tours import with_second_tours
from planner_mcp.routing.feasibility.unservable_tickets import PROVED_REASONS
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.checks.time_checks import misread_number
from planner_mcp.routing.scenario.field_types import fault_at, read_date
from planner_mcp.routing.scenario.scenario_body import ScenarioBody, ScenarioPatch
from planner_mcp.routing.scenario.scenario_model import Held, Scenario
from planner_mcp.routing.scenario.scenario_patch import changes, with_id_path
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.server.tools.answers.unservable_findings import (
    UnservableFinding,
    unservable_findings,
    unservable_lines,
)
from planner_mcp.server.tools.arguments.address_questions import with_asked_addresses
from planner_mcp.server.tools.arguments.day_changes import (
    ChangedDay,
    DayChanger,
    DayChanges,
    Hour,
    hour_seconds,
    unknown_ids,
    with_patch,
)
from planner_mcp.server.tools.arguments.day_reading import DayReader, day_reader
from planner_mcp.server.tools.arguments.lookup_errors import find_all
from planner_mcp.server.tools.arguments.plan_context import (
    PlanContext,
    PlanName,
    load_plan_context,
    run_in_thread,
    scenario_at,
)
from planner_mcp.server.tools.arguments.resolved_inputs import with_road_travel
from planner_mcp.server.tools.arguments.scenario_revision import (
    Patch,
    change_lines,
    first_warnings,
    in_patch,
    patched,
    validated_revision,
)
from planner_mcp.server.tools.arguments.solve_time import Cores, SolveTime, seconds_of
from planner_mcp.server.tools.tool_definition import WRITE, ResourceLink, Tool, ToolAnnotations, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import Timestamp, ToolOutput, Words
from planner_mcp.text import DAY_S, clock, named, timestamp
from planner_mcp.translation import phrase


class ResolveArguments(DayChanges):
    """Arguments of `resolve_vrp`."""

    warm_from: PlanName
    scenario_id: Annotated[str | None, Field(max_length=100, description="a revision; absent: the same day")] = None
    patch: Patch = {}  # noqa: RUF012
    keep_agents: Annotated[bool, Field(description="planned tickets stay with their agents; order may change")] = False
    switch_cost: Annotated[float, Field(ge=0, le=1e8, description="price of each that another agent gets")] = 0.0
    keep_until: Annotated[
        Hour,
        Field(
            description="the hour it is, HH:MM as plans show it or ISO: what has begun or set out stays, "
            "the rest leaves later"
        ),
    ] = None
    promises: Annotated[bool, Field(description="no planned ticket is dropped for a new one")] = True
    solve_time: SolveTime = "PT10S"
    seed: Annotated[int, Field(ge=0, le=1_000_000, description="another seed, another search")] = 0
    fresh: Annotated[bool, Field(description="always a new job")] = False
    cores: Cores = None


class ResolveVrpResult(ToolOutput):
    """Result of `resolve_vrp`."""

    listed: ClassVar[tuple[str, ...]] = ("job_id", "scenario_id", "changes")
    job_id: str
    scenario_id: str
    submitted_at: Timestamp
    status: str
    kept_tickets: int
    changes: list[Words]
    unservable: list[UnservableFinding] | None = None
    warnings: list[Words]
    notes: list[Words]


@dataclass(slots=True)
class Notice:
    """What is to be said of a changed scenario."""

    changes: list[str] = field(default_factory=list)
    unservable: list[UnservableFinding] = field(default_factory=list)
    newly_unservable: list[UnservableFinding] = field(default_factory=list)
    """Without those that the plan leaves out for such a reason."""
    warnings: list[str] = field(default_factory=list)
    """What the change brings."""
    standing: list[str] = field(default_factory=list)
    """Warnings that hold without the change too."""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Change:
    """What a call asks of a day, before the day is checked."""

    until_s: float | None
    plan: Plan
    """As far as it can have happened."""
    free: ScenarioBody
    """The day without what earlier calls tied to agents."""
    words: ChangedDay
    patch: ScenarioPatch
    unbegun: list[str]


@dataclass(frozen=True, slots=True)
class ChangedPlan:
    """A day to be solved from a plan."""

    start: PlanContext
    day: StoredScenario
    notice: Notice
    request: SolveRequest


async def run(ctx: ToolContext, asked: ResolveArguments) -> ToolResult:
    """Queue a solve that starts from a plan."""
    changed = await changed_plan(ctx, asked, seconds_of(asked.solve_time, ctx.settings))
    start, day, notice = changed.start, changed.day, changed.notice
    job = await ctx.job_service.submit(ctx.principal, changed.request)
    count = await run_in_thread(ctx, count_held, day.body)
    output = ResolveVrpResult(
        job_id=job.id,
        scenario_id=day.id,
        submitted_at=timestamp(job.submitted_at),
        status=job.state.upper(),
        kept_tickets=count,
        changes=notice.changes,
        unservable=notice.unservable or None,
        warnings=[*notice.warnings, *notice.standing],
        notes=notice.notes,
    )
    head = phrase("{} {} on {}, starting from {}", job.id, output.status, day.id, start.plan_id)
    held = [phrase("tickets held: {}", count)] if count else []
    lines = [", ".join([head, *held]), *notice.changes]
    lines += unservable_lines(notice.unservable)
    lines += [*(f"Warning: {caution}" for caution in output.warnings), *notice.notes]
    lines.append("Next: query_vrp_status wait_s=45, then compare_plans")
    return ToolResult(output, "\n".join(lines), (ResourceLink(f"job://{job.id}", "job"),))


async def changed_plan(ctx: ToolContext, asked: ResolveArguments, solve_time_s: int) -> ChangedPlan:
    """Make the revision that is asked for, where it changes the day; the caller queues its solve from the plan."""
    start, base, notes = await _start(ctx, asked)
    day, notice = await _day(ctx, asked, start, base)
    notice.notes += [*notes, *_still_solving(start)]
    return ChangedPlan(start, day, notice, _request(asked, start, day, solve_time_s))


def _request(asked: ResolveArguments, start: PlanContext, day: StoredScenario, solve_time_s: int) -> SolveRequest:
    """Return what is asked of the queue; the same call finds its job until the plan it starts from is another."""
    return SolveRequest(
        day.id,
        solve_time_s,
        seed=asked.seed,
        fresh=asked.fresh,
        cores=asked.cores,
        warm_plan_id=start.plan_id,
        warm_changed_id=start.job.changed_id,
    )


async def _start(ctx: ToolContext, asked: ResolveArguments) -> tuple[PlanContext, StoredScenario, list[str]]:
    """Return the plan to start from, the day that is planned, and what is to be said of that plan.

    The day is that of the named plan where no other is named. Where a plan of the day is approved, that is the start.
    """
    lookups: list[Callable[[], Awaitable[Any]]] = [partial(load_plan_context, ctx, asked.warm_from, "/warm_from")]
    if asked.scenario_id is not None:
        lookups.append(partial(scenario_at, ctx, asked.scenario_id))
    named, *others = await find_all(lookups)
    base = others[0] if others else named.scenario
    approved = await ctx.job_service.reviews.approved_job(ctx.principal, base.id)
    if approved is None or approved == named.job.id:
        return named, base, []
    start = await load_plan_context(ctx, approved, "/warm_from")
    notes = [f"Started from {start.plan_id}, which is approved for this day, not from {named.plan_id}."]
    if not others and start.scenario.id != base.id:
        notes.append(f"The day is {base.id}, without the changes of {start.scenario.id}, whose plan is approved.")
    return start, base, notes


async def _day(
    ctx: ToolContext, asked: ResolveArguments, start: PlanContext, base: StoredScenario
) -> tuple[StoredScenario, Notice]:
    """Return the scenario to solve, a new revision where it changes, and what is to be said of it."""
    change = await run_in_thread(ctx, _change_of, asked, start, base)
    until_s, free, words, patch = change.until_s, change.free, change.words, change.patch
    if not (patch or asked.keep_agents or asked.switch_cost or until_s) and free is base.body:
        return base, Notice(notes=change.unbegun)

    def changed(reader: DayReader) -> tuple[ScenarioBody, Scenario, Notice]:
        with placed(partial(_in_arguments, asked=asked, place=in_patch(asked.patch, base.body))):
            return _changed(free, patch, reader, words.held, change.plan)

    async def attempt(is_asking: bool) -> tuple[ScenarioBody, Scenario, Notice]:
        return await run_in_thread(ctx, changed, day_reader(ctx, is_asking=is_asking))

    body, scenario, notice = await with_asked_addresses(ctx, attempt)
    notice.changes = [*words.sentences, *notice.changes]
    loaded = goods_on_board(scenario, change.plan, are_kept=asked.keep_agents)
    notice.notes += [*_released(asked, base.body), *change.unbegun, *loaded]
    if until_s or asked.keep_agents or asked.switch_cost or asked.has_any:
        scenario = await with_road_travel(ctx, scenario)
        tie = partial(
            agent_assignments,
            agents=asked.keep_agents,
            switch_cost=asked.switch_cost,
            are_promised=asked.promises,
        )
        tied, assumed = await run_in_thread(ctx, tie, scenario, start.plan)
        notice.notes += assumed
        if ties := tied.as_json():
            body = {**body, "held": {**(body.get("held") or {}), **ties}}
    return (base if body == base.body else await ctx.job_service.create_scenario(ctx.principal, body, base)), notice


def _in_arguments(fault: Fault, *, asked: ResolveArguments, place: Callable[[Fault], Fault]) -> Fault:
    """Return a fault of the changed day at its place in the call: in a new ticket, in the patch, or in neither."""
    new = {pointer(("tickets", entry["id"])): at for at, entry in enumerate(asked.new_ticket)}
    entry = "/".join(fault.path.split("/")[:3])
    if entry in new:
        hint = fault.hint.replace(" under /locations ", " under /patch/locations ")
        return replace(fault, path=f"/new_ticket/{new[entry]}{fault.path[len(entry) :]}", hint=hint)
    return place(fault)


def _change_of(asked: ResolveArguments, start: PlanContext, base: StoredScenario) -> _Change:
    planned_on = _planned_on(asked, base)
    free = without_assignments(base.body)
    try:
        until_s = _until(asked, planned_on)
    except InputError as error:
        raise input_error([*error.errors, *unknown_ids(asked, free)]) from None
    plan = _executed(start, planned_on)
    words = DayChanger(asked, free, plan, until_s, planned_on).changed()
    patch = with_patch(words.patch, asked.patch)
    unbegun = _unbegun(start.plan, plan, until_s)
    hour = asked.breakdown.at if asked.breakdown and asked.keep_until is None else asked.keep_until
    if unbegun and isinstance(hour, int | float) and (misread := misread_number(float(hour))):
        unbegun.append(" ".join(misread))
    held_s = (start.scenario.body.get("held") or {}).get("until_s", 0)
    if until_s is not None and plan.routes and until_s < held_s:
        unbegun.append(f"What began from {clock(until_s)} to {clock(held_s)} was held before, and is planned anew.")
    return _Change(until_s, plan, free, words, patch, unbegun)


def _changed(
    body: ScenarioBody, patch: ScenarioPatch, reader: DayReader, held: Held | None, plan: Plan
) -> tuple[ScenarioBody, Scenario, Notice]:
    """Return a day under a patch as `revised` does, and what is to be said of that.

    `held` is held from now on; what it does not name stays as it was.
    """
    addressed = patched(body, patch, reader)
    asked = addressed.body
    before = asked.get("held")
    under_way = before if isinstance(before, dict) else {}
    now = asked if held is None else {**asked, "held": {**under_way, **held.as_json()}}
    new, scenario = validated_revision(now, patch, reader, before=body)
    if held is not None and (gone := removed_begun_tickets(new)):
        raise _of_another_day(list(gone))
    tours: list[str] = []
    if held is not None:
        new, tours = with_second_tours(new, scenario, plan, most_agents=reader.bounds.max_agents)
        if tours:
            new, scenario = validated_revision(new, {}, reader, before=body)
    lists = changes(body, asked)
    brought, standing = first_warnings(body, patch, new, scenario, lists) if patch else ([], [])
    known = {entry.ticket_id for entry in plan.unassigned if entry.code in PROVED_REASONS}
    findings, brought_findings = [
        unservable_findings(scenario, lambda fault: with_id_path(fault, new), passed_over)
        for passed_over in ((), known)
    ]
    notes = [*tours, *_departed(asked, new)]
    notice = Notice(
        changes=change_lines(body, asked, lists),
        unservable=findings,
        newly_unservable=brought_findings,
        warnings=[*addressed.notices, *brought],
        standing=standing,
        notes=notes,
    )
    return new, scenario, notice


def _of_another_day(begun_tickets: list[str]) -> Exception:
    """Return the refusal of a day that lacks tickets that the plan has begun."""
    problem = f"This day lacks what the plan has begun by keep_until: {named(begun_tickets)}."
    hint = "Add them again by the patch; what has begun stays."
    return input_error([Fault("/scenario_id", problem, "a day with all that has begun", hint)])


def _departed(asked: ScenarioBody, settled: ScenarioBody) -> list[str]:
    """Return a sentence of the tickets that left a day with the agents that had begun them."""
    here = {entry["id"] for entry in settled["tickets"]}
    left = [entry["id"] for entry in asked["tickets"] if entry["id"] not in here]
    return [f"Begun by agents that are gone, left out of the day: {named(left)}"] if left else []


def _released(asked: ResolveArguments, before: ScenarioBody) -> list[str]:
    """Return a sentence of what an earlier call tied to agents and this one does not."""
    held = before.get("held") or {}
    names = [name for name, field in (("keep_agents", "stay"), ("switch_cost", "prefer")) if held.get(field)]
    gone = [name for name in names if not getattr(asked, name)]
    return (
        [f"What an earlier call held by {' and '.join(gone)} is not held now: each call decides anew."] if gone else []
    )


def _still_solving(start: PlanContext) -> list[str]:
    """Return a sentence where the plan that was started from may still give way to a better one."""
    return [] if start.job.is_terminal else [f"{start.job.id} is still solving: this starts from its plan so far."]


def _executed(start: PlanContext, planned_on: date) -> Plan:
    """Return a plan as far as it can have happened on a date: all of it on its own, none of it on another."""
    is_its_own = read_date(start.scenario.body["planning_date"]) == planned_on
    return start.plan if is_its_own else replace(start.plan, routes=())


def _unbegun(plan: Plan, executed: Plan, until_s: float | None) -> list[str]:
    """Return a sentence where nothing of a plan has happened: on another date, or before 01:30 in a night shift."""
    routes = plan.routes
    if until_s is None or not routes or frozen_prefix(executed, until_s).routes:
        return []
    if not executed.routes:
        return ["Nothing of the plan counts as done: its planning_date is another."]
    first_s, last_s = min(route.start_s for route in routes), max(route.end_s for route in routes)
    notice = f"Nothing has begun by {clock(until_s)}, the first start is at {clock(first_s)}."
    if last_s > DAY_S or first_s - until_s > DAY_S / 2:
        notice += f" The same hour of the next day is {clock(until_s + DAY_S)}."
    return [notice]


def _planned_on(asked: ResolveArguments, base: StoredScenario) -> date:
    """Return the date of the day that is to be planned; one of the patch that is none is reported with its faults."""
    with suppress(PydanticCustomError):
        return read_date(asked.patch.get("planning_date"))
    return read_date(base.body["planning_date"])


def _until(asked: ResolveArguments, planned_on: date) -> float | None:
    """Return the hour it is, in seconds after midnight of the day that is to be planned."""
    broken_at = None if asked.breakdown is None else asked.breakdown.at
    hours = {"/breakdown/at": broken_at, "/keep_until": asked.keep_until}
    found = {path: _hour_at(path, hour, planned_on) for path, hour in hours.items() if hour is not None}
    if len({*found.values()}) > 1:
        problem = "keep_until names another time."
        raise input_error([Fault("/breakdown/at", problem, "one of the two", "Leave keep_until out.")])
    if not found and (asked.breakdown is not None or asked.no_show):
        problem, hint = "When it happened is not given.", "From it the planner knows what has been done by then."
        raise input_error([Fault("/keep_until", problem, "now, as HH:MM", hint)])
    return next(iter(found.values()), None)


def _hour_at(path: str, hour: Any, planned_on: date) -> float:
    try:
        return hour_seconds(hour, planned_on)
    except PydanticCustomError as error:
        raise input_error([fault_at(path, error)]) from None


TOOL: Final = Tool(
    name="resolve_vrp",
    title="Re-solve VRP",
    description=(
        "Plan again from an earlier plan: after a revision, to insert new tickets (patch) with no change of agents "
        "(keep_agents) or few (switch_cost), while vehicles are out (keep_until), to prove a fix, to improve. "
        "Returns job_id at once."
    ),
    arguments=ResolveArguments,
    output=ResolveVrpResult,
    hints=ToolAnnotations(),
    run=run,
    scope=WRITE,
    toolset="planning",
    meta={
        "example": {
            "warm_from": "job-0-…",
            "patch": {"tickets": {"t-99": {"location": "LOC_A", "demand": 5}}},
            "keep_agents": True,
        }
    },
)
