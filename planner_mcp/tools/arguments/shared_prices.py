"""By whose prices two plans compare (SPEC T5).

Owns which days are asked, in what order, and how the one that answers is told. Plans of one day have its prices; those
of revisions the prices of the day both come from, or else of the first after it that knows all stops of both. Prices
that an alternative made up price nothing: such a day, and what was revised from it, has those of the day the
alternative was made from. Nor does what a call of `resolve_vrp` asked for a change of agent: it held for that call.
"""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final

from planner_mcp.errors import NotFoundError, TravelUnknownError
from planner_mcp.jobs.model import StoredScenario
from planner_mcp.tools.arguments.subjects import Json, Subject, aside
from planner_mcp.tools.base import ToolContext
from planner_mcp.vrp.advice.alternatives import with_prices_of
from planner_mcp.vrp.advice.locks import is_of_another_hour, untied
from planner_mcp.vrp.advice.pricing import priced_on, unpriced
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.day.tables import Tables
from planner_mcp.vrp.scenario import read_stored

NOT_PRICED: Final = "costs do not compare: no day whose prices hold for both knows all their tickets, agents and stops"


@dataclass(frozen=True, slots=True)
class Prices:
    """The day whose prices hold for two plans."""

    day_id: str
    told: str
    """What it is to the plans, in words."""


async def on_one_day(ctx: ToolContext, a: Subject, b: Subject) -> tuple[Prices | None, list[Json]]:
    """Return both plans with their costs by the prices of one day, and which; without costs where none knows both."""
    is_one_day = a.scenario.input_hash == b.scenario.input_hash and a.scenario.prices_of == b.scenario.prices_of is None
    if is_one_day and untied(a.scenario.body) is a.scenario.body:
        told = "the day of both plans" if a.scenario.id == b.scenario.id else "the day of plan_a"
        return Prices(a.scenario.id, told), [a.plan, b.plan]
    of_a, of_b = [await ctx.planner.ancestors(ctx.principal, each.scenario) for each in (a, b)]
    async for day in _days(ctx, _in_order(of_a, of_b)):
        if (fair := await own_prices(ctx, day)) is None:
            continue
        day_id, body = fair
        tables = await ctx.planner.matrices.of_day(ctx.principal.id, body)
        if plans := await aside(ctx, _priced, body, tables, [a, b]):
            return Prices(day_id, _told(day_id, of_a, of_b)), plans
    return None, [unpriced(a.plan), unpriced(b.plan)]


async def own_prices(ctx: ToolContext, day: StoredScenario) -> tuple[str, Json] | None:
    """Return a day with prices that nobody made up, and the scenario they are of; None where that has expired.

    What an earlier call tied to agents, and at which price, is none of them.
    """
    if day.prices_of is None:
        return day.id, untied(day.body)
    with suppress(NotFoundError):
        source = await ctx.planner.scenario(ctx.principal, day.prices_of)
        return source.id, with_prices_of(untied(day.body), source.body)
    return None


async def unstyled(ctx: ToolContext, each: Subject) -> Subject:
    """Return a plan on its day without the prices of a style, all else held as it is; as given where these expired."""
    if each.scenario.prices_of is not None:
        with suppress(NotFoundError):
            source = await ctx.planner.scenario(ctx.principal, each.scenario.prices_of)
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
            yield await ctx.planner.scenario(ctx.principal, name)


def _told(day_id: str, of_a: list[str], of_b: list[str]) -> str:
    if day_id == of_a[0] == of_b[0]:
        return "the day of both plans"
    for name, line in (("plan_a", of_a), ("plan_b", of_b)):
        if day_id == line[0]:
            return f"the day of {name}"
    if day_id in of_a and day_id in of_b:
        return "the day both come from"
    return f"a day plan_{'a' if day_id in of_a else 'b'} comes from"


def _priced(body: Json, tables: Tables | None, subjects: list[Subject]) -> list[Json]:
    """Return plans with their costs on a day; none where it cannot tell all of them."""
    if not all(_knows(body, each.plan) for each in subjects):
        return []
    try:
        problem = compile_scenario(read_stored(body, tables))
    except TravelUnknownError:
        return []
    as_told = [is_of_another_hour(each.scenario.body, body) for each in subjects]
    found = [
        priced
        for each, is_as_told in zip(subjects, as_told, strict=True)
        if (priced := priced_on(problem, each.plan, is_as_told=is_as_told))
    ]
    return found if len(found) == len(subjects) else []


def _knows(body: Json, plan: Json) -> bool:
    """Return whether a day has the agents and tickets of a plan: to compile one that has not would take its time."""
    agents, tickets = ({entry["id"] for entry in body[name]} for name in ("agents", "tickets"))
    served = {visit["ticket_id"] for route in plan["routes"] for visit in route["visits"]} - {None}
    return served <= tickets and {route["agent_id"] for route in plan["routes"]} <= agents
