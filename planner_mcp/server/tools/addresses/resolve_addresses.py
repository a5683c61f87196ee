"""`resolve_addresses`: texts to positions with their radius and confidence (SPEC O4)."""

from typing import Annotated, ClassVar, Final

from pydantic import Field

from planner_mcp.addresses.address_text import MAX_TEXT
from planner_mcp.addresses.structured_address import AddressCounts, ResolvedAddress
from planner_mcp.errors import Fault, input_error
from planner_mcp.server.resources.address_tables import MIME_TYPE, keep_table
from planner_mcp.server.resources.resource_definition import Contents
from planner_mcp.server.tools.answers.address_output import AddressRow, counts_text, row_text
from planner_mcp.server.tools.arguments.address_batches import batch_table
from planner_mcp.server.tools.arguments.address_lookup import resolve_for, run_here
from planner_mcp.server.tools.tool_definition import READ, Arguments, Tool, ToolAnnotations, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import Timestamp, ToolOutput
from planner_mcp.text import timestamp
from planner_mcp.translation import phrase

MAX_ADDRESSES: Final = 10_000
MAX_LISTED: Final = 100
"""Addresses up to which the answer has the rows; of more it names a table."""
MAX_DETAILED: Final = 25
"""Addresses up to which each row has parts, candidates and reasons; a hundred of those would fill a context."""


class ResolveAddressesArguments(Arguments):
    """Arguments of `resolve_addresses`."""

    addresses: Annotated[
        list[str],
        Field(min_length=1, description="rows of one city help each other; above 100 the answer is a CSV file"),
    ]
    provider: Annotated[
        str | None, Field(max_length=100, description="geocoding service of this deployment by name, or offline")
    ] = None


class ResolveAddressesResult(ToolOutput):
    """Result of `resolve_addresses`."""

    listed: ClassVar[tuple[str, ...]] = ("rows", "sure", "download")
    rows: list[AddressRow] = Field(
        description="in the order of the addresses; parts, candidates and reasons up to 25, none above 100"
    )
    sure: int = Field(description="rows that can be used unasked")
    file: str | None = Field(None, description="the table by the name that import_scenario takes")
    download: str | None = Field(None, description="above 100: URL of the table, or path of a file")
    expires_at: Timestamp | None = None


async def run(ctx: ToolContext, asked: ResolveAddressesArguments) -> ToolResult:
    """Resolve a batch of addresses."""
    _check_sizes(asked.addresses)
    if len(asked.addresses) > MAX_LISTED:
        return await _table(ctx, asked)
    resolved = await resolve_for(ctx, asked.addresses, asked.provider)
    result: ToolResult = await run_here(ctx)(_result, resolved)
    return result


async def _table(ctx: ToolContext, asked: ResolveAddressesArguments) -> ToolResult:
    """Keep the rows as a table and return where it can be had."""
    table = await batch_table(ctx, asked.addresses, asked.provider)
    uri, file = await keep_table(ctx.job_service.imports, ctx.principal, table.csv)
    download = await ctx.offer_download(uri, Contents(MIME_TYPE, table.csv.decode()))
    expires_at = None if download.expires_at is None else timestamp(download.expires_at)
    output = ResolveAddressesResult(
        rows=[],
        sure=table.counts.sure,
        file=file,
        download=download.address,
        expires_at=expires_at,
    )
    until = "" if expires_at is None else phrase(", until {}", expires_at)
    lines = [
        counts_text(table.counts),
        phrase("Table, a row for each address{}: {}", until, download.address),
        "Next: " + phrase("rows below 0.8 to the user, 25 a call for candidates; import_scenario takes file={}.", file),
    ]
    return ToolResult(output, "\n".join(lines))


def _result(resolved: list[ResolvedAddress]) -> ToolResult:
    is_detailed = len(resolved) <= MAX_DETAILED
    counts = AddressCounts.of(resolved)
    output = ResolveAddressesResult(
        rows=[AddressRow.of(each, is_detailed=is_detailed) for each in resolved],
        sure=counts.sure,
    )
    lines = [
        counts_text(counts),
        *(row_text(at, each, is_detailed=is_detailed) for at, each in enumerate(resolved, 1)),
    ]
    if output.sure < len(resolved) and is_detailed:
        lines.append("Next: show the others to the user, then confirm_address or ask for a better text.")
    elif output.sure < len(resolved):
        again = phrase("send the others again, at most {} a call, for candidates and reasons.", MAX_DETAILED)
        lines.append(f"Next: {again}")
    return ToolResult(output, "\n".join(lines))


def _check_sizes(addresses: list[str]) -> None:
    """Refuse a batch that is too large, and texts that are no addresses, all at once."""
    if (count := len(addresses)) > MAX_ADDRESSES:
        calls = -(-count // MAX_ADDRESSES)
        problem = f"There are {count} addresses in one call."
        hint = f"Split them into {calls} calls of at most {MAX_ADDRESSES}, rows of one city together."
        raise input_error([Fault("/addresses", problem, f"at most {MAX_ADDRESSES}", hint, "logic")])
    faults = [
        Fault(
            f"/addresses/{at}",
            f"The text has {len(text)} characters.",
            f"at most {MAX_TEXT}",
            "Send the address alone.",
        )
        for at, text in enumerate(addresses)
        if len(text) > MAX_TEXT
    ]
    if faults:
        raise input_error(faults)


TOOL: Final = Tool(
    name="resolve_addresses",
    title="Resolve addresses",
    description=(
        "Turn address texts (Chinese, English, German and others) into parts and positions, before create_scenario of "
        "the planner. Rows below confidence 0.8 must be shown to the user. Positions are WGS-84 with a radius: offline "
        "they are centres of towns, districts or cities. Next: confirm_address for what is open."
    ),
    arguments=ResolveAddressesArguments,
    output=ResolveAddressesResult,
    hints=ToolAnnotations(read_only=True, idempotent=True, open_world=True),
    run=run,
    scope=READ,
    meta={"example": {"addresses": ["北京市朝阳区建国路88号", "Alexanderplatz 1, 10178 Berlin"]}},
)
