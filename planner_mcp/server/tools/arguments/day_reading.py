"""How a call reads a day: within which bounds, with which tables, and how its addresses become positions.

Owns the two places where a day is checked: a thread of this process, which asks its event loop, and a process for one
call (ADR 0036), which asks this one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from planner_mcp.addresses.structured_address import ResolvedAddress
from planner_mcp.jobs.job_model import StoredScenario
from planner_mcp.jobs.limits.reading_limits import read_bounded
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.scenario.travel_matrices import Packed
from planner_mcp.server.tools.arguments.address_lookup import (
    AddressQuestion,
    address_resolver,
    resolve_apart,
    resolve_for,
)
from planner_mcp.server.tools.arguments.kept_files import Kept, KeptQuestion, find_kept
from planner_mcp.server.tools.arguments.resolved_inputs import (
    InputResolver,
    ScenarioBounds,
    input_resolver,
    resolver_apart,
    scenario_within_limits,
    with_default_travel,
)
from planner_mcp.server.tools.arguments.scenario_addresses import AddressedDay, with_resolved_addresses
from planner_mcp.server.tools.tool_definition import ToolContext

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DayReader:
    """What it takes to judge a day."""

    bounds: ScenarioBounds
    """Of the deployment."""
    resolve_inputs: InputResolver
    """How the day comes to its tables."""
    resolve_addresses: Callable[[Any], AddressedDay] = AddressedDay
    """How its addresses become positions; `AddressedDay` itself where no address can be new."""

    def as_kept(self, body: Any) -> AddressedDay:
        """Return a day as it is kept: with positions for its addresses, and the roads of this deployment."""
        day = self.resolve_addresses(body)
        return AddressedDay(with_default_travel(day.body, self.bounds), day.notices)

    def scenario(self, body: Any) -> Scenario:
        """Return a day with its tables; raises as `scenario_within_limits`."""
        return scenario_within_limits(body, self.bounds, self.resolve_inputs(body))


def day_reader(
    ctx: ToolContext, *, is_written: bool = False, stored: StoredScenario | None = None, is_asking: bool = False
) -> DayReader:
    """Return what reads days in a thread of this event loop.

    Args:
        ctx: Of the call.
        is_written: As of `input_resolver`.
        stored: As of `input_resolver`.
        is_asking: As of `with_resolved_addresses`.
    """
    addressed = partial(with_resolved_addresses, resolve=address_resolver(ctx), is_asking=is_asking)
    inputs = input_resolver(ctx, is_written=is_written, stored=stored)
    return DayReader(ScenarioBounds.of(ctx.settings), inputs, addressed)


def day_reader_apart(bounds: ScenarioBounds, *, is_written: bool, is_asking: bool = False) -> DayReader:
    """Return what reads a day of the caller's own in a process that `read_apart` started; as `day_reader`."""
    addressed = partial(with_resolved_addresses, resolve=resolve_apart, is_asking=is_asking)
    return DayReader(bounds, resolver_apart(bounds, is_written=is_written), addressed)


async def read_apart(ctx: ToolContext, function: Callable[..., T], *args: Any) -> T:
    """Return what a function makes of an input of the caller in a process of its own; raises as `read_bounded`."""

    async def answered(question: Any) -> Packed | Kept | list[ResolvedAddress]:
        if isinstance(question, AddressQuestion):
            return await resolve_for(ctx, question.texts)
        if isinstance(question, KeptQuestion):
            return await find_kept(ctx.job_service.imports, ctx.principal, ctx.settings.files_dir, question.file)
        return await ctx.job_service.matrices.packed(ctx.principal.id, question)

    return await read_bounded(ctx.principal.id, ctx.settings, function, *args, answer=answered)
