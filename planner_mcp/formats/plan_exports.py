"""A plan as a file for other programs: CSV, Excel for people, GeoJSON for maps, GPX for navigation (SPEC T5).

Owns which forms there are, and which of them a plan can be written in.
"""

import json
from typing import Final

from planner_mcp.errors import Fault, input_error
from planner_mcp.formats.plan_maps import plan_geojson, plan_gpx
from planner_mcp.formats.stop_tables import stops_csv
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.coordinates import NO_LINES, Lines, globe_positions
from planner_mcp.routing.scenario.shown_scenario import ShownScenario

MAPS: Final = ("geojson", "gpx")
"""Forms that show nothing but positions."""
WORKBOOK: Final = "xlsx"
"""The form of `workbook`; the others are text."""
FORMS: Final = ("json", "csv", WORKBOOK, *MAPS)


def export(plan: Plan, scenario: ShownScenario, form: str, lines: Lines = NO_LINES, *, is_draft: bool = False) -> str:
    """Return a plan in one of `FORMS` that are text.

    Args:
        lines: Along the roads; routes without are drawn straight from stop to stop.
        is_draft: Whether it is marked as a draft; a plan as JSON is what it is.

    Raises:
        InputError: There is no such form, or no positions for a map.
    """
    check_form(form, scenario)
    if form == "json":
        return json.dumps(plan.as_json(), ensure_ascii=False, indent=2) + "\n"
    if form == "csv":
        return stops_csv(plan, scenario, is_draft=is_draft)
    write = plan_geojson if form == "geojson" else plan_gpx
    return write(plan, scenario, lines, is_draft=is_draft)


def check_form(form: str, scenario: ShownScenario) -> None:
    """Look whether plans of a scenario can be written in a form, before there is one.

    Raises:
        InputError: There is no such form, or no positions for a map.
    """
    if form not in FORMS:
        raise input_error([Fault("/form", "There is no such form.", " or ".join(FORMS))])
    if form in MAPS and not globe_positions(scenario):
        raise input_error([Fault("/form", "The scenario has no positions on the globe.", "csv, xlsx or json")])
