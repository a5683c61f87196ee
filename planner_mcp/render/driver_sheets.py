"""Renders what each driver needs of a plan: one page per agent, its stops in order, to print (SPEC T5).

Owns the words of these pages; looks are `report.css`. Like the report it fetches nothing and runs no script. People and
their addresses stand here where the reader may see them; what is masked arrives masked.
"""

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

from planner_mcp.render.label_text import html_isolated, isolated, length, length_unit, stop_name
from planner_mcp.render.route_loads import picked_up
from planner_mcp.text import MASK, clock, figure

Json = dict[str, Any]
_STYLE: Final = Path(__file__).with_name("report.css")
_HEADS: Final = ("", "arrives", "starts", "leaves", "ticket", "where", "who", "amount", "notes")


def sheets(scenario: Json, plan: Json) -> str:
    """Return the HTML of all sheets.

    Args:
        scenario: As given to `create_scenario`.
        plan: As `Plan.as_json()`.
    """
    agents = {agent["id"]: agent for agent in scenario["agents"]}
    pickups = picked_up(scenario)
    tickets = {
        ticket["id"]: {**ticket, "amount": _amount(ticket["demand"], is_pickup=ticket["id"] in pickups)}
        for ticket in scenario["tickets"]
    }
    places = {place["id"]: place for place in scenario.get("locations") or ()}
    date, unit = escape(str(scenario["planning_date"])), length_unit(plan)
    title = f"{escape(isolated(scenario['name']))}, {date}"
    day = f"{html_isolated(scenario['name'])}, {date}"
    pages = "".join(
        f'<section class="card sheet">{_head(day, route, agents[route["agent_id"]], places, unit)}'
        f"{_table(route, tickets, places)}{_last(route, places)}</section>"
        for route in plan["routes"]
    )
    style = _STYLE.read_text(encoding="utf-8")
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    empty = "<p>No agent drives.</p>"
    body = f"<body><main>{pages or empty}</main></body>"
    return f'<!doctype html><html lang="en"><head>{head}<style>{style}</style></head>{body}</html>\n'


def _head(day: str, route: Json, agent: Json, places: Mapping[str, Json], unit: str) -> str:
    """Return whose sheet it is, of which day (as HTML), and the route in short."""
    driver = _joined([agent.get("name"), agent.get("phone")])
    begins = f"{_place(route['start_location'], places)} {clock(route['start_s'])}–{clock(route['end_s'])}"
    facts = f"{begins}, {len(route['visits'])} stops, {length(route['distance_m'], unit)} {unit}"
    return f"<header><h1>{html_isolated(agent['id'])}</h1><p>{day}</p><p>{driver}</p><p>{facts}</p></header>"


def _table(route: Json, tickets: Mapping[str, Json], places: Mapping[str, Json]) -> str:
    """Return the stops; each cell knows its heading, which stands in it on a narrow screen."""
    columns = "".join(f"<th>{name}</th>" for name in _HEADS)
    rows = "".join(f"<tr>{_cells(row)}</tr>" for row in _rows(route, tickets, places))
    return f"<table><tr>{columns}</tr>{rows}</table>"


def _cells(row: tuple[str, ...]) -> str:
    return "".join(f'<td data-head="{head}">{cell}</td>' for head, cell in zip(_HEADS, row, strict=True))


def _last(route: Json, places: Mapping[str, Json]) -> str:
    return f"<p>{clock(route['end_s'])} {_place(route['end_location'], places)}</p>"


def _rows(route: Json, tickets: Mapping[str, Json], places: Mapping[str, Json]) -> Iterator[tuple[str, ...]]:
    for number, visit in enumerate(route["visits"], 1):
        ticket = tickets.get(visit["ticket_id"] or "", {})
        times = (clock(visit[f"{name}_s"]) for name in ("arrival", "start", "departure"))
        yield (
            *(str(number), *times, stop_name(visit)),
            _lines([_html_isolated(ticket.get("address")), _place(visit["location"], places)]),
            _joined([ticket.get("name"), ticket.get("phone")]),
            ticket.get("amount", ""),
            _html_isolated(ticket.get("notes")),
        )


def _place(name: str | None, places: Mapping[str, Json]) -> str:
    """Return, as HTML, what a person calls a place: of its address, name and id the first that the reader may see."""
    place = places.get(name or "", {})
    called = (place.get("address"), place.get("name"), name)
    return _html_isolated(next((text for text in called if text and text != MASK), None))


def _amount(demand: Any, *, is_pickup: bool) -> str:
    """Return what is dropped, or picked up with a plus; fifteen digits, so that large amounts have no exponent."""
    parts = demand.items() if isinstance(demand, dict) else [("", demand)]
    amount_texts = ", ".join(f"{figure(value)} {_html_isolated(name)}".rstrip() for name, value in parts)
    return f"+{amount_texts}" if is_pickup else amount_texts


def _html_isolated(text: str | None) -> str:
    return html_isolated(text) if text else ""


def _joined(parts: list[str | None]) -> str:
    """Return texts as lines of HTML, each once."""
    return _lines([_html_isolated(part) for part in parts])


def _lines(parts: list[str]) -> str:
    return "<br>".join(dict.fromkeys(part for part in parts if part))
