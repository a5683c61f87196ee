"""The stops of drivers as an iCalendar file, which phones and mail programs take (SPEC T5).

Owns the file: RFC 5545, one event a stop. A scenario has no time zone, so times are floating (section 3.3.5, form 1):
the hour on the driver's own clock. The UID of an event comes from day and ticket, so that a file of a later plan moves
the events of an earlier one. Values are those of the driver sheets.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from planner_mcp.render.driver_sheets import SheetDay, stop_values
from planner_mcp.routing.plan import Plan, PlannedRoute, Visit
from planner_mcp.routing.scenario.shown_scenario import ShownScenario
from planner_mcp.text import nearest_minute

_LONGEST: Final = 75
"""Octets of a line without its end (section 3.1)."""


def calendar(scenario: ShownScenario, plan: Plan, *, made_at: datetime, is_exact: bool = True) -> str:
    """Return the events of all routes; where there are several, each event begins with its agent.

    Args:
        plan: The plan, or the part of one agent (`of_route`).
        made_at: When the plan was made; of two events with one UID the later one counts.
    """
    day = SheetDay.of(scenario, plan, is_exact=is_exact)
    stamp = f"{made_at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//planner-mcp//planner-mcp//EN", "CALSCALE:GREGORIAN"]
    lines.append(f"X-WR-CALNAME:{_escaped(scenario['name'])}")
    for route in plan.routes:
        prefix = f"{route.agent_id}: " if len(plan.routes) > 1 else ""
        for number, visit in enumerate(route.visits, 1):
            lines += ["BEGIN:VEVENT", f"DTSTAMP:{stamp}", *_event(number, visit, route, day, prefix), "END:VEVENT"]
    return "".join(f"{_folded(line)}\r\n" for line in [*lines, "END:VCALENDAR"])


def of_route(plan: Plan, number: int) -> Plan | None:
    """Return the part of a plan that is its route of this number, from 1 on; None where there is none."""
    return replace(plan, routes=plan.routes[number - 1 : number]) if 0 < number <= len(plan.routes) else None


def _event(number: int, visit: Visit, route: PlannedRoute, day: SheetDay, prefix: str) -> Iterator[str]:
    values = stop_values(number, visit, day)
    scenario = day.scenario
    who = f"{values.name} ({values.ticket_id})" if values.name else values.ticket_id or values.doing
    which = visit.ticket_id or f"{route.agent_id}\n{visit.kind}\n{number}"
    key = "\n".join((scenario["name"], scenario["planning_date"], which))
    amounts = ", ".join(f"{value} {name}".strip() for value, name in values.amounts)
    phone, notes = values.phone, values.notes
    texts = [f"{values.doing} {amounts}" if amounts else "", phone, *values.windows, values.late, notes]
    yield f"UID:{hashlib.sha256(key.encode()).hexdigest()[:32]}@planner-mcp"
    begins_s = visit.start_s if visit.kind == "break" else visit.arrival_s  # nobody has a break while waiting for it
    yield f"DTSTART:{_local(scenario, begins_s)}"
    yield f"DTEND:{_local(scenario, max(visit.departure_s, begins_s + 60))}"
    yield f"SUMMARY:{_escaped(f'{prefix}{number}. {who}')}"
    if values.where:
        yield f"LOCATION:{_escaped(', '.join(values.where))}"
    if place := day.places.get(visit.location or ""):
        yield f"GEO:{place[0]:.6f};{place[1]:.6f}"
    if text := "\n".join(filter(None, texts)):
        yield f"DESCRIPTION:{_escaped(text)}"


def _local(scenario: ShownScenario, seconds: float) -> str:
    midnight = datetime.combine(date.fromisoformat(scenario["planning_date"]), time())
    return f"{midnight + timedelta(minutes=nearest_minute(seconds)):%Y%m%dT%H%M%S}"


def _escaped(text: str) -> str:
    """Return a caller's text as a value (section 3.3.11): it cannot end its line, and has no other controls."""
    for sign, escape in (("\\", "\\\\"), (";", "\\;"), (",", "\\,"), ("\r\n", "\n"), ("\n", "\\n")):
        text = text.replace(sign, escape)
    return "".join(char for char in text if char >= " " and char != "\x7f")


def _folded(line: str) -> str:
    """Return a line in pieces of at most 75 octets, none of which ends within a character."""
    pieces, piece, room = [], "", _LONGEST
    for char in line:
        if (size := len(char.encode())) > room:
            pieces.append(piece)
            piece, room = "", _LONGEST - 1
        piece += char
        room -= size
    return "\r\n ".join([*pieces, piece])
