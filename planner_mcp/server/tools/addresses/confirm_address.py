"""`confirm_address`: what a text means to this user, kept for later calls (SPEC O4)."""

from typing import Annotated, Final, Literal

from pydantic import Field

from planner_mcp.addresses.address_text import MAX_TEXT
from planner_mcp.addresses.structured_address import ResolvedAddress
from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.records.confirmed_addresses import ConfirmedAddress
from planner_mcp.server.tools.answers.address_output import AddressResult, AddressRow, row_text
from planner_mcp.server.tools.arguments.address_lookup import confirmed_as, pinned, run_here
from planner_mcp.server.tools.tool_definition import WRITE, Arguments, Tool, ToolAnnotations, ToolContext, ToolResult
from planner_mcp.translation import translated

_KEPT: Final = "Kept for your later calls, also those of the planner."


class ConfirmAddressArguments(Arguments):
    """Arguments of `confirm_address`."""

    address: Annotated[str, Field(min_length=1, max_length=MAX_TEXT, description="the text, as it was resolved")]
    choice: Annotated[
        int | None, Field(ge=1, le=3, description="of its candidates; absent: the answer as it stands, or lat and lon")
    ] = None
    lat: Annotated[float | None, Field(ge=-90, le=90, description="degrees north, where the user says it is")] = None
    lon: Annotated[float | None, Field(ge=-180, le=180, description="degrees east")] = None
    crs: Annotated[Literal["wgs84", "gcj02", "bd09"], Field(description="of lat and lon")] = "wgs84"
    provider: Annotated[str | None, Field(max_length=100, description="as for resolve_addresses")] = None


async def run(ctx: ToolContext, asked: ConfirmAddressArguments) -> ToolResult:
    """Keep what a text means."""
    _check_choice(asked)
    (resolved,) = await ctx.geocoding.resolve([asked.address], asked.provider, run_here(ctx))
    confirmed = _chosen(asked, resolved)
    await ctx.confirmed.confirm(
        ctx.principal.id, asked.address, ConfirmedAddress(confirmed.address, confirmed.position)
    )
    output = AddressResult(row=AddressRow.of(confirmed, is_detailed=True))
    return ToolResult(output, f"{row_text(1, confirmed)}\n{translated(_KEPT)}")


def _check_choice(asked: ConfirmAddressArguments) -> None:
    faults = []
    if (asked.lat is None) != (asked.lon is None):
        missing = "lon" if asked.lon is None else "lat"
        faults.append(Fault(f"/{missing}", "One of lat and lon is missing.", "both, or neither", "", "missing"))
    if asked.choice is not None and asked.lat is not None:
        faults.append(Fault("/choice", "A choice and a position are given.", "one of them", "", "logic"))
    if faults:
        raise input_error(faults)


def _chosen(asked: ConfirmAddressArguments, resolved: ResolvedAddress) -> ResolvedAddress:
    """Return the answer as the user wants it."""
    address, position = resolved.address, resolved.position
    if asked.lat is not None and asked.lon is not None:
        position = pinned(asked.lat, asked.lon, asked.crs)
    elif asked.choice is not None:
        if asked.choice > len(resolved.candidates):
            accepted = f"1 to {len(resolved.candidates)}" if resolved.candidates else "no choice: it has no candidates"
            raise input_error(
                [Fault("/choice", "There is no such candidate.", accepted, "Call resolve_addresses to see them.")]
            )
        candidate = resolved.candidates[asked.choice - 1]
        address, position = candidate.address, candidate.position
    if position is None:
        hint = "Give choice, or lat and lon." if resolved.candidates else "Give lat and lon."
        raise input_error([Fault("/address", "No position is known for it.", "a text with a position", hint)])
    return confirmed_as(resolved, address, position)


TOOL: Final = Tool(
    name="confirm_address",
    title="Confirm address",
    description=(
        "Keep the user's choice for a text that resolve_addresses left open: one of its candidates, the answer as it "
        "stands, or a position. Later calls with this text, also create_scenario, use it."
    ),
    arguments=ConfirmAddressArguments,
    output=AddressResult,
    hints=ToolAnnotations(idempotent=True, open_world=True),
    run=run,
    scope=WRITE,
    meta={"example": {"address": "朝阳区建国路88号", "choice": 2}},
)
