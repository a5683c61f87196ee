"""Columns that are a day of the week each, as `Mo`, `Di`, `Mi`: the days, or the hours, of each row (SPEC T5).

Owns how such columns are known, and the one column that they become: `Mo, Mi`, or `Mo 8-12; Mi 9-17`.
"""

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Final

from planner_mcp.formats.tables.cells.cell_text import simplified
from planner_mcp.formats.tables.cells.unit_words import words_of
from planner_mcp.formats.tables.cells.weekday_hours import hours_by_weekday
from planner_mcp.formats.tables.columns.column_values import are_yes_or_no
from planner_mcp.formats.tables.columns.yes_no_columns import says_yes
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.text import plain

_FEWEST: Final = 3
"""Columns from which headers such as `Do` and `Mi` are days."""
_MARKS: Final = words_of("0 1 ✓ ✔ ✗ ● •")
"""Other signs for yes and no."""


def with_weekdays(table: Table, chosen: Container[str]) -> Table:
    """Return the tickets with one column in place of those of weekdays, with a note; not of one that is chosen."""
    days = {header: day for header in table.headers if (day := _day_named(header)) is not None}
    if len(days) < _FEWEST or len(set(days.values())) < len(days) or any(header in chosen for header in days):
        return table
    cells = [cell for header in days for cell in table.cells(header)]
    are_marks = all(cell.strip() in _MARKS or are_yes_or_no([cell]) for cell in cells)
    if not are_marks and not any(":" in cell or "-" in cell for cell in cells):  # amounts of each day
        return table
    whole = ", ".join(days)
    rows = tuple((line, _joined(row, days, whole, are_marks=are_marks)) for line, row in table.rows)
    first = next(iter(days))
    headers = tuple(
        whole if header == first else header for header in table.headers if header not in days or header == first
    )
    note = f'Columns of weekdays are read as one: "{plain(whole, 40)}".'
    return replace(table, headers=headers, rows=rows, notices=(*table.notices, note))


def _day_named(header: str) -> int | None:
    """Return the day of the week, Monday 0, that a header is and nothing more; None for any other."""
    match hours_by_weekday(simplified(header)) if header else []:
        case [(days, "")] if len(days) == 1:
            return min(days)
    return None


def _joined(row: Mapping[str, str], days: Mapping[str, int], whole: str, *, are_marks: bool) -> dict[str, str]:
    """Return a row with its days, or the hours of each of them, in one cell; none where it says nothing of any."""
    rest = {header: cell for header, cell in row.items() if header not in days}
    named = [header for header in days if header in row and (not are_marks or says_yes(row[header]))]
    cell = ", ".join(named) if are_marks else "; ".join(f"{header} {row[header]}" for header in named)
    return rest | ({whole: cell} if cell else {})
