"""`import_scenario`: a day from a file of another program, checked and kept (SPEC T5, T7)."""

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from planner_mcp.errors import Fault, InputError, PlannerError, placed
from planner_mcp.formats.column_mapping import ColumnMapping
from planner_mcp.formats.import_formats import Form, open_columns, read_scenario_file
from planner_mcp.formats.import_options import ImportedScenario, ImportOptions
from planner_mcp.formats.json_content import Content
from planner_mcp.jobs.fair_limiter import FairLimiter
from planner_mcp.routing.scenario.scenario_patch import with_id_path
from planner_mcp.server.tools.answers.token_estimates import fitting
from planner_mcp.server.tools.arguments.elicitation_questions import Question
from planner_mcp.server.tools.arguments.json_checks import check_json
from planner_mcp.server.tools.arguments.resolved_inputs import PlainBounds, ScenarioBounds, read_apart, resolver_apart
from planner_mcp.server.tools.create_scenario import (
    CreateScenarioResult,
    JudgedScenario,
    judged_scenario,
    keep,
    link_to,
)
from planner_mcp.server.tools.large_arguments import LargeArguments
from planner_mcp.server.tools.tool_definition import (
    WRITE,
    Arguments,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
    parse,
    refuse,
    schema_of,
)
from planner_mcp.server.tools.tool_output import Json, ToolOutput
from planner_mcp.text import plain

_limiter: Final = FairLimiter()
"""Files read at the same time, each in a process of its own; a workbook may take many seconds."""
MAX_HEADER: Final = 40
MAX_TOLD_BYTES: Final = 1500
"""Room for the columns of one table in each form of an answer."""


class ImportArguments(Arguments):
    """Arguments of `import_scenario`."""

    format: Form
    content: Annotated[str, Field(description="xlsx as base64")]
    planning_date: str
    name: str | None = None
    agents: Annotated[list[Json], Field(description="as in create_scenario")] = []  # noqa: RUF012
    depot: Annotated[str | None, Field(max_length=100, description="lat,lon or location")] = None
    columns: Annotated[dict[str, str] | None, Field(max_length=400, description="field by header")] = None
    sheet: Annotated[str | None, Field(max_length=100)] = None
    decimal: Annotated[Literal[".", ","] | None, Field(description="mark before decimals")] = None
    strict: Annotated[bool, Field(description="refuse tickets nobody can serve")] = False


class ImportedColumns(ToolOutput):
    """What the columns of a table were read as."""

    taken: list[str]
    left_out: list[str]


class ImportScenarioResult(CreateScenarioResult):
    """Result of `import_scenario`."""

    listed: ClassVar[tuple[str, ...]] = ("scenario_id",)
    columns: dict[str, ImportedColumns] = Field(description="by table")


@dataclass(frozen=True, slots=True)
class _ReadFile:
    judged: JudgedScenario
    columns: dict[str, ImportedColumns]


async def run(ctx: ToolContext, args: Json) -> ToolResult:
    """Read a file, keep its day, and tell what its columns were taken for."""
    return await _answered(ctx, _read, parse(ImportArguments, args))


async def run_text(ctx: ToolContext, arguments: LargeArguments) -> ToolResult:
    """Do the same with arguments that are still text."""
    return await _answered(ctx, _read_text, str(arguments), ctx.settings.max_nesting)


async def _answered(ctx: ToolContext, function: Callable[..., _ReadFile], *args: Any) -> ToolResult:
    async with _limiter.turn(ctx.principal.id):
        read = await read_apart(ctx, function, PlainBounds.of(ctx.settings), *args)
    kept, text = await keep(ctx, read.judged)
    lines = [f"{what}: {', '.join(each.taken)}" for what, each in read.columns.items()]
    lines += [f"{what}, not used: {', '.join(each.left_out)}" for what, each in read.columns.items() if each.left_out]
    output = ImportScenarioResult(**dict(kept), columns=read.columns)
    return ToolResult(output, "\n".join([*lines, text]), (link_to(kept),))


def _read_text(bounds: PlainBounds, text: str, max_nesting: int) -> _ReadFile:
    return _read(bounds, parse(ImportArguments, check_json(json.loads(text), max_nesting=max_nesting)))


def _read(bounds: PlainBounds, asked: ImportArguments) -> _ReadFile:
    """Return the day, judged; in a process of its own."""
    read = _read_file(asked, bounds)
    place = partial(_led_back, read=read)
    body = {**read.body, "strict": True} if asked.strict else read.body
    with placed(place):
        resolve_inputs = resolver_apart(bounds, is_written=False, shows_names=True)
        judged = judged_scenario(body, bounds, resolve_inputs, read.assumptions, place)
    return _ReadFile(judged, {what: _column_summary(proposal) for what, proposal in read.proposals.items()})


def _read_file(asked: ImportArguments, bounds: ScenarioBounds) -> ImportedScenario:
    """Return the day; what is wrong in the file is told by its place under `/content`."""
    content, import_options = _source(asked)
    with placed(_in_argument):
        return read_scenario_file(
            content, asked.format, import_options, max_tickets=bounds.max_tickets, max_agents=bounds.max_agents
        )


_LEAVE_OUT: Final = "leave it out"
_MAX_ASKED: Final = 12
"""Columns of one question; of more the rest is told as faults."""


def question_of(args: Any, bounds: ScenarioBounds) -> Question | None:
    """Return what a call should ask first: what open columns are, and the mark before decimals; None for nothing.

    A file with other faults is not asked about: it comes again.
    """
    try:
        asked = parse(ImportArguments, args)
        _read_file(asked, bounds)
    except InputError as error:
        open_paths = {fault.path for fault in error.errors}
    except PlannerError:
        return None
    else:
        return None
    if not open_paths <= {"/columns", "/decimal"}:
        return None
    content, import_options = _source(asked)
    columns = open_columns(content, asked.format, import_options, max_tickets=bounds.max_tickets)[:_MAX_ASKED]
    fields: Json = {
        f"column_{number}": {
            "type": "string",
            "title": plain(column.header, MAX_HEADER),
            "description": plain(f"{column.why or 'looks like'} {column.looks}", 200),
            "enum": [*column.options, _LEAVE_OUT],
        }
        for number, column in enumerate(columns, 1)
    }
    if "/decimal" in open_paths:
        fields["decimal"] = {"type": "string", "title": "Mark before decimals", "enum": [".", ","]}
    if not fields:
        return None

    message = "Some columns of this file are not clear. What an empty answer leaves open is told as an error."
    return Question(
        message, {"type": "object", "properties": fields}, partial(_filled, [each.header for each in columns])
    )


def _filled(headers: Sequence[str], given: Mapping[str, Any], answer: Mapping[str, Any]) -> Json:
    """Return the arguments of a call with the answer put in; `headers` are of the columns that were asked about."""
    named = {
        header: "" if choice == _LEAVE_OUT else choice
        for number, header in enumerate(headers, 1)
        if (choice := answer.get(f"column_{number}"))
    }
    mark = {"decimal": answer["decimal"]} if answer.get("decimal") else {}
    return {**given, "columns": {**(given.get("columns") or {}), **named}, **mark}


def _source(asked: ImportArguments) -> tuple[Content, ImportOptions]:
    """Return the file and what it does not say itself."""
    return Content(_bytes(asked)), ImportOptions(
        asked.name or asked.format,
        asked.planning_date,
        depot=asked.depot or "",
        columns=asked.columns or {},
        sheet=asked.sheet or "",
        agents=tuple(asked.agents),
        decimal=asked.decimal or "",
    )


def _bytes(asked: ImportArguments) -> bytes:
    if asked.format != "xlsx":
        return asked.content.encode()
    try:
        return base64.b64decode("".join(asked.content.split()), validate=True)
    except (binascii.Error, ValueError):
        raise refuse("/content", "The workbook is not base64.", "the bytes of the file as base64") from None


def _in_argument(fault: Fault) -> Fault:
    is_argument = fault.path and not fault.path.startswith("/")
    return replace(fault, path=f"/{fault.path}" if is_argument else f"/content{fault.path}")


def _led_back(fault: Fault, read: ImportedScenario) -> Fault:
    """Return a fault of the day by its place in the file, or by ids where it was no table."""
    found = read.in_file(fault)
    return with_id_path(fault, read.body) if found is None else _in_argument(found)


def _column_summary(proposal: ColumnMapping) -> ImportedColumns:
    """Return a proposal as short texts, as many as there is room for."""
    taken = [
        f"{plain(header, MAX_HEADER)} → {field}{' (a guess)' if header in proposal.guessed else ''}"
        for header, field in proposal.fields.items()
    ]
    left_out = [_left_out(header, proposal.looks[header]) for header in proposal.left_out]
    return ImportedColumns(taken=fitting(taken, MAX_TOLD_BYTES), left_out=fitting(left_out, MAX_TOLD_BYTES))


def _left_out(header: str, looks: str) -> str:
    return f"{plain(header, MAX_HEADER)}: {looks}" if looks else plain(header, MAX_HEADER)


TOOL: Final = Tool(
    name="import_scenario",
    title="Import scenario",
    description=(
        "Store a routing day from a file: table of tickets (needs agents), VROOM problem, published instance. Returns "
        "scenario_id and what columns mean. Next: solve_vrp."
    ),
    input_schema=schema_of(ImportArguments),
    output=ImportScenarioResult,
    hints=ToolAnnotations(),
    run=run,
    run_text=run_text,
    scope=WRITE,
    toolset="data",
    meta={
        "example": {
            "format": "csv",
            "content": "id,location\na,A",
            "planning_date": "2025-07-15",
            "agents": [{"id": "v", "capacity": 9}],
        }
    },
)
