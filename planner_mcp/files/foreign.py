"""A day from a file of another program, whatever its form (SPEC T5).

Owns which reader takes which form, and what is told of the reading: faults of the file by their place in it, those of a
wish by its name, which has no slash. Whether the day makes sense is judged as for any scenario.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Final, Literal

from planner_mcp.errors import Fault, InputError, input_error
from planner_mcp.files.columns import TICKETS, Proposal, parted, propose
from planner_mcp.files.content import Content
from planner_mcp.files.geojson import is_collection, read_points
from planner_mcp.files.imports import Import
from planner_mcp.files.instances.day import as_day
from planner_mcp.files.instances.published import Published
from planner_mcp.files.instances.rows import is_solomon, read_li_lim, read_solomon
from planner_mcp.files.instances.vrplib import read_vrplib
from planner_mcp.files.odd_rows import other_days
from planner_mcp.files.origins import Origins, in_file
from planner_mcp.files.tables import Table, place_in, read_table
from planner_mcp.files.vroom import assumed, read_vroom
from planner_mcp.files.workbook import read_workbook
from planner_mcp.text import plain

Json = dict[str, Any]
Form = Literal["csv", "xlsx", "geojson", "vroom", "vrplib", "solomon", "li_lim"]
_AXES: Final = ("lat", "lon", "x", "y")
PLAIN: Final = frozenset({".csv", ".tsv", ".xlsx", ".xlsm", ".xls", ".geojson", ".vrp"})
"""Ends of names that files of one form alone have; of others the form is a guess."""
_TABLES: Final = ("csv", "xlsx", "geojson")
_SUFFIXES: Final[Mapping[str, Form]] = {
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".xls": "xlsx",
    ".geojson": "geojson",
    ".json": "vroom",
    ".vrp": "vrplib",
}


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the file does not say itself."""

    name: str
    planning_date: str
    depot: str = ""
    """Where all agents start and end: `lat,lon` or a location. For tables, as all that follows."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Field by header, of tickets or agents, where the proposal is wrong."""
    sheet: str = ""
    agents: tuple[Json, ...] = ()
    """Agents of the day, instead of those of a file."""
    fleet: Table | None = None
    """The same as a table."""
    spare: tuple[Json, ...] = ()
    """Agents of a table where nobody named any."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A day that was read."""

    body: Json
    proposals: dict[str, Proposal]
    """What the columns of `tickets` and of `agents` were taken for, where the file was a table."""
    assumptions: list[str]
    origins: Origins = field(default_factory=dict)
    """The rows of the day, where the file was a table."""

    def in_file(self, fault: Fault) -> Fault | None:
        """Return a fault of the day as one of the file or of a wish; None where its place is in neither."""
        return in_file(fault, self.origins)


def form_of(name: str, content: Content) -> Form:
    """Return the form of a file by how its name ends; rows and JSON are told apart by what they say.

    Raises:
        TooLargeError: It has more bytes of JSON than allowed.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix == ".json" and is_collection(content.told):
        return "geojson"
    if suffix == ".txt":
        return _form_of_text(content.data)
    return _SUFFIXES.get(suffix, "csv")


def _form_of_text(data: bytes) -> Form:
    """Return the form of rows of text: instances are UTF-8, what is not may be the "Unicode text" of a spreadsheet."""
    try:
        return "solomon" if is_solomon(data) else "li_lim"
    except InputError:
        return "csv"


def read_day(content: Content, form: Form, wishes: Wishes, *, max_tickets: int, max_agents: int) -> Reading:
    """Return the day of a file.

    Raises:
        TooLargeError: There is more in it than allowed.
        InputError: All that cannot be read, by its place in the file; a wish that cannot be met, by its name.
    """
    _check_use(form, wishes)
    named = {"name": wishes.name, "planning_date": wishes.planning_date}
    if form in _TABLES:
        tables = _tables(content, form, wishes.sheet, max_tickets)
        if form == "geojson":
            wishes = replace(wishes, columns={**_by_geometry(tables["tickets"].headers, wishes), **wishes.columns})
        return _of_tables(tables, wishes, named)
    if form == "vroom":
        body = read_vroom(content.told, **named)
        return Reading(body, {}, assumed(body))
    body, said = as_day(_published(content.data, form, max_tickets), **named, max_agents=max_agents)
    return Reading(body, {}, said)


_SAYS: Final[Mapping[str, str]] = {
    "depot": "says itself where vehicles start",
    "agents": "says itself who drives",
    "columns": "has no columns",
    "sheet": "has no sheets",
}
"""Why a form does not take what it could be given."""


def _check_use(form: Form, wishes: Wishes) -> None:
    """Refuse what was given and would not be used."""
    is_given = {
        "depot": wishes.depot,
        "agents": wishes.agents or wishes.fleet,
        "columns": wishes.columns,
        "sheet": wishes.sheet,
    }
    faults = []
    for name, why in _SAYS.items():
        users = ("xlsx",) if name == "sheet" else _TABLES
        if is_given[name] and form not in users:
            problem = f"A file of the format {form} {why}."
            faults.append(Fault(name, problem, f"only with {' or '.join(users)}", "Leave it out."))
    if faults:
        raise input_error(faults)


def _published(data: bytes, form: Form, max_nodes: int) -> Published:
    read = {"vrplib": read_vrplib, "solomon": read_solomon, "li_lim": read_li_lim}[form]
    return read(data, max_nodes=max_nodes)


def _by_geometry(headers: tuple[str, ...], wishes: Wishes) -> dict[str, str]:
    """Return the columns of a map that name the position of its points, and leave out others that seem to.

    Who names columns of positions wants those, and not the geometry.
    """
    if any(field in _AXES for header, field in wishes.columns.items() if header not in ("lat", "lon")):
        return {"lat": "", "lon": ""}
    fields = {header: propose((header,), TICKETS, {}).fields.get(header) for header in headers}
    return {header: "" for header, field in fields.items() if field in _AXES} | {"lat": "lat", "lon": "lon"}


def _tables(content: Content, form: Form, sheet: str, max_rows: int) -> dict[str, Table]:
    if form == "xlsx":
        return read_workbook(content.data, max_rows=max_rows, sheet=sheet)
    if form == "geojson":
        return {"tickets": read_points(content.told, max_rows=max_rows)}
    return {"tickets": read_table(content.data, max_rows=max_rows)}


IN_COLUMNS: Final = "in columns"
"""Where hints say that a column is named, in the words of a tool."""
_NOWHERE: Final = Fault(
    "",
    "The tickets have no columns of coordinates, while other places have positions.",
    "columns of lat and lon, or of x and y, or of places that have a position",
    f"Add them (an address is not looked up), or name them {IN_COLUMNS}; without any position each leg counts 1.",
    "missing",
)
_NO_ROWS: Final = Fault("", "The table has no rows of tickets.", "a row a ticket", "Add them below the headers.")
_NO_COLUMN: Final = Fault(
    "",
    "No column is known; is there a header line?",
    f"headers such as {', '.join(TICKETS)}",
    f"Add it above the first row, delete what stands above it, or name the columns {IN_COLUMNS}.",
    "missing",
)
_PASSED_OVER: Final = "The file has a sheet of agents, which is passed over: others were given."


def _no_capacity(fleet: Table, proposal: Proposal) -> Fault:
    """Return what is told before every ticket is found too heavy for agents that carry nothing."""
    left_out = ", ".join(plain(header, 40) for header in proposal.left_out)
    hint = f"Name it {IN_COLUMNS}{'; left out: ' + left_out if left_out else ''}."
    return Fault(
        place_in(fleet.name), "No column of the agents is their capacity.", "a column of capacity", hint, "missing"
    )


def _of_tables(tables: Mapping[str, Table], wishes: Wishes, named: Mapping[str, str]) -> Reading:
    day = Import()
    fields = {**named, **({"depot": day.add_depot(wishes.depot)} if wishes.depot else {})}
    sheet = tables.get("agents")
    fleet = wishes.fleet or (None if wishes.agents else sheet)
    unread = sheet.headers if sheet and sheet is not fleet else ()
    ours, theirs = parted(wishes.columns, tables["tickets"].headers, fleet.headers if fleet else (), unread)
    proposals = {"tickets": day.add_tickets(tables["tickets"], ours)}
    if fleet is not None:
        proposals["agents"] = day.add_agents(fleet, theirs)
        if day.lacks_capacity(proposals["agents"]):
            day.faults.append(_no_capacity(fleet, proposals["agents"]))
    else:
        day.agents += wishes.agents or wishes.spare
    if not day.agents:
        path = place_in(fleet.name) if fleet else "agents"
        day.faults.append(Fault(path, "The file has no agents.", "agents, or a sheet of them", kind="missing"))
    if not day.tickets:
        day.faults.append(replace(_NO_ROWS, path=place_in(tables["tickets"].name)))
    elif not proposals["tickets"].fields:
        day.faults.append(replace(_NO_COLUMN, path=place_in(tables["tickets"].name)))
    elif day.is_nowhere(proposals["tickets"]):
        day.faults.append(replace(_NOWHERE, path=place_in(tables["tickets"].name)))
    said = [*([_PASSED_OVER] if unread else []), *tables["tickets"].said, *(fleet.said if fleet else ())]
    said += other_days(tables["tickets"], proposals["tickets"], wishes.planning_date)
    return Reading(day.scenario(**fields), proposals, [*dict.fromkeys(said), *day.assumed()], day.origins)
