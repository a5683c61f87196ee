"""Columns that are a day of the week each, as `Mo`, `Di`, `Mi`: the days, or the hours, of each row (SPEC T5).

Owns how such columns are known, and the one column that they become: `Mo, We`, or `Mo 8-12; We 9-17`.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Final

from planner_mcp.formats.tables.cells.cell_text import ALWAYS, says_nothing, simplified
from planner_mcp.formats.tables.cells.weekday_hours import CLOSED, hours_by_weekday
from planner_mcp.formats.tables.columns.column_values import are_yes_or_no, values_of
from planner_mcp.formats.tables.columns.yes_no_columns import says_yes
from planner_mcp.formats.tables.headers.header_meanings import meaning_of, side_of
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.text import plain

_FEWEST: Final = 3
"""Columns from which headers such as `Do` and `Mi` are days."""
_DAYS: Final = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
"""Words for days that mean the same whatever stands beside them; `Ma` alone is Monday, or Tuesday."""
_WHOLE_DAY, _CLOSED = "0-24", "closed"
Day = tuple[int, str]
"""What a header names: a day of the week, Monday 0, and the begin or the end of its hours; empty for all of them."""


def with_weekdays(table: Table, chosen: Container[str]) -> Table:
    """Return a table with one column in place of those of weekdays, with a note; not of one that is chosen."""
    days = _days_named(table.headers)
    have_sides = {side != "" for _, side in days.values()}
    if len(days) < _FEWEST or len(set(days.values())) < len(days) or len(have_sides) > 1:
        return table
    if True in have_sides and len(days) != 2 * len({day for day, _ in days.values()}):  # a begin or an end is unknown
        return table
    cells = {cell for header in days for cell in table.cells(header)}
    are_marks = all(map(_is_mark, cells))
    are_hours = True in have_sides or any(values_of([cell]).kind == "windows" for cell in cells)
    if not (are_marks or are_hours) or any(header in chosen for header in days):  # else amounts of each day
        return table
    first, *_, last = (_DAYS[day] if side else header for header, (day, side) in days.items())
    whole = f"{first} - {last}"
    rows = tuple((line, _joined(row, days, whole, are_marks=are_marks)) for line, row in table.rows)
    begin = next(iter(days))
    headers = tuple(
        whole if header == begin else header for header in table.headers if header not in days or header == begin
    )
    note = f'Columns of weekdays are read as one: "{plain(whole, 40)}".'
    return replace(table, headers=headers, rows=rows, notices=(*table.notices, note))


def _days_named(headers: Sequence[str]) -> dict[str, Day]:
    """Return the day, and the side of its hours, that each header names; those that name more, or nothing, are none.

    What one word means in two languages follows the other headers: `Di` is a Sunday beside `Lu`.
    """
    words: dict[str, str] = {}
    sides: dict[str, str] = {}
    for header in headers:
        simple = simplified(header)
        match hours_by_weekday(simple):
            case [(days, rest)] if len(days) == 1:
                side = side_of(meaning_of(rest, "tickets").concepts) if rest else ""
                if side is not None:
                    words[header], sides[header] = simple.replace(rest, ""), side
    together = hours_by_weekday("; ".join(words.values()))
    return {header: (min(days), sides[header]) for header, (days, _) in zip(words, together, strict=False)}


def _is_mark(cell: str) -> bool:
    return cell.strip() in ("0", "1") or says_nothing(cell) or are_yes_or_no([cell])


def _joined(row: Mapping[str, str], days: Mapping[str, Day], whole: str, *, are_marks: bool) -> dict[str, str]:
    """Return a row with its days, or the hours of each of them, in one cell; none where it says nothing of any."""
    rest = {header: cell for header, cell in row.items() if header not in days}
    of_days: dict[str, dict[str, str]] = {}
    for header, (day, side) in days.items():
        if header in row:
            of_days.setdefault(_DAYS[day], {})[side] = row[header]
    if are_marks:
        cell = ", ".join(day for day, cells in of_days.items() if any(map(says_yes, cells.values())))
    else:
        cell = "; ".join(f"{day} {_hours(cells)}" for day, cells in of_days.items())
    return rest | ({whole: cell} if cell else {})


def _hours(cells: Mapping[str, str]) -> str:
    """Return the hours of a day: as its only column says them, or from its begin to its end."""
    match {side: hours for side, cell in cells.items() if (hours := _hours_of_cell(cell)) != _CLOSED}:
        case {"opens": begin, "closes": end}:
            return f"{begin}-{end}"
        case {"opens": begin}:
            return f"from {begin}"
        case {"closes": end}:
            return f"until {end}"
        case {"": hours}:
            return hours
    return _CLOSED


def _hours_of_cell(cell: str) -> str:
    """Return the hours of a cell; those of the whole day where it says yes, or that there is no limit."""
    simple = simplified(cell)
    if says_nothing(cell) or simple in CLOSED:
        return _CLOSED
    if simple.replace(" ", "_") in ALWAYS:
        return _WHOLE_DAY
    if are_yes_or_no([cell]):
        return _WHOLE_DAY if says_yes(cell) else _CLOSED
    return cell
