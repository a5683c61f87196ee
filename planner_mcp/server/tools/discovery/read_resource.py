"""`read_resource`: whatever a resource offers, for hosts that show their model no resources (SPEC T6, R1)."""

from typing import Annotated, ClassVar, Final

from pydantic import Field

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.masking.field_masking import MASKED
from planner_mcp.server.resources.downloads import Download
from planner_mcp.server.resources.rendering_resources import CALENDAR_TYPE, HTML
from planner_mcp.server.resources.resource_catalogue import forms, read_contents
from planner_mcp.server.resources.resource_definition import JSON, Contents
from planner_mcp.server.tools.arguments.lookup_errors import naming_argument
from planner_mcp.server.tools.tool_definition import (
    READ,
    Arguments,
    ImageContent,
    ResourceLink,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
)
from planner_mcp.server.tools.tool_output import Timestamp, ToolOutput
from planner_mcp.text import Json, timestamp

MAX_BYTES: Final = 1900
"""Most bytes of a piece of text, in each of the two forms of the answer; JSON within JSON may double it in one."""
LEAST_BYTES: Final = 400
"""Least room for a piece of text beside the address of a download, however long that is: with less a reader would
not get on."""
ID_HINT: Final = "list_jobs and list_scenarios give ids; the plan of job-X is plan-X."


class ResourceArguments(Arguments):
    """Arguments of `read_resource`."""

    uri: Annotated[str, Field(max_length=2048, description="of a resource", json_schema_extra={"format": "uri"})]
    offset: Annotated[int, Field(ge=0, le=100_000_000, description="next_offset of the last answer")] = 0


class ReadResourceResult(ToolOutput):
    """Result of `read_resource`."""

    listed: ClassVar[tuple[str, ...]] = ("mime_type", "text", "next_offset", "download")
    uri: str
    mime_type: str
    size: int
    text: str | None = Field(None, description="contents from the offset on")
    next_offset: int | None = None
    masked: list[str] | None = None
    download: str | None = Field(None, description="URL for the person, or path of a file")
    expires_at: Timestamp | None = None


async def run(ctx: ToolContext, asked: ResourceArguments) -> ToolResult:
    """Return a piece of text or a picture; what is to be opened or printed comes as a download."""
    with naming_argument("/uri", (", ".join(forms(ctx.reading, asked.uri)), ID_HINT)):
        found = await read_contents(ctx.reading, asked.uri)
    if found.data is not None and found.mime_type.startswith("image/"):
        output = ReadResourceResult(uri=asked.uri, mime_type=found.mime_type, size=len(found.data))
        return ToolResult(output, _heading(output), images=(ImageContent(found.data, found.mime_type),))
    if found.text is None or found.mime_type in (HTML, CALENDAR_TYPE):
        return _download(asked, found, await ctx.offer_download(asked.uri, found))
    is_long = not asked.offset and cut(found.text) != found.text and found.mime_type != JSON
    return _content_part(asked, found, found.text, await ctx.offer_download(asked.uri, found) if is_long else None)


def _heading(output: ReadResourceResult) -> str:
    return f"{output.uri}: {output.mime_type}, {output.size} bytes"


def _download(asked: ResourceArguments, found: Contents, download: Download) -> ToolResult:
    if asked.offset:
        raise input_error([Fault("/offset", "This resource is a download; it has no pieces.", "0")])
    output = ReadResourceResult(uri=asked.uri, mime_type=found.mime_type, size=len(found.body), **_where(download))
    return ToolResult(output, f"{_heading(output)}\n{_download_line(output)}", _link(output))


def _content_part(asked: ResourceArguments, found: Contents, whole: str, download: Download | None) -> ToolResult:
    if asked.offset > len(whole):
        raise input_error([Fault("/offset", "The text is shorter than this.", f"0 to {len(whole)}")])
    room = MAX_BYTES if download is None else max(LEAST_BYTES, MAX_BYTES - 2 * len(download.address))  # a token is dear
    piece = cut(whole[asked.offset :], room)
    end = asked.offset + len(piece)
    output = ReadResourceResult(
        uri=asked.uri,
        mime_type=found.mime_type,
        size=len(whole.encode()),
        text=piece,
        next_offset=end if end < len(whole) else None,
        masked=list(found.masked) or None,  # with each piece: a reader of the last may not see the first
        **(_where(download) if download is not None else {}),
    )
    more = f"\n… more with offset={end}" if end < len(whole) else ""
    if found.masked:
        more += f"\n{MASKED}: {', '.join(found.masked)}"
    if download is not None:
        more += f"\n{_download_line(output)}"
    return ToolResult(output, piece + more, _link(output))


def _where(download: Download) -> Json:
    ends = download.expires_at
    return {"download": download.address, "expires_at": timestamp(ends) if ends is not None else None}


def _download_line(output: ReadResourceResult) -> str:
    if output.expires_at is None:
        return f"Saved as {output.download}"
    return f"For the person, until {output.expires_at}: {output.download}"


def _link(output: ReadResourceResult) -> tuple[ResourceLink, ...]:
    if output.download is None or output.expires_at is None:
        return ()
    return (ResourceLink(output.download, output.download.rpartition("/")[2], output.mime_type),)


def cut(text: str, room: int = MAX_BYTES) -> str:
    """Return the beginning of a text that keeps within so many bytes of UTF-8."""
    return text[:room].encode()[:room].decode(errors="ignore")


TOOL: Final = Tool(
    name="read_resource",
    title="Read resource",
    description=(
        "Read scenario://ID /result; job://ID/log.txt; limits://vrp workers://vrp schema://scenario "
        "jobs://vrp/status/all logs://vrp/DATE.txt file:///; plan://ID/map.png map.svg report.html sheets.html "
        "stops.csv stops.xlsx routes.geojson routes.gpx routes/1.ics"
    ),
    arguments=ResourceArguments,
    output=ReadResourceResult,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="data",
    meta={"example": {"uri": "job://job-0-…"}},
)
