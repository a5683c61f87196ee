"""A day from a table of tickets, with or without one of agents (SPEC T5).

Owns how tables and wishes become one day, and what is told where they lack what a day needs. What a row says is read by
`imports.py`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.files.columns import TICKETS, Proposal, parted, propose
from planner_mcp.files.imports import Import
from planner_mcp.files.odd_rows import other_days
from planner_mcp.files.reading import Json, Reading, Wishes
from planner_mcp.files.tables import Table, place_in
from planner_mcp.text import plain

_AXES: Final = ("lat", "lon", "x", "y")
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


def day_of(tables: Mapping[str, Table], wishes: Wishes) -> Reading:
    """Return the day of a table of `tickets`, and of one of `agents` where there is one.

    Raises:
        InputError: What cannot be read, by its place in the file; a wish that cannot be met, by its name.
    """
    day = Import()
    fields: Json = {"name": wishes.name, "planning_date": wishes.planning_date}
    if wishes.depot:
        fields["depot"] = day.add_depot(wishes.depot)
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


def position_columns(headers: tuple[str, ...], wishes: Wishes) -> dict[str, str]:
    """Return the columns of a map that name the position of its points, and leave out others that seem to.

    Who names columns of positions wants those, and not the geometry.
    """
    if any(field in _AXES for header, field in wishes.columns.items() if header not in ("lat", "lon")):
        return {"lat": "", "lon": ""}
    fields = {header: propose((header,), TICKETS, {}).fields.get(header) for header in headers}
    return {header: "" for header, field in fields.items() if field in _AXES} | {"lat": "lat", "lon": "lon"}


def _no_capacity(fleet: Table, proposal: Proposal) -> Fault:
    """Return what is told before every ticket is found too heavy for agents that carry nothing."""
    left_out = ", ".join(plain(header, 40) for header in proposal.left_out)
    hint = f"Name it {IN_COLUMNS}{'; left out: ' + left_out if left_out else ''}."
    return Fault(
        place_in(fleet.name), "No column of the agents is their capacity.", "a column of capacity", hint, "missing"
    )
