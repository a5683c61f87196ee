"""`suggest_fixes`: the smallest changes that let left-out tickets in, each proved (SPEC T5)."""

import time
from collections.abc import Container, Iterable, Mapping
from typing import Annotated, Final

from pydantic import Field

from planner_mcp.jobs.principals import SENSITIVE
from planner_mcp.render.reason_texts import changes_text
from planner_mcp.routing.analysis.alternative_plans import with_prices_of
from planner_mcp.routing.feasibility.unservable_tickets import PROVED_REASONS
from planner_mcp.routing.feasibility.verified_fixes import ADD_AGENT, NO_CHANGE, PENALTY, Fix
from planner_mcp.routing.infeasibility_reasons import INCOMPLETE, InfeasibilityReason
from planner_mcp.routing.scenario.scenario_body import ScenarioBody, ScenarioPatch
from planner_mcp.server.tools.answers.token_estimates import fitting
from planner_mcp.server.tools.arguments.comparison_pricing import without_style_prices
from planner_mcp.server.tools.arguments.plan_context import (
    Clock,
    PlanContext,
    PlanName,
    cost_unit_of_plan,
    group_served_sentence,
    load_plan_context,
    run_in_thread,
    shared_deadlines,
    unit_lines,
)
from planner_mcp.server.tools.tool_definition import READ, Arguments, Tool, ToolAnnotations, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import Number, ToolOutput, Words
from planner_mcp.text import compact, named, number
from planner_mcp.translation import translated

BUDGET_S: Final = 4.0
"""Time to look for fixes, divided between the tickets; those it does not suffice for are named."""
MAX_TICKETS: Final = 5
MAX_DEFAULT: Final = 3
"""Tickets looked at, and alternatives spoken of, where none was named."""
MAX_BYTES: Final = 3500
"""Room of all fixes: the smallest of each ticket first, and of these the patches, then the next of each."""
MAX_PATCH_BYTES: Final = 1000
"""A longer patch is left out; its change is described in words all the same."""
_PRICED: Final = {ADD_AGENT, PENALTY}
"""Kinds of fixes whose patch reveals prices."""
_KEPT_OUT: Final = frozenset({*PROVED_REASONS, InfeasibilityReason.GROUP_INCOMPLETE})
"""Codes of tickets whose detail says what has to change."""
_NO_ROOM: Final = "no time or room left in this answer, ask for it alone"
_STYLED: Final = "The plan is an alternative's: costs and penalties are by the prices made up for its style."


class SuggestArguments(Arguments):
    """Arguments of `suggest_fixes`."""

    plan: PlanName
    ticket_ids: Annotated[
        list[str], Field(max_length=MAX_TICKETS, description="absent: the first three not left out as alternatives")
    ] = []  # noqa: RUF012


class SuggestedFix(ToolOutput):
    """One change that lets a ticket into the plan."""

    ticket_id: str
    kinds: list[str]
    agent_id: str
    change: str
    cost_delta: Number | None = None
    patch: ScenarioPatch | None = None


class SuggestFixesResult(ToolOutput):
    """Result of `suggest_fixes`."""

    plan_id: str
    fixes: list[SuggestedFix]
    cost_in: str | None = None
    without_fix: list[str]
    not_examined: list[str]
    nothing_to_mend: dict[str, str] = Field(description="alternatives, and which of the group is served")
    notes: list[Words]
    not_asked: int = Field(description="unassigned tickets beyond these")


async def run(ctx: ToolContext, asked: SuggestArguments) -> ToolResult:
    """Return proved fixes, smallest first, for a few tickets."""
    found = await load_plan_context(ctx, asked.plan, "/plan")
    entries, instead = found.unassigned(asked.ticket_ids), found.chosen_instead()
    most = MAX_TICKETS if asked.ticket_ids else MAX_DEFAULT
    replaced = [entry.ticket_id for entry in entries if entry.ticket_id in instead]
    wanted = [entry.ticket_id for entry in entries if entry.ticket_id not in instead][:most]
    fixes, hurried = await run_in_thread(ctx, proposed, found, wanted, ctx.settings.max_agents) if wanted else ({}, [])
    kept_out = [entry for entry in entries if entry.code in _KEPT_OUT and fixes.get(entry.ticket_id) == []]
    in_no_plan = {entry.ticket_id for entry in kept_out if entry.code in PROVED_REASONS or entry.detail == INCOMPLETE}
    shows_prices = ctx.principal.may(SENSITIVE)
    entries_shown = fix_entries({name: [_shown(fix, shows_prices) for fix in each] for name, each in fixes.items()})
    output = SuggestFixesResult(
        plan_id=found.plan_id,
        fixes=entries_shown,
        cost_in=cost_unit_of_plan(found.scenario.body, found.plan) if _has_cost(entries_shown) else None,
        without_fix=[name for name, each in fixes.items() if not each],
        not_examined=[name for name in wanted if not _is_listed(name, fixes, entries_shown)],
        nothing_to_mend={name: instead[name] for name in replaced[:most]},
        notes=[
            *([_STYLED] if entries_shown and await _has_style_prices(ctx, found) else []),
            *_hurried(hurried, wanted),
            *(f"{entry.ticket_id}: {entry.detail}" for entry in kept_out),
        ],
        not_asked=len(entries) - len(wanted) - len(replaced),
    )
    lines = _lines(output, is_alone=len(wanted) == 1, in_no_plan=in_no_plan)
    return ToolResult(output, "\n".join(lines))


def _has_cost(fixes: Iterable[SuggestedFix]) -> bool:
    return any(fix.cost_delta is not None for fix in fixes)


async def _has_style_prices(ctx: ToolContext, found: PlanContext) -> bool:
    """Return whether prices of a plan's day are made up; those that nobody can compare any more are taken to be."""
    if found.scenario.prices_of is None:
        return False
    own = await without_style_prices(ctx, found)
    return own is found or await run_in_thread(ctx, _differ, found.scenario.body, own.scenario.body)


def _differ(body: ScenarioBody, other: ScenarioBody) -> bool:
    """Return whether two days that are alike but for their prices have others; a null says what no word says."""
    return with_prices_of(body, body) != with_prices_of(other, other)


def fix_entries(fixes: Mapping[str, list[SuggestedFix]]) -> list[SuggestedFix]:
    """Return as many fixes as there is room for, ticket by ticket.

    The smallest of every ticket has the first right, then their patches have; after that the second of each, and so on.
    """
    room, chosen = MAX_BYTES, dict[tuple[str, int], SuggestedFix]()
    for rank in range(max(map(len, fixes.values()), default=0)):
        whole = {(name, rank): each[rank] for name, each in fixes.items() if rank < len(each)}
        bare = {place: fix.model_copy(update={"patch": None}) for place, fix in whole.items()}
        for place, fix in [*bare.items(), *whole.items()]:
            more = _size(fix) - (_size(chosen[place]) if place in chosen else 0)
            if more <= room:
                chosen[place] = fix
                room -= more
    places = [(name, rank) for name, each in fixes.items() for rank in range(len(each))]
    return [chosen[place] for place in places if place in chosen]


def _size(fix: SuggestedFix) -> int:
    return len(compact(fix.as_json()).encode()) + 1


def _is_listed(name: str, fixes: Mapping[str, list[Fix]], entries_shown: list[SuggestedFix]) -> bool:
    """Return whether the answer says of a ticket what there is to say: a fix, or that none was found."""
    return fixes.get(name) == [] or any(fix.ticket_id == name for fix in entries_shown)


def _hurried(names: list[str], wanted: list[str]) -> list[str]:
    if not names:
        return []
    if len(wanted) > 1:
        return [f"The time ran out at {named(names)}: a smaller change may exist; ask for each alone."]
    return [f"The time ran out at {named(names)}: a smaller change may exist."]


def _lines(output: SuggestFixesResult, *, is_alone: bool, in_no_plan: Container[str]) -> list[str]:
    """Return an answer as lines; `in_no_plan`: tickets without a fix that no search finds a place for, as notes say."""
    left_out = (output.fixes, output.without_fix, output.not_examined, output.nothing_to_mend, output.not_asked)
    if not any(left_out):
        return [f"{output.plan_id}: nothing is unassigned"]
    lines = [f"{output.plan_id}: each fix proved: inserted into this plan, verified, worth its cost"]
    for fix in output.fixes:
        by = f"by {fix.agent_id}" if fix.cost_delta is None else f"by {fix.agent_id}, cost {fix.cost_delta:+}"
        patch = "" if fix.patch is None else f" patch={compact(fix.patch)}"
        lines.append(f"{fix.ticket_id}: {fix.change} ({translated(by)}){patch}")
    lines += unit_lines(output.cost_in)
    found_none = translated("no small change found; resolve_vrp may find one by moving others")
    lines += [f"{name}: {found_none}" for name in output.without_fix if name not in in_no_plan]
    why = translated("no time left to look at all places; resolve_vrp may find one" if is_alone else _NO_ROOM)
    lines += [f"{name}: {why}" for name in output.not_examined]
    lines += [group_served_sentence(name, other) for name, other in output.nothing_to_mend.items()]
    lines += output.notes
    if output.not_asked:
        lines.append(f"{output.not_asked} more unassigned; name them in ticket_ids")
    return [*lines, "Next: resolve_vrp with the patch of a fix, warm_from this plan"] if output.fixes else lines


def proposed(
    found: PlanContext, names: list[str], max_agents: int, clock: Clock = time.monotonic
) -> tuple[dict[str, list[Fix]], list[str]]:
    """Return the fixes of as many tickets as there is time for, and for which of them it ran out.

    A ticket for which it ran out before a fix was found has no entry: nobody knows that there is none.
    """
    analysis = found.analysis()
    fixes: dict[str, list[Fix]] = {}
    hurried = []
    for is_over, name in zip(shared_deadlines(BUDGET_S, len(names), clock), names, strict=True):
        each = [] if is_over() else analysis.fixes(analysis.index[name], is_over, max_agents=max_agents)
        is_whole = not is_over()
        if each or is_whole:
            fixes[name] = each
        if each and not is_whole and each[0].kinds != (NO_CHANGE,):
            hurried.append(name)
    return fixes, hurried


def _shown(fix: Fix, shows_prices: bool) -> SuggestedFix:
    """Return a fix as it is shown: without `planner:sensitive` its change stays and what reveals prices is left out."""
    words = changes_text(fix.changes)
    shown = SuggestedFix(
        ticket_id=fix.ticket_id,
        kinds=list(fix.kinds),
        agent_id=fix.agent_id,
        change=words,
        patch=fix.patch,
    )
    if not shows_prices:
        steps = zip(fix.kinds, fix.changes, strict=True)
        change = changes_text("raise its penalty" if kind == PENALTY else each for kind, each in steps)
        patch = None if _PRICED & set(fix.kinds) else fix.patch
        return shown.model_copy(update={"change": change, "patch": patch})
    patch = fix.patch if fitting([fix.patch], MAX_PATCH_BYTES) else None
    return shown.model_copy(update={"cost_delta": number(fix.cost_delta), "patch": patch})


TOOL: Final = Tool(
    name="suggest_fixes",
    title="Suggest fixes",
    description=(
        "Find the smallest changes that let a plan serve unassigned tickets: widen a window, extend a shift, raise a "
        "capacity, add an agent. Each is verified on this plan and comes as a patch for resolve_vrp."
    ),
    arguments=SuggestArguments,
    output=SuggestFixesResult,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="planning",
    meta={"example": {"plan": "job-0-…", "ticket_ids": ["t-7"]}},
)
