"""Columns that are a day of the week each, as `Mo`, `Di`, `Mi`: the days, or the hours, of each row (SPEC T5).

Owns how such columns are known, and the one column that they become: `Mo, Mi`, or `Mo 8-12; Mi 9-17`.
"""

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Final

from planner_mcp.formats.tables.cells.cell_text import simplified
from planner_mcp.formats.tables.cells.weekday_hours import hours_by_weekday
from planner_mcp.formats.tables.columns.column_values import are_yes_or_no
from planner_mcp.formats.tables.columns.yes_no_columns import says_yes
from planner_mcp.formats.tables.headers.header_meanings import meaning_of, side_of
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.text import plain

_FEWEST: Final = 3
"""Columns from which headers such as `Do` and `Mi` are days."""
_DAYS: Final = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
"""Days whose hours have a begin and an end in columns of their own."""
Day = tuple[int, str]
"""What a header names: a day of the week, Monday 0, and the begin or the end of its hours; empty for all of them."""


def with_weekdays(table: Table, chosen: Container[str]) -> Table:
    """Return a table with one column in place of those of weekdays, with a note; not of one that is chosen."""
    days = {header: day for header in table.headers if (day := _day_named(header)) is not None}
    have_sides = {side != "" for _, side in days.values()}
    if len(days) < _FEWEST or len(set(days.values())) < len(days) or len(have_sides) > 1:
        return table
    cells = [cell for header in days for cell in table.cells(header)]
    are_marks = all(cell.strip() in ("0", "1") or are_yes_or_no([cell]) for cell in cells)
    are_hours = are_marks or any(":" in cell or "-" in cell for cell in cells)  # else amounts of each day
    if not are_hours or any(header in chosen for header in days):
        return table
    first, *_, last = days
    whole = f"{first} - {last}"
    rows = tuple((line, _joined(row, days, whole, are_marks=are_marks)) for line, row in table.rows)
    headers = tuple(
        whole if header == first else header for header in table.headers if header not in days or header == first
    )
    note = f'Columns of weekdays are read as one: "{plain(whole, 40)}".'
    return replace(table, headers=headers, rows=rows, notices=(*table.notices, note))


def _day_named(header: str) -> Day | None:
    """Return the day, and the side of its hours, that a header names; None where it names more, or nothing of it."""
    match hours_by_weekday(simplified(header)) if header else []:
        case [(days, rest)] if len(days) == 1:
            side = side_of(meaning_of(rest, "tickets").concepts) if rest else ""
            return None if side is None else (min(days), side)
    return None


def _joined(row: Mapping[str, str], days: Mapping[str, Day], whole: str, *, are_marks: bool) -> dict[str, str]:
    """Return a row with its days, or the hours of each of them, in one cell; none where it says nothing of any."""
    rest = {header: cell for header, cell in row.items() if header not in days}
    of_day = {day: cell for header, day in days.items() if (cell := row.get(header)) is not None}
    names = {day: _DAYS[day] if side else header for header, (day, side) in days.items()}
    if are_marks:
        cell = ", ".join(names[day] for (day, _), cell in of_day.items() if says_yes(cell))
    else:
        hours = {day: _hours(of_day, day) for day, _ in of_day}
        cell = "; ".join(f"{names[day]} {text}" for day, text in hours.items())
    return rest | ({whole: cell} if cell else {})


def _hours(of_day: Mapping[Day, str], day: int) -> str:
    """Return the hours of a day: as its only column says them, or from its begin to its end."""
    if whole := of_day.get((day, "")):
        return whole
    begin, end = of_day.get((day, "opens"), ""), of_day.get((day, "closes"), "")
    if begin and end:
        return f"{begin}-{end}"
    one, word = (begin, "from") if begin else (end, "until")
    return f"{word} {one}" if any(map(str.isdecimal, one)) else one
