"""Exports of a day by its scenario: those of the plan to drive by (SPEC A5).

Owns which plan that is: where plans are reviewed the one that was approved last for the day, else that of the newest
solve. Another plan is exported by its own name, under `plan://`.
"""

from typing import Final

from planner_mcp.errors import NotFoundError
from planner_mcp.jobs.ids import plan_of
from planner_mcp.server.resources.export_resources import CSV, GEOJSON, GPX, XLSX
from planner_mcp.server.resources.json_resources import Variables
from planner_mcp.server.resources.rendering_resources import MAP_PNG, MAP_SVG, REPORT, SHEETS
from planner_mcp.server.resources.resource_definition import Contents, ReadContext, ResourceMetadata, Template

_FILES: Final = {
    template.uri_template.rpartition("/")[2]: template
    for template in (REPORT, SHEETS, MAP_SVG, MAP_PNG, CSV, XLSX, GEOJSON, GPX)
}


async def _file(reading: ReadContext, variables: Variables) -> Contents:
    if (template := _FILES.get(variables["file"])) is None:
        raise NotFoundError(f"The files of a day are {', '.join(_FILES)}.")
    job_id = await reading.job_service.job_to_drive_by(reading.principal, variables["scenario_id"])
    return await template.read(reading, {"plan_id": plan_of(job_id)})


DAY_FILE: Final = Template(
    "scenario://{scenario_id}/plan/{file}",
    ResourceMetadata(
        "day-plan-file",
        "Export of a day",
        f"Of its approved plan where plans are reviewed, else of its newest: {', '.join(_FILES)}.",
        "application/octet-stream",
        ("user",),
        0.4,
    ),
    _file,
)
