"""`explain_unassigned`: why tickets are left out, with evidence agent by agent (SPEC T5)."""

from collections import Counter
from typing import Annotated, Any, Final

from pydantic import Field

from planner_mcp.auth.masking import trials_for
from planner_mcp.text import figure
from planner_mcp.tools.answers.sizes import fitting
from planner_mcp.tools.arguments.shared_prices import unstyled
from planner_mcp.tools.arguments.subjects import Json, PlanName, Subject, aside, nothing_to_mend, subject, time_for
from planner_mcp.tools.base import READ, Arguments, Hints, Tool, ToolContext, ToolResult, parse, schema_of
from planner_mcp.vrp.advice.fixes import Bench, told
from planner_mcp.vrp.advice.insertion import Trial, Until

BUDGET_S: Final = 3.0
"""Time for one answer; tickets it does not suffice for are named."""
MAX_BYTES: Final = 2500
"""Room of all tickets but the first; those that do not fit are counted under `not_shown`."""
MAX_AGENTS: Final = 3
"""Agents told of for each ticket, the nearest to fitting first."""
MAX_OBSTACLES: Final = 3
"""Obstacles told of for each of them."""


class ExplainArguments(Arguments):
    """Arguments of `explain_unassigned`."""

    plan: PlanName
    ticket_ids: Annotated[list[str], Field(max_length=50, description="only these")] = []  # noqa: RUF012
    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    size: Annotated[int, Field(ge=1, le=20)] = 5


_OUTPUT: Final = {
    "type": "object",
    "properties": {
        "plan_id": {"type": "string"},
        "tickets": {
            "type": "array",
            "items": {"type": "object", "required": ["ticket_id", "code", "in_the_way", "nearest"]},
        },
        "total": {"type": "integer"},
        "next_page": {"type": "integer"},
    },
    "required": ["plan_id", "tickets", "total"],
}


async def run(ctx: ToolContext, args: dict[str, Any]) -> ToolResult:
    """Return one page of unassigned tickets with what stands in the way of each agent."""
    asked = parse(ExplainArguments, args)
    found = await subject(ctx, asked.plan, "/plan")
    left_out = found.unassigned(asked.ticket_ids)
    shown = left_out[(asked.page - 1) * asked.size : asked.page * asked.size]
    answers = await aside(ctx, _explained, await unstyled(ctx, found), shown) if shown else []
    tickets = answers[:1] + fitting(answers[1:], MAX_BYTES)
    tickets = trials_for(ctx.principal, tickets)
    structured: Json = {"plan_id": found.plan_id, "tickets": tickets, "total": len(left_out)}
    if hidden := len(shown) - len(tickets):
        structured["not_shown"] = hidden
    if asked.page * asked.size < len(left_out):
        structured["next_page"] = asked.page + 1
    head = f"{found.plan_id}: {len(left_out)} unassigned, page {asked.page}"
    lines = [line for entry in tickets for line in _lines(entry)]
    return ToolResult(structured, "\n".join([head, *lines, "Next: suggest_fixes"] if tickets else [head]))


def _explained(found: Subject, entries: list[Json]) -> list[Json]:
    is_over, bench, instead = time_for(BUDGET_S), found.bench(), found.chosen_instead()
    return [
        _replaced(entry, instead[entry["ticket_id"]])
        if entry["ticket_id"] in instead
        else _entry(bench, entry, is_over)
        for entry in entries
    ]


def _replaced(entry: Json, other: str) -> Json:
    """Return what is said of an alternative: no agent is in its way, nor would one help."""
    named = {"ticket_id": entry["ticket_id"], "code": entry["code"]}
    return {**named, "agents": 0, "in_the_way": {}, "nearest": [], "served_instead": other}


def _entry(bench: Bench, entry: Json, is_over: Until) -> Json:
    name = entry["ticket_id"]
    trials = bench.closest(bench.index[name], is_over)
    ways = Counter(limit.value for trial in trials for limit in trial.limits)
    answer = {
        "ticket_id": name,
        "code": entry["code"],
        "agents": len(trials),
        "in_the_way": dict(ways.most_common()),
        "nearest": [_nearest(bench, trial) for trial in trials[:MAX_AGENTS]],
    }
    return answer if len(trials) == len(bench.problem.agents) else {**answer, "is_cut_short": True}


def _nearest(bench: Bench, trial: Trial) -> Json:
    problem = bench.problem
    in_the_way = [told(problem, each) for each in trial.obstacles[:MAX_OBSTACLES]]
    fits = {"fits_at_cost": round(trial.cost / problem.cost_scale, 2)} if not in_the_way else {}
    return {"agent_id": problem.agents[trial.route.agent].id, "in_the_way": in_the_way, **fits}


def _lines(entry: Json) -> list[str]:
    if "served_instead" in entry:
        return [nothing_to_mend(f"{entry['ticket_id']} {entry['code']}", entry["served_instead"])]
    ways = ", ".join(f"{limit} {count}" for limit, count in entry["in_the_way"].items())
    lines = [f"{entry['ticket_id']} {entry['code']}; of {entry['agents']} agents: {ways or 'nothing in the way'}"]
    for near in entry["nearest"]:
        cost = f", cost +{figure(near['fits_at_cost'])}" if "fits_at_cost" in near else ""
        obstacle = " + ".join(near["in_the_way"]) or f"fits{cost}"
        lines.append(f"  {near['agent_id']}: {obstacle}")
    return lines


TOOL: Final = Tool(
    name="explain_unassigned",
    title="Explain unassigned",
    description=(
        "Tell why tickets are left out of a plan: a code each, and for the agents nearest to fitting which limit is in "
        "the way and by how much, other stops kept in their order. Next: suggest_fixes."
    ),
    input_schema=schema_of(ExplainArguments),
    output_schema=_OUTPUT,
    hints=Hints(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="planning",
    meta={"example": {"plan": "job-0-…", "ticket_ids": ["t-7"]}},
)
