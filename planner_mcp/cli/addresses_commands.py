"""`planner-mcp addresses`: the addresses of a table as positions, without a client.

Owns reading the table and the columns that are added to it. Addresses are resolved as by the tool `resolve_addresses`,
all rows of the file as one batch; what users confirmed is not used.
"""

import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from planner_mcp.addresses.structured_address import ResolvedAddress
from planner_mcp.cli.command_files import unreadable_message, write_text
from planner_mcp.cli.command_runner import command_settings, run_command
from planner_mcp.errors import Fault, InputError, input_error
from planner_mcp.formats.header_words import meaning_of
from planner_mcp.formats.plan_exports import safe_cell
from planner_mcp.formats.text_tables import Table, read_table
from planner_mcp.geocoding.geocoding_service import GeocodingService
from planner_mcp.settings import Settings

app = typer.Typer(name="addresses", help="Addresses of a table as positions.", no_args_is_help=True)
MAX_ROWS: Final = 100_000
ADDED: Final = ("lat", "lon", "accuracy", "radius_m", "confidence", "status", "resolved", "source", "note")
"""Columns of the result behind those of the file."""


@app.command()
def resolve(
    file: Annotated[Path, typer.Argument(help="CSV with a header and a column of addresses.")],
    column: Annotated[str, typer.Option(help="Header of the addresses, if it is not found by its words.")] = "",
    provider: Annotated[
        str | None, typer.Option(help="Geocoding service by name, or offline; absent: PLANNER_GEOCODER.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="CSV to write; absent or -: standard output.")] = None,
) -> None:
    """Write the table with a position for each address; exit status 1 if it cannot be read."""
    settings = command_settings()
    text, summary = run_command(_resolved(settings, file, column, provider))
    write_text(text, output)
    typer.echo(summary, err=True)


async def _resolved(settings: Settings, file: Path, column: str, provider: str | None) -> tuple[str, str]:
    table = _table(file)
    header = _address_header(table, column)
    found = await GeocodingService(settings).resolve([cells.get(header, "") for _, cells in table.rows], provider)
    sure = sum(each.is_sure for each in found)
    return _as_csv(table, found), f"{len(found)} addresses of column {header}, {sure} to be used unasked"


def _table(file: Path) -> Table:
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise input_error([Fault("", unreadable_message(file, error))]) from error
    return read_table(data, max_rows=MAX_ROWS)


def _address_header(table: Table, column: str) -> str:
    """Return the header of the addresses.

    Raises:
        InputError: There is none, or there are several.
    """
    named = [header for header in table.headers if header == column]
    found = named if column else [each for each in table.headers if meaning_of(each, "tickets").field == "address"]
    if len(found) == 1:
        return found[0]
    problem = "There is no such column." if column else f"{len(found)} columns look like addresses."
    raise InputError(problem, errors=[Fault("", problem, ", ".join(table.headers), "Name it with --column.")])


def _as_csv(table: Table, found: Sequence[ResolvedAddress]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*table.headers, *ADDED])
    for (_, cells), each in zip(table.rows, found, strict=True):
        row = (*(cells.get(header, "") for header in table.headers), *_added(each))
        writer.writerow([safe_cell(cell) for cell in row])
    return text.getvalue()


def _added(each: ResolvedAddress) -> tuple[object, ...]:
    says = (each.confidence, each.status.value, each.address.label, each.source, " ".join(each.notes))
    if (where := each.position) is None:
        return ("", "", "none", "", *says)
    return (where.lat, where.lon, where.accuracy.value, f"{where.radius_m:g}", *says)
