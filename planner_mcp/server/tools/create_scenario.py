"""`create_scenario`: a day of work, checked and kept (SPEC T1, T7)."""

from collections.abc import Iterable
from typing import Any, Final

from planner_mcp.jobs.fair_limiter import FairLimiter
from planner_mcp.routing.compilation.assumptions import assumptions_of
from planner_mcp.routing.scenario.scenario_parsing import Scenario, scenario_schema, warnings
from planner_mcp.server.tools.arguments.resolved_inputs import (
    InputResolver,
    input_resolver,
    masking_warnings,
    scenario_within_limits,
)
from planner_mcp.server.tools.tool_definition import WRITE, ResourceLink, Tool, ToolAnnotations, ToolContext, ToolResult
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
_OUTPUT: Final = {
    "type": "object",
    "properties": {
        "scenario_id": {"type": "string"},
        "assumptions": {"type": "array", "items": {"type": "string"}},
        "warnings": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["scenario_id"],
}
_limiter: Final = FairLimiter()
"""Scenarios judged at the same time."""


async def run(ctx: ToolContext, args: dict[str, Any]) -> ToolResult:
    """Check a scenario, keep it, and tell what was assumed."""
    return await keep(ctx, args, is_written=True)


async def keep(
    ctx: ToolContext, body: dict[str, Any], notices: Iterable[str] = (), *, is_written: bool = False
) -> ToolResult:
    """Check and keep a scenario, whoever wrote it; `said` is assumed beside what the scenario leaves open."""
    scenario, assumed, warnings_of_refused = await _limiter.run(
        ctx.principal.id, _validated, body, ctx.settings, input_resolver(ctx, is_written=is_written, shows_names=True)
    )
    assumptions = [*notices, *assumed]
    stored = await ctx.job_service.create_scenario(ctx.principal, body)
    counts = {"agents": len(scenario.agents), "tickets": len(scenario.tickets)}
    structured = {"scenario_id": stored.id, **counts, "assumptions": assumptions, "warnings": warnings_of_refused}
    lines = [f"{stored.id}: {counted(counts['agents'], 'agent')}, {counted(counts['tickets'], 'ticket')}", *assumptions]
    lines += [f"Warning: {caution}" for caution in warnings_of_refused]
    lines.append(f"Next: solve_vrp scenario_id={stored.id}")
    return ToolResult(structured, "\n".join(lines), (ResourceLink(f"scenario://{stored.id}", "scenario"),))


def _validated(
    args: dict[str, Any], settings: Settings, resolve_inputs: InputResolver
) -> tuple[Scenario, list[str], list[str]]:
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
        "Returns scenario_id and assumptions; solves nothing. Next: solve_vrp. Durations are seconds."
    ),
    input_schema=scenario_schema(),
    output_schema=_OUTPUT,
    hints=ToolAnnotations(),
    run=run,
    scope=WRITE,
    meta={"example": EXAMPLE},
)
