"""`explain_unassigned`: why tickets are left out, with evidence agent by agent (SPEC T5)."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, ClassVar, Final

from pydantic import Field

from planner_mcp.jobs.principals import SENSITIVE
from planner_mcp.routing.feasibility.insertion_candidates import InsertionCandidate, StopCheck
from planner_mcp.routing.feasibility.verified_fixes import UnassignedAnalysis
from planner_mcp.routing.infeasibility_reasons import NO_POSITION_FIX, NO_ROAD_FIX, REASON_TEXTS, InfeasibilityReason
from planner_mcp.routing.plan import Unassigned
from planner_mcp.server.tools.answers.table_result import more_text, page_after
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
from planner_mcp.server.tools.tool_definition import (
    READ,
    Arguments,
    PageNumber,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
)
from planner_mcp.server.tools.tool_output import Number, ToolOutput, Words
from planner_mcp.text import figure
from planner_mcp.translation import phrase, translated, translated_line

BUDGET_S: Final = 3.0
"""Time to look at the agents, divided between the tickets of a page; the answer says what it does not suffice for."""
MAX_BYTES: Final = 2500
"""Room of all tickets but the first; those that do not fit are counted under `not_shown`."""
MAX_AGENTS: Final = 3
"""Agents listed for each ticket, the nearest to fitting first."""
MAX_VIOLATIONS: Final = 3
"""Violations listed for each of them."""
_OF_PLACE: Final[dict[str, str]] = {
    InfeasibilityReason.NO_POSITION: NO_POSITION_FIX,
    InfeasibilityReason.NO_ROAD: NO_ROAD_FIX,
}
"""What helps where nobody can drive to a ticket: no agent is nearer than another, and no limit is in the way."""


class ExplainArguments(Arguments):
    """Arguments of `explain_unassigned`."""

    plan: PlanName
    ticket_ids: Annotated[list[str], Field(max_length=50, description="only these")] = []  # noqa: RUF012
    page: PageNumber = 1
    size: Annotated[int, Field(ge=1, le=20, description="tickets a page")] = 5


class NearestAgent(ToolOutput):
    """How near one agent is to serving a ticket."""

    agent_id: str
    in_the_way: list[Words]
    fits_at_cost: Number | None = None


class TicketExplanation(ToolOutput):
    """Why one ticket is unassigned."""

    ticket_id: str
    code: str
    agents: int = Field(description="agents looked at")
    in_the_way: dict[str, int] = Field(description="agents by limit")
    nearest: list[NearestAgent]
    served_instead: str | None = Field(None, description="the ticket of its group that is served")
    is_cut_short: bool | None = Field(None, description="the time ran out before all agents were looked at")
    agents_in_all: int | None = None


class ExplainUnassignedResult(ToolOutput):
    """Result of `explain_unassigned`."""

    listed: ClassVar[tuple[str, ...]] = ("plan_id", "tickets", "total", "next_page")
    plan_id: str
    tickets: list[TicketExplanation] = Field(description="each with what prevents it")
    cost_in: str | None = None
    total: int = Field(description="tickets left out")
    not_shown: int | None = None
    next_page: int | None = None


async def run(ctx: ToolContext, asked: ExplainArguments) -> ToolResult:
    """Return one page of unassigned tickets with what stands in the way of each agent."""
    found = await load_plan_context(ctx, asked.plan, "/plan")
    left_out = found.unassigned(asked.ticket_ids)
    shown = left_out[(asked.page - 1) * asked.size : asked.page * asked.size]
    priced = await without_style_prices(ctx, found)
    answers = await run_in_thread(ctx, explained, priced, shown) if shown else []
    tickets = answers[:1] + fitting(answers[1:], MAX_BYTES)
    if not ctx.principal.may(SENSITIVE):
        tickets = [_without_costs(ticket) for ticket in tickets]
    output = ExplainUnassignedResult(
        plan_id=found.plan_id,
        tickets=tickets,
        cost_in=cost_unit_of_plan(priced.scenario.body, found.plan) if _has_cost(tickets) else None,
        total=len(left_out),
        not_shown=len(shown) - len(tickets) or None,
        next_page=page_after(asked.page, asked.size, len(left_out)),
    )
    head = phrase("{}: {} unassigned, page {}", found.plan_id, len(left_out), asked.page)
    head += more_text(output.next_page)
    lines = [line for entry in tickets for line in explanation_lines(entry, is_alone=len(shown) == 1)]
    lines += unit_lines(output.cost_in)
    if output.not_shown:
        lines.append(phrase("{} more of this page have no room here: ask with a smaller size.", output.not_shown))
    following = ["Next: suggest_fixes"] if any(entry.code not in _OF_PLACE for entry in tickets) else []
    return ToolResult(output, "\n".join([head, *lines, *following]))


def explained(found: PlanContext, entries: list[Unassigned], clock: Clock = time.monotonic) -> list[TicketExplanation]:
    """Return what is said of each unassigned entry; seconds of work, on a large day to read it too."""
    analysis, instead = found.analysis(), found.chosen_instead()
    return [
        _replaced(entry, instead[entry.ticket_id]) if entry.ticket_id in instead else _entry(analysis, entry, is_over)
        for is_over, entry in zip(shared_deadlines(BUDGET_S, len(entries), clock), entries, strict=True)
    ]


def _has_cost(tickets: Sequence[TicketExplanation]) -> bool:
    return any(agent.fits_at_cost is not None for ticket in tickets for agent in ticket.nearest)


def _without_costs(ticket: TicketExplanation) -> TicketExplanation:
    """Return an explanation without what serving the ticket would cost, which would reveal the prices."""
    nearest = [agent.model_copy(update={"fits_at_cost": None}) for agent in ticket.nearest]
    return ticket.model_copy(update={"nearest": nearest})


def _replaced(entry: Unassigned, other: str) -> TicketExplanation:
    """Return what is said of an alternative: no agent is in its way, nor would one help."""
    return TicketExplanation(
        ticket_id=entry.ticket_id, code=entry.code, agents=0, in_the_way={}, nearest=[], served_instead=other
    )


def _entry(analysis: UnassignedAnalysis, entry: Unassigned, is_over: StopCheck) -> TicketExplanation:
    name = entry.ticket_id
    if entry.code in _OF_PLACE:
        count = len(analysis.problem.agents)
        in_the_way = {entry.code: count}
        return TicketExplanation(ticket_id=name, code=entry.code, agents=count, in_the_way=in_the_way, nearest=[])
    candidates = [] if is_over() else analysis.closest(analysis.index[name], is_over)
    ways = Counter(limit.value for candidate in candidates for limit in candidate.limits)
    agents = len(analysis.problem.agents)
    # of the last agent the time may have sufficed for some places alone; where groups exclude it, none is looked at
    is_whole = len(candidates) in (0, agents) and not is_over()
    return TicketExplanation(
        ticket_id=name,
        code=entry.code,
        agents=len(candidates),
        in_the_way=dict(ways.most_common()),
        nearest=[_nearest(analysis, candidate) for candidate in candidates[:MAX_AGENTS]],
        is_cut_short=None if is_whole else True,
        agents_in_all=None if is_whole else agents,
    )


def _nearest(analysis: UnassignedAnalysis, candidate: InsertionCandidate) -> NearestAgent:
    problem = analysis.problem
    in_the_way = analysis.evidence(candidate)[:MAX_VIOLATIONS]
    cost = None if in_the_way else round(candidate.cost / problem.cost_scale, 2)
    agent_id = problem.agents[candidate.route.agent].id
    return NearestAgent(agent_id=agent_id, in_the_way=in_the_way, fits_at_cost=cost)


def explanation_lines(entry: TicketExplanation, *, is_alone: bool) -> list[str]:
    """Return what is said of a ticket as short lines; `is_alone`: no other was asked about, so it had all the time."""
    named = f"{entry.ticket_id} {entry.code}"
    if entry.served_instead is not None:
        return [group_served_sentence(named, entry.served_instead)]
    ways = ", ".join(f"{limit} {count}" for limit, count in entry.in_the_way.items())
    in_the_way = f": {ways or translated('nothing in the way')}" if entry.agents else ""
    is_looked_at = entry.agents or entry.is_cut_short
    lines = [f"{named}; {_looked_at(entry, is_alone)}{in_the_way}" if is_looked_at else named]
    if entry.code in _OF_PLACE:
        lines.append(f"  {translated(_OF_PLACE[entry.code])}")
    if entry.code == InfeasibilityReason.PENALTY_LOWER_THAN_COST:
        lines.append(f"  {translated(REASON_TEXTS[InfeasibilityReason.PENALTY_LOWER_THAN_COST])}")
    if not is_looked_at:
        lines.append("  Its all-or-none group is not complete: a one_of group leaves another of it out.")
    for near in entry.nearest:
        cost = near.fits_at_cost
        fits = translated("fits") if cost is None else phrase("fits, cost +{}", figure(cost))
        violation = " + ".join(map(translated_line, near.in_the_way)) or fits
        lines.append(f"  {near.agent_id}: {violation}")
    return lines


def _looked_at(entry: TicketExplanation, is_alone: bool) -> str:
    if not entry.is_cut_short:
        return phrase("of {} agents", entry.agents)
    template = "of {} of {} agents looked at (no time for all places: ask for it alone)"
    if is_alone:
        template = "of {} of {} agents looked at (no time for all places)"
    return phrase(template, entry.agents, entry.agents_in_all)


TOOL: Final = Tool(
    name="explain_unassigned",
    title="Explain unassigned",
    description=(
        "Explain why tickets are unassigned: a code for each and, for the agents that come closest to serving it, "
        "which constraint fails and by how much, with the other stops in their order. Next: suggest_fixes."
    ),
    arguments=ExplainArguments,
    output=ExplainUnassignedResult,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="planning",
    meta={"example": {"plan": "job-0-…", "ticket_ids": ["t-7"]}},
)
