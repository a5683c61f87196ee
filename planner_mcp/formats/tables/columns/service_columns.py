"""Which columns of a table are service times, and in which unit (SPEC T5).

Owns the unit: that of the header, of the cells, or none; then it is asked about, for 15 may be seconds.
"""

from collections.abc import Iterable
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import filled
from planner_mcp.formats.tables.cells.duration_parsing import duration_in, is_duration
from planner_mcp.formats.tables.cells.number_parsing import number_in
from planner_mcp.formats.tables.cells.unit_words import SECONDS_OF_UNIT
from planner_mcp.formats.tables.columns.column_mapping import SERVICE_UNITS_S
from planner_mcp.formats.tables.columns.column_style import are_stays_of_day
from planner_mcp.formats.tables.columns.column_values import OPEN_KINDS, are_clocks_short
from planner_mcp.formats.tables.columns.proposed_columns import ProposedColumns
from planner_mcp.formats.tables.headers.header_meanings import has_minute_spans, words_outside
from planner_mcp.text import DAY_S

SERVICE_OPTIONS: Final = ("service_min", "service_s", "service_h")
"""Fields that a column of durations may be."""
_FIELDS: Final = {seconds: name for name, seconds in SERVICE_UNITS_S.items()}
_SECONDS: Final = 180
"""Service times from here on, all of whole half minutes, are seconds: nobody stays for three hours at each stop."""


def unit_field(columns: ProposedColumns, header: str) -> str:
    """Return the field of a service time in the unit that a header names, in brackets or at its end; or empty."""
    last = (word for word in words_outside(header)[-1:] if len(word) > 1)
    return _field_of((*columns.meanings[header].unit.split(), *last))


def stays(columns: ProposedColumns, header: str) -> list[str]:
    """Return the fields of service times, the one in the unit of the header first."""
    return sorted(SERVICE_OPTIONS, key=lambda name: name != unit_field(columns, header))


def has_time_unit(columns: ProposedColumns, header: str) -> bool:
    """Return whether a header has a unit of time in brackets."""
    return _field_of(columns.meanings[header].unit.split()) != ""


def take_service(columns: ProposedColumns, header: str, name: str) -> None:
    """Take a column of service times with its unit, from header or cells; without any the unit is asked about."""
    look, meaning, cells = columns.look(header), columns.meanings[header], columns.cells[header]
    if columns.has(*SERVICE_UNITS_S):
        if name != "service" and not columns.has(name):
            columns.take(header, name)
        elif look.kind in OPEN_KINDS and not look.is_counting:
            columns.ask(header, ("service_min", "notes"), "beside another service time {}")
        return
    if are_stays_of_day(cells):  # whatever unit the header has
        columns.take(header, "service_d", is_guess=True)
        return
    if name == "service":
        name = "service_min" if has_minute_spans(header) else _field_within(header, meaning.unit)
    if name:
        if meaning.is_exact or look.kind not in ("texts", "days", "positions", "places", "windows"):
            columns.take(header, name)
    elif any(map(_lasts_a_day, cells)):  # 24h and 48h say what was booked
        columns.ask(header, (*SERVICE_OPTIONS, "notes"), "some would last for a day or more, it has {}")
    elif all(is_duration(cell) or are_clocks_short([cell]) or _is_zero(cell) for cell in filled(cells)):
        columns.take(header, "service_min")
    elif _are_seconds(filled(cells)):
        columns.take(header, "service_s", is_guess=True)
    elif "stop" in meaning.concepts and look.is_counting:  # stops by number
        return
    elif look.kind != "places" and (look.kind in OPEN_KINDS or look.kind == "codes"):
        columns.ask(header, SERVICE_OPTIONS, "its unit is not known, it has {}")


def _field_within(header: str, unit: str) -> str:
    """Return the field of a service time in the unit that stands anywhere in a header; empty for none."""
    words = (word for word in words_outside(header) if len(word) > 1)
    chinese = (each for each in SECONDS_OF_UNIT if not each.isascii() and len(each) > 1 and each in header)
    return _field_of((*unit.split(), *words, *chinese))


def _field_of(words: Iterable[str]) -> str:
    return next((_FIELDS[SECONDS_OF_UNIT[word]] for word in words if word in SECONDS_OF_UNIT), "")


def _are_seconds(cells: list[str]) -> bool:
    numbers = [number_in(cell, "", "") for cell in cells]
    clear = [each for each in numbers if not isinstance(each, Fault) and each > 0]
    are_all = bool(clear) and len(clear) == sum(not _is_zero(cell) for cell in cells)
    return are_all and min(clear) >= _SECONDS and all(each % 30 == 0 for each in clear)


def _lasts_a_day(cell: str) -> bool:
    read = duration_in(cell, "", unit_s=0)
    return is_duration(cell) and not isinstance(read, Fault) and read >= DAY_S


def _is_zero(cell: str) -> bool:
    return cell.strip() in ("0", "00", "0:00", "00:00")
