"""By whose prices two plans compare (SPEC T5).

Owns which days are asked, in what order, and how the answer names the one that was used. Plans of one day have its
prices. Plans of revisions have the prices of the day both come from, or else of the first after it that has all stops
of both. Prices that were made up for an alternative are not used: such a day, and what was revised from it, has those
of the day the alternative was made from. The price that a call of `resolve_vrp` put on a change of agent is not used
either: it held for that call.
"""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final

from planner_mcp.errors import NotFoundError, TravelUnknownError
from planner_mcp.jobs.job_model import StoredScenario
from planner_mcp.routing.analysis.alternative_plans import with_prices_of
from planner_mcp.routing.analysis.frozen_prefix import has_other_frozen_prefix, without_assignments
from planner_mcp.routing.analysis.plan_repricing import measured_on
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.scenario_parsing import read_stored
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.server.tools.arguments.plan_context import PlanContext, cost_unit_of_plan, run_in_thread
from planner_mcp.server.tools.tool_definition import ToolContext

NOT_PRICED: Final = "costs do not compare: no day whose prices hold for both knows all their tickets, agents and stops"


@dataclass(frozen=True, slots=True)
class Prices:
    """The day whose prices hold for two plans."""

    scenario_id: str
    explanation: str
    """What it is to the plans, in words."""
    cost_unit: str | None
    """What its costs are in, where that may be told."""


async def priced_on_common_scenario(
    ctx: ToolContext, a: PlanContext, b: PlanContext
) -> tuple[Prices | None, list[Plan]]:
    """Return both plans with costs, distances and times by one scenario, and which; as they are where none has both."""
    is_same_scenario = (
        a.scenario.input_hash == b.scenario.input_hash and a.scenario.prices_of == b.scenario.prices_of is None
    )
    if is_same_scenario and without_assignments(a.scenario.body) is a.scenario.body:
        explanation = "the day of both plans" if a.scenario.id == b.scenario.id else "the day of plan_a"
        return Prices(a.scenario.id, explanation, cost_unit_of_plan(a.scenario.body, a.plan)), [a.plan, b.plan]
    of_a, of_b = [await ctx.job_service.ancestors(each.scenario) for each in (a, b)]
    async for day in _days(ctx, _in_order(of_a, of_b)):
        if (fair := await stated_prices(ctx, day)) is None:
            continue
        scenario_id, body = fair
        travel_matrices = await ctx.job_service.matrices.for_scenario(day.principal, body)
        if plans := await run_in_thread(ctx, _priced, body, travel_matrices, [a, b]):
            return Prices(scenario_id, _explanation(scenario_id, of_a, of_b), cost_unit_of_plan(body, a.plan)), plans
    return None, [a.plan, b.plan]


async def stated_prices(ctx: ToolContext, day: StoredScenario) -> tuple[str, ScenarioBody] | None:
    """Return a day with prices that nobody made up, and the scenario they are of; None where that has expired.

    What an earlier call tied to agents, and at which price, is none of them.
    """
    if day.prices_of is None:
        return day.id, without_assignments(day.body)
    with suppress(NotFoundError):
        source = await ctx.job_service.scenario(ctx.principal, day.prices_of)
        return source.id, with_prices_of(without_assignments(day.body), source.body)
    return None


async def without_style_prices(ctx: ToolContext, each: PlanContext) -> PlanContext:
    """Return a plan on its day without the prices of a style, all else held as it is; as given where these expired."""
    if each.scenario.prices_of is not None:
        with suppress(NotFoundError):
            source = await ctx.job_service.scenario(ctx.principal, each.scenario.prices_of)
            body = with_prices_of(each.scenario.body, source.body)
            return replace(each, scenario=replace(each.scenario, body=body))
    return each


def _in_order(of_a: list[str], of_b: list[str]) -> list[str]:
    """Return the days to ask: the nearest that both come from, then on both sides those after it, the elder first."""
    common = next((name for name in of_a if name in of_b), None)
    if common is None:
        return [of_a[0], of_b[0]]
    since = (reversed(line[: line.index(common)]) for line in (of_a, of_b))
    return [common, *(name for pair in zip_longest(*since) for name in pair if name is not None)]


async def _days(ctx: ToolContext, names: list[str]) -> AsyncIterator[StoredScenario]:
    """Yield days as far as they are still kept, one at a time: large ones take room."""
    for name in names:
        with suppress(NotFoundError):
            yield await ctx.job_service.scenario(ctx.principal, name)


def _explanation(scenario_id: str, of_a: list[str], of_b: list[str]) -> str:
    if scenario_id == of_a[0] == of_b[0]:
        return "the day of both plans"
    for name, line in (("plan_a", of_a), ("plan_b", of_b)):
        if scenario_id == line[0]:
            return f"the day of {name}"
    if scenario_id in of_a and scenario_id in of_b:
        return "the day both come from"
    return f"a day plan_{'a' if scenario_id in of_a else 'b'} comes from"


def _priced(body: ScenarioBody, travel_matrices: TravelMatrices | None, plan_contexts: list[PlanContext]) -> list[Plan]:
    """Return plans as measured on a day; none where it cannot price all of them."""
    if not all(_knows(body, each.plan) for each in plan_contexts):
        return []
    try:
        problem = compile_scenario(read_stored(body, travel_matrices))
    except TravelUnknownError:
        return []
    keeps_stated = [has_other_frozen_prefix(each.scenario.body, body) for each in plan_contexts]
    found = [
        priced
        for each, keeps_stated_times in zip(plan_contexts, keeps_stated, strict=True)
        if (priced := measured_on(problem, each.plan, keeps_stated_times=keeps_stated_times))
    ]
    return found if len(found) == len(plan_contexts) else []


def _knows(body: ScenarioBody, plan: Plan) -> bool:
    """Return whether a day has the agents and tickets of a plan: to compile one that has not would take its time."""
    agents, tickets = ({entry["id"] for entry in body[name]} for name in ("agents", "tickets"))
    served = {visit.ticket_id for route in plan.routes for visit in route.visits} - {None}
    return served <= tickets and {route.agent_id for route in plan.routes} <= agents
