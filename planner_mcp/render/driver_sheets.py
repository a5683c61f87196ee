"""Renders what each driver needs of a plan: one page per agent to print, its stops in order (SPEC T5).

Owns the values of the pages; their text is `templates/driver_sheets.html`. Like the report they fetch nothing and run
no script. They name people and addresses where the reader may see them, and say nothing of what a stop does not have.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner_mcp.render.day_times import DayTimes
from planner_mcp.render.html_templates import render, svg_markup
from planner_mcp.render.label_text import length, length_unit, unit_name
from planner_mcp.render.names import Names, visible
from planner_mcp.render.page_words import ONE_OF, UNITS, Words, page_words_of
from planner_mcp.render.qr_codes import geo_link, qr_svg, route_links
from planner_mcp.render.route_loads import load_at_start, picked_up
from planner_mcp.routing.plan import Plan, PlannedRoute, Visit
from planner_mcp.routing.scenario.coordinates import Position, globe_positions
from planner_mcp.routing.scenario.field_types import read_amount
from planner_mcp.routing.scenario.scenario_model import AREAS
from planner_mcp.routing.scenario.shown_scenario import NO_TICKET, ShownScenario, ShownTicket, ShownTicketFields
from planner_mcp.text import figure

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_CODES: Final = 1000
"""Stops of a plan that get a code each, about 1.5 ms apiece; those of a larger plan have the link alone."""
_UNNAMED: Final = "load"
"""The dimension of amounts that are bare numbers."""


def sheets(scenario: ShownScenario, plan: Plan, *, is_exact: bool = True) -> str:
    """Return the HTML of all sheets, in the language of the scenario.

    Args:
        is_exact: Whether the reader may see exact positions; links to rounded ones would lead drivers astray.
    """
    day = SheetDay.of(scenario, plan, is_exact=is_exact)
    unit = length_unit(plan)
    return render(
        "driver_sheets.html",
        scenario=scenario,
        words=day.words,
        day=day.times.day,
        sheets=[_sheet(route, day, unit) for route in plan.routes],
    )


@dataclass(frozen=True, slots=True)
class SheetDay:
    """What all stops of a plan share."""

    scenario: ShownScenario
    words: Words
    times: DayTimes
    names: Names
    tickets: dict[str, ShownTicket]
    pickups: frozenset[str]
    places: dict[str, Position]
    """(lat, lon) in WGS-84 by location, of those to which links lead."""
    has_codes: bool

    @staticmethod
    def of(scenario: ShownScenario, plan: Plan, *, is_exact: bool) -> "SheetDay":
        """Return it; without links to places where positions are not exact, on a plane, or those of an area."""
        words = page_words_of(scenario)
        known = scenario.get("locations") or []
        areas = {each["id"] for each in known if (found := each.get("resolved")) and found["accuracy"] in AREAS}
        return SheetDay(
            scenario,
            words,
            DayTimes.of(scenario, plan, words),
            Names.of(scenario),
            {ticket["id"]: ticket for ticket in scenario["tickets"]},
            picked_up(scenario),
            {name: at for name, at in globe_positions(scenario).items() if is_exact and name not in areas},
            sum(len(route.visits) for route in plan.routes) <= MOST_CODES,
        )


@dataclass(frozen=True, slots=True)
class PartCode:
    """Link and code of a part of a route."""

    title: str
    """Which part; empty where there is one alone."""
    link: str
    code: "Markup"


@dataclass(frozen=True, slots=True)
class StopValues:
    """What a driver reads of a stop; an empty text, list or None for what it does not have."""

    number: int
    kind: str
    ticket_id: str | None
    arrives: str
    starts: str
    """Empty where service starts with the arrival."""
    leaves: str
    windows: list[str]
    late: str
    doing: str
    amounts: list[tuple[str, str]]
    """Number and unit."""
    where: list[str]
    link: str
    code: "Markup | None"
    name: str
    phone: str
    notes: str


@dataclass(frozen=True, slots=True)
class _Sheet:
    """What stands on the page of an agent."""

    agent_id: str
    driver: list[str]
    start: str
    starts: str
    end: str
    ends: str
    length: str
    unit: str
    loaded: list[tuple[str, str]]
    codes: list[PartCode]
    stops: list[StopValues]


def _sheet(route: PlannedRoute, day: SheetDay, unit: str) -> _Sheet:
    agent = next(each for each in day.scenario["agents"] if each["id"] == route.agent_id)
    demands = {name: ticket.get("demand", 0) for name, ticket in day.tickets.items()}
    return _Sheet(
        agent_id=agent["id"],
        driver=[text for text in (visible(agent.get("name")), visible(agent.get("phone"))) if text],
        start=day.names.place(route.start_location) if route.start_location else "",
        starts=day.times.moment(route.start_s),
        end=day.names.place(route.end_location) if route.end_location else "",
        ends=day.times.moment(route.end_s),
        length=length(route.distance_m, unit),
        unit=unit_name(unit, day.words),
        loaded=_amounts(load_at_start(route, demands, day.pickups), day.words),
        codes=list(_route_codes(route, day)),
        stops=[stop_values(number, visit, day) for number, visit in enumerate(route.visits, 1)],
    )


def stop_values(number: int, visit: Visit, day: SheetDay) -> StopValues:
    """Return what a driver reads of a stop."""
    ticket = day.tickets.get(visit.ticket_id or "", NO_TICKET)
    place = day.places.get(visit.location or "")
    link = geo_link(place) if place is not None and visit.kind != "break" else ""
    late_min = round((visit.late_s or 0) / 60)
    doing = "pickup" if visit.ticket_id in day.pickups else "deliver"
    return StopValues(
        number=number,
        kind=visit.kind,
        ticket_id=visit.ticket_id,
        arrives=day.times.moment(visit.arrival_s),
        starts=day.times.moment(visit.start_s) if visit.start_s - visit.arrival_s >= 60 else "",
        leaves=day.times.moment(visit.departure_s),
        windows=day.times.windows(ticket),
        late=day.words["late"].format(late_min) if late_min else "",
        doing=day.words[doing] if ticket else day.words[visit.kind],
        amounts=_amounts(read_amount(ticket.get("demand", 0)), day.words) if ticket else [],
        where=_where(visit, ticket, day.names),
        link=link,
        code=svg_markup(qr_svg(link)) if link and day.has_codes else None,
        name=visible(ticket.get("name")),
        phone=visible(ticket.get("phone")),
        notes=visible(ticket.get("notes")),
    )


def _where(visit: Visit, ticket: ShownTicketFields, names: Names) -> list[str]:
    """Return address and name of a place; its id where it has neither and the ticket says nothing else."""
    known = [visible(ticket.get("address")), names.places.get(visit.location or "", "")]
    shown = [text for text in dict.fromkeys(known) if text and text != visible(ticket.get("name"))]
    return shown or ([] if visible(ticket.get("name")) or not visit.location else [visit.location])


def _route_codes(route: PlannedRoute, day: SheetDay) -> Iterator[PartCode]:
    """Yield link and code of each part of a route, its ends included, a place once in a row.

    There is none where links lead to some of its places alone: who follows it would pass the others by.
    """
    stops = [visit.location for visit in route.visits if visit.kind != "break"]
    names = [name for name in (route.start_location, *stops, route.end_location) if name]
    if not day.places.keys() >= set(names):
        return
    way = [day.places[name] for index, name in enumerate(names) if index == 0 or names[index - 1] != name]
    parts = route_links(way, day.words) if len(way) > 1 else []
    for first, last, link in parts:
        title = day.words["route"].format(first + 1, last + 1) if len(parts) > 1 else ""
        yield PartCode(title, link, svg_markup(qr_svg(link)))


def _amounts(amounts: dict[str, float], words: Words) -> list[tuple[str, str]]:
    """Return number and unit of what is not nothing, with all digits; bare numbers have no unit."""
    units = {_UNNAMED: "", **UNITS[words["language"]]}
    single = {**units, **ONE_OF[words["language"]]}
    return [
        (figure(value), (single if value == 1 else units).get(name, name)) for name, value in amounts.items() if value
    ]
