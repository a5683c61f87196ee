"""A plan that was exported as CSV, read back as the tickets it plans (SPEC T5).

Owns how such a table is known and what of it is a ticket: what the plan decided (who, when, how far) is not read again.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from planner_mcp.formats.tables.cells.formula_quotes import unquoted
from planner_mcp.formats.tables.sheets.text_tables import Table

STOP_COLUMNS: Final = (
    *("agent_id", "stop", "kind", "ticket_id", "location", "lat", "lon"),
    *("arrival", "start", "departure", "late_min", "distance_m", "note"),
)
"""Columns of every stop in an export."""
TICKET_COLUMNS: Final = (
    *("name", "address", "phone", "notes", "task", "window", "service_s", "priority", "penalty", "skills"),
)
"""Columns of what the ticket itself says; behind them stand its amounts, a column each."""
RARE_COLUMNS: Final[Mapping[str, str]] = {
    "setup_time_s": "setup_time_s",
    "release_time": "release_time",
    "soft_close": "soft_close",
    "lateness_cost_per_hour": "lateness_cost_per_hour",
    "pickup_ticket": "pickup",
    "only_agents": "agents",
    "not_agents": "not_agents",
    "preferred_agent": "preferred_agent",
    "switch_cost": "switch_cost",
}
"""Columns that stand in an export only where a ticket has the field; by their headers the fields."""
_HEADERS: Final = {"ticket_id": "id", "task": "type"}
_TICKETS: Final = frozenset({"ticket", "unassigned"})
_NOTICE: Final = "The file is an export of a plan: its tickets are read, and not who served them when."


def without_plan(table: Table) -> Table:
    """Return the tickets of a table that is an export of a plan; any other table as it is."""
    if not set(STOP_COLUMNS) <= set(table.headers):
        return table
    kept = [header for header in table.headers if header not in STOP_COLUMNS or header in ("ticket_id", *_PLACE)]
    rows = tuple(
        (line, {_HEADERS.get(header, header): unquoted(row[header]) for header in kept if header in row})
        for line, row in table.rows
        if row.get("kind") in _TICKETS and "ticket_id" in row
    )
    headers = tuple(_HEADERS.get(header, header) for header in kept)
    return replace(table, headers=headers, rows=rows, notices=(*table.notices, _NOTICE))


_PLACE: Final = ("location", "lat", "lon")
