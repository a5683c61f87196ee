"""A plan for the eye: map as SVG and PNG, a report and the sheets of drivers to print.

Owns their templates; shapes and words are `picture`.
"""

from typing import Any, Final

from planner_mcp.auth.masking import plan_for, scenario_for
from planner_mcp.jobs.fair_limiter import FairLimiter
from planner_mcp.jobs.ids import job_of
from planner_mcp.picture.chart import map_svg
from planner_mcp.picture.driver_sheets import sheets
from planner_mcp.picture.raster import png_of
from planner_mcp.picture.report import page
from planner_mcp.resources.base import Contents, Look, Reading, Template
from planner_mcp.resources.records import Variables

_limiter: Final = FairLimiter()
"""Pictures drawn at the same time; a large plan takes a tenth of a second, off the event loop."""
_rasters: Final = FairLimiter()
"""Pictures in bytes drawn at the same time, each by a process that takes half a second."""


async def scene(reading: Reading, plan_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return scenario and plan of a plan id, as the principal may see them."""
    plan = await reading.planner.plan(reading.principal, plan_id)
    job = await reading.planner.job(reading.principal, job_of(plan_id))
    kept = await reading.planner.scenario(reading.principal, job.request.scenario_id)
    return scenario_for(reading.principal, kept.body), plan_for(reading.principal, plan)


async def _svg(reading: Reading, plan_id: str) -> str:
    scenario, plan = await scene(reading, plan_id)
    return await _limiter.run(reading.principal.id, map_svg, scenario, plan)


async def _map(reading: Reading, variables: Variables) -> Contents:
    return Contents("image/svg+xml", await _svg(reading, variables["plan_id"]))


async def _png(reading: Reading, variables: Variables) -> Contents:
    svg = await _svg(reading, variables["plan_id"])
    async with _rasters.turn(reading.principal.id):
        return Contents("image/png", data=await png_of(svg))


async def _report(reading: Reading, variables: Variables) -> Contents:
    scenario, plan = await scene(reading, variables["plan_id"])
    return Contents("text/html", await _limiter.run(reading.principal.id, page, scenario, plan))


async def _sheets(reading: Reading, variables: Variables) -> Contents:
    scenario, plan = await scene(reading, variables["plan_id"])
    return Contents("text/html", await _limiter.run(reading.principal.id, sheets, scenario, plan))


MAP_SVG: Final = Template(
    "plan://{plan_id}/map.svg",
    Look("plan-map", "Map of a plan", "Routes, stops, depots, tickets left out, as SVG.", "image/svg+xml", ("user",)),
    _map,
)
MAP_PNG: Final = Template(
    "plan://{plan_id}/map.png",
    Look("plan-map-png", "Map of a plan (PNG)", "The same map for viewers without SVG.", "image/png", ("user",), 0.4),
    _png,
)
REPORT: Final = Template(
    "plan://{plan_id}/report.html",
    Look("plan-report", "Report of a plan", "One page to read or print: map, timeline, stops.", "text/html", ("user",)),
    _report,
)
SHEETS: Final = Template(
    "plan://{plan_id}/sheets.html",
    Look("plan-sheets", "Sheets for drivers", "A page an agent to print: stops in order.", "text/html", ("user",), 0.4),
    _sheets,
)
