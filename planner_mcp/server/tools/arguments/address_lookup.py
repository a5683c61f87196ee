"""Addresses resolved for a caller: what they confirmed first, the rest by the service or offline.

Owns the record of a confirmed address. The planner and the address server resolve by this one function.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import anyio.from_thread

from planner_mcp.addresses.structured_address import (
    Accuracy,
    AddressStatus,
    Evidence,
    PlacePosition,
    ResolvedAddress,
    StructuredAddress,
)
from planner_mcp.bounded_calls.call_server import ask_caller
from planner_mcp.geocoding.geocoding_service import GeocodingService
from planner_mcp.server.tools.tool_definition import ToolContext

CONFIRMED: Final = "confirmed"
AddressResolver = Callable[[Sequence[str]], list[ResolvedAddress]]
"""Resolves the addresses of a day while it is judged, outside the event loop."""


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


def geocoding_of(ctx: ToolContext) -> GeocodingService:
    """Return the service of a call."""
    return ctx.geocoding or GeocodingService(ctx.settings)


async def resolve_for(ctx: ToolContext, texts: Sequence[str], provider: str | None = None) -> list[ResolvedAddress]:
    """Return what each text says of a place; confirmed ones are not asked again.

    Raises:
        InputError: There is no service of this name.
    """
    known = await ctx.confirmed.confirmed(ctx.principal.id, texts) if ctx.confirmed is not None else {}
    answers = await geocoding_of(ctx).resolve(texts, provider)  # all of them: the rows help each other
    return [_confirmed(each.text, known[each.text]) if each.text in known else each for each in answers]


def record_of(resolved: ResolvedAddress) -> dict[str, Any]:
    """Return what is kept of a confirmed address."""
    position = None if resolved.position is None else asdict(resolved.position)
    return {"address": asdict(resolved.address), "position": position}


def _confirmed(text: str, record: dict[str, Any]) -> ResolvedAddress:
    position = record["position"]
    return ResolvedAddress(
        text,
        AddressStatus.RESOLVED,
        StructuredAddress(**record["address"]),
        None if position is None else PlacePosition(**{**position, "accuracy": Accuracy(position["accuracy"])}),
        (Evidence("you confirmed it", 1.0),),
        CONFIRMED,
    )
