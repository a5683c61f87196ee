"""A plan as a table of its stops: CSV, or a workbook of Excel for people (SPEC T5).

Owns its columns, which an import reads back. Times are hours of the planning day.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from planner_mcp.formats.tables.cells.formula_quotes import safe_cell
from planner_mcp.formats.tables.sheets.exported_stops import RARE_COLUMNS, STOP_COLUMNS, TICKET_COLUMNS
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.coordinates import Position, globe_positions
from planner_mcp.routing.scenario.shown_scenario import NO_TICKET, ShownScenario, ShownTicket, ShownTicketFields
from planner_mcp.routing.scenario.window_text import time_text, window_text
from planner_mcp.text import Json, clock_s, decimals

DRAFT_MARK: Final = "DRAFT, not approved (草稿，未批准)"
"""Stands on what is exported of a plan that nobody approved (SPEC A5)."""
_WIDEST_PIXELS: Final = 320
"""Of a column of a workbook."""
_TICKET_AT: Final = STOP_COLUMNS.index("ticket_id")
_FIELDS: Final = {"service_s": "service_time_s", "priority": "priority", "penalty": "penalty", "skills": "skills"}
"""Columns of a ticket with the fields that they show as they are."""
_TIMES: Final = ("release_time", "soft_close")


def workbook(plan: Plan, scenario: ShownScenario, *, is_draft: bool = False) -> bytes:
    """Return the table of a plan as a workbook of Excel: numbers are numbers, text is text whatever it begins with."""
    import xlsxwriter  # with the first workbook

    data = io.BytesIO()
    with xlsxwriter.Workbook(data, {"in_memory": True}) as book:
        sheet = book.add_worksheet("stops")
        headers, *rows = _table(plan, scenario, is_draft=is_draft)
        sheet.write_row(0, 0, headers, book.add_format({"bold": True}))
        for line, row in enumerate(rows, start=1):
            for at, cell in enumerate(row):
                if isinstance(cell, str):
                    sheet.write_string(line, at, cell)
                elif cell is not None:  # a break has no ticket
                    sheet.write_number(line, at, cell)
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, len(rows), len(headers) - 1)
        sheet.autofit(max_width=_WIDEST_PIXELS)
    return data.getvalue()


def stops_csv(plan: Plan, scenario: ShownScenario, *, is_draft: bool) -> str:
    """Return the table of a plan as CSV."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    for row in _table(plan, scenario, is_draft=is_draft):
        table.writerow([decimals(cell) if isinstance(cell, float) else safe_cell(cell) for cell in row])
    return text.getvalue()


def tickets_by_id(scenario: ShownScenario) -> dict[str, ShownTicket]:
    """Return the tickets by id, of a scenario file of whatever form."""
    known = (each for each in scenario.get("tickets") or () if isinstance(each, dict) and "id" in each)
    return {ticket["id"]: ticket for ticket in known}


def ticket_texts(ticket: ShownTicketFields) -> dict[str, str | None]:
    """Return what a ticket says for people."""
    return {
        "name": ticket.get("name"),
        "address": ticket.get("address"),
        "phone": ticket.get("phone"),
        "notes": ticket.get("notes"),
    }


def _table(plan: Plan, scenario: ShownScenario, *, is_draft: bool) -> Iterator[Sequence[Any]]:
    """Yield the headers, a row for each stop, in order, and one for each ticket left out."""
    tickets, places = tickets_by_id(scenario), globe_positions(scenario)
    dimensions = list(dict.fromkeys(name for ticket in tickets.values() for name in _demand(ticket)))
    amounts = [f"demand ({name})" if name else "demand" for name in dimensions]
    date = str(scenario.get("planning_date", ""))
    says = {ticket_id: _says(ticket, date) for ticket_id, ticket in tickets.items()}
    used = [header for header in RARE_COLUMNS if any(header in each for each in says.values())]
    yield (*STOP_COLUMNS, *TICKET_COLUMNS, *used, *amounts)
    for row in _rows(plan, places, tickets, DRAFT_MARK if is_draft else ""):
        own = says.get(row[_TICKET_AT], {})
        demand = _demand(tickets.get(row[_TICKET_AT], NO_TICKET))
        texts = (own.get(header, "") for header in (*TICKET_COLUMNS, *used))
        yield (*row, *texts, *(demand.get(name, "") for name in dimensions))


def _says(ticket: ShownTicketFields, date: str) -> Json:
    """Return what a ticket says itself, by column; nothing in a column that it says nothing of."""
    says: Json = {header: ticket.get(name) for header, name in {**_FIELDS, **RARE_COLUMNS}.items()}
    says |= {header: ", ".join(map(str, value)) for header, value in says.items() if isinstance(value, list | tuple)}
    says |= {header: time_text(says[header], date) for header in _TIMES if says[header] not in (None, "")}
    says |= {**ticket_texts(ticket), "task": ticket.get("kind", "delivery"), "window": window_text(ticket, date)}
    return {header: value for header, value in says.items() if value not in (None, "")}


def _demand(ticket: ShownTicketFields) -> Mapping[str, float]:
    """Return the amounts of a ticket by dimension; the only one has no name."""
    demand = ticket.get("demand", {})
    return demand if isinstance(demand, Mapping) else {"": demand}


def _rows(
    plan: Plan, places: dict[str, Position], tickets: Mapping[str, ShownTicket], mark: str
) -> Iterator[tuple[Any, ...]]:
    for route in plan.routes:
        for number, visit in enumerate(route.visits, start=1):
            yield (
                *(route.agent_id, number, visit.kind, visit.ticket_id, visit.location),
                *_rounded(places.get(visit.location or "")),
                *(clock_s(getattr(visit, name)) for name in ("arrival_s", "start_s", "departure_s")),
                *("" if visit.late_s is None else round(visit.late_s / 60, 1), round(visit.distance_m), mark),
            )
    for entry in plan.unassigned:
        ticket = tickets.get(entry.ticket_id)
        place = (ticket and ticket.get("location")) or ""
        yield (
            *("", "", "unassigned", entry.ticket_id, place, *_rounded(places.get(place))),
            *(*[""] * 5, "; ".join(filter(None, [mark, f"{entry.code}: {entry.detail}"]))),
        )


def _rounded(position: Position | None) -> tuple[Any, Any]:
    return ("", "") if position is None else (round(position[0], 6), round(position[1], 6))
