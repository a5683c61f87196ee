"""`plan_day`: a day, or a file of one, to a verified plan in one call (SPEC T10).

Owns the order of the steps and how they share one answer. Each step is the tool of that name, with its checks and its
scope; nothing is decided here a second time. The same day gives the same scenario, and the same call the same job.
"""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, Field

from planner_mcp.errors import Fault, InputError, input_error, placed
from planner_mcp.jobs.job_service import MAX_WAIT_S
from planner_mcp.routing.plan import NO_TRAVEL
from planner_mcp.routing.scenario.field_types import field_error
from planner_mcp.server.tools.answers.job_output import JobOutput, PlanFigures
from planner_mcp.server.tools.answers.unservable_findings import UnservableFinding
from planner_mcp.server.tools.arguments import elicitation_questions
from planner_mcp.server.tools.arguments.day_reading import read_apart
from planner_mcp.server.tools.arguments.elicitation_questions import Fill, Question
from planner_mcp.server.tools.arguments.json_checks import check_json
from planner_mcp.server.tools.arguments.lookup_errors import SCENARIO, naming_argument
from planner_mcp.server.tools.arguments.resolved_inputs import ScenarioBounds
from planner_mcp.server.tools.arguments.solve_time import Cores, SolveTime
from planner_mcp.server.tools.jobs import query_vrp_status
from planner_mcp.server.tools.jobs.query_vrp_status import QueryArguments
from planner_mcp.server.tools.large_arguments import LargeArguments
from planner_mcp.server.tools.plans import read_plan
from planner_mcp.server.tools.plans.read_plan import ReadArguments, ReadPlanResult
from planner_mcp.server.tools.scenarios import create_scenario, import_scenario
from planner_mcp.server.tools.scenarios.create_scenario import CreateScenarioResult
from planner_mcp.server.tools.solves import solve_vrp
from planner_mcp.server.tools.solves.solve_vrp import SolveArguments
from planner_mcp.server.tools.tool_definition import (
    WRITE,
    Arguments,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
    parse,
    schema_of,
)
from planner_mcp.server.tools.tool_output import ToolOutput, Words
from planner_mcp.text import Json
from planner_mcp.translation import NEXT, translated, translated_line

_DAYS: Final = ("scenario", "file")
"""Arguments that hold a day to be stored."""
Day = Json | LargeArguments
_ONE_OF: Final = "scenario, file or scenario_id, one of them"


def _with_form(file: Any) -> Any:
    """Pass on a file's arguments; a name alone is refused with the form that would be accepted."""
    if not isinstance(file, str) or file.lstrip().startswith("{"):
        return file
    hint = 'Write it like {"file": "orders.csv", "planning_date": "2025-07-15", "agents": […]}.'
    raise field_error("The file is named without the rest.", "object: the arguments of import_scenario", hint)


class PlanDayArguments(Arguments):
    """Arguments of `plan_day`."""

    scenario: Annotated[Json | None, Field(description="as in create_scenario; all fields: schema://scenario")] = None
    file: Annotated[Json | None, BeforeValidator(_with_form), Field(description="as in import_scenario")] = None
    scenario_id: Annotated[str | None, Field(max_length=100, description="of a stored day")] = None
    solve_time: SolveTime = "PT30S"
    wait_s: Annotated[float, Field(ge=0, le=MAX_WAIT_S, description="then query_vrp_status")] = 45
    cores: Cores = None


class PlanDayResult(ToolOutput):
    """Result of `plan_day`: the job, and its plan where the job ended in time."""

    listed: ClassVar[tuple[str, ...]] = ("job_id",)
    scenario_id: str
    job_id: str
    status: str
    progress: int = Field(ge=0, le=100)
    result: PlanFigures | None = None
    visits: ReadPlanResult | None = Field(None, description="first page of read_plan view=visits")
    unassigned: ReadPlanResult | None = Field(None, description="first page of read_plan view=unassigned")
    error: Json | None = Field(None, description="why the job failed")
    unservable: list[UnservableFinding] | None = None
    assumptions: list[Words] = Field(default_factory=list)
    warnings: list[Words] = Field(default_factory=list)


def question_of(args: Any, bounds: ScenarioBounds) -> Question | None:
    """Return what a call should ask first: what the tool that stores its day would ask; None for nothing."""
    name = part_of(args)
    if name is None:
        return None
    if name == "scenario":
        question = elicitation_questions.question_of(args[name], bounds)
    else:
        question = import_scenario.question_of(args[name], bounds)
    return None if question is None else replace(question, fill=partial(_filled, name, question.fill))


def part_of(args: Any) -> str | None:
    """Return the argument that holds a day to be stored; None where there is none, or more than one."""
    given = [name for name in (*_DAYS, "scenario_id") if isinstance(args, dict) and args.get(name)]
    return given[0] if len(given) == 1 and isinstance(args[given[0]], dict) else None


def _filled(name: str, fill: Fill, given: Mapping[str, Any], answer: Mapping[str, Any]) -> Json:
    return {**given, name: fill(given[name], answer)}


async def run(ctx: ToolContext, args: Json) -> ToolResult:
    """Store the day, solve it, wait for the plan and read it; past `wait_s` hand over the job id."""
    return await _planned(ctx, *_day_apart(args))


async def run_text(ctx: ToolContext, arguments: LargeArguments) -> ToolResult:
    """Do the same with arguments that are still text; the day in them is never decoded in this process."""
    small, days, faults = await read_apart(ctx, _days_as_text, str(arguments), ctx.settings.max_nesting)
    small = small if arguments.complete is None else arguments.complete(small)
    return await _planned(ctx, small, days, faults)


def _day_apart(args: Json) -> tuple[Json, dict[str, Day]]:
    """Return arguments with an empty day, and the days by argument."""
    days = {name: args[name] for name in _DAYS if isinstance(args.get(name), dict)}
    return {**args, **{name: {} for name in days}}, days


def _days_as_text(text: str, max_nesting: int) -> tuple[Json, dict[str, Day], tuple[Fault, ...]]:
    """Return the same with the days as text, or what is wrong with the arguments; in a process of its own."""
    small, given = _day_apart(check_json(json.loads(text), max_nesting=max_nesting))
    days: dict[str, Day] = {name: LargeArguments(json.dumps(day)) for name, day in given.items()}
    try:
        parse(PlanDayArguments, small)
    except InputError as refused:
        return {}, days, refused.errors
    return small, days, ()


async def _checked(
    ctx: ToolContext, args: Json, days: Mapping[str, Day], faults: tuple[Fault, ...]
) -> PlanDayArguments:
    """Return the arguments; where one is wrong, what is wrong with the day is listed too."""
    try:
        if faults:
            raise input_error(faults)
        asked = parse(PlanDayArguments, args, ctx.settings)
        _check_one_day(asked)
    except InputError as refused:
        of_days = [fault for name, day in days.items() for fault in await _faults_of(ctx, name, day)]
        raise input_error([*refused.errors, *of_days]) from refused
    return asked


async def _faults_of(ctx: ToolContext, name: str, day: Day) -> tuple[Fault, ...]:
    """Return what is wrong with a day that is not kept, and nobody asked about it."""
    step = create_scenario if name == "scenario" else import_scenario
    try:
        with _placed_under(name):
            await step.checked(replace(ctx, ask_user=None), day)
    except InputError as error:
        return error.errors
    return ()


async def _planned(ctx: ToolContext, args: Json, days: Mapping[str, Day], faults: tuple[Fault, ...] = ()) -> ToolResult:
    """Return the plan of the day in `days`, or of a stored one; `faults` are those of arguments read before."""
    asked = await _checked(ctx, args, days, faults)
    notices, scenario_id, stored = await _stored_day(ctx, asked, days)
    _require(ctx, solve_vrp.TOOL)
    solve = await solve_vrp.run(
        ctx, SolveArguments(scenario_id=scenario_id, solve_time=asked.solve_time, cores=asked.cores)
    )
    job_id = solve.output.job_id
    _require(ctx, query_vrp_status.TOOL)
    status = await query_vrp_status.run(ctx, QueryArguments(job_id=job_id, wait_s=asked.wait_s))
    job = status.output
    pages = await _pages(ctx, job)
    assumed = [] if stored is None else stored.assumptions
    if pages and not assumed:
        assumed = (await read_plan.run(ctx, ReadArguments(job_id=job_id))).output.assumptions or []
    output = PlanDayResult(
        scenario_id=scenario_id,
        job_id=job_id,
        status=job.status,
        progress=job.progress,
        result=job.result,
        error=job.error,
        **{view: page.output for view, page in pages.items()},
        unservable=None if stored is None else stored.unservable,
        assumptions=assumed,
        warnings=[] if stored is None else stored.warnings,
    )
    first_assumed = map(translated_line, assumed) if stored is None else ()
    lines = [*notices, *first_assumed, status.text, *(page.text for page in pages.values())]
    if job.status in ("QUEUED", "SOLVING"):
        lines.append(f"Not done yet. Next: query_vrp_status job_id={job_id} wait_s=45, then read_plan")
    first, travel_line, rest = "\n".join(lines).partition(f"{translated(NO_TRAVEL)}\n")  # each step says it
    text = first + travel_line + (rest.replace(travel_line, "") if travel_line else "")
    return ToolResult(output, text, (*status.links, *solve.links) if not pages else status.links)


def _check_one_day(asked: PlanDayArguments) -> None:
    given = [name for name in (*_DAYS, "scenario_id") if getattr(asked, name) is not None]
    if len(given) != 1:
        problem = f"{' and '.join(given)} are given." if given else "No day is given."
        raise input_error([Fault("/scenario", problem, _ONE_OF, kind="invalid" if given else "missing")])


async def _stored_day(
    ctx: ToolContext, asked: PlanDayArguments, days: Mapping[str, Day]
) -> tuple[list[str], str, CreateScenarioResult | None]:
    """Return what to say of the day, its scenario_id, and the answer that stored it; None for a stored one."""
    if asked.scenario_id is not None:
        with naming_argument("/scenario_id", SCENARIO):
            return [], (await ctx.job_service.scenario(ctx.principal, asked.scenario_id)).id, None
    ((name, day),) = days.items()
    step = create_scenario if name == "scenario" else import_scenario
    found: ToolResult[CreateScenarioResult]
    with _placed_under(name):
        _require(ctx, step.TOOL)
        if name == "scenario":
            found = await create_scenario.run(ctx, day, is_repeatable=True)
        elif isinstance(day, LargeArguments):
            found = await import_scenario.run_text(ctx, day, is_repeatable=True)
        else:
            asked_file = import_scenario.TOOL.parsed(day, ctx.settings)
            found = await import_scenario.run(ctx, asked_file, is_repeatable=True)
    following = translated(NEXT)
    notices = [line for line in found.text.splitlines() if not line.startswith(following)]
    return notices, found.output.scenario_id, found.output


def _placed_under(name: str) -> AbstractContextManager[None]:
    return placed(lambda fault: replace(fault, path=f"/{name}{fault.path}"))


async def _pages(ctx: ToolContext, job: JobOutput) -> dict[str, ToolResult[ReadPlanResult]]:
    """Return the first pages of a plan that is there, and of what it leaves out."""
    if job.plan_id is None:
        return {}
    _require(ctx, read_plan.TOOL)
    pages = [ReadArguments(job_id=job.job_id, view="visits")]
    if job.result is not None and job.result.unassigned:
        pages.append(ReadArguments(job_id=job.job_id, view="unassigned"))
    return {page.view: await read_plan.run(ctx, page) for page in pages}


def _require(ctx: ToolContext, tool: Tool) -> None:
    ctx.principal.require(tool.scope, what=f"The tool {tool.name}")


TOOL: Final = Tool(
    name="plan_day",
    title="Plan a day",
    description=(
        "Store a day, solve it and return the verified plan, or job_id after wait_s. "
        "Give scenario, file or scenario_id."
    ),
    arguments=partial(schema_of, PlanDayArguments),
    output=PlanDayResult,
    hints=ToolAnnotations(idempotent=True),
    run=run,
    run_text=run_text,
    scope=WRITE,
    meta={"example": {"scenario_id": "scn-0-…"}},
)
