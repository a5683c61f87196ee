"""Renders what each driver needs of a plan: one page per agent to print, its stops in order (SPEC T5).

Owns the values of the pages; their text is `templates/driver_sheets.html`. Like the report they fetch nothing and run
no script. They name people and addresses where the reader may see them; masked values arrive masked.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from planner_mcp.render.html_templates import render
from planner_mcp.render.label_text import length, length_unit
from planner_mcp.render.route_loads import picked_up
from planner_mcp.routing.plan import Plan, Visit
from planner_mcp.routing.scenario.window_text import window_text
from planner_mcp.text import MASK, figure

Json = dict[str, Any]


def sheets(scenario: Json, plan: Plan) -> str:
    """Return the HTML of all sheets.

    Args:
        scenario: As given to `create_scenario`.
        plan: The plan.
    """
    return render(
        "driver_sheets.html",
        scenario=scenario,
        unit=length_unit(plan),
        sheets=list(_sheets(scenario, plan)),
    )


def _sheets(scenario: Json, plan: Plan) -> Iterator[Json]:
    agents = {agent["id"]: agent for agent in scenario["agents"]}
    places = {place["id"]: place for place in scenario.get("locations") or ()}
    tickets = {ticket["id"]: ticket for ticket in scenario["tickets"]}
    pickups = picked_up(scenario)
    unit, date = length_unit(plan), scenario["planning_date"]
    for route in plan.routes:
        agent = agents[route.agent_id]
        yield {
            "agent_id": agent["id"],
            "driver": [agent.get("name"), agent.get("phone")],
            "start": _place(route.start_location, places),
            "start_s": route.start_s,
            "end": _place(route.end_location, places),
            "end_s": route.end_s,
            "length": length(route.distance_m, unit),
            "stops": [
                _stop(visit, tickets.get(visit.ticket_id or "", {}), places, pickups, date) for visit in route.visits
            ],
        }


def _stop(visit: Visit, ticket: Json, places: Mapping[str, Json], pickups: frozenset[str], date: str) -> Json:
    return {
        **{name: getattr(visit, name) for name in ("ticket_id", "kind", "arrival_s", "start_s", "departure_s")},
        "window": window_text(ticket, date),
        "where": [ticket.get("address"), _place(visit.location, places)],
        "who": [ticket.get("name"), ticket.get("phone")],
        "amounts": _amounts(ticket.get("demand", 0), is_pickup=ticket["id"] in pickups) if ticket else [],
        "notes": ticket.get("notes"),
    }


def _place(name: str | None, places: Mapping[str, Json]) -> str | None:
    """Return the name a person uses for a place: the first of address, name and id that the reader may see."""
    place = places.get(name or "", {})
    return next((text for text in (place.get("address"), place.get("name"), name) if text and text != MASK), None)


def _amounts(demand: Any, *, is_pickup: bool) -> list[tuple[str, str]]:
    """Return number and dimension of what is dropped, or picked up with a plus; never with an exponent."""
    parts = demand.items() if isinstance(demand, dict) else [("", demand)]
    sign = "+" if is_pickup else ""
    return [(f"{sign if index == 0 else ''}{figure(value)}", name) for index, (name, value) in enumerate(parts)]
