"""`planner-mcp import` and `export`: a scenario from tables of a spreadsheet, a plan as a file for others (SPEC T5).

Owns the wording of these commands. The proposed meaning of
columns is printed on standard error, so that it can be corrected with `--column`.
"""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from planner_mcp.cli.command_files import print_faults, read_scenario, unreadable_message, write_plan, write_text
from planner_mcp.cli.environment_settings import read_settings
from planner_mcp.cli.printed_plans import of_agent
from planner_mcp.errors import Fault, InputError, grouped, input_error, placed
from planner_mcp.formats.column_mapping import IN_COLUMNS, ColumnMapping
from planner_mcp.formats.import_formats import PLAIN, Form, form_of, read_scenario_file
from planner_mcp.formats.import_options import ImportedScenario, ImportOptions
from planner_mcp.formats.json_content import Content
from planner_mcp.formats.plan_exports import read_places, read_plan
from planner_mcp.formats.text_tables import Table, read_table
from planner_mcp.routing.feasibility.unservable_faults import unservable_faults
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.scenario_parsing import Scenario, parse_scenario, warnings
from planner_mcp.server.tools.validate_scenario import MAX_SHOWN
from planner_mcp.settings import Settings
from planner_mcp.text import figure

DEFAULT_CAPACITY: Final = 1e6
"""Capacity of agents that nobody described: more than any day needs, so that it decides nothing."""
_OPTIONS: Final = {"depot": "--depot", "columns": "--column", "sheet": "--sheet", "decimal": "--decimal"}
_GIVEN: Final = {**_OPTIONS, "/depot": "--depot", "/planning_date": "--date", "/name": "--name"}
"""The same, and what options became in the day."""
Columns = Annotated[
    list[str], typer.Option("--column", help="HEADER=FIELD where the proposal is wrong; HEADER= leaves it out.")
]

OUTPUT_HELP: Final = (
    "File to write: .csv, .json, .geojson, .gpx, .html (report), sheets.html (driver sheets), .svg or .png (map), .ics."
)

app = typer.Typer()


@app.command(name="import")
def import_tables(
    file: Annotated[
        Path,
        typer.Argument(
            help="Tickets as CSV, XLSX or GeoJSON points; a problem of VROOM (.json); an instance of CVRPLIB (.vrp), "
            "Solomon or Li and Lim (.txt)."
        ),
    ],
    date: Annotated[str, typer.Option(help="Planning date, YYYY-MM-DD.")],
    agents: Annotated[
        Path | None, typer.Option(help="CSV of agents; absent: a sheet of them, or --agent of --capacity.")
    ] = None,
    agent: Annotated[int | None, typer.Option(min=1, help="Number of identical agents; absent: 1.")] = None,
    capacity: Annotated[
        float | None, typer.Option(min=0, help="Capacity of each; absent: 1000000, with a note.")
    ] = None,
    depot: Annotated[str, typer.Option(help="Start and end of all agents: LAT,LON or a location.")] = "",
    name: Annotated[str, typer.Option(help="Name of the scenario.")] = "",
    sheet: Annotated[str, typer.Option(help="Sheet of the tickets, if a workbook has several.")] = "",
    form: Annotated[
        Form | None, typer.Option("--format", help="Format of the file, if its name does not show it.")
    ] = None,
    column: Columns = [],  # noqa: B006 — typer copies it
    decimal: Annotated[str, typer.Option(help="Mark before decimals, . or , where the file does not show it.")] = "",
    output: Annotated[Path | None, typer.Option(help="File for the scenario; absent or -: standard output.")] = None,
) -> None:
    """Make a scenario from a file of another format; exit status 1 if it cannot be planned."""
    settings = read_settings()
    if agents is not None and (agent is not None or capacity is not None):
        raise typer.BadParameter("--agents says who drives; leave --agent and --capacity out, or --agents.")
    try:
        content = Content(_bytes(file))
        fleet = None if agents is None else _fleet(agents, settings)
        alike, is_default = _uniform_fleet(agent, capacity), agent is None and capacity is None
        import_options = ImportOptions(
            name or file.stem,
            date,
            depot,
            _chosen(column),
            sheet,
            agents=() if is_default else alike,
            fleet=fleet,
            default_agents=alike if is_default else (),
            decimal=_mark(decimal),
        )
        read = _read_scenario(content, form, file, import_options, settings)
        for what, proposal in read.proposals.items():
            _print_mapping(what, proposal)
        if capacity is None and "tickets" in read.proposals and "agents" not in read.proposals:
            typer.echo(_made_up(agent), err=True)
        write_text(json.dumps(read.body, ensure_ascii=False, indent=2) + "\n", output)
        for assumption in read.assumptions:
            typer.echo(assumption, err=True)
        scenario = _validated(read, settings)
        for warning in warnings(scenario)[:MAX_SHOWN]:
            typer.echo(f"Warning: {warning}", err=True)
        for fault in grouped(scenario.findings)[:MAX_SHOWN]:
            typer.echo(f"Nobody can serve it: {(read.in_file(fault) or fault).as_line()}", err=True)
    except InputError as error:
        print_faults(error)
        sys.exit(1)


@app.command(name="export")
def export_plan(
    plan: Annotated[Path, typer.Argument(help="A plan as JSON, as `solve` writes it.")],
    scenario: Annotated[Path, typer.Argument(help="The scenario it plans, as JSON.")],
    output: Annotated[Path, typer.Option(help=OUTPUT_HELP)],
    agent: Annotated[str | None, typer.Option(help="Only the route of this agent.")] = None,
) -> None:
    """Write a plan as a table, a map, a report, driver sheets or a calendar."""
    try:
        body = _read("plan", plan, read_plan)
        if agent is not None:
            body = of_agent(Plan.from_json(body), agent).as_json()
        is_written = write_plan(body, _read("scenario", scenario, read_places), output)
    except InputError as error:
        print_faults(error)
        is_written = False
    sys.exit(0 if is_written else 1)


def _read(name: str, path: Path, check: Callable[[Any], Any]) -> Any:
    """Return what `check` makes of a file; faults begin with the name of the argument: there are two such files."""
    body = read_scenario(path)
    with placed(lambda fault: replace(fault, path=f"/{name}{fault.path}")):
        return check(body)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise input_error([Fault("", unreadable_message(path, error))]) from error


def _read_scenario(
    content: Content, form: Form | None, file: Path, import_options: ImportOptions, settings: Settings
) -> ImportedScenario:
    """Return the scenario of a file; say so where it cannot be read and its format was guessed.

    Raises:
        InputError: It cannot be read, or does not use an option; options are named as on the command line.
    """
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
    return replace(fault, path=options.get(fault.path, fault.path), hint=hint)


def _validated(read: ImportedScenario, settings: Settings) -> Scenario:
    """Return the parsed scenario; its faults name the row that they come from.

    Raises:
        InputError: It cannot be planned.
    """
    with placed(lambda fault: _as_option(read.in_file(fault) or fault, _GIVEN)):
        return parse_scenario(
            read.body,
            max_tickets=settings.max_tickets,
            max_agents=settings.max_agents,
            shows_names=True,
            prove_unservable=unservable_faults,
        )


def _fleet(path: Path, settings: Settings) -> Table:
    """Return the table of agents; faults in it begin with the name of its file."""
    return read_table(_bytes(path), max_rows=settings.max_agents, name=path.name)


def _uniform_fleet(count: int | None, capacity: float | None) -> tuple[dict[str, Any], ...]:
    """Return the agents of a file that has none."""
    room = DEFAULT_CAPACITY if capacity is None else capacity
    return tuple({"id": f"agent-{number}", "capacity": room} for number in range(1, (count or 1) + 1))


def _made_up(count: int | None) -> str:
    """Return the note for a capacity or a fleet that was assumed, which the scenario itself does not show."""
    if count is not None:
        return f"No capacity given: {figure(DEFAULT_CAPACITY)} each is taken; --capacity says another."
    taken = f"1 of capacity {figure(DEFAULT_CAPACITY)} is taken"
    return f"No agents in the file: {taken}; --agents, or --agent and --capacity, say others."


def _mark(decimal: str) -> Literal["", ".", ","]:
    if decimal not in ("", ".", ","):
        raise typer.BadParameter("--decimal takes . or ,")
    return "." if decimal == "." else "," if decimal else ""


def _chosen(columns: list[str]) -> dict[str, str]:
    pairs = (each.partition("=") for each in columns)
    return {header: field for header, _, field in pairs}


def _print_mapping(what: str, proposal: ColumnMapping) -> None:
    for header, field in proposal.fields.items():
        guess = " (a guess)" if header in proposal.guessed else ""
        typer.echo(f"{what}: {header} → {field}{guess}", err=True)
    for header in proposal.left_out:
        looks = proposal.looks.get(header, "")
        typer.echo(f"{what}: column {header} is not used{': ' + looks if looks else ''}", err=True)
