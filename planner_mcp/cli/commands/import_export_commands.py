"""`planner-mcp import` and `export`: a scenario from tables of a spreadsheet, a plan as a file for others (SPEC T5).

Owns the wording of these commands; `file_import.py` reads the files and prints the proposed meaning of columns.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from planner_mcp.cli.command_runner import refuse
from planner_mcp.cli.environment_settings import read_settings
from planner_mcp.cli.files.command_files import read_scenario, write_plan, write_text
from planner_mcp.cli.files.file_import import (
    DATE_HELP,
    Agent,
    Agents,
    Capacity,
    Columns,
    Decimal,
    Depot,
    Format,
    ImportAnswers,
    Sheet,
    check_imported,
    imported,
)
from planner_mcp.cli.files.printed_plans import OUTPUT_HELP, of_agent
from planner_mcp.errors import InputError, placed
from planner_mcp.formats.plan_files import read_places, read_plan
from planner_mcp.routing.plan import Plan

app = typer.Typer()


@app.command(name="import")
def import_tables(
    file: Annotated[
        Path,
        typer.Argument(
            help="Tickets as CSV, XLSX or GeoJSON points; a problem of VROOM (.json); an instance of CVRPLIB (.vrp, "
            ".gvrp), Solomon or Li and Lim (.txt)."
        ),
    ],
    date: Annotated[str, typer.Option(help=DATE_HELP)] = "",
    agents: Agents = None,
    agent: Agent = None,
    capacity: Capacity = None,
    depot: Depot = "",
    name: Annotated[str, typer.Option(help="Name of the scenario.")] = "",
    sheet: Sheet = "",
    form: Format = None,
    column: Columns = [],  # noqa: B006 — typer copies it
    decimal: Decimal = "",
    output: Annotated[Path | None, typer.Option(help="File for the scenario; absent or -: standard output.")] = None,
) -> None:
    """Make a scenario from a file of another format; exit status 1 if it cannot be planned."""
    settings = read_settings()
    given = ImportAnswers(date, agents, agent, capacity, depot, name, sheet, form, tuple(column), decimal)
    try:
        read = imported(file, given, settings)
        write_text(json.dumps(read.body, ensure_ascii=False, indent=2) + "\n", output)
        check_imported(read, settings)
    except InputError as error:
        refuse(error)


@app.command(name="export")
def export_plan(
    plan: Annotated[Path, typer.Argument(help="A plan as JSON, as `solve` writes it.")],
    scenario: Annotated[Path, typer.Argument(help="The scenario it plans, as JSON.")],
    output: Annotated[Path, typer.Option(help=OUTPUT_HELP)],
    agent: Annotated[str | None, typer.Option(help="Only the route of this agent.")] = None,
) -> None:
    """Write a plan as a table, a map, a report, driver sheets or a calendar."""
    try:
        document = _read("plan", plan, read_plan)
        read = Plan.from_json(document)
        if agent is not None:
            read, document = of_agent(read, agent), None
        write_plan(read, _read("scenario", scenario, read_places), output, document=document)
    except InputError as error:
        refuse(error)


def _read(name: str, path: Path, check: Callable[[Any], Any]) -> Any:
    """Return what `check` makes of a file; faults begin with the name of the argument: there are two such files."""
    body = read_scenario(path)
    with placed(lambda fault: replace(fault, path=f"/{name}{fault.path}")):
        return check(body)
