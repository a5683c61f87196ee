"""`planner-mcp import` and `export`: a scenario from tables of a spreadsheet, a plan as a file for others (SPEC T5).

Owns the wording of these commands; `commands.py` hangs them into the command line. What columns were taken for is told
on standard error, so that whoever looks can correct it with `--column` and run the command again.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from planner_mcp.cli.files import print_faults, read_scenario, write_plan
from planner_mcp.errors import Fault, InputError, input_error
from planner_mcp.files.columns import Proposal
from planner_mcp.files.geojson import read_points
from planner_mcp.files.imports import Import
from planner_mcp.files.tables import Table, read_table
from planner_mcp.files.vroom import read_vroom
from planner_mcp.settings import Settings
from planner_mcp.tools.validate_scenario import MAX_FAULTS
from planner_mcp.vrp.scenario import parse_scenario, warnings

Columns = Annotated[
    list[str], typer.Option("--column", help="HEADER=FIELD where the proposal is wrong; HEADER= leaves it out.")
]


def import_tables(
    tickets: Annotated[Path, typer.Argument(help="Tickets as CSV or GeoJSON points, or a problem of VROOM (.json).")],
    date: Annotated[str, typer.Option(help="Planning date, YYYY-MM-DD.")],
    agents: Annotated[Path | None, typer.Option(help="CSV of agents; absent: --agent of --capacity.")] = None,
    agent: Annotated[int, typer.Option(min=1, help="How many agents there are, alike.")] = 1,
    capacity: Annotated[float, typer.Option(min=0, help="What each of them carries.")] = 1e6,
    depot: Annotated[str, typer.Option(help="Start and end of all agents: LAT,LON or a location.")] = "",
    name: Annotated[str, typer.Option(help="Of the scenario.")] = "",
    column: Columns = [],  # noqa: B006 — typer copies it
    output: Annotated[Path | None, typer.Option(help="File for the scenario; absent: standard output.")] = None,
) -> None:
    """Make a scenario from files of others; exit status 1 when it cannot be planned."""
    named = name or tickets.stem
    try:
        if tickets.suffix == ".json":
            body = read_vroom(_bytes(tickets), name=named, planning_date=date)
        else:
            day = Import()
            fields: dict[str, Any] = {"name": named, "planning_date": date}
            if depot:
                fields["depot"] = day.add_depot(depot)
            _tell("tickets", day.add_tickets(_table(tickets), _chosen(column)))
            if agents is not None:
                _tell("agents", day.add_agents(_table(agents), {}))
            else:
                day.agents = [{"id": f"agent-{number}", "capacity": capacity} for number in range(1, agent + 1)]
            body = day.scenario(**fields)
        _write(json.dumps(body, ensure_ascii=False, indent=2) + "\n", output)
        for warning in warnings(parse_scenario(body, max_tickets=Settings().max_tickets))[:MAX_FAULTS]:
            typer.echo(f"Warning: {warning}", err=True)
    except InputError as error:
        print_faults(error)
        sys.exit(1)


def export_plan(
    plan: Annotated[Path, typer.Argument(help="A plan as JSON, as `solve` writes it.")],
    scenario: Annotated[Path, typer.Argument(help="The scenario it plans, as JSON.")],
    output: Annotated[Path, typer.Option(help="File to write; its name ends in .csv, .geojson, .gpx or .json.")],
) -> None:
    """Write a plan as CSV, GeoJSON, GPX or JSON."""
    try:
        is_written = write_plan(read_scenario(plan), read_scenario(scenario), output)
    except InputError as error:
        print_faults(error)
        is_written = False
    sys.exit(0 if is_written else 1)


def _table(path: Path) -> Table:
    read = read_points if path.suffix in (".geojson", ".json") else read_table
    return read(_bytes(path), max_rows=Settings().max_tickets)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise input_error([Fault("", error.strerror or "The file cannot be read.", str(path))]) from error


def _chosen(columns: list[str]) -> dict[str, str]:
    pairs = (each.partition("=") for each in columns)
    return {header: field for header, _, field in pairs}


def _tell(what: str, proposal: Proposal) -> None:
    for header, field in proposal.fields.items():
        guess = " (a guess)" if header in proposal.guessed else ""
        typer.echo(f"{what}: {header} → {field}{guess}", err=True)
    for header in proposal.left_out:
        typer.echo(f"{what}: {header} is left out", err=True)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
