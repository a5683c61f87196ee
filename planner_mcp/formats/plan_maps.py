"""A plan as what maps and navigation devices read: GeoJSON and GPX (SPEC T5).

Owns these forms. Positions are WGS-84 whatever the scenario declared.
"""

import json
import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from planner_mcp.formats.stop_tables import DRAFT_MARK, ticket_texts, tickets_by_id
from planner_mcp.routing.plan import Plan, PlannedRoute, Visit
from planner_mcp.routing.scenario.coordinates import Lines, Position, globe_positions
from planner_mcp.routing.scenario.field_types import MAX_FREE_TEXT_LENGTH
from planner_mcp.routing.scenario.shown_scenario import NO_TICKET, ShownScenario, ShownTicket
from planner_mcp.routing.scenario.window_text import window_text
from planner_mcp.routing.scenario.written_language import Language, language_of
from planner_mcp.text import ATTRIBUTION, MASK, Json, clock, clock_s, plain

_LICENCE: Final = "https://www.openstreetmap.org/copyright"


def plan_geojson(plan: Plan, scenario: ShownScenario, lines: Lines, *, is_draft: bool) -> str:
    """Return a line for each route and a point for each stop; with lines along roads, whom to name for them."""
    features: list[Json] = []
    tickets, places = tickets_by_id(scenario), globe_positions(scenario)
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
                texts = ticket_texts(ticket) | {"window": window_text(ticket, date)}
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
    parts = [clock(visit.arrival_s), window, *ticket_texts(ticket).values()]
    return "; ".join(plain(str(part), MAX_FREE_TEXT_LENGTH) for part in parts if part and part != MASK)


def plan_gpx(plan: Plan, scenario: ShownScenario, lines: Lines, *, is_draft: bool) -> str:
    """Return a route for each agent, its stops in order, and a track where its line along the roads is known.

    A stop has the id of its ticket as name, and what its driver needs there as description.
    """
    tickets, places = tickets_by_id(scenario), globe_positions(scenario)
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
