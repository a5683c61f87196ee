"""`revise_scenario`: a day changed by a patch becomes a new revision (SPEC T5)."""

from typing import Annotated, Any, Final

from pydantic import Field

from planner_mcp.settings import Settings
from planner_mcp.tools.arguments.revision import Patch, change_lines, first_warnings, revised
from planner_mcp.tools.arguments.subjects import Json, aside, scenario_at
from planner_mcp.tools.arguments.tables_at_hand import Lend, lender
from planner_mcp.tools.base import (
    WRITE,
    Arguments,
    Hints,
    Link,
    Tool,
    ToolContext,
    ToolResult,
    parse,
    refuse,
    schema_of,
)


class ReviseArguments(Arguments):
    """Arguments of `revise_scenario`."""

    scenario_id: Annotated[str, Field(max_length=100)]
    patch: Patch


_OUTPUT: Final = {
    "type": "object",
    "properties": {
        "scenario_id": {"type": "string"},
        "revision": {"type": "integer"},
        "parent_id": {"type": "string"},
        "changes": {"type": "array", "items": {"type": "string"}},
        "warnings": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["scenario_id", "revision", "changes"],
}


async def run(ctx: ToolContext, args: dict[str, Any]) -> ToolResult:
    """Keep a revision of a scenario; the scenario it came from stays as it is."""
    asked = parse(ReviseArguments, args)
    parent = await scenario_at(ctx, asked.scenario_id)
    body, lines, cautions = await aside(ctx, _judge, parent.body, asked.patch, ctx.settings, lender(ctx))
    if not lines:
        hint = f"scenario://{parent.id} says all of it already."
        raise refuse("/patch", "The patch changes nothing.", "a patch that changes the scenario", hint)
    stored = await ctx.planner.create_scenario(ctx.principal, body, parent)
    structured = {
        "scenario_id": stored.id,
        "revision": stored.revision,
        "parent_id": parent.id,
        "changes": lines,
        "warnings": cautions,
    }
    told = [f"{stored.id}: revision {stored.revision} of {parent.id}", *lines]
    told += [f"Warning: {caution}" for caution in cautions]
    told.append(f"Next: resolve_vrp warm_from=<an earlier job> scenario_id={stored.id}, or solve_vrp")
    return ToolResult(structured, "\n".join(told), (Link(f"scenario://{stored.id}", "scenario"),))


def _judge(body: Json, patch: Json, settings: Settings, lend: Lend) -> tuple[Json, list[str], list[str]]:
    new, scenario = revised(body, patch, settings, lend)
    return new, change_lines(body, new), first_warnings(body, patch, new, scenario)


TOOL: Final = Tool(
    name="revise_scenario",
    title="Revise scenario",
    description=(
        "Change a scenario without sending it again: the patch gives a new revision, checked like create_scenario; the "
        "old one stays. To plan it from an earlier plan use resolve_vrp, which takes the same patch."
    ),
    input_schema=schema_of(ReviseArguments),
    output_schema=_OUTPUT,
    hints=Hints(),
    run=run,
    scope=WRITE,
    toolset="planning",
    meta={
        "example": {
            "scenario_id": "scn-0-…",
            "patch": {"tickets": {"t-7": {"demand": 12}, "t-3": None}, "agents": {"veh-9": {"capacity": 100}}},
        }
    },
)
