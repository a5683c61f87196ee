"""`reverse_address`: the address of a position (SPEC O4)."""

from typing import Annotated, Final, Literal

from pydantic import Field

from planner_mcp.server.tools.answers.address_output import AddressResult, AddressRow, row_text
from planner_mcp.server.tools.arguments.address_lookup import run_here
from planner_mcp.server.tools.tool_definition import READ, Arguments, Tool, ToolAnnotations, ToolContext, ToolResult


class ReverseAddressArguments(Arguments):
    """Arguments of `reverse_address`."""

    lat: Annotated[float, Field(ge=-90, le=90, description="degrees north")]
    lon: Annotated[float, Field(ge=-180, le=180, description="degrees east")]
    crs: Annotated[
        Literal["wgs84", "gcj02", "bd09"], Field(description="gcj02 from AMap or Tencent, bd09 from Baidu")
    ] = "wgs84"
    provider: Annotated[str | None, Field(max_length=100, description="as for resolve_addresses")] = None


async def run(ctx: ToolContext, asked: ReverseAddressArguments) -> ToolResult:
    """Name a position."""
    resolved = await ctx.geocoding.reverse(asked.lat, asked.lon, asked.crs, asked.provider, run_here(ctx))
    return ToolResult(AddressResult(row=AddressRow.of(resolved, is_detailed=True)), row_text(1, resolved))


TOOL: Final = Tool(
    name="reverse_address",
    title="Reverse address",
    description=(
        "Name the place of a position: the nearest town or district offline, street and number with a road extract or "
        "a geocoding service. Use it to show a user where a stop is."
    ),
    arguments=ReverseAddressArguments,
    output=AddressResult,
    hints=ToolAnnotations(read_only=True, idempotent=True, open_world=True),
    run=run,
    scope=READ,
    meta={"example": {"lat": 39.9087, "lon": 116.4632}},
)
