"""`compare_plans`: what changes from one plan to another (SPEC T5). By whose prices is `shared_prices.py`'s."""

from dataclasses import asdict
from functools import partial
from typing import Annotated, Any, Final

from pydantic import Field

from planner_mcp.routing.analysis.plan_comparison import AgentDelta, Comparison, compare
from planner_mcp.server.auth.field_masking import plan_for
from planner_mcp.server.tools.answers.token_estimates import fitting
from planner_mcp.server.tools.arguments.comparison_pricing import NOT_PRICED, priced_on_common_scenario
from planner_mcp.server.tools.arguments.lookup_errors import find_all
from planner_mcp.server.tools.arguments.plan_context import Json, PlanContext, PlanName, check_agents, load_plan_context
from planner_mcp.server.tools.tool_definition import (
    READ,
    Arguments,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
    parse,
    schema_of,
)
from planner_mcp.text import named, number

MAX_LISTED: Final = 10
"""Tickets and agents listed; the counts tell of all."""


class CompareArguments(Arguments):
    """Arguments of `compare_plans`."""

    plan_a: PlanName
    plan_b: PlanName
    agent_ids: Annotated[list[str], Field(max_length=50, description="list only these agents' moves")] = []  # noqa: RUF012


_OUTPUT: Final = {
    "type": "object",
    "properties": {
        "cost_delta": {"type": ["number", "null"]},
        "priced_on": {
            "type": ["string", "null"],
            "description": "scenario whose prices hold for both; null: none does",
        },
        "priced_on_is": {"type": "string", "description": "what that day is to both plans"},
        "difference": {"type": "number", "description": "0 same routes … 1 nothing in common"},
        "moved": {"type": "integer"},
        "moves": {"type": "array"},
        "gone": {"type": "array", "description": "served by plan_a, on the day of plan_b no more"},
        "agents": {"type": "array"},
    },
    "required": ["cost_delta", "difference", "moved"],
}


async def run(ctx: ToolContext, args: dict[str, Any]) -> ToolResult:
    """Return what changes when plan a gives way to plan b."""
    asked = parse(CompareArguments, args)
    a, b = await find_all(
        [
            partial(load_plan_context, ctx, asked.plan_a, "/plan_a"),
            partial(load_plan_context, ctx, asked.plan_b, "/plan_b"),
        ]
    )
    check_agents(asked.agent_ids, _agents_of(a, b))
    prices, plans = await priced_on_common_scenario(ctx, a, b)
    found = compare(*(plan_for(ctx.principal, plan) for plan in plans))
    wanted = set(asked.agent_ids)
    moves = [move for move in found.moved if not wanted or wanted & {move.before, move.after}]
    agents = [each for each in found.agents if not wanted or each.agent_id in wanted]
    structured = {
        "plan_a": a.plan_id,
        "plan_b": b.plan_id,
        "priced_on": prices and prices.scenario_id,
        "priced_on_is": prices.explanation if prices else NOT_PRICED,
        **_figures(found),
        "moves": fitting([list(asdict(move).values()) for move in moves[:MAX_LISTED]], 1200),
        "newly_served": fitting(found.newly_served[:MAX_LISTED], 500),
        "newly_unserved": fitting(found.newly_left_out[:MAX_LISTED], 500),
        "gone": fitting(found.gone[:MAX_LISTED], 500),
        "agents": fitting([_agent(each) for each in agents[:MAX_LISTED]], 1000),
    }
    return ToolResult(structured, _text(structured, found))


def _agents_of(*plan_contexts: PlanContext) -> list[str]:
    """Return the agents of the days of some plans, each once."""
    return list(dict.fromkeys(agent["id"] for each in plan_contexts for agent in each.scenario.body["agents"]))


def _figures(found: Comparison) -> Json:
    return {
        "cost_delta": number(found.cost),
        "distance_delta_m": number(found.distance_m),
        "agents_used_delta": found.agents_used,
        "difference": number(found.difference),
        "moved": len(found.moved),
        "reordered": len(found.reordered),
        "shifted_5min": found.shifted,
    }


def _agent(delta: AgentDelta) -> Json:
    explanation = {
        name: number(value) for name, value in asdict(delta).items() if name != "agent_id" and value is not None
    }
    return {"agent_id": delta.agent_id, **explanation}


def _text(structured: Json, found: Comparison) -> str:
    names = ("cost_delta", "distance_delta_m", "agents_used_delta", "difference", "moved", "reordered", "shifted_5min")
    lines = [f"{structured['plan_a']} → {structured['plan_b']}", " · ".join(f"{n} {structured[n]}" for n in names)]
    priced_on, explanation = structured["priced_on"], structured["priced_on_is"]
    lines.append(f"costs by the prices of {priced_on}, {explanation}" if priced_on else explanation)
    if structured["moves"]:
        lines.append("moved: " + ", ".join(f"{ticket} {old}→{new}" for ticket, old, new in structured["moves"]))
    if found.newly_served:
        lines.append(f"newly served: {named(found.newly_served)}")
    if found.newly_left_out:
        lines.append(f"no longer served: {named(found.newly_left_out)}")
    if found.gone:
        lines.append(f"no longer on the day: {named(found.gone)}")
    for agent in structured["agents"]:
        explanation = " ".join(f"{name} {value:+}" for name, value in agent.items() if name != "agent_id")
        lines.append(f"{agent['agent_id']}: {explanation}")
    return "\n".join(lines)


TOOL: Final = Tool(
    name="compare_plans",
    title="Compare plans",
    description=(
        "Tell what changes from plan_a to plan_b: cost, tickets moved to other agents, reordered, newly served or left "
        "out, and what each agent gains. Plans of revisions compare by the prices of one day, told as priced_on."
    ),
    input_schema=schema_of(CompareArguments),
    output_schema=_OUTPUT,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="planning",
    meta={"example": {"plan_a": "job-0-…", "plan_b": "plan-0-…"}},
)
