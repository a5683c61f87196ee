"""Marks what is exported of a plan that nobody approved as a draft (SPEC A5).

Owns where the mark stands in each form. Pages and maps show the name of the scenario, which begins with it.
"""

import csv
import io
from typing import Final

from planner_mcp.formats.tables.exported_stops import STOP_COLUMNS
from planner_mcp.routing.scenario.shown_scenario import ShownScenario

MARK: Final = "DRAFT, not approved (草稿，未批准)"
_NOTE_AT: Final = STOP_COLUMNS.index("note")
_COLLECTION: Final = '{"type": "FeatureCollection"'


def named_draft(scenario: ShownScenario) -> ShownScenario:
    """Return a scenario whose name says that its plan is a draft."""
    return {**scenario, "name": f"{MARK} {scenario['name']}"}


def with_draft_mark(form: str, text: str) -> str:
    """Return an exported text with the mark.

    Args:
        form: `csv`, `geojson` or `gpx`.
        text: As it was exported.
    """
    if form == "csv":
        return _noted(text)
    if form == "geojson":
        return text.replace(_COLLECTION, f'{_COLLECTION}, "review": "draft"', 1)
    mark = f"<metadata><desc>{MARK}</desc>"
    known = "<metadata>" in text
    return text.replace("<metadata>", mark, 1) if known else text.replace("<rte>", f"{mark}</metadata>\n<rte>", 1)


def _noted(text: str) -> str:
    """Return a table of stops with the mark in the note of each."""
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    for row in rows:
        row[_NOTE_AT] = f"{MARK}; {row[_NOTE_AT]}" if row[_NOTE_AT] else MARK
    marked = io.StringIO()
    csv.writer(marked, lineterminator="\r\n").writerows([head, *rows])
    return marked.getvalue()
