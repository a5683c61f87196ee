"""Renders what each driver needs of a plan: a page an agent, its stops in order, to print (SPEC T5).

Owns the words of these pages; looks are `report.css`. Like the report it fetches nothing and runs no script. People and
their addresses stand here where the reader may see them; what is masked arrives masked.
"""

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

from planner_mcp.picture.cargo import picked_up
from planner_mcp.text import clock

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
    title = f"{escape(scenario['name'])}, {escape(str(scenario['planning_date']))}"
    pages = "".join(_sheet(title, route, agents[route["agent_id"]], tickets, places) for route in plan["routes"])
    style = _STYLE.read_text(encoding="utf-8")
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    empty = "<p>No agent drives.</p>"
    body = f"<body><main>{pages or empty}</main></body>"
    return f'<!doctype html><html lang="en"><head>{head}<style>{style}</style></head>{body}</html>\n'


def _sheet(title: str, route: Json, agent: Json, tickets: Mapping[str, Json], places: Mapping[str, Json]) -> str:
    driver = _joined([agent.get("name"), agent.get("phone")])
    begins = f"{_place(route['start_location'], places)} {clock(route['start_s'])}"
    facts = f"{begins}–{clock(route['end_s'])}, {len(route['visits'])} stops, {route['distance_m'] / 1000:.1f} km"
    head = f"<header><h1>{escape(agent['id'])}</h1><p>{title}</p><p>{driver}</p><p>{escape(facts)}</p></header>"
    columns = "".join(f"<th>{name}</th>" for name in _HEADS)
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in _rows(route, tickets, places))
    last = f"<p>{clock(route['end_s'])} {escape(_place(route['end_location'], places))}</p>"
    return f'<section class="card sheet">{head}<table><tr>{columns}</tr>{rows}</table>{last}</section>'


def _rows(route: Json, tickets: Mapping[str, Json], places: Mapping[str, Json]) -> Iterator[tuple[str, ...]]:
    for number, visit in enumerate(route["visits"], 1):
        ticket = tickets.get(visit["ticket_id"] or "", {})
        times = (clock(visit[f"{name}_s"]) for name in ("arrival", "start", "departure"))
        yield (
            *(str(number), *times, escape(visit["ticket_id"] or visit["kind"])),
            _joined([ticket.get("address"), _place(visit["location"], places)]),
            _joined([ticket.get("name"), ticket.get("phone")]),
            ticket.get("amount", ""),
            escape(ticket.get("notes") or ""),
        )


def _place(name: str | None, places: Mapping[str, Json]) -> str:
    """Return what a person calls a place."""
    place = places.get(name or "", {})
    return str(place.get("address") or place.get("name") or name or "")


def _amount(demand: Any, *, is_pickup: bool) -> str:
    """Return what is dropped, or picked up with a plus; fifteen digits, so that large amounts have no exponent."""
    parts = demand.items() if isinstance(demand, dict) else [("", demand)]
    told = ", ".join(f"{value:.15g} {name}".rstrip() for name, value in parts)
    return escape(f"+{told}" if is_pickup else told)


def _joined(parts: list[str | None]) -> str:
    """Return texts as lines of HTML, each once."""
    return "<br>".join(dict.fromkeys(escape(part) for part in parts if part))
