"""`create_scenario`: a day of work, checked and kept (SPEC T1, T7)."""

from collections.abc import Callable, Iterable
from typing import ClassVar, Final

from planner_mcp.errors import Fault
from planner_mcp.jobs.fair_limiter import FairLimiter
from planner_mcp.routing.compilation.assumptions import assumptions_of
from planner_mcp.routing.scenario.scenario_parsing import Scenario, scenario_schema, warnings
from planner_mcp.server.tools.answers.unservable_findings import (
    UnservableFinding,
    unservable_findings,
    unservable_lines,
)
from planner_mcp.server.tools.arguments.resolved_inputs import (
    InputResolver,
    input_resolver,
    masking_warnings,
    scenario_within_limits,
    with_default_travel,
)
from planner_mcp.server.tools.tool_definition import WRITE, ResourceLink, Tool, ToolAnnotations, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import Json, ToolOutput
from planner_mcp.settings import Settings
from planner_mcp.text import counted

EXAMPLE: Final = {
    "name": "北京城配",
    "planning_date": "2025-07-15",
    "agents": [{"id": "veh-1", "capacity": 100}],
    "tickets": [{"id": "t-1", "location": "LOC_A", "demand": 20}],
}
_MAX_SENTENCES: Final = 5
"""Assumptions and warnings listed in an answer, each."""


class CreateScenarioResult(ToolOutput):
    """Result of `create_scenario`."""

    listed: ClassVar[tuple[str, ...]] = ("scenario_id", "assumptions", "warnings")
    scenario_id: str
    agents: int
    tickets: int
    unservable: list[UnservableFinding] | None = None
    assumptions: list[str]
    warnings: list[str]


_limiter: Final = FairLimiter()
"""Scenarios judged at the same time."""


async def run(ctx: ToolContext, args: Json) -> ToolResult:
    """Check a scenario, keep it, and tell what was assumed."""
    output, text = await keep(ctx, args, is_written=True)
    return ToolResult(output, text, (link_to(output),))


async def keep(
    ctx: ToolContext,
    body: Json,
    notices: Iterable[str] = (),
    *,
    is_written: bool = False,
    place: Callable[[Fault], Fault] | None = None,
) -> tuple[CreateScenarioResult, str]:
    """Check and store a scenario, and return what there is to say of it, as a result and as text.

    Args:
        ctx: Of the call.
        body: The scenario as written.
        notices: Assumptions made before this call, listed first.
        is_written: Whether the scenario was written into the call.
        place: Where in what the caller wrote a finding stands, where that is no scenario.
    """
    body = with_default_travel(body, ctx.settings)
    scenario, assumed, cautions = await _limiter.run(
        ctx.principal.id, _validated, body, ctx.settings, input_resolver(ctx, is_written=is_written, shows_names=True)
    )
    stored = await ctx.job_service.create_scenario(ctx.principal, body)
    output = CreateScenarioResult(
        scenario_id=stored.id,
        agents=len(scenario.agents),
        tickets=len(scenario.tickets),
        unservable=unservable_findings(scenario, place) or None,
        assumptions=[*notices, *assumed],
        warnings=cautions,
    )
    lines = [f"{stored.id}: {counted(output.agents, 'agent')}, {counted(output.tickets, 'ticket')}"]
    lines += unservable_lines(output.unservable or ())
    lines += [*output.assumptions, *(f"Warning: {caution}" for caution in output.warnings)]
    lines.append(f"Next: solve_vrp scenario_id={stored.id}")
    return output, "\n".join(lines)


def link_to(output: CreateScenarioResult) -> ResourceLink:
    """Return the link to the stored scenario."""
    return ResourceLink(f"scenario://{output.scenario_id}", "scenario")


def _validated(args: Json, settings: Settings, resolve_inputs: InputResolver) -> tuple[Scenario, list[str], list[str]]:
    """Return the scenario, what is assumed, and what looks wrong. A large day takes a second, off the event loop."""
    scenario = scenario_within_limits(args, settings, resolve_inputs(args))
    return scenario, _first(assumptions_of(scenario)), _first([*masking_warnings(args), *warnings(scenario)])


def _first(sentences: Iterable[str]) -> list[str]:
    found = list(sentences)
    more = len(found) - _MAX_SENTENCES
    return found if more <= 0 else [*found[:_MAX_SENTENCES], f"{more} more."]


TOOL: Final = Tool(
    name="create_scenario",
    title="Create scenario",
    description=(
        "Store a routing day: agents (vehicles), tickets (visits), locations (lat/lon or x/y) or travel matrices. "
        "Returns scenario_id and assumptions. Next: solve_vrp. Durations are seconds."
    ),
    input_schema=scenario_schema(),
    output=CreateScenarioResult,
    hints=ToolAnnotations(),
    run=run,
    scope=WRITE,
    meta={"example": EXAMPLE},
)
