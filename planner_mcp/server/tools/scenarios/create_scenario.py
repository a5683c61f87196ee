"""`create_scenario`: a day of work, checked and kept (SPEC T1, T7)."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from planner_mcp.errors import Fault
from planner_mcp.jobs.job_model import WrittenScenario
from planner_mcp.jobs.limits.reading_limits import ReadingTurns
from planner_mcp.jobs.scenario_writing import written_scenario
from planner_mcp.routing.compilation.assumptions import assumptions_of
from planner_mcp.routing.scenario.checks.scenario_checks import warnings
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.scenario_patch import with_id_path
from planner_mcp.routing.scenario.slim_schema import scenario_schema
from planner_mcp.server.tools.answers.unservable_findings import (
    UnservableFinding,
    unservable_findings,
    unservable_lines,
)
from planner_mcp.server.tools.arguments.address_questions import with_asked_addresses
from planner_mcp.server.tools.arguments.day_reading import DayReader, day_reader, day_reader_apart, read_apart
from planner_mcp.server.tools.arguments.json_checks import check_json
from planner_mcp.server.tools.arguments.resolved_inputs import ScenarioBounds, masking_warnings
from planner_mcp.server.tools.large_arguments import LargeArguments
from planner_mcp.server.tools.tool_definition import WRITE, ResourceLink, Tool, ToolAnnotations, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import ToolOutput, Words
from planner_mcp.translation import phrase

EXAMPLE: Final = {
    "name": "北京城配",
    "planning_date": "2025-07-15",
    "agents": [{"id": "veh-1", "capacity": 100}],
    "tickets": [{"id": "t-1", "location": "LOC_A", "demand": 20}],
}
UNKNOWN_TRAVEL: Final = "Travel is not known"
"""How the sentence begins that a caller must read before any other."""
_MAX_SENTENCES: Final = 5
"""Assumptions and warnings listed in an answer, each."""


class CreateScenarioResult(ToolOutput):
    """Result of `create_scenario`."""

    listed: ClassVar[tuple[str, ...]] = ("scenario_id", "assumptions")
    scenario_id: str
    agents: int
    tickets: int
    unservable: list[UnservableFinding] | None = None
    assumptions: list[Words]
    warnings: list[Words]


_limiter: Final = ReadingTurns()
"""Scenarios checked at the same time."""


@dataclass(frozen=True, slots=True)
class CheckedScenario:
    """A day that was found valid."""

    written: WrittenScenario
    agents: int
    tickets: int
    unservable: list[UnservableFinding]
    assumptions: list[str]
    warnings: list[str]


async def run(
    ctx: ToolContext, day: ScenarioBody | LargeArguments, *, is_repeatable: bool = False
) -> ToolResult[CreateScenarioResult]:
    """Check a scenario, keep it, and return what was assumed; `is_repeatable` as of `JobService.keep_scenario`."""
    output, text = await keep(ctx, await checked(ctx, day), is_repeatable=is_repeatable)
    return ToolResult(output, text, (link_to(output),))


async def checked(ctx: ToolContext, day: ScenarioBody | LargeArguments) -> CheckedScenario:
    """Check a scenario and keep nothing; one that is still text is never decoded in this process. Raises as
    `checked_scenario`.
    """
    bounds, nesting = ScenarioBounds.of(ctx.settings), ctx.settings.max_nesting

    async def attempt(is_asking: bool) -> CheckedScenario:
        if not isinstance(day, LargeArguments):
            reader = day_reader(ctx, is_written=True, is_asking=is_asking)
            return await _limiter.run(ctx.principal.id, checked_scenario, day, reader)
        async with _limiter.turn_of(ctx.principal.id, len(day)):
            return await read_apart(ctx, _checked_text, str(day), bounds, nesting, is_asking)

    return await with_asked_addresses(ctx, attempt)


async def keep(ctx: ToolContext, checked: CheckedScenario, *, is_repeatable: bool) -> tuple[CreateScenarioResult, str]:
    """Store a scenario, and return what there is to say of it, as a result and as text."""
    scenario_id = await ctx.job_service.keep_scenario(ctx.principal, checked.written, is_repeatable=is_repeatable)
    output = CreateScenarioResult(
        scenario_id=scenario_id,
        agents=checked.agents,
        tickets=checked.tickets,
        unservable=checked.unservable or None,
        assumptions=checked.assumptions,
        warnings=checked.warnings,
    )
    unknown = [each for each in output.assumptions[:1] if each.startswith(UNKNOWN_TRAVEL)]
    lines = [*unknown, phrase("{}: agents {}, tickets {}", scenario_id, output.agents, output.tickets)]
    lines += unservable_lines(output.unservable or ())
    lines += [*output.assumptions[len(unknown) :], *(f"Warning: {caution}" for caution in output.warnings)]
    lines.append(f"Next: solve_vrp scenario_id={scenario_id}")
    return output, "\n".join(lines)


def link_to(output: CreateScenarioResult) -> ResourceLink:
    """Return the link to the stored scenario."""
    return ResourceLink(f"scenario://{output.scenario_id}", "scenario")


def checked_scenario(
    body: ScenarioBody,
    reader: DayReader,
    notices: Iterable[str] = (),
    place: Callable[[Fault], Fault] | None = None,
) -> CheckedScenario:
    """Return what there is to say of a day, and its text. A large day takes a second, off the event loop.

    Args:
        body: The scenario as written.
        reader: Of the day.
        notices: Assumptions made before this call, listed first.
        place: Where in what the caller wrote a finding stands, where that is no scenario; warnings name ids then.

    Raises:
        InputError: All that is wrong with it.
    """
    day = reader.as_kept(body)
    scenario = reader.scenario(day.body)
    by_id = None if place is None else partial(with_id_path, body=day.body)
    return CheckedScenario(
        written_scenario(day.body),
        len(scenario.agents),
        len(scenario.tickets),
        unservable_findings(scenario, place),
        [*day.notices, *_unknown_first([*notices, *_first(assumptions_of(scenario))])],
        _first([*masking_warnings(day.body), *warnings(scenario, place=by_id)]),
    )


def _checked_text(text: str, bounds: ScenarioBounds, max_nesting: int, is_asking: bool) -> CheckedScenario:
    body = check_json(json.loads(text), max_nesting=max_nesting)
    return checked_scenario(body, day_reader_apart(bounds, is_written=True, is_asking=is_asking))


def _unknown_first(sentences: list[str]) -> list[str]:
    """Return sentences with that one first which says that no travel is real."""
    return sorted(sentences, key=lambda sentence: not sentence.startswith(UNKNOWN_TRAVEL))


def _first(sentences: Iterable[str]) -> list[str]:
    found = list(sentences)
    more = len(found) - _MAX_SENTENCES
    return found if more <= 0 else [*found[:_MAX_SENTENCES], f"{more} more."]


TOOL: Final = Tool(
    name="create_scenario",
    title="Create scenario",
    description=(
        "Store a day to be routed, with places as lat/lon, x/y or matrices. Durations are seconds. Next: solve_vrp."
    ),
    arguments=scenario_schema,
    output=CreateScenarioResult,
    hints=ToolAnnotations(),
    run=run,
    run_text=run,
    scope=WRITE,
    meta={"example": EXAMPLE},
    usage='agents=[{"id":"v1","capacity":9}], tickets=[{"id":"t1","location":"A","demand":2}]',
)
