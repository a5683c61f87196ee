"""The rows of a table as values by field (SPEC T5).

Owns how each column is written, which reader its cells get, and how columns make up a field together. It checks only
whether a cell can be read in one way; a fault names the line of the file, the column and the value.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import CellStyle, Decimal, listed, normalized_word, says_nothing, shown
from planner_mcp.formats.tables.cells.coordinate_parsing import DEGREES, coordinate_in, pair_in, position_in
from planner_mcp.formats.tables.cells.duration_parsing import duration_in
from planner_mcp.formats.tables.cells.number_parsing import (
    amount_in,
    has_classes,
    has_initials,
    has_last_zero,
    is_estimate,
    number_in,
    priority_in,
)
from planner_mcp.formats.tables.cells.time_parsing import day_in, is_hhmm, side_in
from planner_mcp.formats.tables.cells.window_parsing import (
    breaks_in,
    day_of_weekdays,
    names_half_days,
    names_weekdays,
    says_holidays,
    windows_in,
)
from planner_mcp.formats.tables.columns.column_mapping import SERVICE_UNITS_S, ColumnMapping
from planner_mcp.formats.tables.columns.column_style import are_shares_of_day, decimal_of, open_mark_in, style_of
from planner_mcp.formats.tables.columns.column_values import are_yes_or_no, has_long_clocks
from planner_mcp.formats.tables.columns.ticket_kinds import KIND_INITIALS, has_kind_initials, has_pickups
from planner_mcp.formats.tables.columns.yes_no_columns import says_yes
from planner_mcp.formats.tables.headers.header_meanings import has_minute_spans, meaning_of, normalized, split_brackets
from planner_mcp.formats.tables.headers.header_words import PAIRED, UNUSED
from planner_mcp.formats.tables.rows.amount_settlement import AmountColumn
from planner_mcp.formats.tables.rows.unexpected_rows import rows_below_totals, total_rows
from planner_mcp.formats.tables.sheets.source_rows import SourceRow
from planner_mcp.formats.tables.sheets.text_tables import Table, place_in
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.text import Json, plain

Reader = Callable[[str, str], Any]
"""Takes the text of a cell and its place; returns its value, or what is wrong with it."""
AXES: Final = frozenset({*DEGREES, "x", "y"})
_PRICES: Final = frozenset({"penalty", "lateness_cost_per_hour", "switch_cost", "fixed_cost"})
_NUMBERS: Final = (
    AXES | _PRICES | {"cost_per_km", "cost_per_hour", "priority", "max_tickets", "max_distance_km", "max_duration_h"}
)
_AMOUNTS: Final = frozenset({"demand", "capacity"})
_MEASURED: Final = _NUMBERS | _AMOUNTS | SERVICE_UNITS_S.keys() | {"setup_time_s", "break_min"}
_LISTS: Final = frozenset({"skills", "only_agents", "not_agents"})
_TIMES: Final = frozenset(
    {"opens", "closes", "shift_start", "shift_end", "break_start", "break_end", "release_time", "soft_close"}
)
_FEW: Final = 3
_LONGEST_NUMBER: Final = len("10115 a")
"""Characters of a house number or a postal code."""
_WITHOUT_BLANK: Final = 0x2E80
"""From this character on texts are joined without a blank between them."""
_AXIS_WORDS: Final = (("lat", "纬", "breite"), ("lon", "lng", "经", "lange"))


class TableRows:
    """The reading of one table: the faults and notices of it, and its amounts, column by column.

    Args:
        planning_date: The day that hours by weekday are read for.
        decimal: The mark before decimals, where the caller says it.
        chosen: Headers that the caller named.
    """

    def __init__(
        self, table: Table, mapping: ColumnMapping, planning_date: str, decimal: Decimal, chosen: Collection[str]
    ) -> None:
        self.faults: list[Fault] = []
        self.notices: dict[str, None] = {}
        """What was taken for granted, each once."""
        self.amounts = {
            header: AmountColumn.of(header, mapping.units.get(header), is_chosen=header in chosen)
            for header, name in mapping.fields.items()
            if name in _AMOUNTS
        }
        """By header."""
        self._table = table
        self._fields = mapping.fields
        self._totals = total_rows(table, mapping)
        self._below_totals = rows_below_totals(table, mapping, self._totals)
        self._planning_date = planning_date
        self._decimal = decimal

    def read(self) -> Iterator[tuple[SourceRow, Json]]:
        """Yield each row as values by field; amounts go to their columns. Totals of the rows above are passed over."""
        names = list(self._names())
        by_field = list(reversed([(name, header) for header, name in self._fields.items()]))
        headers = dict(by_field)
        is_one_each = len(headers) == len(by_field)
        styles = self._styles()
        readers = {header: self._reader(header, name, styles[header]) for header, name in self._fields.items()}
        passed_over = self._totals | self._below_totals | self._of_other_days(styles)
        if below := self._below_totals:
            notes = ", ".join(
                f'"{plain(cell, 40)}"' for at in sorted(below)[:_FEW] for cell in self._table.rows[at][1].values()
            )
            self._note(f"Lines below the totals, passed over: {len(below)} ({notes}).")
        for index, (line, row) in enumerate(self._table.rows):
            if index in self._totals:
                self._note(f"Row {line} adds up those above it and is passed over.")
            if index in passed_over:
                continue
            here = {} if is_one_each else {name: header for name, header in by_field if header in row}
            origin = SourceRow(place_in(self._table.name, line), {**headers, **here} if here else headers)
            values: Json = {}
            for header, name in names:
                text = row.get(header)
                is_empty = text is None or (name in _MEASURED and says_nothing(text))
                value = None if text is None or is_empty else self._read(readers[header], text, header, origin)
                if header in self.amounts:
                    self.amounts[header].numbers.append(value)
                    values["amounts"] = values.get("amounts", 0) + (value is not None)
                elif value is not None and name not in UNUSED:
                    values[name] = _composed(name, values[name], value) if name in values else value
            if "position" in values:
                lat, lon = values.pop("position")
                values = {"lat": lat, "lon": lon} | values
            yield origin, values

    def _names(self) -> Iterator[tuple[str, str]]:
        """Yield the name of each column's value: its field, and for the second begin or end of a window `opens 2`."""
        counts = Counter[str]()
        for header, name in self._fields.items():
            counts[name] += 1
            is_further = name in PAIRED and counts[name] > 1
            yield header, f"{name} {counts[name]}" if is_further else name

    def _of_other_days(self, styles: Mapping[str, CellStyle]) -> set[int]:
        """Return the rows, by their index, in which a column of days names another than the one that is planned."""
        found: set[int] = set()
        for header in (header for header, name in self._fields.items() if name == "date"):
            days = [_day_of(row.get(header, ""), styles[header]) for _, row in self._table.rows]
            others = {at for at, day in enumerate(days) if day not in ("", self._planning_date)}
            if others:
                column = plain(header, 40)
                self._note(f"Rows of another day than the planning date in {column}, passed over: {len(others)}.")
            found |= others
        return found

    def _note(self, notice: str) -> None:
        self.notices[notice] = None

    def _read(self, reader: Reader, text: str, header: str, origin: SourceRow) -> Any:
        """Return what a cell says; None where it says nothing clear, which is reported."""
        value = reader(text, origin.path + pointer((header,)))
        if isinstance(value, Fault):
            self.faults.append(replace(value, which=origin.which))
            return None
        return value

    def _styles(self) -> dict[str, CellStyle]:
        """Return how each column is written: as it shows itself, else as the others, else as such files are."""
        cells = {header: self._table.cells(header) for header in self._table.headers}
        styles = {
            header: style_of(cells[header], self._planning_date, has_thousands=name not in AXES)
            for header, name in self._fields.items()
        }
        times = [header for header, name in self._fields.items() if name in _TIMES]
        if any(styles[header].bare_times == "hhmm" for header in times):  # 0730 beside 1300, or beside noon
            styles |= {
                header: replace(styles[header], bare_times="hhmm")
                for header in times
                if not styles[header].bare_times and all(map(is_hhmm, filter(str.isdecimal, cells[header])))
            }
        if any(styles[header].bare_times == "days" for header in times):  # 0.5, or 1, beside 0.375
            styles |= {
                header: replace(styles[header], bare_times="days")
                for header in times
                if are_shares_of_day(cells[header])
            }
        marks = {styles[header].decimal if header in styles else decimal_of(cells[header]) for header in cells} - {""}
        are_mixed = len(marks) > 1
        others: Decimal = "" if are_mixed or not marks else marks.pop()
        for header, name in self._fields.items():
            if name not in _NUMBERS | _AMOUNTS | SERVICE_UNITS_S.keys():
                continue
            decimal: Decimal = self._decimal or styles[header].decimal
            if not decimal and (example := open_mark_in(cells[header])):
                number = plain(example, 20)
                decimal = others or self._usual_mark(header, number, cells[header], are_mixed=are_mixed)
                if self._table.delimiter not in (",", ""):
                    self._note(f'{number} in "{plain(header, 40)}" is read with the mark "{decimal}" before decimals.')
            styles[header] = replace(styles[header], decimal=decimal)
        return styles

    def _usual_mark(self, header: str, example: str, cells: list[str], *, are_mixed: bool) -> Decimal:
        """Return the mark before decimals of files of a kind; ask where there is none.

        Between commas it is a point, unless columns show both marks; and so it is in the cells of a workbook, whose
        numbers have no other. A number that ends in a zero is text there.
        """
        delimiter = self._table.delimiter
        if (delimiter == "," and not are_mixed) or not (
            delimiter or any("," in cell or has_last_zero(cell) for cell in cells)
        ):
            return "."
        problem = f'The mark in "{example}" of column "{plain(header, 40)}" may part thousands, or decimals.'
        hint = "Say which of the two stands before decimals."
        self.faults.append(Fault("decimal", problem, '"," or "."', hint, "missing"))
        return "."

    def _reader(self, header: str, name: str, style: CellStyle) -> Reader:
        """Return the reader of a column; what it takes for granted is noted."""
        cells, column = self._table.cells(header), plain(header, 40)
        if name in _AMOUNTS:
            if estimates := [cell for cell in cells if is_estimate(cell)]:
                self._note(f'Estimates in "{column}" such as "{plain(estimates[0], 20)}" are read as they stand.')
            return partial(self._amount, name=name, style=style, column=self.amounts[header])
        if name in DEGREES:
            return partial(coordinate_in, axis=DEGREES[name])
        if name in AXES:
            return lambda text, path: number_in(text, "coordinate", path, has_thousands=False)
        if name == "kind" and has_pickups([header]) and are_yes_or_no(cells):
            return lambda text, _: "pickup" if says_yes(text) else "delivery"
        if name == "kind" and has_kind_initials(cells):
            return lambda text, _: KIND_INITIALS.get(normalized_word(text), text)
        if name == "priority" and set(cells) == {"0"}:
            self._note(f'"{column}" is 0 in all rows, which is no priority.')
            return lambda _text, _path: None
        if name == "priority":
            self._note_priorities(column, cells)
            return partial(priority_in, are_initials=has_initials(cells))
        if name == "max_duration_h":
            return partial(duration_in, unit_s=3600.0, style=style)
        if name in _NUMBERS:
            return lambda text, path: number_in(text, name, path, style)
        if name in SERVICE_UNITS_S:
            if name == "service_d":
                self._note(f'Numbers in "{column}" are read as parts of a day: 0.0104 is 15 minutes.')
            are_minutes = has_minute_spans(header) or (name == "service_min" and has_long_clocks(cells))
            if are_minutes:
                self._note(f'"{column}" is read as minutes and seconds: 15:00 is 15 minutes.')
            return partial(duration_in, unit_s=SERVICE_UNITS_S[name], are_minutes=are_minutes, style=style)
        if name in ("setup_time_s", "break_min"):
            return partial(duration_in, unit_s=60.0 if name == "break_min" else 1.0, style=style)
        if name in _TIMES:
            if style.bare_times == "decimals":
                self._note(f'Numbers in "{column}" are read as hours with decimals: 8.25 is 08:15.')
            if style.bare_times == "days":
                self._note(f'Numbers in "{column}" are read as parts of a day: 0.375 is 09:00.')
            if style.bare_times in ("hours", "hhmm"):
                self._note(f'Whole numbers in "{column}" are read as times of day.')
            return partial(side_in, style=style, is_end=name in ("closes", "shift_end"))
        if name in ("window", "shift", "break"):
            self._note_windows(column, cells)
            return partial(breaks_in if name == "break" else windows_in, style=style)
        if name == "date":
            return partial(_day, style=style)
        if name == "position":
            if _is_order_open(header, cells):
                self._note(f'Positions in "{column}" are read with the latitude first.')
            return partial(position_in, lon_first=_is_lon_first(header, cells))
        if name == "notes" and (label := _label(header)):
            return lambda text, _: " ".join(filter(None, [label[0], text, label[1]]))
        return (lambda text, _: listed(text)) if name in _LISTS else (lambda text, _: text)

    def _note_priorities(self, column: str, cells: list[str]) -> None:
        if cells:
            self._note(f'"{column}" is read as 1, the least, to 9, the most.')
        if has_classes(cells):
            self._note(f'Classes in "{column}" are read as P1 9, P2 7, P3 5, P4 3, P5 1.')
        elif has_initials(cells):
            self._note(f'Words in "{column}" are read as L 3, M 5, H 7, C 9.')
        elif not all(any(map(str.isdecimal, cell)) for cell in cells):
            self._note(f'Words in "{column}" are read as low or C 3, normal or B 5, high or A 7, urgent 9.')

    def _note_windows(self, column: str, cells: list[str]) -> None:
        if any(map(names_weekdays, cells)):
            day = self._planning_date
            self._note(f'Hours by weekday in "{column}" are read for {day}; public holidays are not known.')
        if any(map(says_holidays, cells)):
            self._note(f'Hours of public holidays (PH) in "{column}" are not used.')
        if any(map(names_half_days, cells)):
            self._note(
                f'"{column}" names halves of the day: mornings are read as until 12:00, afternoons as 12:00-18:00.'
            )

    def _amount(self, text: str, path: str, *, name: str, style: CellStyle, column: AmountColumn) -> float | Fault:
        """Return an amount in the unit of its column: that of the header, else the first one in a cell."""
        read = amount_in(text, name, path, style)
        if isinstance(read, Fault):
            return read
        value, unit = read
        if unit is None:
            column.has_bare_numbers = True
            return value
        if not column.factor and column.dimension in ("", unit.dimension):  # the header says no unit
            column.dimension, column.factor = unit.dimension, unit.factor
            column.unit_of_cell = text if unit.factor != 1 else ""
        column.first_with_unit = column.first_with_unit or (text, unit)
        first, first_unit = column.first_with_unit
        if first_unit.factor != unit.factor:
            unit_of = plain(first, 20)
            self._note(
                f'Amounts in "{plain(column.header, 40)}" have several units; all are read in that of "{unit_of}".'
            )
        if column.dimension != unit.dimension:
            problem = f'"{plain(text, 40)}" is of another kind than its column.'
            return Fault(path, problem, "amounts of one kind", "Give it a column of its own.")
        return round(value * unit.factor / column.factor, 9)


def _day_of(text: str, style: CellStyle) -> str:
    return day_in(text, style) or day_of_weekdays(text, style.planning_date)


def _day(text: str, path: str, *, style: CellStyle) -> str | Fault:
    """Return the day of a cell, which may be the next of some weekdays."""
    if day := _day_of(text, style):
        return day
    return Fault(path, f"{shown(text)} is no day.", "days such as 2025-07-15", "Write it so, or leave the cell empty.")


def _label(header: str) -> tuple[str, str] | None:
    """Return what stands before and behind a value that is kept as a note, where its header is no word for notes."""
    if meaning_of(header, "tickets").field == "notes":
        return None
    outside, brackets = split_brackets(header)
    return plain(outside.strip(), 40), plain(" ".join(brackets), 40)


def _composed(name: str, before: Any, more: Any) -> Any:
    """Return what several columns make up together: parts of an address, of a name, notes, skills."""
    if name in ("skills", "window", "break"):
        return [*before, *more]
    if ord(before[-1]) >= _WITHOUT_BLANK and ord(more[0]) >= _WITHOUT_BLANK and name != "notes":
        if name == "address" and (more.startswith(before) or before.startswith(more)):
            return max(before, more, key=len)  # 上海 beside 上海市浦东新区
        return before + more
    if name == "notes":
        return f"{before}; {more}"
    if name in ("address", "phone") and f", {more}, " in f", {before}, " and any(map(str.isdecimal, more)):
        return before  # shops write lines twice
    if name == "name" and set(more.split()) <= set(before.split()):
        return before
    return f"{before}{' ' if name == 'name' or (name == 'address' and _goes_on(before, more)) else ', '}{more}"


def _goes_on(before: str, more: str) -> bool:
    """Return whether a part of an address goes on: a house number behind its street, a town behind its code."""
    digits = sum(map(str.isdecimal, more))
    if len(more) <= _LONGEST_NUMBER and more[0].isdecimal() and digits < len("10115"):
        return not any(char.isdecimal() for char in before)
    last = before.rpartition(", ")[2]
    is_code = len(last) <= _LONGEST_NUMBER and last[0].isdecimal() and "." not in last  # no floor: 2. OG
    return is_code and not (len(more) == len("DE") and more.isupper())


def _is_order_open(header: str, cells: list[str]) -> bool:
    """Return whether neither a value, a letter nor the header shows which of two coordinates stands first."""
    pairs = [pair for cell in cells if (pair := pair_in(cell))]
    are_shown = any(named or max(abs(first), abs(second)) > 90 for first, second, named in pairs)
    return not are_shown and not any(word in normalized(header) for axis in _AXIS_WORDS for word in axis)


def _is_lon_first(header: str, cells: list[str]) -> bool:
    """Return whether positions begin with their longitude: as one of them shows, else as the header says."""
    pairs = [pair for cell in cells if (pair := pair_in(cell))]
    if any(abs(first) > 90 for first, _, _ in pairs):
        return True
    if any(abs(second) > 90 for _, second, _ in pairs):
        return False
    words = normalized(header)
    lat, lon = (min((at for word in axis if (at := words.find(word)) >= 0), default=-1) for axis in _AXIS_WORDS)
    return 0 <= lon < lat
