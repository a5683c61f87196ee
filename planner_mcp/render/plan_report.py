"""Renders a plan as one self-contained HTML page: figures, route map, timeline, stops and unassigned tickets.

Owns the values of the page. Its text is `templates/plan_report.html`, its shapes are `svg_drawing.py`. The page fetches
nothing, runs no script, follows the reader's light or dark setting, and prints black on white with all stops.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner_mcp.render.day_times import DayTimes
from planner_mcp.render.html_templates import render, svg_markup
from planner_mcp.render.label_text import length, length_unit, money, rounded, unit_name
from planner_mcp.render.names import Names, visible
from planner_mcp.render.page_words import Words, page_words_of
from planner_mcp.render.reason_texts import reason_text
from planner_mcp.render.route_colours import colours_of, dash_of
from planner_mcp.render.route_loads import load_ratio, picked_up
from planner_mcp.render.svg_drawing import Roads, curve, route_map, timeline
from planner_mcp.routing.plan import Plan, PlannedRoute, Visit
from planner_mcp.routing.scenario.coordinates import NO_LINES, Lines
from planner_mcp.routing.scenario.cost_unit import METRES, cost_unit
from planner_mcp.routing.scenario.shown_scenario import ShownScenario
from planner_mcp.routing.scenario.written_language import language_of
from planner_mcp.translation import translated


def report_page(
    scenario: ShownScenario,
    plan: Plan,
    history: Sequence[tuple[float, float]] = (),
    lines: Lines = NO_LINES,
    roads: Roads = (),
) -> str:
    """Return the HTML of a plan.

    Args:
        history: Best cost by elapsed seconds, rising in time.
        roads: What is drawn below the routes, by rank.
    """
    words, names = page_words_of(scenario), Names.of(scenario)
    language = language_of(scenario)
    setups_s = {ticket["id"]: ticket.get("setup_time_s") or 0 for ticket in scenario["tickets"]}
    times = DayTimes.of(scenario, plan, words)
    drawn = route_map(scenario, plan, names, lines, roads)
    unit = unit_name(length_unit(plan), words)
    return render(
        "plan_report.html",
        scenario=scenario,
        plan=plan,
        words=words,
        times=times,
        names=names,
        unit=unit,
        figures=_figures(scenario, plan, words, unit),
        agents=list(_agents(scenario, plan, times)),
        total_length=length(plan.distance_m, length_unit(plan)),
        total_cost=_total_cost(plan),
        stops=[_stops(route, scenario, names) for route in plan.routes],
        hues=_hues(len(plan.routes)),
        map_drawing=svg_markup(drawn) if drawn else None,
        timeline_drawing=svg_markup(timeline(plan, setups_s, names, times.moment)),
        curve_drawing=svg_markup(curve(history)),
        provenance=_provenance(plan),
        detail=lambda entry: reason_text(entry, language),
        assumptions=[translated(each, language) for each in plan.assumptions],
    )


def _hues(count: int) -> str:
    """Return a colour per route, and the rules that dim the other routes while one is pointed at."""
    rules = []
    for index in range(count):
        light, dark = colours_of(index)
        rules.append(f".r{index}{{--hue:light-dark({light},{dark})}}")
        rules.append(f".r{index} polyline{{stroke-dasharray:{dash_of(index)}}}")
        rules.append(f"main:has(.r{index}:hover) .route:not(.r{index}){{opacity:.12}}")
    return "\n".join(rules)


def _figures(scenario: ShownScenario, plan: Plan, words: Words, unit: str) -> list[tuple[str, str]]:
    """Return name and value of the figures at the top of the page."""
    waiting_h = sum(route.waiting_s for route in plan.routes) / 3600
    cost = [] if plan.is_masked else [(_cost_name(scenario, words), money(plan.cost))]
    return [
        *cost,
        (f"{words['distance']}, {unit}", length(plan.distance_m, length_unit(plan))),
        (words["agents_used"], str(plan.agents_used)),
        (words["hours"], rounded(plan.duration_s / 3600)),
        (words["waiting"], rounded(waiting_h)),
        (words["left_out"], str(len(plan.unassigned))),
    ]


def _cost_name(scenario: ShownScenario, words: Words) -> str:
    """Return what a cost is in: the currency that the scenario names, or metres where it has no prices at all."""
    unit = cost_unit(scenario)
    if unit == METRES:
        return words["unpriced"]
    return words["cost"] if unit is None else f"{words['cost']}, {unit}"


@dataclass(frozen=True, slots=True)
class _AgentRow:
    """The row of a route in the table of agents."""

    agent_id: str
    name: str
    tickets: int
    length: str
    hours: str
    cost: str | None
    load: str
    bar: str


def _agents(scenario: ShownScenario, plan: Plan, times: DayTimes) -> Iterator[_AgentRow]:
    """Yield the row of each route in the table of agents."""
    drivers = {agent["id"]: agent for agent in scenario["agents"]}
    demands = {ticket["id"]: ticket.get("demand", 0) for ticket in scenario["tickets"]}
    pickups = picked_up(scenario)
    for route in plan.routes:
        agent = drivers[route.agent_id]
        ratio = load_ratio(route, agent.get("capacity", 0), demands, pickups)
        yield _AgentRow(
            agent_id=route.agent_id,
            name=visible(agent.get("name")),
            tickets=sum(1 for visit in route.visits if visit.ticket_id),
            length=length(route.distance_m, length_unit(plan)),
            hours=times.span(route.start_s, route.end_s),
            cost=None if route.cost is None else money(route.cost),
            load=f"{ratio:.0%}",
            bar=f"{min(ratio, 1):.0%}",
        )


def _total_cost(plan: Plan) -> str | None:
    """Return the sum of the costs of routes, None where one is not known."""
    costs = [route.cost for route in plan.routes if route.cost is not None]
    return money(sum(costs)) if len(costs) == len(plan.routes) else None


@dataclass(frozen=True, slots=True)
class _StopRow:
    """A stop of a route."""

    visit: Visit
    customer: str
    where: str
    late: int
    """In minutes."""


@dataclass(frozen=True, slots=True)
class _RouteStops:
    """The stops of a route."""

    rows: list[_StopRow]
    shown: set[str]
    """The columns that any of them fills."""


def _stops(route: PlannedRoute, scenario: ShownScenario, names: Names) -> _RouteStops:
    addresses = {ticket["id"]: visible(ticket.get("address")) for ticket in scenario["tickets"]}
    rows = [
        _StopRow(
            visit=visit,
            customer=names.customers.get(visit.ticket_id or "", ""),
            where=addresses.get(visit.ticket_id or "") or (names.place(visit.location) if visit.location else ""),
            late=round((visit.late_s or 0) / 60),
        )
        for visit in route.visits
    ]
    shown = {column for row in rows for column in ("customer", "where", "late") if getattr(row, column)}
    return _RouteStops(rows, shown)


def _provenance(plan: Plan) -> str:
    """Return what made the plan: engine, seed, versions and the hash of the input."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(plan.versions.items()))
    source = f"input {plan.input_hash[:12]}" if plan.input_hash else ""
    return " · ".join(filter(None, [f"engine {plan.engine}", f"seed {plan.seed}", versions, source]))
