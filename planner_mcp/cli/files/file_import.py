"""Files of other formats read as scenarios on the command line, with the answers that `import` and `solve` take.

Owns these options, and the questions of an import asked of the person at a terminal; elsewhere they are errors that
name the option which answers them. The proposed meaning of columns is printed on standard error.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from planner_mcp.cli.command_runner import run_command
from planner_mcp.cli.files.command_files import read_bytes
from planner_mcp.errors import Fault, InputError, grouped, input_error, placed
from planner_mcp.formats.import_formats import PLAIN, form_of, read_scenario_file
from planner_mcp.formats.json_content import Content
from planner_mcp.formats.tables.columns.column_mapping import IN_COLUMNS, ColumnMapping
from planner_mcp.formats.tables.import_options import Form, ImportedScenario, ImportOptions
from planner_mcp.formats.tables.sheets.text_tables import read_table
from planner_mcp.geocoding.geocoding_service import GeocodingService
from planner_mcp.routing.feasibility.infeasibility_faults import infeasibility_faults
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.routing.scenario.checks.scenario_checks import warnings
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.scenario.scenario_patch import with_id_path
from planner_mcp.server.tools.arguments.scenario_addresses import AddressedDay, with_resolved_addresses
from planner_mcp.server.tools.scenarios.validate_scenario import MAX_SHOWN
from planner_mcp.settings import Settings
from planner_mcp.text import Json, figure
from planner_mcp.translation import translated

DEFAULT_CAPACITY: Final = 1e6
"""Capacity of agents that nobody described: more than any day needs, so that it decides nothing."""
_OPTIONS: Final = {
    "depot": "--depot",
    "columns": "--column",
    "sheet": "--sheet",
    "decimal": "--decimal",
    "planning_date": "--date",
}
_GIVEN: Final = {**_OPTIONS, "/depot": "--depot", "/planning_date": "--date", "/name": "--name"}
"""Options by the fields that they answer, and by what they became in the day."""
Columns = Annotated[
    list[str], typer.Option("--column", help="HEADER=FIELD where the proposal is wrong; HEADER= leaves it out.")
]
DATE_HELP: Final = "Planning date, YYYY-MM-DD; absent: the one day of all rows, else today."
Agents = Annotated[Path | None, typer.Option(help="CSV of agents; absent: a sheet of them, or --agent of --capacity.")]
Agent = Annotated[int | None, typer.Option(min=1, help="Number of identical agents; absent: 1.")]
Capacity = Annotated[float | None, typer.Option(min=0, help="Capacity of each; absent: 1000000, with a note.")]
Depot = Annotated[str, typer.Option(help="Start and end of all agents: LAT,LON, a location or an address.")]
Sheet = Annotated[str, typer.Option(help="Sheet of the tickets, if a workbook has several.")]
Format = Annotated[Form | None, typer.Option("--format", help="Format of the file, if its name does not show it.")]
Decimal = Annotated[str, typer.Option(help="Mark before decimals, . or , where the file does not show it.")]
_ASKED: Final = {"--column": "column", "--depot": "depot", "--date": "date", "--sheet": "sheet", "--decimal": "decimal"}
"""Options that answer a question, with the answer each gives."""
_FULLER: Final = "Write a fuller address, or give its latitude and longitude, in a table as columns lat and lon."
_OPEN: Final = re.compile(rf'Name it {IN_COLUMNS}: "(.*)"; "" leaves it out\.')
_LEFT_OUT: Final = re.compile(r'or --column "(.*)=" to leave it out')
"""What a hint says of an open column, in the words of a tool and in those of the command line."""


@dataclass(frozen=True, slots=True)
class ImportAnswers:
    """What a person says about a file, as options of a command."""

    date: str
    agents: Path | None
    agent: int | None
    capacity: float | None
    depot: str
    name: str
    sheet: str
    form: Form | None
    column: tuple[str, ...]
    decimal: str


def imported(file: Path, given: ImportAnswers, settings: Settings) -> ImportedScenario:
    """Return the scenario of a file, and print what its columns were taken for.

    Raises:
        InputError: It cannot be read; faults name options as on the command line.
        typer.BadParameter: Options exclude each other.
    """
    if given.agents is not None and (given.agent is not None or given.capacity is not None):
        raise typer.BadParameter("--agents says who drives; leave --agent and --capacity out, or --agents.")
    content = Content(read_bytes(file))
    fleet = None
    if given.agents is not None:  # faults in it begin with the name of its file
        fleet = read_table(read_bytes(given.agents), max_rows=settings.max_agents, name=given.agents.name)
    alike, is_default = _uniform_fleet(given.agent, given.capacity), given.agent is None and given.capacity is None
    import_options = ImportOptions(
        given.name or file.stem,
        given.date,
        given.depot,
        _chosen(given.column),
        given.sheet,
        agents=() if is_default else alike,
        fleet=fleet,
        default_agents=alike if is_default else (),
        decimal=_mark(given.decimal),
        default_date=date.today().isoformat(),
        depot_name=translated("Depot"),
    )
    read = _read_scenario(content, given.form, file, import_options, settings)
    for what, proposal in read.proposals.items():
        _print_mapping(what, proposal)
    if given.capacity is None and "tickets" in read.proposals and "agents" not in read.proposals:
        typer.echo(_made_up(given.agent, read.body), err=True)
    return _with_positions(read, settings)


def _with_positions(read: ImportedScenario, settings: Settings) -> ImportedScenario:
    with placed(lambda fault: _as_option(read.in_file(fault) or fault, _GIVEN)):
        day = addressed_day(read.body, settings)
    return replace(read, body=day.body, assumptions=[*day.notices, *read.assumptions])


def addressed_day(body: Any, settings: Settings) -> AddressedDay:
    """Return a day with positions for its addresses, resolved as a server does but for what users confirmed there.

    Raises:
        InputError: As `with_resolved_addresses`.
    """
    return with_resolved_addresses(body, lambda texts: run_command(GeocodingService(settings).resolve(texts)))


def imported_with_questions(file: Path, given: ImportAnswers, settings: Settings) -> ImportedScenario:
    """Return the scenario of a file and print what was assumed; at a terminal ask what the file leaves open.

    Raises:
        InputError: As `imported`, where nobody can be asked, or nothing that is wrong can be answered.
    """
    asked: tuple[InputError, ImportAnswers] | None = None
    while True:
        try:
            read = imported(file, given, settings)
            check_imported(read, settings)
        except InputError as error:
            refused = error
            if asked is not None and (wrong := [fault for fault in error.errors if _is_wrong_answer(fault)]):
                typer.echo("\n".join(fault.as_line() for fault in wrong), err=True)
                refused, given = asked  # a wrong answer is no part of the next
            if (answered := _answers(refused, given)) is None:
                raise refused from None
            asked, given = (refused, given), answered
        else:
            return read


def _is_wrong_answer(fault: Fault) -> bool:
    """Return whether a fault is of a column or a field that there is not, and not of one that is open."""
    return _ASKED.get(fault.path) == "column" and fault.kind == "invalid"


def _answers(error: InputError, given: ImportAnswers) -> ImportAnswers | None:
    """Return the answers with what a person adds to them; None where no question can be asked."""
    questions = [fault for fault in error.errors if fault.path in _ASKED and not _is_wrong_answer(fault)]
    if not questions or len(questions) < len(error.errors) or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    for fault in questions:
        typer.echo(fault.as_line(), err=True)
        name = _ASKED[fault.path]
        answer = str(typer.prompt("HEADER=FIELD" if name == "column" else fault.path, err=True)).strip()
        if "=" not in answer and (found := _LEFT_OUT.search(fault.hint)):
            answer = f"{found[1]}={answer}"  # of the one column that is asked about the field will do
        change: Json = {name: (*given.column, answer) if name == "column" else answer}
        given = replace(given, **change)
    return given


def check_imported(read: ImportedScenario, settings: Settings) -> None:
    """Print what was assumed, warned of, and found that nobody can serve.

    Raises:
        InputError: The scenario cannot be planned; its faults name the row that they come from.
    """
    for assumption in read.assumptions:
        typer.echo(assumption, err=True)
    scenario = _validated(read, settings)
    for warning in warnings(scenario, place=partial(with_id_path, body=read.body))[:MAX_SHOWN]:
        typer.echo(f"Warning: {warning}", err=True)
    for fault in grouped(scenario.findings)[:MAX_SHOWN]:
        typer.echo(f"Nobody can serve it: {_as_option(read.in_file(fault) or fault, _GIVEN).as_line()}", err=True)


def _read_scenario(
    content: Content, form: Form | None, file: Path, import_options: ImportOptions, settings: Settings
) -> ImportedScenario:
    """Return the scenario of a file, or say how its format was guessed; faults name options as on the command line."""
    kind = form or form_of(file.name, content)
    options = {**_OPTIONS, "agents": "--agents" if import_options.fleet else "--agent, --capacity"}
    try:
        with placed(lambda fault: _as_option(fault, options)):
            return read_scenario_file(
                content, kind, import_options, max_tickets=settings.max_tickets, max_agents=settings.max_agents
            )
    except InputError:
        if form is None and file.suffix.lower() not in PLAIN:
            typer.echo(f"Taken for {kind}; --format says otherwise.", err=True)
        raise


def _as_option(fault: Fault, options: Mapping[str, str]) -> Fault:
    """Return a fault that names options instead of fields."""
    hint = fault.hint.replace(IN_COLUMNS, "with --column", 1)
    if fault.open_address or fault.reason is InfeasibilityReason.NO_POSITION:
        hint = _FULLER
    if found := _OPEN.fullmatch(fault.hint):
        header, names = found[1], [name for name in fault.accepted.split(" or ") if name != "notes"]
        is_plain = len(names) == 1 or all(name.startswith("service_") for name in names)
        field = names[0] if names and is_plain else "FIELD"
        hint = f'Write --column "{header}={field}", or --column "{header}=" to leave it out.'
    return replace(fault, path=options.get(fault.path, fault.path), hint=hint)


def _validated(read: ImportedScenario, settings: Settings) -> Scenario:
    """Return the parsed scenario; its faults name the row that they come from."""
    with placed(lambda fault: _as_option(read.in_file(fault) or fault, _GIVEN)):
        return parse_scenario(
            read.body,
            max_tickets=settings.max_tickets,
            max_agents=settings.max_agents,
            shows_names=True,
            prove_infeasible=infeasibility_faults,
        )


def _uniform_fleet(count: int | None, capacity: float | None) -> tuple[Json, ...]:
    """Return the agents of a file that has none."""
    room = DEFAULT_CAPACITY if capacity is None else capacity
    return tuple({"id": f"agent-{number}", "capacity": room} for number in range(1, (count or 1) + 1))


def _made_up(count: int | None, body: ScenarioBody) -> str:
    """Return the note for a capacity or a fleet that was assumed, which the scenario itself does not show."""
    if count is not None:
        return f"No capacity given: {figure(DEFAULT_CAPACITY)} each is taken; --capacity says another."
    capacity = body["agents"][0]["capacity"]
    room = max(capacity.values()) if isinstance(capacity, dict) else capacity
    taken = f"1 of capacity {figure(room)} is taken"
    return f"No agents in the file: {taken}; --agents, or --agent and --capacity, say others."


def _mark(decimal: str) -> Literal["", ".", ","]:
    if decimal not in ("", ".", ","):
        raise typer.BadParameter("--decimal takes . or ,")
    return "." if decimal == "." else "," if decimal else ""


def _chosen(columns: tuple[str, ...]) -> dict[str, str]:
    pairs = [each.rpartition("=") for each in columns]  # a header may have the mark, no field has
    if not all(mark for _, mark, _ in pairs):
        accepted = "HEADER=FIELD, or HEADER= to leave the column out"
        raise input_error([Fault("--column", "It names no field.", accepted)])
    return {header: field for header, _, field in pairs}


def _print_mapping(what: str, proposal: ColumnMapping) -> None:
    for header, field in proposal.fields.items():
        guess = " (a guess)" if header in proposal.guessed else ""
        typer.echo(f"{what}: {header} → {field}{guess}", err=True)
    for header in proposal.left_out:
        looks = proposal.looks.get(header, "")
        typer.echo(f"{what}: column {header} is not used{': ' + looks if looks else ''}", err=True)
