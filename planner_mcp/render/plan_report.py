"""Renders a plan as one self-contained HTML page: figures, route map, timeline, stops and unassigned tickets.

Owns the values of the page. Its text is `templates/plan_report.html`, its shapes are `svg_drawing.py`. The page fetches
nothing, runs no script, follows the reader's light or dark setting, and prints black on white with all stops.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from planner_mcp.render.html_templates import render, svg_markup
from planner_mcp.render.label_text import length, length_unit, rounded
from planner_mcp.render.map_positions import positions, unassigned_places
from planner_mcp.render.route_loads import load_ratio, picked_up
from planner_mcp.render.svg_drawing import NO_LINES, Lines, curve, route_map, timeline
from planner_mcp.routing.plan import Plan


def page(
    scenario: dict[str, Any], plan: Plan, history: Sequence[tuple[float, float]] = (), lines: Lines = NO_LINES
) -> str:
    """Return the HTML of a plan.

    Args:
        scenario: As given to `create_scenario`.
        plan: The plan.
        history: Best cost by elapsed seconds, rising in time.
        lines: (lat, lon) along the roads by agent.
    """
    places, is_plane = positions(scenario)
    unassigned = unassigned_places(scenario, plan)
    setups_s = {ticket["id"]: ticket.get("setup_time_s") or 0 for ticket in scenario["tickets"]}
    drawn = route_map(plan, places, unassigned, is_plane=is_plane, lines=lines) if places else ""
    return render(
        "plan_report.html",
        scenario=scenario,
        plan=plan,
        unit=length_unit(plan),
        figures=_figures(plan),
        agents=list(_agents(scenario, plan)),
        hues=_hues(len(plan.routes)),
        map_drawing=svg_markup(drawn) if drawn else None,
        timeline_drawing=svg_markup(timeline(plan, setups_s)),
        curve_drawing=svg_markup(curve(history)),
        provenance=_provenance(plan),
    )


def _hues(count: int) -> str:
    """Return a colour per route, and the rules that dim the other routes while one is pointed at."""
    rules = []
    for index in range(count):
        hue = (25 + index * 360 / max(count, 1)) % 360
        chroma = 0.15 if index % 2 else 0.12
        rules.append(f".r{index}{{--hue:oklch(var(--tone) {chroma} {hue:.0f})}}")
        rules.append(f"main:has(.r{index}:hover) .route:not(.r{index}){{opacity:.12}}")
    return "\n".join(rules)


def _figures(plan: Plan) -> list[tuple[str, str]]:
    """Return name and value of the figures at the top of the page."""
    waiting_h = sum(route.waiting_s for route in plan.routes) / 3600
    unit = length_unit(plan)
    cost = [] if plan.is_masked else [("cost", f"{plan.cost:,.0f}")]
    return [
        *cost,
        (f"distance, {unit}", length(plan.distance_m, unit)),
        ("agents used", str(plan.agents_used)),
        ("time on the road, h", rounded(plan.duration_s / 3600)),
        ("of it waiting, h", rounded(waiting_h)),
        ("tickets left out", str(len(plan.unassigned))),
    ]


def _agents(scenario: dict[str, Any], plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield the row of each route in the table of agents."""
    capacities = {agent["id"]: agent.get("capacity", 0) for agent in scenario["agents"]}
    demands = {ticket["id"]: ticket.get("demand", 0) for ticket in scenario["tickets"]}
    pickups = picked_up(scenario)
    unit = length_unit(plan)
    for route in plan.routes:
        ratio = load_ratio(route, capacities[route.agent_id], demands, pickups)
        yield {
            "agent_id": route.agent_id,
            "tickets": sum(1 for visit in route.visits if visit.ticket_id),
            "length": length(route.distance_m, unit),
            "start_s": route.start_s,
            "end_s": route.end_s,
            "load": f"{ratio:.0%}",
            "bar": f"{min(ratio, 1):.0%}",
        }


def _provenance(plan: Plan) -> str:
    """Return what made the plan: engine, seed, versions and the hash of the input."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(plan.versions.items()))
    source = f"input {plan.input_hash[:12]}" if plan.input_hash else ""
    return " · ".join(filter(None, [f"engine {plan.engine}", f"seed {plan.seed}", versions, source]))
