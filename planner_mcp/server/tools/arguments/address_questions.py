"""Open addresses asked of the person behind a call, and the answers kept (SPEC T1, T7, O4).

Owns the form of the question and what an answer means. A person chooses a candidate, or writes a position or a fuller
address. What they say is kept as `confirm_address` keeps it, so the same address is not asked again. Where nobody can
be asked, or nothing was answered, the call goes on as it would have without a question.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from planner_mcp.addresses.structured_address import AddressCandidate, PlacePosition, ResolvedAddress
from planner_mcp.errors import InputError
from planner_mcp.jobs.records.confirmed_addresses import ConfirmedAddress
from planner_mcp.server.tools.arguments.address_lookup import confirmed_as, pinned, resolve_for
from planner_mcp.server.tools.tool_definition import AskUser, ToolContext
from planner_mcp.text import Json, plain

T = TypeVar("T")
MAX_ASKED: Final = 10
"""Addresses of one question; of more the rest is reported as faults."""
MAX_SHOWN: Final = 80
_NONE: Final = "none of these"
_MESSAGE: Final = "Some addresses are not sure. What is left empty stays open."
_FREE: Final = "a fuller address with its city, or latitude, longitude"


async def with_asked_addresses(ctx: ToolContext, attempt: Callable[[bool], Awaitable[T]]) -> T:
    """Return what an attempt makes of a day, after its open addresses were asked about.

    Args:
        ctx: Of the call.
        attempt: Checks the day. Its argument says whether every open address is to be a fault.
    """
    if ctx.ask_user is None:
        return await attempt(False)
    try:
        return await attempt(True)
    except InputError as error:
        texts = list(dict.fromkeys(fault.open_address for fault in error.errors if fault.open_address))
        if not texts:
            raise
        await _ask(ctx, ctx.ask_user, texts[:MAX_ASKED])
    return await attempt(False)


async def _ask(ctx: ToolContext, ask_user: AskUser, texts: Sequence[str]) -> None:
    """Ask about addresses and keep what is answered."""
    open_addresses = await resolve_for(ctx, texts)
    choices = [_choices(each) for each in open_addresses]
    fields = {
        f"address_{number}": _field(each, labels)
        for number, (each, labels) in enumerate(zip(open_addresses, choices, strict=True), 1)
    }
    answer = await ask_user(_MESSAGE, {"type": "object", "properties": fields})
    for number, (each, labels) in enumerate(zip(open_addresses, choices, strict=True), 1):
        meant = await _meant(ctx, each, labels, answer.get(f"address_{number}"))
        if meant is not None:
            await ctx.confirmed.confirm(ctx.principal.id, each.text, ConfirmedAddress(meant.address, meant.position))


def _choices(resolved: ResolvedAddress) -> Mapping[str, AddressCandidate]:
    """Return the candidates that have a position by what a person reads."""
    return {plain(each.label, MAX_SHOWN): each for each in resolved.candidates if each.position is not None}


def _field(resolved: ResolvedAddress, labels: Mapping[str, AddressCandidate]) -> Json:
    field: Json = {"type": "string", "title": plain(resolved.text, MAX_SHOWN)}
    return {**field, "enum": [*labels, _NONE]} if labels else {**field, "description": _FREE}


async def _meant(
    ctx: ToolContext, resolved: ResolvedAddress, labels: Mapping[str, AddressCandidate], reply: Any
) -> ResolvedAddress | None:
    """Return what a person meant; None for nothing, or what is not clear either."""
    if not isinstance(reply, str) or not reply.strip() or reply == _NONE:
        return None
    if (chosen := labels.get(reply)) is not None:
        return confirmed_as(resolved, chosen.address, chosen.position)
    if (position := _position(reply)) is not None:
        return confirmed_as(resolved, resolved.address, position)
    (fuller,) = await resolve_for(ctx, [reply])
    return confirmed_as(resolved, fuller.address, fuller.position) if fuller.is_sure and fuller.position else None


def _position(reply: str) -> PlacePosition | None:
    try:
        lat, lon = (float(part) for part in reply.split(","))
    except ValueError:
        return None
    if not (abs(lat) <= 90 and abs(lon) <= 180):
        return None
    return pinned(lat, lon)
