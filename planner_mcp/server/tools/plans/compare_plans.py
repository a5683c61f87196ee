"""`compare_plans`: what changes from one plan to another (SPEC T5).

The prices are chosen by `arguments/comparison_pricing.py`.
"""

from dataclasses import asdict
from functools import partial
from typing import Annotated, ClassVar, Final

from pydantic import Field

from planner_mcp.routing.analysis.plan_comparison import AgentDelta, Comparison
from planner_mcp.server.tools.answers.table_result import cell_text
from planner_mcp.server.tools.answers.token_estimates import fitting
from planner_mcp.server.tools.arguments.comparison_pricing import NOT_PRICED
from planner_mcp.server.tools.arguments.lookup_errors import find_all
from planner_mcp.server.tools.arguments.plan_context import PlanContext, PlanName, check_agents, load_plan_context
from planner_mcp.server.tools.arguments.plan_differences import plan_difference
from planner_mcp.server.tools.tool_definition import READ, Arguments, Tool, ToolAnnotations, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import Number, ToolOutput, Words
from planner_mcp.text import MAX_NAMED, named, number
from planner_mcp.translation import phrase, translated

MAX_LISTED: Final = 10
"""Tickets and agents listed; the counts are of all."""


class CompareArguments(Arguments):
    """Arguments of `compare_plans`."""

    plan_a: PlanName
    plan_b: PlanName
    agent_ids: Annotated[list[str], Field(max_length=50, description="list only these agents' moves")] = []  # noqa: RUF012


class AgentChange(ToolOutput):
    """What changes for one agent."""

    agent_id: str
    tickets: int = Field(description="tickets more, negative: fewer")
    distance_m: Number = Field(description="metres more, negative: fewer")
    duration_s: Number = Field(description="seconds more, negative: fewer")
    cost: Number | None = Field(None, description="cost more, negative: less")


class ComparePlansResult(ToolOutput):
    """Result of `compare_plans`."""

    listed: ClassVar[tuple[str, ...]] = (
        "cost_delta",
        "priced_on",
        "priced_on_is",
        "difference",
        "moved",
        "moves",
        "gone",
        "agents",
        "in_words",
    )
    plan_a: str
    plan_b: str
    priced_on: str | None = Field(description="scenario whose prices hold for both; null: none does")
    priced_on_is: Words = Field(description="what that day is to both plans")
    cost_delta: Number | None
    cost_in: str | None = None
    distance_delta_m: Number
    agents_used_delta: int
    difference: Number = Field(description="0 same routes … 1 nothing in common")
    moved: int
    reordered: int
    shifted_5min: int
    moves: list[list[str]] = Field(description="ticket, agent before, agent after")
    newly_served: list[str]
    newly_unserved: list[str]
    gone: list[str] = Field(description="served in plan_a; the ticket no longer exists in plan_b's scenario")
    agents: list[AgentChange] = Field(description="what changes for each")
    in_words: list[Words] = Field(description="who gains, who loses, what is late, cost")


async def run(ctx: ToolContext, asked: CompareArguments) -> ToolResult:
    """Return what changes when plan a gives way to plan b."""
    a, b = await find_all(
        [
            partial(load_plan_context, ctx, asked.plan_a, "/plan_a"),
            partial(load_plan_context, ctx, asked.plan_b, "/plan_b"),
        ]
    )
    check_agents(asked.agent_ids, _agents_of(a, b))
    difference = await plan_difference(ctx, a, b)
    found, prices = difference.comparison, difference.prices
    wanted = set(asked.agent_ids)
    moves = [move for move in found.moved if not wanted or wanted & {move.before, move.after}]
    agents = [each for each in found.agents if not wanted or each.agent_id in wanted]
    output = ComparePlansResult(
        plan_a=a.plan_id,
        plan_b=b.plan_id,
        priced_on=prices and prices.scenario_id,
        priced_on_is=prices.explanation if prices else NOT_PRICED,
        cost_delta=number(found.cost),
        cost_in=prices.cost_unit if prices and found.cost is not None else None,
        distance_delta_m=number(found.distance_m),
        agents_used_delta=found.agents_used,
        difference=number(found.difference),
        moved=len(found.moved),
        reordered=len(found.reordered),
        shifted_5min=found.shifted,
        moves=fitting([list(asdict(move).values()) for move in moves[:MAX_LISTED]], 1200),
        newly_served=fitting(found.newly_served[:MAX_LISTED], 500),
        newly_unserved=fitting(found.newly_left_out[:MAX_LISTED], 500),
        gone=fitting(found.gone[:MAX_LISTED], 500),
        agents=fitting([_agent(each) for each in agents[:MAX_LISTED]], 1000),
        in_words=fitting(difference.in_words(agents[:MAX_LISTED]), 700),
    )
    return ToolResult(output, _text(output, found))


def _agents_of(*plan_contexts: PlanContext) -> list[str]:
    """Return the agents of the days of some plans, each once."""
    return list(dict.fromkeys(agent["id"] for each in plan_contexts for agent in each.scenario.body["agents"]))


def _agent(delta: AgentDelta) -> AgentChange:
    return AgentChange(
        agent_id=delta.agent_id,
        tickets=delta.tickets,
        distance_m=number(delta.distance_m),
        duration_s=number(delta.duration_s),
        cost=number(delta.cost),
    )


def _text(output: ComparePlansResult, found: Comparison) -> str:
    names = ["cost_delta", *(["cost_in"] if output.cost_in else ()), "distance_delta_m", "agents_used_delta"]
    names += ["difference", "moved", "reordered", "shifted_5min"]
    lines = [
        f"{output.plan_a} → {output.plan_b}",
        " · ".join(f"{name} {cell_text(getattr(output, name))}" for name in names),
    ]
    priced_on, explanation = output.priced_on, output.priced_on_is
    shown = translated(explanation)
    lines.append(phrase("costs by the prices of {}, {}", priced_on, shown) if priced_on else shown)
    lines += output.in_words
    if found.gone:
        lines.append(f"no longer on the day: {named(found.gone)}")
    if len(found.moved) + len(found.newly_served) + len(found.newly_left_out) > MAX_NAMED:
        lines.append("Next: read_plan of both, view=visits agent_ids=…, has every ticket.")
    return "\n".join(lines)


TOOL: Final = Tool(
    name="compare_plans",
    title="Compare plans",
    description=(
        "Show the changes from plan_a to plan_b, in words too: cost, tickets moved between agents, reordered, newly "
        "served or unassigned, and each agent. Plans of revisions are priced on one scenario, named in priced_on."
    ),
    arguments=CompareArguments,
    output=ComparePlansResult,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="planning",
    meta={"example": {"plan_a": "job-0-…", "plan_b": "plan-0-…"}},
)
