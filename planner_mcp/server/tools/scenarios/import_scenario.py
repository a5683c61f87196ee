"""`import_scenario`: a day from a file of another program, checked and kept (SPEC T5, T7)."""

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, Field

from planner_mcp.errors import Fault, InputError, PlannerError, input_error, placed
from planner_mcp.formats.json_content import Content
from planner_mcp.formats.tables.import_options import Form, ImportedScenario, ImportOptions, KnownMapping
from planner_mcp.formats.tables.sheets.text_tables import MAX_BYTES
from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.jobs.records.import_records import MAX_SAMPLE, StoredMapping
from planner_mcp.routing.scenario.field_types import field_error
from planner_mcp.routing.scenario.scenario_patch import with_id_path
from planner_mcp.server.tools.answers.token_estimates import fitting
from planner_mcp.server.tools.arguments.address_questions import with_asked_addresses
from planner_mcp.server.tools.arguments.day_reading import day_reader_apart, read_apart
from planner_mcp.server.tools.arguments.elicitation_questions import Question
from planner_mcp.server.tools.arguments.json_checks import check_json
from planner_mcp.server.tools.arguments.kept_files import MAX_FILE_NAME, Kept, find_kept, kept_apart
from planner_mcp.server.tools.arguments.missing_parameters import only_given
from planner_mcp.server.tools.arguments.resolved_inputs import ScenarioBounds
from planner_mcp.server.tools.large_arguments import LargeArguments
from planner_mcp.server.tools.scenarios.create_scenario import (
    CheckedScenario,
    CreateScenarioResult,
    checked_scenario,
    keep,
    link_to,
)
from planner_mcp.server.tools.tool_definition import (
    WRITE,
    Arguments,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
    parse,
)
from planner_mcp.server.tools.tool_output import ToolOutput, Words
from planner_mcp.settings import ANY_FILE
from planner_mcp.text import Json, plain
from planner_mcp.translation import translated

if TYPE_CHECKING:
    from planner_mcp.formats.tables.columns.column_mapping import ColumnMapping

_limiter: Final = FairLimiter()
"""Files read at the same time, each in a process of its own; a workbook may take many seconds."""
MAX_SHEET_NAME: Final = 100
MAX_HEADER: Final = 40
MAX_COLUMNS_BYTES: Final = 1500
"""Room for the columns of one table in each form of an answer."""


MAX_CHOICES: Final = 400
"""Columns that a call may name, of both tables together."""
Source = tuple[Content, Form, ImportOptions]


def _few(columns: dict[str, str] | None) -> dict[str, str] | None:
    if columns is not None and len(columns) > MAX_CHOICES:
        raise field_error(f"{len(columns)} columns are named.", f"at most {MAX_CHOICES}")
    return columns


class ImportArguments(Arguments):
    """Arguments of `import_scenario`."""

    format: Annotated[Form | None, Field(description="absent: by file")] = None
    content: Annotated[str | None, Field(description="workbook base64")] = None
    file: Annotated[
        str | None, Field(max_length=MAX_FILE_NAME, description="instead of content: name in PUT /files or path")
    ] = None
    planning_date: Annotated[
        str | None,
        Field(description="YYYY-MM-DD, absent: the one day of all rows", json_schema_extra={"format": "date"}),
    ] = None
    name: Annotated[str | None, Field(description="of the scenario")] = None
    agents: Annotated[list[Json], Field(description="as in create_scenario")] = []  # noqa: RUF012
    depot: Annotated[str | None, Field(max_length=100, description="lat,lon, place or address")] = None
    columns: Annotated[dict[str, str] | None, AfterValidator(_few), Field(description="field by header")] = None
    sheet: Annotated[str | None, Field(max_length=MAX_SHEET_NAME, description="of a workbook")] = None
    decimal: Annotated[Literal[".", ","] | None, Field(description="decimal mark")] = None
    mapping: Annotated[str | None, Field(min_length=1, max_length=100, description="name to keep columns by")] = None
    strict: Annotated[bool, Field(description="refuse tickets nobody can serve")] = False

    @property
    def source(self) -> str:
        """Which argument has the file."""
        return "content" if self.content is not None else "file"


class ImportedColumns(ToolOutput):
    """What the columns of a table were read as."""

    taken: list[str]
    left_out: list[Words]


class ImportScenarioResult(CreateScenarioResult):
    """Result of `import_scenario`."""

    listed: ClassVar[tuple[str, ...]] = ("scenario_id",)
    columns: dict[str, ImportedColumns] = Field(description="by table")


@dataclass(frozen=True, slots=True)
class _ReadFile:
    checked: CheckedScenario
    columns: dict[str, ImportedColumns]
    name: str | None
    """Under which the mapping is to be kept."""
    mapping: StoredMapping


async def run(
    ctx: ToolContext, asked: ImportArguments, *, is_repeatable: bool = False
) -> ToolResult[ImportScenarioResult]:
    """Read a file, keep its day, and return what its columns were taken for."""
    kept = await find_kept(ctx.job_service.imports, ctx.principal, ctx.settings.files_dir, asked.file)
    try:
        return await _answered(ctx, await _read_day(ctx, _read, asked, kept), is_repeatable=is_repeatable)
    except InputError:
        if asked.mapping and (asked.mapping not in kept.known or kept.known[asked.mapping].has_failed):
            sample = _sample(asked, kept.uploaded)
            failed = StoredMapping((), asked.columns or {}, asked.decimal or "", sample, has_failed=True)
            await ctx.job_service.imports.keep_mapping(ctx.principal.id, asked.mapping, failed)
        raise


async def run_text(
    ctx: ToolContext, arguments: LargeArguments, *, is_repeatable: bool = False
) -> ToolResult[ImportScenarioResult]:
    """Do the same with arguments that are still text; what failed is not kept."""
    read = await _read_day(ctx, _read_text, str(arguments), ctx.settings.max_nesting)
    return await _answered(ctx, read, is_repeatable=is_repeatable)


async def checked(ctx: ToolContext, given: Json | LargeArguments) -> CheckedScenario:
    """Read a file by arguments, as JSON or as text, and keep nothing; raises all that is wrong with it."""
    text = str(given) if isinstance(given, LargeArguments) else json.dumps(given)
    return (await _read_day(ctx, _read_text, text, ctx.settings.max_nesting)).checked


async def _read_day(ctx: ToolContext, function: Callable[..., _ReadFile], *args: Any) -> _ReadFile:

    async def attempt(is_asking: bool) -> _ReadFile:
        async with _limiter.turn(ctx.principal.id):
            depot_name = translated("Depot")  # not in the process that reads: it has no language
            return await read_apart(ctx, function, ScenarioBounds.of(ctx.settings), *args, depot_name, is_asking)

    return await with_asked_addresses(ctx, attempt)


async def _answered(ctx: ToolContext, read: _ReadFile, *, is_repeatable: bool) -> ToolResult[ImportScenarioResult]:
    stored, text = await keep(ctx, read.checked, is_repeatable=is_repeatable)
    if read.name and read.columns:
        await ctx.job_service.imports.keep_mapping(ctx.principal.id, read.name, read.mapping)
    lines = [f"{what}: {', '.join(each.taken)}" for what, each in read.columns.items()]
    lines += [f"{what}, not used: {', '.join(each.left_out)}" for what, each in read.columns.items() if each.left_out]
    output = ImportScenarioResult(**dict(stored), columns=read.columns)
    return ToolResult(output, "\n".join([*lines, text]), (link_to(stored),))


def _read_text(bounds: ScenarioBounds, text: str, max_nesting: int, depot_name: str, is_asking: bool) -> _ReadFile:
    asked = parse(ImportArguments, check_json(json.loads(text), max_nesting=max_nesting))
    return _read(bounds, asked, kept_apart(asked.file), depot_name, is_asking)


def _read(bounds: ScenarioBounds, asked: ImportArguments, kept: Kept, depot_name: str, is_asking: bool) -> _ReadFile:
    """Return the day, checked; in a process of its own.

    Raises:
        InputError: All that is wrong; where content and file are given, the mistakes of the content beside that.
    """
    try:
        only_given(asked, "content", "file")
    except InputError as refused:
        if asked.content is None:
            raise
        content = asked.model_copy(update={"file": None})
        try:
            _read(bounds, content, replace(kept, uploaded=None), depot_name, is_asking=False)
        except InputError as error:
            raise input_error([*refused.errors, *error.errors]) from None
        raise
    read = _read_file(asked, bounds, _source(asked, kept, depot_name))
    place = partial(_led_back, read=read, source=asked.source)
    body = {**read.body, "strict": True} if asked.strict else read.body
    with placed(place):
        reader = day_reader_apart(bounds, is_written=False, is_asking=is_asking)
        checked = checked_scenario(body, reader, read.assumptions, place)
    columns = {what: _column_summary(proposal) for what, proposal in read.proposals.items()}
    return _ReadFile(checked, columns, asked.mapping, _mapping_of(read, asked, _sample(asked, kept.uploaded)))


def _read_file(asked: ImportArguments, bounds: ScenarioBounds, source: Source) -> ImportedScenario:
    """Return the day; what is wrong in the file is reported by its place under `/content` or `/file`."""
    from planner_mcp.formats.import_formats import read_scenario_file

    content, form, import_options = source
    with placed(partial(_in_argument, source=asked.source)):
        return read_scenario_file(
            content, form, import_options, max_tickets=bounds.max_tickets, max_agents=bounds.max_agents
        )


def _mapping_of(read: ImportedScenario, asked: ImportArguments, sample: str) -> StoredMapping:
    """Return what the columns of a file were taken for, to be kept."""
    columns: dict[str, str] = {}
    for proposal in reversed(read.proposals.values()):
        columns |= dict.fromkeys(proposal.left_out, "") | proposal.fields
    return StoredMapping(tuple(sorted(columns)), columns, asked.decimal or "", sample)


def _sample(asked: ImportArguments, uploaded: bytes | None) -> str:
    """Return the first lines of a file of text."""
    text = asked.content or (uploaded or b"")[: 4 * MAX_SAMPLE].decode(errors="replace")
    is_text = "\0" not in text and asked.format != "xlsx" and not (asked.file or "").endswith(".xlsx")
    return text[:MAX_SAMPLE].rpartition("\n")[0] if is_text else ""


_LEAVE_OUT: Final = "leave it out"
_OPEN_IN_TABLE: Final = frozenset({"/columns", "/decimal", "/planning_date"})
"""Paths of faults that an answer settles."""
_MAX_ASKED: Final = 12
"""Columns of one question; of more the rest is reported as faults."""


def question_of(args: Any, bounds: ScenarioBounds, find: Callable[[str | None], Kept] = kept_apart) -> Question | None:
    """Return what a call should ask first; None for nothing.

    That is the sheet of the tickets, before all else; then what open columns are, which amount counts, and the mark
    before decimals; then the planning date, where the file names none. A file with other faults is not asked about: it
    comes again.

    Args:
        args: Of the call.
        bounds: Of the deployment.
        find: Returns what the principal keeps, by the file that the call names.
    """
    try:
        asked = parse(ImportArguments, args)
        only_given(asked, "content", "file")
        source = _source(asked, find(asked.file))
        _read_file(asked, bounds, source)
    except InputError as error:
        faults = error.errors
    except PlannerError:
        return None
    else:
        return None
    open_paths = {fault.path for fault in faults}
    if open_paths == {"/sheet"}:
        names = [name for name in faults[0].choices if name == plain(name, MAX_SHEET_NAME)]
        sheet = {"title": "Sheet of the tickets", "enum": names}
        return _one_question(faults[0].problem, "sheet", sheet) if names else None
    if open_paths == {"/planning_date"}:
        return _one_question(faults[0].problem, "planning_date", {"title": "Planning date", "format": "date"})
    return _columns_question(source, bounds, faults) if open_paths <= _OPEN_IN_TABLE else None


def _columns_question(source: Source, bounds: ScenarioBounds, faults: Sequence[Fault]) -> Question | None:
    """Return the question of what open columns are, or which amount counts, and of the mark before decimals."""
    from planner_mcp.formats.import_formats import open_columns

    content, form, import_options = source
    open_paths = {fault.path for fault in faults}
    columns = open_columns(content, form, import_options, max_tickets=bounds.max_tickets)[:_MAX_ASKED]
    fields: Json = {
        f"column_{number}": {
            "type": "string",
            "title": plain(column.header, MAX_HEADER),
            "description": plain(column.doubt, 200),
            "enum": [*column.options, _LEAVE_OUT],
        }
        for number, column in enumerate(columns, 1)
    }
    if "/decimal" in open_paths:
        fields["decimal"] = {"type": "string", "title": "Mark before decimals", "enum": [".", ","]}
    open_amounts = [fault.choices for fault in faults if fault.choices]
    amounts = open_amounts[0] if open_amounts else ()
    if amounts and not columns:
        choices = [plain(header, MAX_HEADER) for header in amounts]
        fields["demand"] = {"type": "string", "title": "Amount that vehicles are limited by", "enum": choices}
    if not fields:
        return None
    message = "Some columns of this file are not clear. What an empty answer leaves open is an error."
    return Question(
        message,
        {"type": "object", "properties": fields},
        partial(_filled, [each.header for each in columns], amounts),
        is_last=len(open_amounts) + bool(columns) + ("/planning_date" in open_paths) <= 1,
    )


def _one_question(message: str, name: str, field: Json) -> Question:
    """Return the question for one argument, behind which there may be more."""
    schema = {"type": "object", "properties": {name: {"type": "string", **field}}}
    return Question(message, schema, partial(_filled, (), ()), is_last=False)


def _filled(
    headers: Sequence[str], amounts: Sequence[str], given: Mapping[str, Any], answer: Mapping[str, Any]
) -> Json:
    """Return the arguments of a call with the answer put in.

    Args:
        headers: Of the columns that were asked about.
        amounts: Headers of which one counts; the others are kept as notes.
        given: The arguments as they came.
        answer: By field of the question.
    """
    named = {
        header: "" if choice == _LEAVE_OUT else choice
        for number, header in enumerate(headers, 1)
        if (choice := answer.get(f"column_{number}"))
    }
    if answer.get("demand"):
        named |= {each: "demand" if plain(each, MAX_HEADER) == answer["demand"] else "notes" for each in amounts}
    others = {name: answer[name] for name in ("sheet", "decimal", "planning_date") if answer.get(name)}
    return {**given, "columns": {**(given.get("columns") or {}), **named}, **others}


def _source(asked: ImportArguments, kept: Kept, depot_name: str = "Depot") -> Source:
    """Return the file, its form, and what it does not say itself.

    Raises:
        InputError: There is no such file.
    """
    data = kept.uploaded
    if data is None:
        data = _bytes(asked) if asked.file is None else _file(asked.file, kept.files_dir)
    from planner_mcp.formats.import_formats import form_of  # the readers of all formats, with the first file

    content = Content(data)
    form = asked.format or form_of(asked.file or "", content)
    first = sorted(kept.known.items(), key=lambda item: item[0] != asked.mapping)
    known_mappings = (
        KnownMapping(name, frozenset(each.headers), each.columns, each.decimal)
        for name, each in first
        if not each.has_failed
    )
    import_options = ImportOptions(
        asked.name or plain(Path(asked.file or "").stem).strip() or form,
        asked.planning_date or "",
        depot=asked.depot or "",
        depot_name=depot_name,
        columns=asked.columns or {},
        sheet=asked.sheet or "",
        agents=tuple(asked.agents),
        decimal=asked.decimal or "",
        known_mappings=tuple(known_mappings),
    )
    return content, form, import_options


def _file(path: str, files_dir: Path | None) -> bytes:
    """Return a file of this machine, where clients may name one.

    Raises:
        InputError: There is no such upload and no such file, or it lies outside of the folder.
    """
    accepted = "the name of an upload, or a path that this server may read"
    hint = "Uploads expire: upload it again, or send its text as content."
    unknown = input_error([Fault("/file", "There is no such file.", accepted, hint)])
    if files_dir is None:
        raise unknown
    base = Path.cwd() if files_dir == ANY_FILE else files_dir.resolve()
    try:
        wanted = (base / path).resolve()
        if not (files_dir == ANY_FILE or wanted.is_relative_to(base)) or not wanted.is_file():
            raise unknown
        with wanted.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError, RuntimeError):  # a name that no file has, or links in a circle
        raise unknown from None


def _bytes(asked: ImportArguments) -> bytes:
    content = asked.content or ""
    if asked.format != "xlsx":
        return content.encode()
    try:
        return base64.b64decode("".join(content.split()), validate=True)
    except (binascii.Error, ValueError):
        raise input_error(
            [Fault("/content", "The workbook is not base64.", "the bytes of the file as base64")]
        ) from None


def _in_argument(fault: Fault, source: str) -> Fault:
    is_argument = fault.path and not fault.path.startswith("/")
    return replace(fault, path=f"/{fault.path}" if is_argument else f"/{source}{fault.path}")


def _led_back(fault: Fault, read: ImportedScenario, source: str) -> Fault:
    """Return a fault of the day by its place in the file, or by ids where it was no table."""
    found = read.in_file(fault)
    return with_id_path(fault, read.body) if found is None else _in_argument(found, source)


def _column_summary(proposal: "ColumnMapping") -> ImportedColumns:
    """Return a proposal as short texts, as many as there is room for."""
    taken = [
        f"{plain(header, MAX_HEADER)} → {field}{' (a guess)' if header in proposal.guessed else ''}"
        for header, field in proposal.fields.items()
    ]
    left_out = [_left_out(header, proposal.looks[header]) for header in proposal.left_out]
    return ImportedColumns(taken=fitting(taken, MAX_COLUMNS_BYTES), left_out=fitting(left_out, MAX_COLUMNS_BYTES))


def _left_out(header: str, looks: str) -> str:
    return f"{plain(header, MAX_HEADER)}: {looks}" if looks else plain(header, MAX_HEADER)


TOOL: Final = Tool(
    name="import_scenario",
    title="Import scenario",
    description=(
        "Store a routing day from a file: table of tickets (needs agents), VROOM problem, published instance. Returns "
        "scenario_id and what columns mean. Next: solve_vrp."
    ),
    arguments=ImportArguments,
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
