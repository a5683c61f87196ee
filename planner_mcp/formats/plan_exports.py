"""A plan as a file for other programs: CSV, Excel for people, GeoJSON for maps, GPX for navigation (SPEC T5).

Owns these forms. Times are hours of the planning day, positions WGS-84 whatever the scenario declared; on the plane
there are none. Text that a spreadsheet would take for a formula is quoted.
"""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Literal
from xml.sax.saxutils import escape, quoteattr

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from planner_mcp.errors import Fault, input_error
from planner_mcp.formats.tables.exported_stops import RARE_COLUMNS, STOP_COLUMNS, TICKET_COLUMNS
from planner_mcp.formats.tables.formula_quotes import safe_cell
from planner_mcp.routing.plan import Plan, PlannedRoute, Visit
from planner_mcp.routing.scenario.coordinates import NO_LINES, Lines, Position, globe_positions
from planner_mcp.routing.scenario.field_types import MAX_FREE_TEXT_LENGTH
from planner_mcp.routing.scenario.scenario_model import Location
from planner_mcp.routing.scenario.schema_faults import faults_of
from planner_mcp.routing.scenario.shown_scenario import (
    NO_TICKET,
    ShownScenario,
    ShownTicket,
    ShownTicketFields,
    as_shown,
)
from planner_mcp.routing.scenario.window_text import time_text, window_text
from planner_mcp.routing.scenario.written_language import Language, language_of
from planner_mcp.text import ATTRIBUTION, MASK, Json, clock, clock_s, decimals, plain

MAPS: Final = ("geojson", "gpx")
"""Forms that show nothing but positions."""
WORKBOOK: Final = "xlsx"
"""The form of `workbook`; the others are text."""
FORMS: Final = ("json", "csv", WORKBOOK, *MAPS)
DRAFT_MARK: Final = "DRAFT, not approved (草稿，未批准)"
"""Stands on what is exported of a plan that nobody approved (SPEC A5)."""
_WIDEST_PIXELS: Final = 320
"""Of a column of a workbook."""
_LICENCE: Final = "https://www.openstreetmap.org/copyright"


def export(plan: Plan, scenario: ShownScenario, form: str, lines: Lines = NO_LINES, *, is_draft: bool = False) -> str:
    """Return a plan in one of `FORMS` that are text.

    Args:
        lines: Along the roads; routes without are drawn straight from stop to stop.
        is_draft: Whether it is marked as a draft; a plan as JSON is what it is.

    Raises:
        InputError: There is no such form, or no positions for a map.
    """
    check_form(form, scenario)
    if form == "json":
        return json.dumps(plan.as_json(), ensure_ascii=False, indent=2) + "\n"
    places = globe_positions(scenario)
    if form == "csv":
        return _as_csv(plan, places, scenario, is_draft=is_draft)
    write = _as_geojson if form == "geojson" else _as_gpx
    return write(plan, places, scenario, lines, is_draft=is_draft)


def check_form(form: str, scenario: ShownScenario) -> None:
    """Look whether plans of a scenario can be written in a form, before there is one.

    Raises:
        InputError: There is no such form, or no positions for a map.
    """
    if form not in FORMS:
        raise input_error([Fault("/form", "There is no such form.", " or ".join(FORMS))])
    if form in MAPS and not globe_positions(scenario):
        raise input_error([Fault("/form", "The scenario has no positions on the globe.", "csv, xlsx or json")])


def read_plan(data: Any) -> Json:
    """Return a plan that was written as JSON, as `Plan.as_json()`; what a plan does not name stays, and masked costs.

    What the file does not say is not added: an older one has no overtime, which is not an overtime of 0.

    Raises:
        InputError: All that is wrong with it.
    """
    try:
        read = _Written.model_validate(data).root.as_json()
    except ValidationError as error:
        raise input_error(faults_of(error, _Written, data)) from None
    return dict(_whole(data, read))


class _Written(RootModel[Plan]):
    """A plan as it stands in a file."""

    model_config = ConfigDict(allow_inf_nan=False)


def _whole(given: Any, read: Any) -> Any:
    """Return what was read of a value, with what its reader passed over: unknown names, and nulls."""
    if isinstance(given, dict):
        return {name: _whole(each, read[name]) if name in read else each for name, each in given.items()}
    if isinstance(given, list):
        return [_whole(*pair) for pair in zip(given, read, strict=True)]
    return None if given is None else read


def read_places(data: Any) -> ShownScenario:
    """Return a scenario that was written as JSON; only what an export needs of it is looked at, as it may be masked.

    Raises:
        InputError: It is no scenario, or all that is wrong with its places.
    """
    try:
        _ScenarioPositions.model_validate(data)
    except ValidationError as error:
        raise input_error(faults_of(error, _ScenarioPositions, data)) from None
    return as_shown(data)


class _TravelHeader(BaseModel):
    """What `travel` says of positions."""

    crs: Literal["wgs84", "gcj02", "bd09"] = "wgs84"


class _ScenarioPositions(BaseModel):
    """What distinguishes a scenario from another file, and its positions."""

    agents: list[Any]
    tickets: list[Any]
    locations: tuple[Location, ...] = ()
    travel: _TravelHeader = _TravelHeader()


def workbook(plan: Plan, scenario: ShownScenario, *, is_draft: bool = False) -> bytes:
    """Return the table of a plan as a workbook of Excel: numbers are numbers, text is text whatever it begins with."""
    import xlsxwriter  # with the first workbook

    data = io.BytesIO()
    with xlsxwriter.Workbook(data, {"in_memory": True}) as book:
        sheet = book.add_worksheet("stops")
        headers, *rows = _table(plan, globe_positions(scenario), scenario, is_draft=is_draft)
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


def _as_csv(plan: Plan, places: dict[str, Position], scenario: ShownScenario, *, is_draft: bool) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    for row in _table(plan, places, scenario, is_draft=is_draft):
        table.writerow([decimals(cell) if isinstance(cell, float) else safe_cell(cell) for cell in row])
    return text.getvalue()


def _table(
    plan: Plan, places: dict[str, Position], scenario: ShownScenario, *, is_draft: bool
) -> Iterator[Sequence[Any]]:
    """Yield the headers, a row for each stop, in order, and one for each ticket left out.

    An import reads the tickets back.
    """
    tickets = _tickets(scenario)
    dimensions = list(dict.fromkeys(name for ticket in tickets.values() for name in _demand(ticket)))
    amounts = [f"demand ({name})" if name else "demand" for name in dimensions]
    date = str(scenario.get("planning_date", ""))
    rare = {ticket_id: _rare(ticket, date) for ticket_id, ticket in tickets.items()}
    used = [header for header in RARE_COLUMNS if any(header in each for each in rare.values())]
    yield (*STOP_COLUMNS, *TICKET_COLUMNS, *used, *amounts)
    for row in _rows(plan, places, tickets, DRAFT_MARK if is_draft else ""):
        ticket = tickets.get(row[_TICKET_AT], NO_TICKET)
        demand = _demand(ticket)
        more = rare.get(row[_TICKET_AT], {})
        yield (
            *(*row, *_says(ticket, date), *(more.get(name, "") for name in used)),
            *(demand.get(name, "") for name in dimensions),
        )


def _tickets(scenario: ShownScenario) -> dict[str, ShownTicket]:
    """Return the tickets by id, of a scenario file of whatever form."""
    known = (each for each in scenario.get("tickets") or () if isinstance(each, dict) and "id" in each)
    return {ticket["id"]: ticket for ticket in known}


_TICKET_AT: Final = STOP_COLUMNS.index("ticket_id")


def _demand(ticket: ShownTicketFields) -> Json:
    """Return the amounts of a ticket by dimension; the only one has no name."""
    demand = ticket.get("demand", {})
    return demand if isinstance(demand, dict) else {"": demand}


def _says(ticket: ShownTicketFields, date: str) -> list[Any]:
    """Return what a ticket says itself, in the order of `TICKET_COLUMNS`."""
    if not ticket:
        return [""] * len(TICKET_COLUMNS)
    says = _texts(ticket) | {
        "task": ticket.get("kind", "delivery"),
        "window": window_text(ticket, date),
        "service_s": ticket.get("service_time_s"),
        "priority": ticket.get("priority"),
        "penalty": ticket.get("penalty"),
        "skills": ", ".join(map(str, ticket.get("skills") or ())),
    }
    return ["" if (value := says[name]) is None else value for name in TICKET_COLUMNS]


def _rare(ticket: ShownTicketFields, date: str) -> Json:
    """Return what a ticket says in the columns that few tables need, by header."""
    says: Json = {}
    for header, name in RARE_COLUMNS.items():
        value: Any = ticket.get(name)
        if isinstance(value, (list, tuple)):
            value = ", ".join(map(str, value))
        if value not in (None, ""):
            says[header] = time_text(value, date) if name in _TIMES else value
    return says


_TIMES: Final = ("release_time", "soft_close")


def _texts(ticket: ShownTicketFields) -> Json:
    """Return what a ticket says for people."""
    return {name: ticket.get(name) for name in _TEXTS}


_TEXTS: Final = ("name", "address", "phone", "notes")


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


def _as_geojson(
    plan: Plan, places: dict[str, Position], scenario: ShownScenario, lines: Lines, *, is_draft: bool
) -> str:
    """Return a line for each route and a point for each stop; with lines along roads, whom to name for them."""
    features: list[Json] = []
    tickets = _tickets(scenario)
    date = str(scenario.get("planning_date", ""))
    for route in plan.routes:
        facts = {name: getattr(route, name) for name in ("agent_id", "distance_m", "cost")}
        facts |= {"start": clock_s(route.start_s), "end": clock_s(route.end_s)}
        line = lines.get(route.agent_id)
        facts |= {} if line is None else {"along_roads": True}
        track = [_lonlat(place) for place in line or [places[name] for name, _ in _track(route) if name in places]]
        features.append(_geojson_feature(_line_string(track), facts))
        for number, visit in enumerate(route.visits, start=1):
            if visit.location in places:
                stop = {"agent_id": route.agent_id, "stop": number, "kind": visit.kind}
                stop |= {"ticket_id": visit.ticket_id, "location": visit.location}
                stop |= {name: clock_s(getattr(visit, f"{name}_s")) for name in ("arrival", "start", "departure")}
                ticket = tickets.get(visit.ticket_id or "", NO_TICKET)
                texts = _texts(ticket) | {"window": window_text(ticket, date)}
                stop |= {name: text for name, text in texts.items() if text}
                point = {"type": "Point", "coordinates": _lonlat(places[visit.location])}
                features.append(_geojson_feature(point, stop))
    head = {"type": "FeatureCollection"} | ({"review": "draft"} if is_draft else {})
    head |= {"attribution": ATTRIBUTION} if lines else {}
    return json.dumps({**head, "features": features}, ensure_ascii=False) + "\n"


def _track(route: PlannedRoute) -> Iterator[tuple[str, Visit | None]]:
    """Yield the places of a route, its ends included, each with the visit there."""
    start, end = ((name, None) for name in (route.start_location, route.end_location))
    stops = ((visit.location, visit) for visit in route.visits)
    yield from ((place, visit) for place, visit in (start, *stops, end) if place is not None)


def _lonlat(place: Position) -> list[float]:
    return [round(place[1], 6), round(place[0], 6)]


def _line_string(track: list[list[float]]) -> Json | None:
    """Return the geometry of a line: none for fewer than two places, cut at 180° (RFC 7946, sections 3.1.4, 3.1.9)."""
    if len(track) < 2:
        return None
    parts = [track[:1]]
    for before, after in pairwise(track):
        if abs(after[0] - before[0]) > 180:
            lon, lat = _left_at(before, after)
            parts[-1].append([lon, lat])
            parts.append([[-lon, lat]])
        parts[-1].append(after)
    if len(parts) == 1:
        return {"type": "LineString", "coordinates": track}
    return {"type": "MultiLineString", "coordinates": parts}


def _left_at(before: list[float], after: list[float]) -> tuple[float, float]:
    """Return (lon, lat) where the short way from a place to one beyond 180° leaves the half of the globe it is on."""
    (lon, lat), (to_lon, to_lat) = before, after
    here, beyond = 180 - abs(lon), 180 - abs(to_lon)
    share = here / (here + beyond) if here else 0.0
    return math.copysign(180.0, lon), round(lat + (to_lat - lat) * share, 6)


def _geojson_feature(geometry: Json | None, facts: Json) -> Json:
    return {"type": "Feature", "geometry": geometry, "properties": facts}


def _description(visit: Visit, tickets: Mapping[str, ShownTicket], date: str, language: Language) -> str:
    """Return when a driver arrives, and what the ticket says: a navigation device shows no more than text."""
    ticket = tickets.get(visit.ticket_id or "", NO_TICKET)
    window = window_text(ticket, date, language) if ticket else ""
    parts = [clock(visit.arrival_s), window, *_texts(ticket).values()]
    return "; ".join(plain(str(part), MAX_FREE_TEXT_LENGTH) for part in parts if part and part != MASK)


def _as_gpx(plan: Plan, places: dict[str, Position], scenario: ShownScenario, lines: Lines, *, is_draft: bool) -> str:
    """Return a route for each agent, its stops in order, and a track where its line along the roads is known.

    A stop has the id of its ticket as name, and what its driver needs there as description.
    """
    tickets = _tickets(scenario)
    date, language = str(scenario.get("planning_date", "")), language_of(scenario)
    text = ['<?xml version="1.0" encoding="UTF-8"?>']
    text.append('<gpx version="1.1" creator="planner-mcp" xmlns="http://www.topografix.com/GPX/1/1">')
    facts = [f"<desc>{DRAFT_MARK}</desc>"] if is_draft else []
    if lines:
        facts.append(f"<copyright author={quoteattr(ATTRIBUTION)}><license>{_LICENCE}</license></copyright>")
    if facts:
        text.append(f"<metadata>{''.join(facts)}</metadata>")
    for route in plan.routes:
        text += ["<rte>", f"<name>{escape(route.agent_id)}</name>"]
        for place, visit in _track(route):
            if place in places:
                lat, lon = (quoteattr(f"{degree:.6f}") for degree in places[place])
                name = escape((visit and visit.ticket_id) or place)
                says = "" if visit is None else escape(_description(visit, tickets, date, language))
                desc = f"<desc>{says}</desc>" if says else ""
                text.append(f"<rtept lat={lat} lon={lon}><name>{name}</name>{desc}</rtept>")
        text.append("</rte>")
    for name, line in lines.items():
        points = (f"<trkpt lat={quoteattr(f'{lat:.6f}')} lon={quoteattr(f'{lon:.6f}')}/>" for lat, lon in line)
        text += ["<trk>", f"<name>{escape(name)}</name>", "<trkseg>", *points, "</trkseg>", "</trk>"]
    return "\n".join([*text, "</gpx>", ""])
