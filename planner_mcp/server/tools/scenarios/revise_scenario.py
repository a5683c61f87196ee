"""`revise_scenario`: a day changed by a patch becomes a new revision (SPEC T5)."""

from typing import Annotated, Final

from pydantic import Field

from planner_mcp.errors import Fault, input_error, placed
from planner_mcp.routing.scenario.scenario_body import ScenarioBody, ScenarioPatch
from planner_mcp.routing.scenario.scenario_patch import changes, with_id_path
from planner_mcp.server.tools.answers.unservable_findings import (
    UnservableFinding,
    unservable_findings,
    unservable_lines,
)
from planner_mcp.server.tools.arguments.address_questions import with_asked_addresses
from planner_mcp.server.tools.arguments.day_reading import DayReader, day_reader
from planner_mcp.server.tools.arguments.plan_context import run_in_thread, scenario_at
from planner_mcp.server.tools.arguments.scenario_revision import (
    Patch,
    change_lines,
    first_warnings,
    in_patch,
    revised,
)
from planner_mcp.server.tools.tool_definition import (
    WRITE,
    Arguments,
    ResourceLink,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
)
from planner_mcp.server.tools.tool_output import ToolOutput, Words
from planner_mcp.translation import phrase

_Revision = tuple[ScenarioBody, list[str], list[UnservableFinding], list[str]]
"""The revised day, what the patch changed, tickets nobody can serve, and warnings."""


class ReviseArguments(Arguments):
    """Arguments of `revise_scenario`."""

    scenario_id: Annotated[str, Field(max_length=100, description="the one to revise; it stays")]
    patch: Patch


class ReviseScenarioResult(ToolOutput):
    """Result of `revise_scenario`."""

    scenario_id: str
    revision: int
    parent_id: str
    changes: list[Words]
    unservable: list[UnservableFinding] | None = None
    warnings: list[Words]


async def run(ctx: ToolContext, asked: ReviseArguments) -> ToolResult:
    """Keep a revision of a scenario; the scenario it came from stays as it is."""
    parent = await scenario_at(ctx, asked.scenario_id)

    async def attempt(is_asking: bool) -> _Revision:
        return await run_in_thread(ctx, _validated, parent.body, asked.patch, day_reader(ctx, is_asking=is_asking))

    body, lines, findings, cautions = await with_asked_addresses(ctx, attempt)
    if not lines:
        hint = f"scenario://{parent.id} says all of it already."
        raise input_error([Fault("/patch", "The patch changes nothing.", "a patch that changes the scenario", hint)])
    stored = await ctx.job_service.create_scenario(ctx.principal, body, parent)
    output = ReviseScenarioResult(
        scenario_id=stored.id,
        revision=stored.revision,
        parent_id=parent.id,
        changes=lines,
        unservable=findings or None,
        warnings=cautions,
    )
    text_lines = [f"{stored.id}: revision {stored.revision} of {parent.id}", *lines]
    text_lines += unservable_lines(findings)
    text_lines += [f"Warning: {caution}" for caution in cautions]
    following = phrase("resolve_vrp warm_from=<an earlier job> scenario_id={}, or solve_vrp", stored.id)
    text_lines.append(f"Next: {following}")
    return ToolResult(output, "\n".join(text_lines), (ResourceLink(f"scenario://{stored.id}", "scenario"),))


def _validated(body: ScenarioBody, patch: ScenarioPatch, reader: DayReader) -> _Revision:
    with placed(in_patch(patch, body)):
        new, scenario, notices = revised(body, patch, reader)
    findings = unservable_findings(scenario, lambda fault: with_id_path(fault, new))
    lists = changes(body, new)
    brought, standing = first_warnings(body, patch, new, scenario, lists)
    return new, change_lines(body, new, lists), findings, [*notices, *brought, *standing]


TOOL: Final = Tool(
    name="revise_scenario",
    title="Revise scenario",
    description=(
        "Change a scenario without sending it again: the patch gives a new revision, checked like create_scenario; the "
        "old one stays. To plan it from an earlier plan use resolve_vrp, which takes the same patch."
    ),
    arguments=ReviseArguments,
    output=ReviseScenarioResult,
    hints=ToolAnnotations(),
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
