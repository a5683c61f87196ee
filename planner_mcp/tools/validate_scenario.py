"""`validate_scenario`: all that is wrong or odd about a day, with nothing kept and nothing solved (SPEC T5, T7)."""

from typing import Annotated, Any, Final

from pydantic import Field

from planner_mcp.errors import Fault, InputError, input_error
from planner_mcp.settings import Settings
from planner_mcp.text import named
from planner_mcp.tools.answers.sizes import fitting
from planner_mcp.tools.arguments.revision import Patch, parting_notes, revised
from planner_mcp.tools.arguments.subjects import Json, aside, scenario_at
from planner_mcp.tools.arguments.tables_at_hand import Borrowed, Lend, day_within_limits, lender, mask_cautions
from planner_mcp.tools.base import READ, Arguments, Hints, Tool, ToolContext, ToolResult, parse, schema_of
from planner_mcp.vrp.advice.bounds import lower_bound
from planner_mcp.vrp.advice.conflicts import smallest_conflict
from planner_mcp.vrp.compile.assume import assumptions_of
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.scenario import Scenario, cautions, warnings

MAX_SHOWN: Final = 10
"""Entries of one list; a last one of `errors` tells how many more there are."""


class ValidateArguments(Arguments):
    """Arguments of `validate_scenario`."""

    scenario: Annotated[Json | None, Field(description="as for create_scenario")] = None
    scenario_id: Annotated[str | None, Field(max_length=100, description="or a stored one")] = None
    patch: Patch = {}  # noqa: RUF012


_OUTPUT: Final = {
    "type": "object",
    "properties": {
        "valid": {"type": "boolean"},
        "errors": {"type": "array"},
        "warnings": {"type": "array"},
        "conflict": {"type": "object", "description": "tickets that cannot all be served, proved"},
        "agents_needed": {"type": "integer", "description": "at least"},
        "lower_bound": {"type": "number"},
    },
    "required": ["valid", "errors", "warnings"],
}


async def run(ctx: ToolContext, args: dict[str, Any]) -> ToolResult:
    """Judge a day; what is wrong with it is the answer, not an error."""
    asked = parse(ValidateArguments, args)
    if (asked.scenario is None) == (asked.scenario_id is None):
        raise input_error([Fault("/scenario", "Give either scenario or scenario_id.", "one of them")])
    body = asked.scenario
    if asked.scenario_id is not None:
        body = (await scenario_at(ctx, asked.scenario_id)).body
    lend = lender(ctx, is_written=asked.scenario is not None)
    found = await aside(ctx, judged, body, asked.patch, ctx.settings, lend)
    return ToolResult(found, "\n".join(lines_of(found)))


def judged(body: Json, patch: Json, settings: Settings, lend: Lend) -> Json:
    """Return what is to be said of a day under a patch: `valid`, `errors`, `warnings`, and more where it is sound."""
    borrowed = Borrowed() if patch else lend(body)
    partings: list[str] = []
    try:
        scenario = day_within_limits(body, settings, borrowed)
        if patch:
            partings = parting_notes(body, patch)
            body, scenario = revised(body, patch, settings, lend)
    except InputError as error:
        beside = [] if patch else cautions(body, borrowed.tables, error)
        return {"valid": False, "errors": _listed(error), "warnings": beside[:MAX_SHOWN]}
    odd = [*mask_cautions(body), *partings, *warnings(scenario)]
    return {"valid": True, "errors": [], "warnings": odd[:MAX_SHOWN], **_outlook(scenario)}


def _listed(error: InputError) -> list[dict[str, str]]:
    listed = [fault.as_json() for fault in error.errors[:MAX_SHOWN]]
    if (more := error.found - MAX_SHOWN) > 0:
        listed.append(Fault("", f"{more} more problems are not listed.").as_json())
    return listed


def _outlook(scenario: Scenario) -> Json:
    """Return what can be said of every plan of a day before one is made."""
    told: Json = {"agents": len(scenario.agents), "tickets": len(scenario.tickets)}
    told["assumptions"] = list(assumptions_of(scenario))
    if scenario.refers_to_tables and scenario.tables is None:
        return told
    problem = compile_scenario(scenario)
    told |= lower_bound(problem).as_json()
    if (conflict := smallest_conflict(problem)) is not None:
        all_of = "all " if len(conflict.tickets) > 1 else ""
        told["conflict"] = {
            "kind": conflict.kind,
            "ticket_ids": fitting(conflict.tickets[:MAX_SHOWN], 600),
            "tickets": len(conflict.tickets),
            "agents": len(conflict.agents),
            "why": conflict.words,
            "text": f"{named(conflict.tickets)} cannot {all_of}be served: {conflict.words}",
        }
    return told


def lines_of(found: Json) -> list[str]:
    """Return a judgement as short lines."""
    lines = [Fault(**fault).as_line() for fault in found["errors"]]
    lines = ["valid" if found["valid"] else "not valid", *lines, *(f"Warning: {each}" for each in found["warnings"])]
    if "conflict" in found:
        lines.append(f"Conflict ({found['conflict']['kind']}): {found['conflict']['text']}.")
    if "lower_bound" in found:
        lines.append(f"Agents needed: {found['agents_needed']} or more; cost: {found['lower_bound']} or more.")
    if "no_lower_bound" in found:
        why = found["no_lower_bound"]
        lines.append(f"Agents needed: {found['agents_needed']} or more; no bound on the cost: {why}.")
    return [*lines, *found.get("assumptions", ())]


TOOL: Final = Tool(
    name="validate_scenario",
    title="Validate scenario",
    description=(
        "Check a scenario, or a patch of a stored one, without keeping or solving it: mistakes and warnings, tickets "
        "that provably cannot all be served, how many agents and what cost any plan needs at least."
    ),
    input_schema=schema_of(ValidateArguments),
    output_schema=_OUTPUT,
    hints=Hints(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="planning",
    meta={"example": {"scenario_id": "scn-0-…", "patch": {"agents": {"veh-1": None}}}},
)
