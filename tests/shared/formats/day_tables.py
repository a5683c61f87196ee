"""Tables of a few rows, and what becomes of them."""

from typing import Any

import pytest

from planner_mcp.errors import Fault, InputError
from planner_mcp.formats.import_formats import read_scenario_file
from planner_mcp.formats.json_content import Content
from planner_mcp.formats.tables.columns.column_mapping import ColumnMapping
from planner_mcp.formats.tables.columns.column_proposal import propose_mapping
from planner_mcp.formats.tables.import_options import Form, ImportedScenario, ImportOptions
from planner_mcp.formats.tables.scenario_from_tables import scenario_of_tables
from planner_mcp.formats.tables.sheets.text_tables import Table, read_table
from planner_mcp.formats.tables.table_import import TableImport

AGENTS = ({"id": "v", "capacity": 9},)


def table(text: str, encoding: str = "utf-8") -> Table:
    return read_table(text.encode(encoding), max_rows=100)


def proposed(headers: str, cells: str = "", chosen: dict[str, str] | None = None) -> ColumnMapping:
    """Return what the columns of a table of one ticket are taken for."""
    return propose_mapping(table(f"{headers}\n{cells}\n"), "tickets", chosen or {})


def day_of(tickets: str = "", agents: str = "", chosen: dict[str, str] | None = None, **options: Any) -> TableImport:
    """Return a day in the making of a table of tickets, whose columns may be named, or of agents, or of both."""
    day = TableImport(**{"planning_date": "2025-07-15", **options})
    if tickets:
        day.add_tickets(table(tickets), chosen or {})
    if agents:
        day.add_agents(table(agents), {})
    return day


def imported_day(tickets: str, staff: str = "", places: str = "", **options: Any) -> ImportedScenario:
    """Return the day of whole tables; where none is of agents there is one agent, unless `agents` says otherwise."""
    texts = {"tickets": tickets, "agents": staff, "locations": places}
    given = options if "agents" in options else {**options, "agents": () if staff else AGENTS}
    return scenario_of_tables({kind: table(text) for kind, text in texts.items() if text}, _options(given))


def refused(tickets: str, staff: str = "", places: str = "") -> tuple[Fault, ...]:
    """Return what is asked about such tables."""
    with pytest.raises(InputError) as caught:
        imported_day(tickets, staff, places)
    return caught.value.errors


def read_file(data: str | bytes, form: Form = "csv", **options: Any) -> ImportedScenario:
    """Return the day of a file of a few rows; unless `agents` says otherwise there is one."""
    content = Content(data if isinstance(data, bytes) else data.encode())
    return read_scenario_file(content, form, _options({"agents": AGENTS, **options}), max_tickets=99, max_agents=9)


def _options(given: dict[str, Any]) -> ImportOptions:
    return ImportOptions(**{"name": "day", "planning_date": "2025-07-15", **given})
