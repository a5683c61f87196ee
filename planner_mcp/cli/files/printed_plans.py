"""A plan as a file to look at, print or carry: report, driver sheets, map, calendar; from files on this machine.

Owns which end of a file name means which, and the check that a plan and a scenario belong together. Everything is
shown, since the reader has the files; what a file has masked stays so.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.masking.field_masking import MASKED
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.coordinates import Lines
from planner_mcp.routing.scenario.scenario_parsing import is_readable
from planner_mcp.routing.scenario.shown_scenario import ShownAgent, ShownScenario, ShownTicket
from planner_mcp.text import MASK, named, plain

SHEETS: Final = "sheets.html"
PAGES: Final = ("html", SHEETS, "svg", "png", "ics")
"""Ends of names: `day-sheets.html` is the sheets of drivers, any other `.html` the report."""
OUTPUT_HELP: Final = (
    "File to write: .csv, .xlsx, .json, .geojson, .gpx, .html (report), sheets.html (driver sheets), .svg or .png "
    "(map), .ics."
)
DRAWN: Final = ("geojson", "gpx", "html", "svg", "png")
"""Forms that show routes along the roads."""


def printed_page(plan: Plan, scenario: ShownScenario, form: str, lines: Lines) -> bytes:
    """Return a plan in one of `PAGES`.

    Args:
        scenario: What it plans; `check_page` accepts both.
        form: The end of a file name.
    """
    from planner_mcp.render import driver_calendar, driver_sheets, plan_report, standalone_map

    is_exact = not any(MASK in record.values() for record in (*scenario["tickets"], *scenario["agents"]))
    if form == "ics":
        return driver_calendar.calendar(scenario, plan, made_at=datetime.now(UTC), is_exact=is_exact).encode()
    if form == SHEETS:
        return driver_sheets.sheets(scenario, plan, is_exact=is_exact).encode()
    if form == "html":
        return plan_report.report_page(scenario, plan, (), lines).encode()
    svg = standalone_map.map_svg(scenario, plan, lines)
    return svg.encode() if form == "svg" else standalone_map.map_png(svg)


def check_page(plan: Plan | None, scenario: ShownScenario) -> None:
    """Look whether pages of a plan can be made; without a plan, of any plan of the scenario.

    Raises:
        InputError: The scenario is none that `create_scenario` takes, or the plan is of another one.
    """
    if not is_readable({name: value for name, value in scenario.items() if name != MASKED}):
        raise input_error([Fault("/scenario", "The file is not a scenario.", "what create_scenario takes")])
    if plan is None:
        return
    _check_known("agents", (route.agent_id for route in plan.routes), scenario["agents"])
    visits = (visit.ticket_id for route in plan.routes for visit in route.visits)
    served = (ticket_id for ticket_id in visits if ticket_id is not None)
    _check_known("tickets", (*served, *(entry.ticket_id for entry in plan.unassigned)), scenario["tickets"])


def _check_known(kind: str, ids: Iterable[str], records: Iterable[ShownAgent | ShownTicket]) -> None:
    known = {record["id"] for record in records}
    if unknown := [plain(name) for name in dict.fromkeys(ids) if name not in known]:
        problem = f"The plan is of another scenario: this one has no {kind} {named(unknown)}."
        raise input_error([Fault("/scenario", problem, "the scenario that was planned")])


def of_agent(plan: Plan, agent_id: str) -> Plan:
    """Return the part of a plan that is the route of one agent.

    Raises:
        InputError: The agent has none.
    """
    routes = tuple(route for route in plan.routes if route.agent_id == agent_id)
    if not routes:
        drive = named([plain(route.agent_id) for route in plan.routes])
        raise input_error([Fault("--agent", f"{plain(agent_id)} has no route in this plan.", drive or "no agent has")])
    served = sum(1 for visit in routes[0].visits if visit.ticket_id is not None)
    return replace(
        plan,
        routes=routes,
        unassigned=(),
        agents_used=1,
        distance_m=routes[0].distance_m,
        duration_s=routes[0].end_s - routes[0].start_s,
        cost=plan.cost if routes[0].cost is None else routes[0].cost,
        tickets_served=served,
        tickets_total=served,
    )
