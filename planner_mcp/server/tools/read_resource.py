"""`read_resource`: whatever a resource offers, for hosts that show their model no resources (SPEC T6, R1)."""

from typing import Annotated, ClassVar, Final

from pydantic import Field

from planner_mcp.errors import Fault, PlannerError, input_error
from planner_mcp.jobs.field_masking import MASKED
from planner_mcp.server.resources.resource_catalogue import forms, read
from planner_mcp.server.resources.resource_definition import Contents
from planner_mcp.server.tools.arguments.lookup_errors import naming_argument
from planner_mcp.server.tools.tool_definition import (
    READ,
    Arguments,
    ImageContent,
    ResourceBytes,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
    parse,
    schema_of,
)
from planner_mcp.server.tools.tool_output import Json, ToolOutput

MAX_BYTES: Final = 1900
"""Of one piece of text, in each of the two forms of the answer; JSON within JSON may double it in one."""


_HINT: Final = "list_jobs and list_scenarios give ids; the plan of job-X is plan-X."


class ResourceArguments(Arguments):
    """Arguments of `read_resource`."""

    uri: Annotated[str, Field(max_length=2048, description="of a resource")]
    offset: Annotated[int, Field(ge=0, le=100_000_000, description="next_offset of the answer before")] = 0


class ReadResourceResult(ToolOutput):
    """Result of `read_resource`."""

    listed: ClassVar[tuple[str, ...]] = ("uri", "mime_type", "text", "next_offset", "size")
    uri: str
    mime_type: str
    size: int
    text: str | None = None
    next_offset: int | None = None
    masked: list[str] | None = None


async def run(ctx: ToolContext, args: Json) -> ToolResult:
    """Return a piece of text, or all the bytes: a picture as one, anything else as an embedded resource."""
    asked = parse(ResourceArguments, args)
    if ctx.reading is None:
        raise PlannerError
    with naming_argument("/uri", (", ".join(forms(ctx.reading, asked.uri)), _HINT)):
        found = await read(ctx.reading, asked.uri)
    return _bytes(asked.uri, found, found.data) if found.data is not None else _content_part(asked, found)


def _bytes(uri: str, found: Contents, data: bytes) -> ToolResult:
    output = ReadResourceResult(uri=uri, mime_type=found.mime_type, size=len(data))
    text = f"{uri}: {found.mime_type}, {len(data)} bytes"
    if found.mime_type.startswith("image/"):
        return ToolResult(output, text, images=(ImageContent(data, found.mime_type),))
    return ToolResult(output, text, blobs=(ResourceBytes(uri, data, found.mime_type),))


def _content_part(asked: ResourceArguments, found: Contents) -> ToolResult:
    whole = found.text or ""
    if asked.offset > len(whole):
        raise input_error([Fault("/offset", "The text is shorter than this.", f"0 to {len(whole)}")])
    piece = cut(whole[asked.offset :])
    end = asked.offset + len(piece)
    output = ReadResourceResult(
        uri=asked.uri,
        mime_type=found.mime_type,
        size=len(whole.encode()),
        text=piece,
        next_offset=end if end < len(whole) else None,
        masked=list(found.masked) or None,  # with each piece: a reader of the last may not see the first
    )
    more = f"\n… more with offset={end}" if end < len(whole) else ""
    if found.masked:
        more += f"\n{MASKED}: {', '.join(found.masked)}"
    return ToolResult(output, piece + more)


def cut(text: str) -> str:
    """Return the beginning of a text that keeps within `MAX_BYTES` of UTF-8."""
    return text[:MAX_BYTES].encode()[:MAX_BYTES].decode(errors="ignore")


TOOL: Final = Tool(
    name="read_resource",
    title="Read resource",
    description=(
        "Read scenario://ID, /result too; job://ID, limits://vrp, schema://scenario, jobs://vrp/status/all, "
        "logs://vrp/DATE, file:///; plan://ID, /map.png, map.svg, report.html, sheets.html, stops.csv, "
        "routes.geojson, routes.gpx."
    ),
    input_schema=schema_of(ResourceArguments),
    output=ReadResourceResult,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="data",
    meta={"example": {"uri": "job://job-0-…"}},
)
