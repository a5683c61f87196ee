"""A day from a file of another program, whatever its form (SPEC T5).

Owns which reader takes which form, and how faults are named: those of the file by their place in it, those of an option
of the caller by its name, which has no slash. Whether the day makes sense is checked as for any scenario.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from planner_mcp.errors import Fault, InputError, input_error
from planner_mcp.formats.geojson_points import is_collection, read_points
from planner_mcp.formats.instances.instance_scenario import as_scenario
from planner_mcp.formats.instances.published_instance import PublishedInstance
from planner_mcp.formats.instances.solomon_li_lim import is_li_lim, is_solomon, read_li_lim, read_solomon
from planner_mcp.formats.instances.vrplib_format import read_vrplib
from planner_mcp.formats.json_content import Content
from planner_mcp.formats.tables.columns.column_mapping import OpenColumn
from planner_mcp.formats.tables.import_options import Form, ImportedScenario, ImportOptions
from planner_mcp.formats.tables.scenario_from_tables import (
    NO_DATE,
    open_columns_of,
    position_columns,
    scenario_of_tables,
)
from planner_mcp.formats.tables.sheets.text_tables import SPLIT, Table, is_workbook, read_table, too_large
from planner_mcp.formats.tables.sheets.workbook_reader import read_workbook
from planner_mcp.formats.vroom_format import assumed, read_vroom

PLAIN: Final = frozenset({".csv", ".tsv", ".xlsx", ".xlsm", ".xls", ".ods", ".geojson", ".vrp", ".gvrp"})
"""Ends of names that files of one form alone have; of others the form is a guess."""
_TABLES: Final = ("csv", "xlsx", "geojson")
_SUFFIXES: Final[Mapping[str, Form]] = {".geojson": "geojson", ".json": "vroom", ".vrp": "vrplib", ".gvrp": "vrplib"}


def form_of(name: str, content: Content) -> Form:
    """Return the form of a file by how its name ends; rows, workbooks and JSON are distinguished by their content.

    Many programs write rows of text under the name of a workbook.

    Raises:
        TooLargeError: It has more bytes of JSON than allowed.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix == ".json" and is_collection(content.parsed):
        return "geojson"
    if suffix == ".txt":
        return _form_of_text(content.data)
    return _SUFFIXES.get(suffix) or ("xlsx" if is_workbook(content.data) else "csv")


def _form_of_text(data: bytes) -> Form:
    """Return the form of rows of text: instances are UTF-8 and numbers, others the text that a spreadsheet saves."""
    try:
        return "solomon" if is_solomon(data) else "li_lim" if is_li_lim(data) else "csv"
    except InputError:
        return "csv"


def read_scenario_file(
    content: Content, form: Form, import_options: ImportOptions, *, max_tickets: int, max_agents: int
) -> ImportedScenario:
    """Return the day of a file.

    Raises:
        TooLargeError: There is more in it than allowed.
        InputError: All that cannot be read, by its place in the file; a wish that cannot be met, by its name.
    """
    _check_use(form, import_options)
    if form in _TABLES:
        tables = _tables(content, form, import_options.sheet, max_tickets)
        if form == "geojson":
            import_options = replace(
                import_options,
                columns={**position_columns(tables["tickets"].headers, import_options), **import_options.columns},
            )
        return scenario_of_tables(tables, import_options)
    if not (planning_date := import_options.planning_date or import_options.default_date):
        raise input_error([NO_DATE])
    named = {"name": import_options.name, "planning_date": planning_date}
    if form == "vroom":
        _check_counts(content.parsed, {"jobs": max_tickets, "shipments": max_tickets, "vehicles": max_agents})
        body = read_vroom(content.parsed, **named)
        return ImportedScenario(body, {}, assumed(body))
    body, notices = as_scenario(_published(content.data, form, max_tickets), **named, max_agents=max_agents)
    return ImportedScenario(body, {}, notices)


_SAYS: Final[Mapping[str, str]] = {
    "depot": "says itself where vehicles start",
    "agents": "says itself who drives",
    "columns": "has no columns",
    "sheet": "has no sheets",
}
"""Why a form does not take what it could be given."""


def _check_use(form: Form, import_options: ImportOptions) -> None:
    """Refuse what was given and would not be used."""
    is_given = {
        "depot": import_options.depot,
        "agents": import_options.agents or import_options.fleet,
        "columns": import_options.columns,
        "sheet": import_options.sheet,
    }
    faults = []
    for name, why in _SAYS.items():
        users = ("xlsx",) if name == "sheet" else _TABLES
        if is_given[name] and form not in users:
            problem = f"A file of the format {form} {why}."
            faults.append(Fault(name, problem, f"only with {' or '.join(users)}", "Leave it out."))
    if faults:
        raise input_error(faults)


def open_columns(content: Content, form: Form, import_options: ImportOptions, *, max_tickets: int) -> list[OpenColumn]:
    """Return the columns of a file that whoever knows must name; none of a form without columns.

    Raises:
        TooLargeError: There is more in it than allowed.
        InputError: It cannot be read as a table.
    """
    if form not in ("csv", "xlsx"):
        return []
    tables = _tables(content, form, import_options.sheet, max_tickets)
    return open_columns_of(tables, import_options)


def _check_counts(parsed: object, most: Mapping[str, int]) -> None:
    """Refuse lists that are too long before anything in them is read."""
    for name, limit in most.items():
        listed = parsed.get(name) if isinstance(parsed, dict) else None
        if isinstance(listed, list) and len(listed) > limit:
            raise too_large(f"/{name}", f"There are more than {limit} {name}.", f"at most {limit}", SPLIT)


def _published(data: bytes, form: Form, max_nodes: int) -> PublishedInstance:
    read = {"vrplib": read_vrplib, "solomon": read_solomon, "li_lim": read_li_lim}[form]
    return read(data, max_nodes=max_nodes)


def _tables(content: Content, form: Form, sheet: str, max_rows: int) -> dict[str, Table]:
    if form == "xlsx":
        return read_workbook(content.data, max_rows=max_rows, sheet=sheet)
    if form == "geojson":
        return {"tickets": read_points(content.parsed, max_rows=max_rows)}
    return {"tickets": read_table(content.data, max_rows=max_rows)}
