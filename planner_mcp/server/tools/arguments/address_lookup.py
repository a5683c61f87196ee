"""Addresses resolved for a caller: what they confirmed first, the rest by the service or offline.

Owns how a text is resolved for a principal; the planner and the address server do it by this one function.
"""

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio.from_thread
import anyio.lowlevel

from planner_mcp.addresses.bounded_batches import resolved_in_parts
from planner_mcp.addresses.structured_address import (
    Accuracy,
    AddressStatus,
    Evidence,
    PlacePosition,
    ResolvedAddress,
    StructuredAddress,
)
from planner_mcp.bounded_calls.call_server import ask_caller
from planner_mcp.geocoding.geocoding_service import RunHere
from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.jobs.limits.reading_limits import read_bounded
from planner_mcp.jobs.records.confirmed_addresses import ConfirmedAddress
from planner_mcp.routing.scenario.coordinates import to_wgs84
from planner_mcp.server.tools.tool_definition import ToolContext

T = TypeVar("T")
CONFIRMED: Final = "confirmed"
PIN_RADIUS_M: Final = 50.0
"""Of a position that a person gave."""
AddressResolver = Callable[[Sequence[str]], list[ResolvedAddress]]
"""Resolves the addresses of a day while it is checked, outside the event loop."""
MOST_IN_THREAD: Final = 25
"""Addresses of a batch that are read beside the event loop, within ten milliseconds."""
_limiter: Final = FairLimiter()
"""Few addresses read at the same time; a hundred threads of one caller would leave the event loop hardly a turn."""
_batches: Final = FairLimiter(most_waiting=16)
"""Large batches read at the same time; a call with few addresses waits for none of them."""


@dataclass(frozen=True, slots=True)
class AddressQuestion:
    """Addresses that a process for one call asks its caller to resolve."""

    texts: tuple[str, ...]


def address_resolver(ctx: ToolContext) -> AddressResolver:
    """Return how a day comes to its positions in a thread of this event loop."""
    return lambda texts: anyio.from_thread.run(resolve_for, ctx, texts)


def resolve_apart(texts: Sequence[str]) -> list[ResolvedAddress]:
    """Return what texts say of places; in a process of its own that `read_apart` started."""
    found: list[ResolvedAddress] = ask_caller(AddressQuestion(tuple(texts)))
    return found


def run_here(ctx: ToolContext) -> RunHere:
    """Return what reads addresses in a thread when it is their caller's turn."""
    return partial(_limiter.run, ctx.principal.id)


async def resolve_for(ctx: ToolContext, texts: Sequence[str], provider: str | None = None) -> list[ResolvedAddress]:
    """Return what each text says of a place; confirmed ones are not asked again.

    Raises:
        InputError: There is no service of this name.
    """
    known = await ctx.confirmed.confirmed(ctx.principal.id, texts)
    asked = ctx.geocoding.resolve(texts, provider, partial(_resolved_beside, ctx))  # all: the rows help each other
    return with_confirmed(await asked, known)


def with_confirmed(resolved: Sequence[ResolvedAddress], known: Mapping[str, ConfirmedAddress]) -> list[ResolvedAddress]:
    """Return answers with what was confirmed in place of what was resolved."""
    return [_confirmed(each.text, known[each.text]) if each.text in known else each for each in resolved]


async def read_in_turn(ctx: ToolContext, function: Callable[..., T], *args: Any) -> T:
    """Return what a function makes of a large batch, in a process of its own, when it is the caller's turn.

    Raises:
        QuotaExceededError: Too many batches of the caller wait.
        PlannerError: As `read_bounded`.
    """
    async with _batches.turn(ctx.principal.id):
        return await read_bounded(ctx.principal.id, ctx.settings, function, *args)


async def _resolved_beside(
    ctx: ToolContext,
    resolved_here: Callable[[Sequence[str], Path | None], list[ResolvedAddress]],
    texts: Sequence[str],
    register: Path | None,
) -> list[ResolvedAddress]:
    """Return what texts say of places: of a few in a thread, of more in a process of its own at the caller's cost."""
    if len(texts) <= MOST_IN_THREAD:
        few: list[ResolvedAddress] = await _limiter.run(ctx.principal.id, resolved_here, texts, register)
        return few
    parts = await read_in_turn(ctx, resolved_in_parts, tuple(texts), register)
    resolved: list[ResolvedAddress] = []
    for part in parts:
        resolved += pickle.loads(part)  # noqa: S301 - our own child wrote it
        await anyio.lowlevel.checkpoint()
    return resolved


def pinned(lat: float, lon: float, crs: str = "wgs84") -> PlacePosition:
    """Return a position that a person gave."""
    north, east = to_wgs84(lat, lon, crs)
    return PlacePosition(north, east, Accuracy.POINT, PIN_RADIUS_M, source_crs=crs)


def confirmed_as(
    resolved: ResolvedAddress, address: StructuredAddress, position: PlacePosition | None
) -> ResolvedAddress:
    """Return an answer as a person wants it."""
    return replace(
        resolved,
        status=AddressStatus.RESOLVED,
        address=address,
        position=position,
        evidence=(Evidence("you confirmed it", 1.0),),
        source=CONFIRMED,
        candidates=(),
        notes=(),
    )


def _confirmed(text: str, meant: ConfirmedAddress) -> ResolvedAddress:
    resolved = ResolvedAddress(text, AddressStatus.RESOLVED, meant.address, None, ())
    return confirmed_as(resolved, meant.address, meant.position)
