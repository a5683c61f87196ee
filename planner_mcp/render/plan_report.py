"""Renders a plan as one self-contained page: KPIs, route map, timeline, stops and what was left out.

Owns the words and the order of the page; shapes are `drawing.py`, looks are `report.css`. The page fetches nothing,
runs no script, follows the reader's light or dark setting and prints in black on white with all stops.
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from planner_mcp.render.label_text import html_isolated, length, length_unit, rounded, stop_name
from planner_mcp.render.map_positions import positions, unassigned_places
from planner_mcp.render.route_loads import load_ratio, picked_up
from planner_mcp.render.svg_drawing import curve, route_map, timeline
from planner_mcp.text import clock

_STYLE: Final = Path(__file__).with_name("report.css")


def page(scenario: dict[str, Any], plan: dict[str, Any], history: Sequence[tuple[float, float]] = ()) -> str:
    """Return the HTML of a plan.

    Args:
        scenario: As given to `create_scenario`.
        plan: As `Plan.as_json()`.
        history: Best cost by elapsed seconds, rising in time.
    """
    places, is_plane = positions(scenario)
    crosses = unassigned_places(scenario, plan)
    drawing = route_map(plan, places, crosses, is_plane=is_plane) if places else "<p>No positions are known.</p>"
    setups_s = {ticket["id"]: ticket.get("setup_time_s") or 0 for ticket in scenario["tickets"]}
    convergence = f'<section class="card"><h2>Best cost while solving</h2>{curve(history)}</section>'
    body = [
        _header(scenario, plan),
        _kpis(plan),
        f'<div class="two"><section class="card"><h2>Routes on the map</h2>{drawing}</section>',
        f'<div class="stack"><section class="card"><h2>Agents</h2>{_legend(scenario, plan)}</section>',
        f"{convergence if len(history) > 1 else ''}</div></div>",
        f'<section class="card scroll"><h2>Timeline</h2>{timeline(plan, setups_s)}</section>',
        _unassigned(plan),
        _stops(plan),
        _footer(plan),
    ]
    name = escape(scenario["name"])
    style = _STYLE.read_text(encoding="utf-8") + _hues(len(plan["routes"]))
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{name}</title>'
    main = f"<main>{chr(10).join(body)}</main>"
    return f'<!doctype html><html lang="en"><head>{head}<style>{style}</style></head><body>{main}</body></html>\n'


def _hues(count: int) -> str:
    """Return a colour a route and the rules that light one route up wherever it is pointed at."""
    rules = []
    for index in range(count):
        hue = (25 + index * 360 / max(count, 1)) % 360
        chroma = 0.15 if index % 2 else 0.12
        rules.append(f".r{index}{{--hue:oklch(var(--tone) {chroma} {hue:.0f})}}")
        rules.append(f"main:has(.r{index}:hover) .route:not(.r{index}){{opacity:.12}}")
    return "\n".join(rules)


def _header(scenario: dict[str, Any], plan: dict[str, Any]) -> str:
    served = f"{plan['tickets_served']} of {plan['tickets_total']} tickets served"
    return f"<header><h1>{html_isolated(scenario['name'])}</h1><p>{scenario['planning_date']}, {served}</p></header>"


def _kpis(plan: dict[str, Any]) -> str:
    waiting_h = sum(route["waiting_s"] for route in plan["routes"]) / 3600
    unit = length_unit(plan)
    figures = {
        "cost": f"{plan['cost']:,.0f}",
        f"distance, {unit}": length(plan["distance_m"], unit),
        "agents used": str(plan["agents_used"]),
        "time on the road, h": rounded(plan["duration_s"] / 3600),
        "of it waiting, h": rounded(waiting_h),
        "tickets left out": str(len(plan["unassigned"])),
    }
    cards = "".join(f"<div><b>{value}</b><span>{key}</span></div>" for key, value in figures.items())
    return f'<div class="kpis">{cards}</div>'


def _legend(scenario: dict[str, Any], plan: dict[str, Any]) -> str:
    capacities = {agent["id"]: agent["capacity"] for agent in scenario["agents"]}
    demands = {ticket["id"]: ticket["demand"] for ticket in scenario["tickets"]}
    pickups = picked_up(scenario)
    unit = length_unit(plan)
    rows = []
    for index, route in enumerate(plan["routes"]):
        tickets = [visit["ticket_id"] for visit in route["visits"] if visit["ticket_id"]]
        share = load_ratio(route, capacities[route["agent_id"]], demands, pickups)
        bar = f'<div class="bar"><b style="width:{min(share, 1):.0%}"></b></div>{share:.0%}'
        load = f'<td><div class="load" title="{share:.0%} of capacity">{bar}</div></td>'
        cells = f'<td class="n">{len(tickets)}</td><td class="n">{length(route["distance_m"], unit)}</td>'
        span = f"{clock(route['start_s'])}–{clock(route['end_s'])}"
        name = f"<td><i></i>{html_isolated(route['agent_id'])}</td>"
        rows.append(f'<tr class="route r{index}">{name}{cells}<td class="n">{span}</td>{load}</tr>')
    numbers = "".join(f'<th class="n">{name}</th>' for name in ("tickets", unit, "from–to"))
    return f"<table><tr><th>agent</th>{numbers}<th>load</th></tr>{''.join(rows)}</table>"


def _unassigned(plan: dict[str, Any]) -> str:
    if not plan["unassigned"]:
        return ""
    rows = "".join(
        f"<tr><td>{html_isolated(entry['ticket_id'])}</td><td>{escape(entry['code'])}</td><td>{escape(entry['detail'])}</td></tr>"
        for entry in plan["unassigned"]
    )
    head = "<tr><th>ticket</th><th>reason</th><th>evidence</th></tr>"
    return f'<section class="card"><h2>Left out</h2><table>{head}{rows}</table></section>'


def _stops(plan: dict[str, Any]) -> str:
    parts = []
    for index, route in enumerate(plan["routes"]):
        rows = "".join(
            f'<tr><td class="n">{number}</td><td>{stop_name(visit)}</td>'
            f'<td>{html_isolated(visit["location"] or "")}</td><td class="n">{clock(visit["arrival_s"])}</td>'
            f'<td class="n">{clock(visit["start_s"])}</td><td class="n">{clock(visit["departure_s"])}</td></tr>'
            for number, visit in enumerate(route["visits"], 1)
        )
        head = "".join(f'<th class="n">{name}</th>' for name in ("arrives", "starts", "leaves"))
        table = f'<table><tr><th class="n"></th><th>ticket</th><th>location</th>{head}</tr>{rows}</table>'
        summary = f"<summary>{html_isolated(route['agent_id'])}, {len(route['visits'])} stops</summary>"
        parts.append(f'<details open class="r{index}">{summary}{table}</details>')
    return f'<section class="card"><h2>Stops</h2>{"".join(parts)}</section>'


def _footer(plan: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(plan.get("versions", {}).items()))
    source = f"input {plan['input_hash'][:12]}" if plan.get("input_hash") else ""
    facts = [f"engine {plan['engine']}", f"seed {plan['seed']}", versions, source]
    assumptions = "".join(f"<p>{escape(text)}</p>" for text in plan.get("assumptions", ()))
    return f"<footer>{assumptions}<code>{escape(' · '.join(fact for fact in facts if fact.strip()))}</code></footer>"
