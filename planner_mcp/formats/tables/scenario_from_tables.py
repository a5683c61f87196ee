"""A day from a table of tickets, with or without one of agents (SPEC T5).

Owns how tables and wishes become one day, and what is reported where they lack what a day needs. What a row says
is read by `table_import.py`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.time_parsing import serial_day
from planner_mcp.formats.tables.columns.column_mapping import (
    IN_COLUMNS,
    MAX_HEADER_SHOWN,
    ColumnMapping,
    OpenColumn,
    split_by_table,
)
from planner_mcp.formats.tables.columns.column_proposal import propose_mapping
from planner_mcp.formats.tables.columns.other_tables import other_tables, skills_of_both
from planner_mcp.formats.tables.columns.unit_columns import with_units
from planner_mcp.formats.tables.columns.weekday_columns import with_weekdays
from planner_mcp.formats.tables.columns.yes_no_columns import with_yes_no_skills
from planner_mcp.formats.tables.day_settlement import name_shared_start, settle_agents, settle_hours, settle_places
from planner_mcp.formats.tables.headers.header_meanings import meaning_of, normalized
from planner_mcp.formats.tables.headers.header_words import TICKETS, UNUSED
from planner_mcp.formats.tables.import_options import ImportedScenario, ImportOptions
from planner_mcp.formats.tables.rows.listed_places import columns_of_places
from planner_mcp.formats.tables.rows.table_rows import AXES
from planner_mcp.formats.tables.rows.unexpected_rows import (
    absent_notices,
    block_notices,
    crew_notices,
    days_of_rows,
    inactive_notices,
    other_date_notices,
)
from planner_mcp.formats.tables.sheets.exported_stops import without_plan
from planner_mcp.formats.tables.sheets.resolved_addresses import without_doubtful
from planner_mcp.formats.tables.sheets.text_tables import Table, place_in
from planner_mcp.formats.tables.table_import import TableImport
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.text import Json, plain

_KNOWN_TO_NEW: Final = 3
"""Headers of a mapping for each that a file may have beyond them; one is always allowed."""
_NOWHERE: Final = Fault(
    "",
    "The tickets have no columns of coordinates, while other places have positions.",
    "columns of lat and lon, of x and y, of addresses, or of places that have a position",
    f"Add them, or name them {IN_COLUMNS}; without any position each leg counts 1.",
    "missing",
)
_UNPLACED: Final = "No place has a position or an address: each leg counts 1."
_NO_ROWS: Final = Fault("", "The table has no rows of tickets.", "a row a ticket", "Add them below the headers.")
_NONE_PLANNED: Final = Fault(
    "",
    "No row is of the planning date.",
    "a row of the planning date",
    "Give another planning date, or leave the column of days out.",
)
_PLACED: Final = frozenset(("address", "lat", "lon", "position"))
"""Fields of tickets that are somewhere on the globe, as is then a depot whose name no place of the file has."""
_NO_COLUMN: Final = Fault(
    "",
    "No column is known; is there a header line?",
    f"headers such as {', '.join(TICKETS)}",
    f"Add it above the first row, delete what stands above it, or name the columns {IN_COLUMNS}.",
    "missing",
)
NO_DATE: Final = Fault(
    "planning_date", "No planning date is given, and the file names no single one.", "YYYY-MM-DD", kind="missing"
)
_PASSED_OVER: Final = "The file has a sheet of agents, which is passed over: others were given."


def scenario_of_tables(tables: Mapping[str, Table], import_options: ImportOptions) -> ImportedScenario:
    """Return the day of a table of `tickets`, and of those of `agents` and of `locations` where there are such.

    Raises:
        InputError: What cannot be read, by its place in the file; a wish that cannot be met, by its name.
    """
    sheet, places = tables.get("agents"), tables.get("locations")
    tables, import_options, reused = _as_read(tables, import_options)
    fleet = tables.get("agents")
    day = TableImport(import_options.planning_date, import_options.decimal)
    fields: Json = {"name": import_options.name, "planning_date": import_options.planning_date}
    if places is not None:
        day.add_places(places)
    if import_options.depot:
        fields["depot"] = day.add_depot(import_options.depot, import_options.depot_name)
    unread = sheet.headers if sheet and (import_options.fleet or import_options.agents) else ()
    ours, theirs = split_by_table(
        import_options.columns, tables["tickets"].headers, fleet.headers if fleet else (), unread
    )
    tickets_have, agents_have = other_tables(tables, import_options.agents, ours, theirs)
    proposals = {"tickets": day.add_tickets(tables["tickets"], ours, agents_have)}
    if fleet is not None:
        fleet, like = skills_of_both(fleet, tables["tickets"], ours, agents_have)
        theirs = {**columns_of_places(fleet, day.listed.keys()), **like, **theirs}
        proposals["agents"] = day.add_agents(fleet, theirs, tickets_have)
        if day.lacks_capacity(proposals["agents"]) and not proposals["agents"].open_columns:
            day.faults.append(_no_capacity(fleet, proposals["agents"]))
    else:
        day.agents += [dict(agent) for agent in import_options.agents or import_options.default_agents]
        day.are_agents_made_up = not import_options.agents
    if import_options.depot and not _PLACED.isdisjoint(proposals["tickets"].fields.values()):
        day.take_as_address(fields["depot"])
    if not import_options.depot and (place := day.take_depot_rows()):
        fields["depot"] = place
    settle_agents(day)
    name_shared_start(day, import_options.depot_name)
    settle_hours(day)
    if depot := settle_places(day, fields.get("depot")):
        fields["depot"] = depot
    day.faults = list(_faults_of(day, tables["tickets"], fleet, proposals["tickets"]))
    notices = [
        *reused,
        *([_PASSED_OVER] if unread else []),
        *tables["tickets"].notices,
        *(fleet.notices if fleet else ()),
        *([_UNPLACED] if day.is_unplaced(proposals["tickets"]) else []),
        *other_date_notices(tables["tickets"], proposals["tickets"], import_options.planning_date),
        *block_notices(tables["tickets"], proposals["tickets"]),
        *inactive_notices(tables["tickets"], proposals["tickets"]),
        *crew_notices(tables["tickets"], proposals["tickets"]),
        *(absent_notices(fleet, proposals["agents"], import_options.planning_date) if fleet else ()),
    ]
    body = day.scenario(**fields)
    timeless = _has_hours(body) and all("service_time_s" not in ticket for ticket in body["tickets"])
    assumed = [*day.assumed(), *(["No ticket has a service time: stops take no time."] if timeless else [])]
    return ImportedScenario(body, proposals, [*dict.fromkeys(notices), *assumed], day.origins)


def _faults_of(day: TableImport, tickets: Table, fleet: Table | None, mapping: ColumnMapping) -> Iterator[Fault]:
    """Yield what was wrong with the rows, and what the day of the tickets' mapping lacks altogether."""
    place = place_in(tickets.name)
    is_unknown = bool(day.tickets) and not mapping.fields
    yield from (fault for fault in day.faults if not (is_unknown and fault.path == "columns"))
    if not day.planning_date:
        yield NO_DATE
    if not day.agents:
        path = place_in(fleet.name) if fleet else "agents"
        hint = "Say how many vehicles there are and what each carries."
        yield Fault(path, "The file has no agents.", "agents, or a sheet of them", hint, "missing")
    if not day.tickets:
        are_of_other_days = bool(tickets.rows) and "date" in mapping.fields.values()
        yield replace(_NONE_PLANNED if are_of_other_days else _NO_ROWS, path=place)
    elif is_unknown:
        yield replace(_NO_COLUMN, path=place)
    elif day.lacks_coordinates(mapping):
        yield replace(_NOWHERE, path=place)


def _as_read(
    tables: Mapping[str, Table], import_options: ImportOptions
) -> tuple[dict[str, Table], ImportOptions, list[str]]:
    """Return the tables that are read, amounts with their units, and the wishes by their headers, with notes.

    Of agents there is no table where they are given otherwise. What is not read of tables that the planner wrote
    itself is left out. A header may be named by its beginning, as answers show a long one.
    """
    headers = {header for table in tables.values() for header in table.headers}
    whole = {plain(header, MAX_HEADER_SHOWN): header for header in headers}
    columns = {
        each if each in headers else whole.get(each, each): name for each, name in import_options.columns.items()
    }
    import_options = replace(import_options, columns=columns)
    fleet = import_options.fleet or (None if import_options.agents else tables.get("agents"))
    read = {"tickets": without_doubtful(without_plan(tables["tickets"]))} | ({"agents": fleet} if fleet else {})
    read["tickets"] = _with_days(read["tickets"])
    read = {kind: with_weekdays(table, columns) for kind, table in read.items()}
    read = with_yes_no_skills({kind: with_units(table) for kind, table in read.items()}, columns)
    import_options, notices = with_known_mapping(read, import_options)
    dated, more = _dated(read["tickets"], import_options)
    return read, dated, [*notices, *more]


def _with_days(tickets: Table) -> Table:
    """Return the tickets with days in columns of days that have numbers alone, whose format was lost; with a note."""
    for header in filter(None, tickets.headers):
        is_named_so = meaning_of(header, "tickets").field in UNUSED
        days = {cell: serial_day(cell) for cell in tickets.cells(header)} if is_named_so else {}
        if days and all(days.values()):
            rows = tuple((at, row | {header: days[row[header]]} if header in row else row) for at, row in tickets.rows)
            cell, day = next(iter(days.items()))
            note = f'Numbers in "{plain(header, 40)}" are read as days: {cell} is {day}.'
            tickets = replace(tickets, rows=rows, notices=(*tickets.notices, note))
    return tickets


def _dated(tickets: Table, import_options: ImportOptions) -> tuple[ImportOptions, list[str]]:
    """Return the wishes with a planning date, where none is given: the one that rows name, with a note."""
    if import_options.planning_date:
        return import_options, []
    days = days_of_rows(tickets, import_options.columns, import_options.default_date)
    if len(days) != 1:
        return replace(import_options, planning_date=import_options.default_date), []
    day = days.pop().replace("?", "")
    notices = [f"Planned for {day}, the day of all rows that name one."] if day != import_options.default_date else []
    return replace(import_options, planning_date=day), notices


def _has_hours(body: ScenarioBody) -> bool:
    """Return whether it matters on a day how long stops take."""
    return any("time_windows" in each for each in body["tickets"]) or any(
        "shift_end" in each for each in body["agents"]
    )


def with_known_mapping(tables: Mapping[str, Table], import_options: ImportOptions) -> tuple[ImportOptions, list[str]]:
    """Return the wishes with the mapping of an earlier file whose headers are all here, and a note about it.

    Neither order, case nor width of a header count. A file may have a few columns more, which are proposed or asked
    about as ever; of several mappings the one that leaves the fewest so is used.
    """
    headers = frozenset(header for table in tables.values() for header in table.headers if header)
    fitting = [(known, here) for known in import_options.known_mappings if (here := _in_file(known.headers, headers))]
    if not fitting:
        return import_options, []
    known, here = max(fitting, key=lambda pair: len(pair[1]))
    columns = {here[name]: field for name, field in known.columns.items() if name in here}
    decimal = import_options.decimal or ("." if known.decimal == "." else "," if known.decimal else "")
    new = [plain(header, 40) for header in sorted(headers - set(here.values()))]
    notices = [
        f'The mapping "{plain(known.name, 40)}" of an earlier file is used.',
        *([f"It does not know {', '.join(new)}."] if new else []),
    ]
    return replace(import_options, columns={**columns, **import_options.columns}, decimal=decimal), notices


def _in_file(known: frozenset[str], headers: frozenset[str]) -> dict[str, str]:
    """Return each header of a mapping as a file writes it; nothing where one is missing, or too many are new."""
    forms = {normalized(header): header for header in headers}
    here = {name: forms[form] for name in known if (form := normalized(name)) in forms}
    is_whole = len(set(here.values())) == len(known) and len(forms) == len(headers)
    has_few_new = len(headers) - len(known) <= max(1, len(known) // _KNOWN_TO_NEW)
    if known == headers:
        return {name: name for name in known}
    return here if is_whole and has_few_new else {}


def open_columns_of(tables: Mapping[str, Table], import_options: ImportOptions) -> list[OpenColumn]:
    """Return the columns of the tables that must be named; raises as `scenario_of_tables`."""
    tables, import_options, _ = _as_read(tables, import_options)
    fleet = tables.get("agents")
    headers = fleet.headers if fleet else ()
    ours, theirs = split_by_table(import_options.columns, tables["tickets"].headers, headers)
    tickets_have, agents_have = other_tables(tables, import_options.agents, ours, theirs)
    planned = import_options.planning_date
    mappings = [propose_mapping(tables["tickets"], "tickets", ours, planning_date=planned, other=agents_have)]
    mappings += [propose_mapping(fleet, "agents", theirs, other=tickets_have)] if fleet else []
    return [column for mapping in mappings for column in mapping.open_columns]


def position_columns(headers: tuple[str, ...], import_options: ImportOptions) -> dict[str, str]:
    """Return the columns of a map that name the position of its points, and leave out others that seem to.

    Who names columns of positions wants those, and not the geometry.
    """
    if any(field in AXES for header, field in import_options.columns.items() if header not in ("lat", "lon")):
        return {"lat": "", "lon": ""}
    fields = {header: meaning_of(header, "tickets").field for header in headers}
    return {header: "" for header, field in fields.items() if field in AXES} | {"lat": "lat", "lon": "lon"}


def _no_capacity(fleet: Table, mapping: ColumnMapping) -> Fault:
    """Return what is reported before every ticket is found too heavy for agents that carry nothing."""
    left_out = ", ".join(plain(header, 40) for header in mapping.left_out)
    hint = f"Name it {IN_COLUMNS}; left out: {left_out}." if left_out else f"Name it {IN_COLUMNS}."
    return Fault(
        place_in(fleet.name), "No column of the agents is their capacity.", "a column of capacity", hint, "missing"
    )
