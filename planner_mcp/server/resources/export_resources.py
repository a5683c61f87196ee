"""A plan for other programs: stops as CSV and for Excel, routes as GeoJSON and GPX (SPEC T5). Their forms are those of
`formats/plan_exports.py`."""

from functools import partial
from typing import Final

from planner_mcp.errors import Fault, InputError, input_error
from planner_mcp.formats.plan_exports import MAPS, export
from planner_mcp.formats.stop_tables import workbook
from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.render.reason_texts import plan_in_words
from planner_mcp.server.resources.json_resources import Variables
from planner_mcp.server.resources.rendering_resources import plan_file, road_lines, scenario_and_plan
from planner_mcp.server.resources.report_folder import MIME_TYPES
from planner_mcp.server.resources.resource_definition import Contents, Read, ReadContext, Template

_limiter: Final = FairLimiter()


def _reader(form: str, mime_type: str) -> Read:
    async def read(reading: ReadContext, variables: Variables) -> Contents:
        scenario, plan, is_draft = await scenario_and_plan(reading, variables["plan_id"])
        lines = await road_lines(reading, variables["plan_id"], scenario, plan) if form in MAPS else {}
        try:
            write = partial(export, is_draft=is_draft)
            text = await _limiter.run(reading.principal.id, write, plan_in_words(plan), scenario, form, lines)
        except InputError as error:  # of a map without positions: to a reader the form is a part of the URI
            whole = f"plan://{variables['plan_id']}"
            fault = Fault(
                "/uri", error.message, f"{whole}/stops.xlsx or {whole}", "Give locations lat and lon for a map."
            )
            raise input_error([fault]) from error
        return Contents(mime_type, text)

    return read


def _template(path: str, title: str, description: str, form: str, mime_type: str) -> Template:
    return plan_file(path, f"plan-{form}", title, description, mime_type, _reader(form, mime_type))


async def _workbook(reading: ReadContext, variables: Variables) -> Contents:
    scenario, plan, is_draft = await scenario_and_plan(reading, variables["plan_id"])
    write = partial(workbook, is_draft=is_draft)
    data = await _limiter.run(reading.principal.id, write, plan_in_words(plan), scenario)
    return Contents(MIME_TYPES[".xlsx"], data=data)


CSV: Final = _template("stops.csv", "Stops of a plan", "A row a stop, for programs.", "csv", "text/csv")
XLSX: Final = plan_file(
    "stops.xlsx", "plan-xlsx", "Stops of a plan (Excel)", "The same rows as a workbook.", MIME_TYPES[".xlsx"], _workbook
)
GEOJSON: Final = _template(
    "routes.geojson", "Routes for a map", "Lines and stops in WGS-84.", "geojson", "application/geo+json"
)
GPX: Final = _template("routes.gpx", "Routes for navigation", "A route an agent.", "gpx", "application/gpx+xml")
