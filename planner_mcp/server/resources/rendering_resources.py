"""A plan as pictures and pages: map as SVG and PNG, a report and the sheets of drivers to print, and their calendars.

Owns the templates of their URIs; shapes and words are those of `render`.
"""

from functools import partial
from typing import Final

from planner_mcp.errors import NotFoundError
from planner_mcp.formats.stop_tables import DRAFT_MARK
from planner_mcp.jobs.ids import job_of
from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.jobs.masking.field_masking import plan_for, scenario_for
from planner_mcp.jobs.principals import SENSITIVE
from planner_mcp.render.driver_calendar import calendar, of_route
from planner_mcp.render.driver_sheets import sheets
from planner_mcp.render.plan_report import report_page
from planner_mcp.render.standalone_map import map_svg
from planner_mcp.render.svg_drawing import Roads
from planner_mcp.render.svg_rasterizer import png_of
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.coordinates import Lines, globe_positions
from planner_mcp.routing.scenario.shown_scenario import ShownScenario
from planner_mcp.server.resources.json_resources import Variables
from planner_mcp.server.resources.resource_definition import Contents, Read, ReadContext, ResourceMetadata, Template
from planner_mcp.text import counted
from planner_mcp.travel.drawn_roads import Box, roads_within

SVG: Final = "image/svg+xml"
HTML: Final = "text/html"
CALENDAR_TYPE: Final = "text/calendar"
_limiter: Final = FairLimiter()
"""Pictures drawn at the same time; a large plan takes a tenth of a second, off the event loop."""
_png_limiter: Final = FairLimiter()
"""Pictures in bytes drawn at the same time, each by a process that takes half a second."""


async def scenario_and_plan(reading: ReadContext, plan_id: str) -> tuple[ShownScenario, Plan, bool]:
    """Return scenario and plan of a plan id, as the principal may see them, and whether they are marked as a draft."""
    plan = await reading.job_service.plan(reading.principal, plan_id)
    job = await reading.job_service.job(reading.principal, job_of(plan_id))
    kept = await reading.job_service.scenario(reading.principal, job.request.scenario_id)
    scenario = await _limiter.run(reading.principal.id, scenario_for, reading.principal, kept.body)
    is_draft = reading.job_service.reviews.is_draft(job)
    if is_draft:  # pages and maps show the name of the scenario
        scenario = {**scenario, "name": f"{DRAFT_MARK} {scenario['name']}"}
    return scenario, plan_for(reading.principal, plan), is_draft


async def road_lines(reading: ReadContext, plan_id: str, scenario: ShownScenario, plan: Plan) -> Lines:
    """Return the lines of a plan along the roads; none for those who may not see exact positions."""
    if reading.geometry is None or not reading.principal.may(SENSITIVE):
        return {}
    return await reading.geometry.lines(plan_id, plan, globe_positions(scenario))


async def _roads_around(reading: ReadContext, scenario: ShownScenario) -> Roads:
    """Return the roads around the positions of a scenario, as its reader may see it; none without an extract."""
    box = None if reading.roads is None else Box.around(globe_positions(scenario).values())
    if reading.roads is None or box is None:
        return []
    return await _limiter.run(reading.principal.id, roads_within, reading.roads, box)


async def drawn_plan(reading: ReadContext, plan_id: str) -> tuple[ShownScenario, Plan, Lines, Roads]:
    """Return what a map of a plan shows: scenario and plan, the lines along the roads, and the roads around."""
    scenario, plan, _is_draft = await scenario_and_plan(reading, plan_id)
    lines = await road_lines(reading, plan_id, scenario, plan)
    return scenario, plan, lines, await _roads_around(reading, scenario)


async def _svg(reading: ReadContext, plan_id: str) -> str:
    return await _limiter.run(reading.principal.id, map_svg, *await drawn_plan(reading, plan_id))


async def _map(reading: ReadContext, variables: Variables) -> Contents:
    return Contents(SVG, await _svg(reading, variables["plan_id"]))


async def _png(reading: ReadContext, variables: Variables) -> Contents:
    svg = await _svg(reading, variables["plan_id"])
    async with _png_limiter.turn(reading.principal.id):
        return Contents("image/png", data=await png_of(svg))


async def _report(reading: ReadContext, variables: Variables) -> Contents:
    scenario, plan, lines, roads = await drawn_plan(reading, variables["plan_id"])
    return Contents(HTML, await _limiter.run(reading.principal.id, report_page, scenario, plan, (), lines, roads))


async def _sheets(reading: ReadContext, variables: Variables) -> Contents:
    scenario, plan, _is_draft = await scenario_and_plan(reading, variables["plan_id"])
    pages = partial(sheets, is_exact=reading.principal.may(SENSITIVE))
    return Contents(HTML, await _limiter.run(reading.principal.id, pages, scenario, plan))


async def _calendar(reading: ReadContext, variables: Variables) -> Contents:
    scenario, plan, _is_draft = await scenario_and_plan(reading, variables["plan_id"])
    if (part := of_route(plan, int(variables["route"]))) is None:
        raise NotFoundError(f"This plan has {counted(len(plan.routes), 'route')}.")
    job = await reading.job_service.job(reading.principal, job_of(variables["plan_id"]))
    events = partial(calendar, made_at=job.finished_at or job.submitted_at, is_exact=reading.principal.may(SENSITIVE))
    return Contents(CALENDAR_TYPE, await _limiter.run(reading.principal.id, events, scenario, part))


def plan_file(
    path: str, name: str, title: str, description: str, mime_type: str, read: Read, priority: float = 0.3
) -> Template:
    """Return the template of a file of a plan, for people."""
    metadata = ResourceMetadata(name, title, description, mime_type, ("user",), priority)
    return Template(f"plan://{{plan_id}}/{path}", metadata, read)


MAP_SVG: Final = plan_file(
    "map.svg", "plan-map", "Map of a plan", "Routes, stops, depots, tickets left out, as SVG.", SVG, _map, 0.5
)
MAP_PNG: Final = plan_file(
    "map.png", "plan-map-png", "Map of a plan (PNG)", "The same map for viewers without SVG.", "image/png", _png, 0.4
)
REPORT: Final = plan_file(
    "report.html",
    "plan-report",
    "Report of a plan",
    "One page to read or print: map, timeline, stops.",
    HTML,
    _report,
    0.5,
)
SHEETS: Final = plan_file(
    "sheets.html", "plan-sheets", "Sheets for drivers", "A page an agent to print: stops in order.", HTML, _sheets, 0.4
)
CALENDAR: Final = plan_file(
    "routes/{route}.ics",
    "plan-calendar",
    "Calendar of a driver",
    "Stops of route 1, 2, … as events.",
    CALENDAR_TYPE,
    _calendar,
)
