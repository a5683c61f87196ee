"""Headings between rows: a day, a tour or a driver above the stops that are theirs (SPEC T7).

Owns how such a row is known. What it says would hold for the rows below it, none of which says it: it is refused.
"""

import re
from collections.abc import Iterator, Set
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import simplified
from planner_mcp.formats.tables.cells.time_parsing import has_date
from planner_mcp.formats.tables.cells.weekday_hours import LATIN_DAYS
from planner_mcp.formats.tables.columns.column_mapping import ColumnMapping
from planner_mcp.formats.tables.rows.ticket_lines import Rows
from planner_mcp.formats.tables.rows.unexpected_rows import placed_headers
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.text import plain

_HEADING: Final = re.compile(
    rf"(?:(?:{LATIN_DAYS}|day|tag|jour|dia|tour|tournee|route|run|trip|round|ruta|giro|trasa|van|truck|lorry|vehicle|bus"
    r"|fahrzeug|lkw|wagen|camion|furgoneta|vehiculo|driver|fahrer|chauffeur|conductor|kierowca|technician"
    r"|techniker|team|crew|shift|schicht)\b|(?:周|星期|礼拜)[一二三四五六日天]|车辆|司机|线路|路线|班次|第(?=\d+[车趟线]))"
    r"(?:\.?[ #]*(?:\d|[a-z]?$|[:,])| [–-] )"
)
"""A word for a day, a tour or a driver, and what few names of places have behind it: a number, a letter, a mark."""


def group_headings(rows: Rows, table: Table, mapping: ColumnMapping, agents: Set[str]) -> Iterator[Fault]:
    """Yield rows of one cell, above others of more, that name a day, a tour or an agent.

    The cell may stand in a column of places where the first row is such a heading, and each other row of one cell; but
    no place of a fuller row, for stops may be called Van 3.

    Args:
        agents: Ids and names of those, in small letters.
    """
    texts = dict(table.rows)
    cells = [texts[int(origin.number)] for origin, _ in rows]
    placed = placed_headers(mapping)
    alone = [next(iter(row.values())) if len(row) == 1 else "" for row in cells]
    places = (row[header] for row in cells if len(row) > 1 for header in placed if header in row)
    are_in_order = any(alone[:1]) and all(_is_heading(each, agents) for each in filter(None, alone))
    are_in_order = are_in_order and not any(_is_heading(place, agents) for place in places)
    last = max((at for at, text in enumerate(alone) if not text), default=0)
    for (origin, _), row, text in list(zip(rows, cells, alone, strict=True))[:last]:
        is_placed = not placed or not placed.isdisjoint(row)
        if text and (are_in_order if is_placed else _is_heading(text, agents)):
            hint = (
                "Write what it says into each of these rows, in a column such as Day or Driver, and remove the "
                "heading. If it is a stop, fill another cell of its row."
            )
            which = (f"row {origin.number} ({plain(text, 40)})",)
            problem = "The row looks like the heading of those below it."
            yield Fault(origin.path, problem, "a ticket in each row", hint, which=which)


def _is_heading(text: str, agents: Set[str]) -> bool:
    """Return whether a cell names a day, a tour, a vehicle or a driver."""
    return _HEADING.match(simplified(text)) is not None or has_date(text) or text.strip().casefold() in agents
