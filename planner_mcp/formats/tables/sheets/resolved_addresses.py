"""A table of resolved addresses, read back as tickets (SPEC O4, T5).

Owns how such a table is known, and which of its positions are taken: those that can be used unasked.
"""

from dataclasses import replace
from typing import Final

from planner_mcp.formats.tables.cells.formula_quotes import unquoted
from planner_mcp.formats.tables.sheets.text_tables import Table

RESOLVED_COLUMNS: Final = ("lat", "lon", "accuracy", "radius_m", "confidence", "status", "resolved", "source", "note")
"""Columns that stand behind those of the rows."""
SURE: Final = 0.8
"""Confidence from which a position is used unasked."""
_PLACE: Final = ("lat", "lon")
_NOTICE: Final = "The file has resolved addresses: those with a confidence below 0.8 are looked up again."


def without_doubtful(table: Table) -> Table:
    """Return a table of resolved addresses with the positions that are sure alone; any other table as it is."""
    if not set(RESOLVED_COLUMNS) <= set(table.headers):
        return table
    dropped = set(RESOLVED_COLUMNS) - set(_PLACE)
    rows = tuple(
        (line, {name: unquoted(cell) for name, cell in row.items() if name not in dropped and _is_taken(name, row)})
        for line, row in table.rows
    )
    headers = tuple(header for header in table.headers if header not in dropped)
    return replace(table, headers=headers, rows=rows, notices=(*table.notices, _NOTICE))


def _is_taken(header: str, row: dict[str, str]) -> bool:
    if header not in _PLACE:
        return True
    try:
        return row.get("status") == "resolved" and float(row.get("confidence", "")) >= SURE
    except ValueError:
        return False
