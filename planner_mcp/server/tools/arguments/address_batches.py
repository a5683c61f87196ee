"""The table of a large batch of addresses, made in a process of its own (ADR 0036).

Of such a batch the server holds the bytes of the table and its counts, never its rows: those of 10,000 addresses are
150,000 objects.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from planner_mcp.addresses import bounded_batches
from planner_mcp.addresses.structured_address import AddressCounts, ResolvedAddress
from planner_mcp.geocoding.geocoding_service import OFFLINE, register_of
from planner_mcp.jobs.records.confirmed_addresses import ConfirmedAddress
from planner_mcp.server.resources.address_tables import address_table
from planner_mcp.server.tools.arguments.address_lookup import (
    read_in_turn,
    resolve_for,
    run_here,
    with_confirmed,
)
from planner_mcp.server.tools.tool_definition import ToolContext

before_fork = bounded_batches.before_fork
"""What the call server reads once for all its children, who look for it in the module of their function."""


@dataclass(frozen=True, slots=True)
class AddressTable:
    """A table of resolved addresses, and what an answer says of its rows."""

    csv: bytes
    """In UTF-8."""
    counts: AddressCounts


async def batch_table(ctx: ToolContext, texts: Sequence[str], provider: str | None) -> AddressTable:
    """Return the table of a batch; what a service is asked is made in this process.

    Raises:
        InputError: There is no service of this name.
        PlannerError: As `read_in_turn`.
    """
    if ctx.geocoding.check_provider(provider) == OFFLINE:
        known = await ctx.confirmed.confirmed(ctx.principal.id, texts)
        return await read_in_turn(ctx, table_apart, tuple(texts), register_of(ctx.settings), dict(known))
    table: AddressTable = await run_here(ctx)(table_of, await resolve_for(ctx, texts, provider))
    return table


def table_apart(texts: Sequence[str], register: Path | None, known: Mapping[str, ConfirmedAddress]) -> AddressTable:
    """Return the table of a batch that is resolved offline; in a process of its own.

    Args:
        texts: The batch.
        register: The streets of a road extract, where the deployment has one.
        known: What the caller confirmed, by text.
    """
    return table_of(with_confirmed(bounded_batches.resolved_here(texts, register), known))


def table_of(resolved: Sequence[ResolvedAddress]) -> AddressTable:
    """Return the table of resolved addresses."""
    table = address_table(["address"], [{"address": each.text} for each in resolved], resolved)
    return AddressTable(table.encode(), AddressCounts.of(resolved))
