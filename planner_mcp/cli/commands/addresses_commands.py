"""`planner-mcp addresses`: the addresses of a table as positions, without a client.

Owns reading the table and the columns that are added to it. Addresses are resolved as by the tool `resolve_addresses`,
all rows of the file as one batch; what users confirmed is not used.
"""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from planner_mcp.cli.command_runner import command_settings, run_command
from planner_mcp.cli.files.command_files import STDIN, read_bytes, write_text
from planner_mcp.errors import Fault, InputError
from planner_mcp.formats.tables.headers.header_meanings import meaning_of
from planner_mcp.formats.tables.sheets.text_tables import Table, read_table
from planner_mcp.geocoding.geocoding_service import GeocodingService
from planner_mcp.server.resources.address_tables import address_table
from planner_mcp.settings import Settings

app = typer.Typer(name="addresses", help="Addresses of a table as positions.", no_args_is_help=True)
MAX_ROWS: Final = 100_000


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
    typer.echo(run_command(_resolve(settings, file, column, provider, output)), err=True)


async def _resolve(settings: Settings, file: Path, column: str, provider: str | None, output: Path | None) -> str:
    """Write the table; return what was found."""
    data = sys.stdin.buffer.read() if str(file) == STDIN else read_bytes(file)
    table = read_table(data, max_rows=MAX_ROWS)
    header = _address_header(table, column)
    found = await GeocodingService(settings).resolve([cells.get(header, "") for _, cells in table.rows], provider)
    sure = sum(each.is_sure for each in found)
    rows = [cells for _, cells in table.rows]
    write_text(address_table(table.headers, rows, found), output, "utf-8-sig")  # for spreadsheets, as plans are
    return f"{len(found)} addresses of column {header}, {sure} to be used unasked"


def _address_header(table: Table, column: str) -> str:
    """Return the header of the addresses; refuse a table that has none or several."""
    named = [header for header in table.headers if header == column]
    found = named if column else [each for each in table.headers if meaning_of(each, "tickets").field == "address"]
    if len(found) == 1:
        return found[0]
    problem = "There is no such column." if column else f"{len(found)} columns look like addresses."
    raise InputError(problem, errors=[Fault("", problem, ", ".join(table.headers), "Name it with --column.")])
