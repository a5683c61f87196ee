"""`validate_scenario`: all that is wrong or suspicious in a day, with nothing kept and nothing solved (SPEC T5, T7)."""

import json
from functools import partial
from typing import Annotated, ClassVar, Final

from pydantic import Field

from planner_mcp.errors import Fault, InputError, placed
from planner_mcp.routing.analysis.cost_bound import lower_bound
from planner_mcp.routing.compilation.assumptions import assumptions_of
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.feasibility.infeasible_subsets import smallest_infeasible_subset
from planner_mcp.routing.problem import Problem
from planner_mcp.routing.scenario.checks.scenario_checks import warnings
from planner_mcp.routing.scenario.scenario_body import ScenarioBody, ScenarioPatch
from planner_mcp.routing.scenario.scenario_parsing import warnings_of_refused
from planner_mcp.routing.scenario.scenario_patch import changes, with_id_path
from planner_mcp.server.tools.answers.token_estimates import fitting
from planner_mcp.server.tools.answers.unservable_findings import (
    UnservableFinding,
    unservable_findings,
    unservable_lines,
)
from planner_mcp.server.tools.arguments.day_reading import DayReader, day_reader, day_reader_apart, read_apart
from planner_mcp.server.tools.arguments.json_checks import check_json
from planner_mcp.server.tools.arguments.missing_parameters import only_given
from planner_mcp.server.tools.arguments.plan_context import run_in_thread, scenario_at, turn_for_a_day
from planner_mcp.server.tools.arguments.resolved_inputs import (
    ResolvedInputs,
    ScenarioBounds,
    masking_warnings,
    scenario_within_limits,
)
from planner_mcp.server.tools.arguments.scenario_revision import (
    Patch,
    change_lines,
    in_patch,
    misspelt_ids,
    removal_warnings,
    revised,
)
from planner_mcp.server.tools.large_arguments import LargeArguments
from planner_mcp.server.tools.tool_definition import (
    READ,
    Arguments,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
    parse,
)
from planner_mcp.server.tools.tool_output import FaultOutput, Number, ToolOutput, Words
from planner_mcp.text import named
from planner_mcp.translation import phrase, translated, translated_line

MAX_SHOWN: Final = 10
"""Entries of one list; a last one of `errors` says how many more there are."""


class ValidateArguments(Arguments):
    """Arguments of `validate_scenario`."""

    scenario: Annotated[ScenarioBody | None, Field(description="as for create_scenario")] = None
    scenario_id: Annotated[str | None, Field(max_length=100, description="or a stored one")] = None
    patch: Patch = {}  # noqa: RUF012


class Conflict(ToolOutput):
    """Tickets that cannot all be served."""

    kind: str
    ticket_ids: list[str]
    tickets: int
    agents: int
    why: Words
    text: Words


class ValidateScenarioResult(ToolOutput):
    """Result of `validate_scenario`."""

    listed: ClassVar[tuple[str, ...]] = (
        *("valid", "errors", "unservable", "warnings", "conflict", "agents_needed", "lower_bound"),
    )
    valid: bool
    errors: list[FaultOutput]
    changes: list[Words] | None = Field(None, description="what the patch would change")
    unservable: list[UnservableFinding] | None = None
    warnings: list[Words]
    agents: int | None = None
    tickets: int | None = None
    assumptions: list[Words] | None = None
    agents_needed: int | None = Field(None, description="lower bound on the number of agents")
    lower_bound: Number | None = None
    no_lower_bound: Words | None = None
    conflict: Conflict | None = Field(None, description="tickets that cannot all be served, proved")


async def run(ctx: ToolContext, asked: ValidateArguments) -> ToolResult:
    """Check a day; what is wrong with it is the answer, not an error."""
    only_given(asked, "scenario", "scenario_id")
    stored = None if asked.scenario_id is None else await scenario_at(ctx, asked.scenario_id)
    body = asked.scenario if stored is None else stored.body
    reader = day_reader(ctx, is_written=stored is None, stored=stored)
    found = await run_in_thread(ctx, validation_report, body, asked.patch, reader)
    return ToolResult(found, "\n".join(report_lines(found)))


async def run_text(ctx: ToolContext, arguments: LargeArguments) -> ToolResult:
    """Do the same with arguments that are still text; those of a stored day are decoded for it."""
    bounds, nesting = ScenarioBounds.of(ctx.settings), ctx.settings.max_nesting
    async with turn_for_a_day(ctx):
        found = await read_apart(ctx, _report_on_text, str(arguments), bounds, nesting)
    if found is None:
        return await run(ctx, TOOL.parsed(check_json(arguments.decoded(), max_nesting=nesting), ctx.settings))
    return ToolResult(found, "\n".join(report_lines(found)))


def _report_on_text(text: str, bounds: ScenarioBounds, max_nesting: int) -> ValidateScenarioResult | None:
    """Return the report on a day that is written into a call; None where the call names a stored one."""
    asked = parse(ValidateArguments, check_json(json.loads(text), max_nesting=max_nesting))
    only_given(asked, "scenario", "scenario_id")
    if asked.scenario is None:
        return None
    return validation_report(asked.scenario, asked.patch, day_reader_apart(bounds, is_written=True))


def validation_report(body: ScenarioBody, patch: ScenarioPatch, reader: DayReader) -> ValidateScenarioResult:
    """Return what there is to say of a scenario under a patch; a valid one also has its bounds and assumptions."""
    resolved = ResolvedInputs()
    partings: list[str] = []
    lines: list[str] = []
    notices: tuple[str, ...] = ()
    try:
        if not patch:
            day = reader.as_kept(body)
            body, notices = day.body, day.notices
            resolved = reader.resolve_inputs(body)
        scenario = scenario_within_limits(body, reader.bounds, resolved)
        if patch:
            before = body
            with placed(in_patch(patch, before)):
                body, scenario, notices = revised(before, patch, reader)
            lists = changes(before, body)
            partings = [*removal_warnings(before, patch), *misspelt_ids(before, lists)]
            lines = change_lines(before, body, lists)
    except InputError as error:
        beside = [] if patch else warnings_of_refused(body, resolved.travel_matrices, error)
        return ValidateScenarioResult(valid=False, errors=_listed(error), warnings=beside[:MAX_SHOWN])
    place = partial(with_id_path, body=body) if patch else None
    all_warnings = [*masking_warnings(body), *partings, *warnings(scenario, place=place)]
    known = ValidateScenarioResult(
        valid=True,
        errors=[],
        changes=lines or None,
        unservable=unservable_findings(scenario, place) or None,
        warnings=all_warnings[:MAX_SHOWN],
        agents=len(scenario.agents),
        tickets=len(scenario.tickets),
        assumptions=[*notices, *assumptions_of(scenario)],
    )
    if scenario.refers_to_matrices and scenario.travel_matrices is None:
        return known
    if scenario.findings:  # both are about plans that serve all that is wanted
        return known
    problem = compile_scenario(scenario)
    return known.model_copy(update={**lower_bound(problem).as_json(), "conflict": _conflict(problem)})


def _listed(error: InputError) -> list[FaultOutput]:
    listed = list(error.errors[:MAX_SHOWN])
    if (more := error.found - sum(fault.count for fault in listed)) > 0:
        listed.append(Fault("", f"{more} more problems are not listed."))
    return [FaultOutput.of(fault) for fault in listed]


def _conflict(problem: Problem) -> Conflict | None:
    """Return tickets that provably cannot all be served, where there are such."""
    if (found := smallest_infeasible_subset(problem)) is None:
        return None
    tickets = named(found.tickets)
    head = f"{tickets} cannot all be served:" if len(found.tickets) > 1 else f"{tickets} cannot be served:"
    return Conflict(
        kind=found.kind,
        ticket_ids=fitting(found.tickets[:MAX_SHOWN], 600),
        tickets=len(found.tickets),
        agents=len(found.agents),
        why=found.words,
        text=f"{head} {found.words}",
    )


def report_lines(found: ValidateScenarioResult) -> list[str]:
    """Return a report as short lines of text."""
    lines = [Fault(**fault.as_json()).as_line() for fault in found.errors]
    lines += unservable_lines(found.unservable or ())
    lines = [
        "valid" if found.valid else "not valid",
        *(found.changes or ()),
        *lines,
        *(f"Warning: {each}" for each in found.warnings),
    ]
    if found.conflict is not None:
        lines.append(phrase("Conflict ({}): {}.", found.conflict.kind, translated_line(found.conflict.text)))
    if found.lower_bound is not None:
        lines.append(f"Agents needed: {found.agents_needed} or more; cost: {found.lower_bound} or more.")
    if found.no_lower_bound is not None:
        why = translated(found.no_lower_bound)
        lines.append(phrase("Agents needed: {} or more; no bound on the cost: {}.", found.agents_needed, why))
    return [*lines, *(found.assumptions or ())]


TOOL: Final = Tool(
    name="validate_scenario",
    title="Validate scenario",
    description=(
        "Check a scenario, or a patch of a stored one, without keeping or solving it: mistakes and warnings, tickets "
        "that provably cannot all be served, how many agents and what cost any plan needs at least."
    ),
    arguments=ValidateArguments,
    output=ValidateScenarioResult,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    run_text=run_text,
    scope=READ,
    toolset="planning",
    meta={"example": {"scenario_id": "scn-0-…", "patch": {"agents": {"veh-1": None}}}},
)
