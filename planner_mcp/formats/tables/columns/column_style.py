"""How the cells of a column are written, where one cell alone may mean two things (SPEC T5).

Owns what the cells show of it themselves: the mark before decimals, what a number is among times, which of day and
month stands first. What is open after that is settled by whoever reads the rows (`table_rows.py`).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from planner_mcp.formats.tables.cells.cell_text import MAX_CELL, BareTimes, CellStyle, Decimal, says_nothing
from planner_mcp.formats.tables.cells.number_parsing import counted_in, decimal_mark_of
from planner_mcp.formats.tables.cells.time_parsing import YEAR_LAST, hours_in, is_hhmm, names_half, share_of_day
from planner_mcp.text import DAY_S

_ROUNDED_S: Final = 6
"""Seconds by which four decimals of a day may miss a whole minute."""
_SHORT_STAY: Final = 1 / 48
"""Part of a day, below which is a stay that numbers may be, …"""
_LONG_STAY: Final = 1 / 4
"""… and from which on none is."""


def style_of(cells: Sequence[str], planning_date: str, *, has_thousands: bool = True) -> CellStyle:
    """Return how the cells of a column are written, as far as they show it themselves.

    Args:
        cells: All of them, without empty ones.
        planning_date: Settles the order of day and month where one of the two readings is this day.
        has_thousands: Whether a mark may part thousands.
    """
    decimal = decimal_of(cells, has_thousands=has_thousands)
    return CellStyle(
        decimal,
        _bare_times(cells),
        _day_first(cells, planning_date),
        planning_date,
        has_halves=any(map(names_half, cells)),
        counted=counted_in(cells),
    )


def decimal_of(cells: Iterable[str], *, has_thousands: bool = True) -> Decimal:
    """Return the mark before decimals that cells show; empty where none does, or they differ."""
    marks = {decimal_mark_of(cell, has_thousands=has_thousands) for cell in cells}
    if "." in marks:
        return "" if "," in marks else "."
    return "," if "," in marks else ""


def open_mark_in(cells: Iterable[str]) -> str:
    """Return the first cell whose mark may part thousands, or decimals; empty for none."""
    return next((cell for cell in cells if decimal_mark_of(cell) == "?"), "")


def _bare_times(cells: Sequence[str]) -> BareTimes:
    if are_shares_of_day(cells) and any(len(each.strip()) >= len("0.375") for each in cells if ":" not in each):
        return "days"
    hours = {cell.strip().replace(",", "."): found for cell in cells if (found := hours_in(cell)) is not None}
    decimals = {text.partition(".")[2] for text in hours}
    if decimals & _NO_MINUTES and decimals <= _QUARTERS and min(hours.values()) >= 1:  # else 0.75 of a day is 18:00
        return "decimals"
    bare = [cell.strip() for cell in cells if cell.strip().isdecimal() and len(cell) <= MAX_CELL]
    values = [int(each) for each in bare]
    if not values:
        return ""
    if 0 < max(values) <= 24:
        return "hours"
    if all(map(is_hhmm, bare)) and (any(map(_is_padded, bare)) or _are_quarters(values)):
        return "hhmm"
    return "seconds" if max(values) > 2400 else ""


def are_shares_of_day(cells: Sequence[str]) -> bool:
    """Return whether each cell, but for clock times, may be a part of a day: 0.375 is no hour and no second."""
    nonempty = [cell for cell in cells if not says_nothing(cell) and ":" not in cell]
    return bool(nonempty) and all(len(cell) <= MAX_CELL and share_of_day(cell) is not None for cell in nonempty)


def are_stays_of_day(cells: Sequence[str]) -> bool:
    """Return whether numbers are whole minutes as spreadsheets keep them, parts of a day: 0.0104 is 15 min.

    As hours, or less, one of them would be no more than a minute.
    """
    if not are_shares_of_day(cells):
        return False
    shares = [share for cell in cells if (share := share_of_day(cell))]
    minutes = [share * DAY_S / 60 for share in shares]
    are_minutes = all(60 * abs(each - round(each)) < _ROUNDED_S for each in minutes)
    return bool(shares) and are_minutes and min(shares) < _SHORT_STAY and max(shares) < _LONG_STAY


def _is_padded(number: str) -> bool:
    return number.startswith("0") and len(number) == len("0830")


def _are_quarters(values: Sequence[int]) -> bool:
    """Return whether several numbers are quarters of an hour as 1100 and 1430, and none as minutes since midnight."""
    return (
        len(set(values)) > 1 and all(value % 100 % 15 == 0 for value in values) and any(value % 15 for value in values)
    )


_QUARTERS: Final = frozenset({"", "0", "00", "25", "5", "50", "75"})
"""Decimals of hours in quarters."""
_NO_MINUTES: Final = frozenset({"5", "75"})
"""Those that nobody writes for minutes: 8.5 and 8.75, where 8.25 and 8.50 alone may be clock times."""


def _day_first(cells: Sequence[str], planning_date: str) -> bool | None:
    """Return whether the day stands before the month; None where nothing shows it.

    A number beyond twelve shows it; else the reading that is the planning date, where the other reading is none.
    """
    found = [match for cell in cells if len(cell) <= MAX_CELL and (match := YEAR_LAST.match(cell.strip()))]
    found = [match for match in found if match[2] != "."]
    if any(int(each[1]) > 12 for each in found):
        return True
    if any(int(each[3]) > 12 for each in found):
        return False
    _, month, day = [*planning_date.split("-"), "", ""][:3]
    orders = {(int(each[1]), int(each[3])) for each in found}
    if not (month.isdecimal() and day.isdecimal()) or not orders or month == day:
        return None
    readings = {(int(day), int(month)): True, (int(month), int(day)): False}
    settled = {readings[order] for order in orders if order in readings}
    return settled.pop() if len(settled) == 1 else None
