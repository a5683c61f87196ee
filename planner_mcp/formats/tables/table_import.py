"""A scenario from tables of tickets and agents (SPEC T5).

Owns how a row becomes a ticket, an agent and a location. It checks only whether a cell can be read in one way; the day
is then checked like any scenario. A fault names the line of the file, the column and the value.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeVar

from pydantic_core import PydanticCustomError

from planner_mcp.errors import Fault, input_error
from planner_mcp.formats.tables.amount_settlement import AmountColumn, settle_amounts
from planner_mcp.formats.tables.cell_text import CellStyle, Decimal, listed, normalized_word
from planner_mcp.formats.tables.column_mapping import SERVICE_UNITS_S, ColumnMapping
from planner_mcp.formats.tables.column_proposal import has_minute_spans, propose_mapping
from planner_mcp.formats.tables.column_values import (
    DELIVERIES,
    PICKUPS,
    decimal_of,
    has_long_clocks,
    has_open_mark,
    style_of,
)
from planner_mcp.formats.tables.coordinate_parsing import DEGREES, coordinate_in, pair_in, position_in
from planner_mcp.formats.tables.duration_parsing import duration_in
from planner_mcp.formats.tables.exported_stops import RARE_COLUMNS
from planner_mcp.formats.tables.header_words import meaning_of, normalized, split_brackets
from planner_mcp.formats.tables.number_parsing import amount_in, has_last_zero, is_estimate, number_in, priority_in
from planner_mcp.formats.tables.source_rows import SourceRow
from planner_mcp.formats.tables.text_tables import Table, place_in
from planner_mcp.formats.tables.time_parsing import is_hhmm, side_in
from planner_mcp.formats.tables.unexpected_rows import rows_without_place, total_rows
from planner_mcp.formats.tables.unique_names import UniqueNames
from planner_mcp.formats.tables.unit_words import AmountUnit
from planner_mcp.formats.tables.window_parsing import (
    are_same_windows,
    names_half_days,
    names_weekdays,
    next_day_end,
    says_holidays,
    windows_in,
)
from planner_mcp.routing.scenario.field_types import fault_at, read_date
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.routing.scenario.window_text import OPEN_END
from planner_mcp.text import Json, plain

Read = TypeVar("Read")
Spot = tuple[tuple[str, float], ...]
"""A position: its coordinates by name."""
_FEW: Final = 3
_WORD: Final = re.compile(r"[^\W\d_]{3}")
"""Letters that no position has."""
_LONGEST_OWNER: Final = 90
"""Characters of an id that a place is named after; a name has a hundred at most."""
_AXES: Final = frozenset({*DEGREES, "x", "y"})
_PLACING: Final = _AXES | {"position", "address"}
"""Fields that say where a ticket is."""
_PRICES: Final = frozenset({"penalty", "lateness_cost_per_hour", "switch_cost", "fixed_cost"})
_NUMBERS: Final = _AXES | _PRICES | {"cost_per_km", "cost_per_hour", "priority", "max_tickets"}
_AMOUNTS: Final = frozenset({"demand", "capacity"})
_LISTS: Final = frozenset({"skills", "only_agents", "not_agents"})
_RENAMED: Final = {header: name for header, name in RARE_COLUMNS.items() if header != name}
"""Fields of a ticket by their name in a table, where other columns are called as in the scenario."""
_OF_AGENTS: Final = ("agents", "not_agents", "preferred_agent", "switch_cost")
"""Fields of a ticket that name agents, and what belongs to them."""
_SHIFT: Final = frozenset({"shift_start", "shift_end"})
_TIMES: Final = frozenset({"opens", "closes", "shift_start", "shift_end", "release_time", "soft_close"})
_SAME_PLACE: Final = 0.001
"""Degrees, or units of the plane, up to which two positions of a named place are taken for one."""
_LONGEST_NUMBER: Final = len("10115 a")
"""Characters of a house number or a postal code."""
_WITHOUT_BLANK: Final = 0x2E80
"""From this character on texts are joined without a blank between them."""


@dataclass(slots=True)
class TableImport:
    """A scenario in the making."""

    planning_date: str = ""
    decimal: Decimal = ""
    """The mark before decimals, where the caller says it."""
    locations: dict[str, Json] = field(default_factory=dict)
    tickets: list[Json] = field(default_factory=list)
    agents: list[Json] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    are_agents_made_up: bool = False
    """Whether nobody said anything of the agents."""
    notices: dict[str, None] = field(default_factory=dict)
    """What was taken for granted, each once."""
    without_demand: int = 0
    """Tickets whose row says nothing of it."""
    without_capacity: int = 0
    """The same of agents."""
    overnight: dict[str, None] = field(default_factory=dict)
    """Hours that pass midnight."""
    taken_as_deliveries: dict[str, None] = field(default_factory=dict)
    """Kinds that are no known word."""
    origins: dict[str, list[SourceRow]] = field(default_factory=lambda: {"tickets": [], "agents": [], "locations": []})
    """What each part of the day was read from."""
    _wanted: list[AmountColumn] = field(default_factory=list)
    _carried: list[AmountColumn] | None = None
    _units: dict[str, tuple[str, AmountUnit]] = field(default_factory=dict)
    """By header the first cell with a unit."""
    _unit_of_cell: dict[str, str] = field(default_factory=dict)
    """By header that says no unit the cell that does, where it is not the usual one of its kind."""
    _without_unit: set[str] = field(default_factory=set)
    """Headers of amounts some of which have none."""
    _is_settled: bool = False
    _made: UniqueNames = field(default_factory=UniqueNames)
    """Names given to places that had none."""
    _named: dict[Spot, str] = field(default_factory=dict)
    _addressed: dict[str, str] = field(default_factory=dict)
    """Places that have an address and no position, by that address."""

    def add_tickets(self, table: Table, chosen: Mapping[str, str]) -> ColumnMapping:
        """Take in a table of tickets; return what its columns were taken for."""
        mapping = self._proposal(table, "tickets", chosen)
        self._wanted = _amount_columns(mapping, chosen)
        rows = self._rows("tickets", table, mapping, self._wanted)
        self.faults += rows_without_place(rows, table, mapping)
        for origin, cells in rows:
            self.without_demand += not cells.pop("amounts", 0)
            ticket: Json = {"id": str(cells.pop("id", _unnamed(origin))), "demand": 0}
            ticket["location"] = self._place(cells, ticket["id"], origin)
            if windows := self._windows(cells, origin.path):
                ticket["time_windows"] = windows
            if (service_s := self._service(cells, origin.path)) is not None:
                ticket["service_time_s"] = service_s
            if self._is_pickup(str(cells.pop("kind", ""))):
                ticket["kind"] = "pickup"
            ticket |= {name: cells.pop(header) for header, name in _RENAMED.items() if header in cells}
            self.tickets.append(ticket | cells)
        return mapping

    def add_agents(self, table: Table, chosen: Mapping[str, str]) -> ColumnMapping:
        """Take in a table of agents; one that names a place starts and ends there."""
        mapping = self._proposal(table, "agents", chosen)
        self._carried = _amount_columns(mapping, chosen)
        for origin, cells in self._rows("agents", table, mapping, self._carried):
            self.without_capacity += not cells.pop("amounts", 0)
            agent: Json = {"id": str(cells.pop("id", _unnamed(origin))), "capacity": 0}
            if {"location", *_AXES} & cells.keys():
                place = self._place(cells, agent["id"], origin)
                agent |= {"start_location": place, "end_location": place}
            if len(shifts := cells.pop("shift", [])) > 1:
                path, hint = origin.path + pointer((origin.headers["shift"],)), "Write it from its begin to its end."
                self._read(Fault(path, "The shift has several parts.", "one begin and one end", hint))
            for shift in shifts[:1]:
                cells |= {"shift_start": shift[0], "shift_end": shift[1]}
            if cells.keys() >= _SHIFT:
                cells["shift_end"] = self._forward(cells["shift_start"], cells["shift_end"])[1]
            self.agents.append(agent | cells)
        return mapping

    def leave_out_unknown_agents(self) -> None:
        """Pass over which agents may serve a ticket where it names one that the day does not have."""
        known = {agent["id"] for agent in self.agents}
        count = 0
        for ticket in self.tickets:
            preferred = [ticket["preferred_agent"]] if "preferred_agent" in ticket else []
            if not known.issuperset([*ticket.get("agents", ()), *ticket.get("not_agents", ()), *preferred]):
                count += 1
                for name in _OF_AGENTS:
                    ticket.pop(name, None)
        if count:
            self.notices[f"Tickets that name unknown agents, which may be served by any: {count}."] = None

    def settle(self) -> None:
        """Hold what tickets want against what agents carry; once, when both are there."""
        if self._is_settled:
            return
        self._is_settled = True
        settled = settle_amounts(
            self._wanted,
            self._carried,
            [agent.get("capacity", 0) for agent in self.agents],
            tickets=len(self.tickets),
            is_made_up=self.are_agents_made_up,
        )
        self.faults += settled.faults
        self.notices |= dict.fromkeys(settled.notices)
        for ticket, demand, note in zip(self.tickets, settled.demands, settled.notes, strict=True):
            ticket["demand"] = demand
            if note:
                ticket["notes"] = "; ".join(filter(None, [ticket.get("notes", ""), note]))
        for agent, capacity in zip(self.agents, settled.capacities, strict=False):
            agent["capacity"] = capacity

    def add_depot(self, text: str, name: str = "Depot") -> str:
        """Return the location of a depot given as `lat,lon`, which gets a name; or by name or by address."""
        if pair := pair_in(text):
            position = {"lat": pair[0], "lon": pair[1]}
        else:
            lat, comma, lon = text.partition(",")
            if not comma or _WORD.search(text):
                return text
            read = {axis: self._read(number_in(each, "depot", "depot")) for axis, each in (("lat", lat), ("lon", lon))}
            position = {axis: value for axis, value in read.items() if value is not None}
        place = self._place({"location": "depot", **position}, "depot", SourceRow("depot", {}))
        if place in self.locations:
            self.locations[place]["name"] = name
        return place

    def take_as_address(self, depot: str) -> None:
        """Have a depot that is no place of the table looked up as an address, like those of the tickets."""
        if depot not in self.locations and all(ticket.get("location") != depot for ticket in self.tickets):
            self.locations[depot] = {"id": depot, "address": depot}
            self.origins["locations"].append(SourceRow("depot", {}))

    def lacks_coordinates(self, mapping: ColumnMapping) -> bool:
        """Return whether tickets lie at unknown places, beside known ones, and no column may be their coordinates."""
        is_known = all(ticket["location"] in self.locations for ticket in self.tickets)
        maybe = {name for column in mapping.open_columns for name in column.options}
        return bool(self.locations) and not _PLACING & {*mapping.fields.values(), *maybe} and not is_known

    def is_unplaced(self, mapping: ColumnMapping) -> bool:
        """Return whether nothing says where any place is."""
        return not self.locations and not _PLACING & set(mapping.fields.values())

    def lacks_capacity(self, mapping: ColumnMapping) -> bool:
        """Return whether no column says what agents carry, while tickets want something carried."""
        wants = any(number for column in self._wanted for number in column.numbers)
        return "capacity" not in mapping.fields.values() and wants

    def assumed(self) -> list[str]:
        """Return what was taken for granted where rows say nothing, or nothing that is known."""
        notices = list(self.notices)
        for header in self._unit_of_cell.keys() & self._without_unit:
            shown, unit_of = plain(header, 40), plain(self._unit_of_cell[header], 20)
            notices.append(f'Amounts without a unit in "{shown}" are read in that of "{unit_of}".')
        has_windows = any("time_windows" in ticket for ticket in self.tickets)
        if has_windows and not any(_SHIFT & agent.keys() for agent in self.agents):
            notices.append("No agent has a shift, so routes may begin at midnight.")
        if self.without_demand:
            notices.append(f"Tickets without a demand, for which 0 is taken: {self.without_demand}.")
        if self.without_capacity:
            notices.append(f"Agents without a capacity, for which 0 is taken: {self.without_capacity}.")
        if self.overnight:
            notices.append(f"Read as ending on the next day: {', '.join(list(self.overnight)[:_FEW])}.")
        if self.taken_as_deliveries:
            kinds = ", ".join(plain(kind, 40) for kind in list(self.taken_as_deliveries)[:_FEW])
            notices.append(f"Of unknown kind, taken as deliveries: {kinds}.")
        return notices

    def scenario(self, **fields: Any) -> Json:
        """Return the scenario.

        Raises:
            InputError: Columns that must be named, and cells that could not be read, each with its line.
        """
        self.settle()
        if self.faults:
            raise input_error([*self.faults, *_date_faults(self.planning_date)])
        day = {**fields, "agents": self.agents, "tickets": self.tickets}
        return day | ({"locations": list(self.locations.values())} if self.locations else {})

    def _proposal(self, table: Table, kind: str, chosen: Mapping[str, str]) -> ColumnMapping:
        mapping = propose_mapping(table, kind, chosen)
        self.faults += [column.fault() for column in mapping.open_columns]
        for header, name in mapping.fields.items():
            if header in mapping.guessed and name == "service_s":
                self.notices[f'"{plain(header, 40)}" has no unit and is taken for seconds.'] = None
        return mapping

    def _rows(
        self, kind: str, table: Table, mapping: ColumnMapping, columns: list[AmountColumn]
    ) -> list[tuple[SourceRow, Json]]:
        """Return each row as values by field; amounts go to their columns. Totals of the rows above are passed over."""
        headers = {name: header for header, name in reversed(mapping.fields.items())}
        styles = self._styles(table, mapping)
        readers = {header: self._reader(table, header, name, styles[header]) for header, name in mapping.fields.items()}
        by_header = {column.header: column for column in columns}
        totals = total_rows(table, mapping)
        read: list[tuple[SourceRow, Json]] = []
        for index, (line, row) in enumerate(table.rows):
            if index in totals:
                self.notices[f"Row {line} adds up those above it and is passed over."] = None
                continue
            origin = SourceRow(place_in(table.name, line), headers)
            self.origins[kind].append(origin)
            values: Json = {}
            for header, name in mapping.fields.items():
                text = row.get(header)
                value = None if text is None else readers[header](text, place_in(table.name, line, header))
                if header in by_header:
                    by_header[header].numbers.append(value)
                    values["amounts"] = values.get("amounts", 0) + (value is not None)
                elif value is not None:
                    values[name] = _composed(name, values[name], value) if name in values else value
            if "position" in values:
                lat, lon = values.pop("position")
                values = {"lat": lat, "lon": lon} | values
            read.append((origin, values))
        return read

    def _styles(self, table: Table, mapping: ColumnMapping) -> dict[str, CellStyle]:
        """Return how each column is written: as it shows itself, else as the others, else as such files are."""
        cells = {header: [row[header] for _, row in table.rows if header in row] for header in table.headers}
        styles = {
            header: style_of(cells[header], self.planning_date, has_thousands=name not in _AXES)
            for header, name in mapping.fields.items()
        }
        times = [header for header, name in mapping.fields.items() if name in _TIMES]
        if any(styles[header].bare_times == "hhmm" for header in times):  # 0730 beside 1300, or beside noon
            styles |= {
                header: replace(styles[header], bare_times="hhmm")
                for header in times
                if not styles[header].bare_times and all(map(is_hhmm, filter(str.isdecimal, cells[header])))
            }
        marks = {styles[header].decimal if header in styles else decimal_of(cells[header]) for header in cells} - {""}
        others: Decimal = marks.pop() if len(marks) == 1 else ""
        for header, name in mapping.fields.items():
            if name not in _NUMBERS | _AMOUNTS | SERVICE_UNITS_S.keys():
                continue
            decimal: Decimal = self.decimal or styles[header].decimal
            if not decimal and has_open_mark(cells[header]):
                decimal = others or self._usual_mark(table, header, cells[header])
                example = next(cell for cell in cells[header] if has_open_mark([cell]))
                if decimal and table.delimiter not in (",", ""):
                    number, column = plain(example, 20), plain(header, 40)
                    self.notices[f'{number} in "{column}" is read with the mark "{decimal}" before decimals.'] = None
            styles[header] = replace(styles[header], decimal=decimal)
        return styles

    def _usual_mark(self, table: Table, header: str, cells: list[str]) -> Decimal:
        """Return the mark before decimals of files of a kind; ask where there is none.

        Between commas it is a point, and so it is in the cells of a workbook, whose numbers have no other. A number
        that ends in a zero is text there.
        """
        if table.delimiter == "," or not (table.delimiter or any("," in cell or has_last_zero(cell) for cell in cells)):
            return "."
        example = next(cell for cell in cells if has_open_mark([cell]))
        problem = f'The mark in "{plain(example, 20)}" of column "{plain(header, 40)}" may part thousands, or decimals.'
        self.faults.append(
            Fault("decimal", problem, '"," or "."', "Say which of the two stands before decimals.", "missing")
        )
        return "."

    def _reader(self, table: Table, header: str, name: str, style: CellStyle) -> Any:
        """Return the reader of a column: of a text and its place to a value, None where it says nothing clear."""
        if name in _AMOUNTS:
            self._note_estimates(table, header)
            return lambda text, path: self._amount(text, name, path, style, header)
        if name in DEGREES:
            return lambda text, path: self._read(coordinate_in(text, path, DEGREES[name]))
        if name in _AXES:
            return lambda text, path: self._read(number_in(text, "coordinate", path, has_thousands=False))
        if name == "priority":
            self._note_priorities(table, header)
            return lambda text, path: self._read(priority_in(text, path))
        if name in _NUMBERS:
            return lambda text, path: self._read(number_in(text, name, path, style))
        if name in SERVICE_UNITS_S:
            cells = [row[header] for _, row in table.rows if header in row]
            are_minutes = has_minute_spans(header) or (name == "service_min" and has_long_clocks(cells))
            if are_minutes:
                self.notices[f'"{plain(header, 40)}" is read as minutes and seconds: 15:00 is 15 minutes.'] = None
            read_duration = partial(duration_in, unit_s=SERVICE_UNITS_S[name], are_minutes=are_minutes)
            return lambda text, path: self._read(read_duration(text, path, style=style))
        if name == "setup_time_s":
            return lambda text, path: self._read(duration_in(text, path, unit_s=1.0, style=style))
        if name in _TIMES:
            is_end = name in ("closes", "shift_end")
            self._note_hours(header, style)
            return lambda text, path: self._read(side_in(text, path, style, is_end=is_end))
        if name in ("window", "shift"):
            self._note_windows(table, header)
            return lambda text, path: self._read(windows_in(text, path, style))
        if name == "position":
            lon_first = _is_lon_first(header, [row[header] for _, row in table.rows if header in row])
            return lambda text, path: self._read(position_in(text, path, lon_first=lon_first))
        if name == "notes" and (label := _label(header)):
            return lambda text, _: " ".join(filter(None, [label[0], text, label[1]]))
        return (lambda text, _: listed(text)) if name in _LISTS else (lambda text, _: text)

    def _note_hours(self, header: str, style: CellStyle) -> None:
        if style.bare_times == "decimals":
            self.notices[f'Numbers in "{plain(header, 40)}" are read as hours with decimals: 8.25 is 08:15.'] = None
        if style.bare_times in ("hours", "hhmm"):
            self.notices[f'Whole numbers in "{plain(header, 40)}" are read as times of day.'] = None

    def _note_estimates(self, table: Table, header: str) -> None:
        first = next((row[header] for _, row in table.rows if header in row and is_estimate(row[header])), None)
        if first is not None:
            self.notices[f'Estimates in "{plain(header, 40)}" such as "{plain(first, 20)}" are read as they stand.'] = (
                None
            )

    def _note_priorities(self, table: Table, header: str) -> None:
        cells = [row[header] for _, row in table.rows if header in row]
        if not cells:
            return
        has_words = not all(any(map(str.isdecimal, cell)) for cell in cells)
        self.notices[f'"{plain(header, 40)}" is read as 1, the least, to 9, the most.'] = None
        if has_words:
            self.notices[
                f'Words in "{plain(header, 40)}" are read as low or C 3, normal or B 5, high or A 7, urgent 9.'
            ] = None

    def _note_windows(self, table: Table, header: str) -> None:
        cells, shown = [row[header] for _, row in table.rows if header in row], plain(header, 40)
        if any(map(names_weekdays, cells)):
            note = f'Hours by weekday in "{shown}" are read for {self.planning_date}; public holidays are not known.'
            self.notices[note] = None
        if any(map(says_holidays, cells)):
            self.notices[f'Hours of public holidays (PH) in "{shown}" are not used.'] = None
        if any(map(names_half_days, cells)):
            note = f'"{shown}" names halves of the day: mornings are read as until 12:00, afternoons as 12:00-18:00.'
            self.notices[note] = None

    def _amount(self, text: str, name: str, path: str, style: CellStyle, header: str) -> float | None:
        """Return an amount in the unit of its column: that of the header, else the first one in a cell."""
        if normalized_word(text) == "":
            return None
        read = self._read(amount_in(text, name, path, style))
        if read is None:
            return None
        value, unit = read
        if unit is None:
            self._without_unit.add(header)
            return value
        column = next(each for each in [*self._wanted, *(self._carried or [])] if each.header == header)
        if not column.factor and column.dimension in ("", unit.dimension):  # the header says no unit
            column.dimension, column.factor = unit.dimension, unit.factor
            self._unit_of_cell |= {header: text} if unit.factor != 1 else {}
        first, first_unit = self._units.setdefault(header, (text, unit))
        if first_unit.factor != unit.factor:
            shown, unit_of = plain(header, 40), plain(first, 20)
            self.notices[f'Amounts in "{shown}" have several units; all are read in that of "{unit_of}".'] = None
        if column.dimension != unit.dimension:
            problem = f'"{plain(text, 40)}" is of another kind than its column.'
            self.faults.append(Fault(path, problem, "amounts of one kind", "Give it a column of its own."))
            return None
        return round(value * unit.factor / column.factor, 9)

    def _is_pickup(self, kind: str) -> bool:
        word = normalized(kind).replace(" ", "")
        if word not in PICKUPS | DELIVERIES:
            self.taken_as_deliveries[kind] = None
        return word in PICKUPS

    def _read(self, value: Read | Fault) -> Read | None:
        """Return what a cell says; None where it says nothing clear, which is reported."""
        if isinstance(value, Fault):
            line = value.path.rpartition("/")[0].rpartition("/")[2]
            self.faults.append(replace(value, which=(f"row {line}",)) if line else value)
            return None
        return value

    def _windows(self, cells: Json, path: str) -> list[list[Any]]:
        """Return the time windows of a row; none where it says nothing of them."""
        windows: list[list[Any]] = [self._forward(*window) for window in cells.pop("window", [])]
        opens, closes = cells.pop("opens", None), cells.pop("closes", None)
        if opens is None and closes is None:
            return windows
        hours = [self._forward("00:00" if opens is None else opens, OPEN_END if closes is None else closes)]
        if windows and not are_same_windows(windows, hours):
            hint = "Leave one of the columns out."
            self.faults.append(Fault(path, "The row has a time window, and hours beside it.", "one of the two", hint))
        return hours

    def _forward(self, opens: Any, closes: Any) -> list[Any]:
        """Return hours in the order in which they pass: those over midnight end on the next day."""
        if (later := next_day_end(opens, closes)) is None:
            return [opens, closes]
        self.overnight[f"{opens}-{closes}"] = None
        return [opens, later]

    def _service(self, cells: Json, path: str) -> Any:
        """Return the service time of a row in seconds, None where it says none."""
        times = {cells.pop(name) for name in SERVICE_UNITS_S if name in cells}
        if len(times) > 1 and max(times) - min(times) > 1:
            hint = "Leave one of the columns out."
            self.faults.append(Fault(path, "The row has two service times.", "one, in seconds or in minutes", hint))
        return max(times, default=None)

    def _place(self, cells: Json, owner: str, origin: SourceRow) -> str:
        """Return the location of a row: by its name, or made from its position; equal positions are one place.

        Rows without both that have an address are at the place of that address.
        """
        position: dict[str, float] = {name: cells.pop(name) for name in ("lat", "lon", "x", "y") if name in cells}
        spot = tuple(sorted(position.items()))
        own, address = str(cells.pop("location", "")), str(cells.get("address", ""))
        known = self._named.get(spot) or ("" if position else self._addressed.get(address, ""))
        name = own or known or self._made.unused(f"at {owner[:_LONGEST_OWNER]}", self.locations)
        if address and not position:
            self._addressed.setdefault(address, name)
        if position:
            if name not in self.locations:
                self.locations[name] = {"id": name} | position
                self.origins["locations"].append(origin)
            place = self.locations[name]
            if own and any(abs(place.get(axis, math.inf) - value) > _SAME_PLACE for axis, value in position.items()):
                problem = f'The place "{plain(own, 40)}" has another position in a row before.'
                hint = "Give each place one name, or leave the name out."
                self.faults.append(Fault(origin.path, problem, "one position for each place", hint))
            self._named.setdefault(spot, name)
        return name


def _date_faults(planning_date: str) -> Iterator[Fault]:
    """Yield what is wrong with the date of the call, beside faults of the file: else the day is checked with it."""
    try:
        if planning_date:
            read_date(planning_date)
    except PydanticCustomError as error:
        yield fault_at("planning_date", error)


def _amount_columns(mapping: ColumnMapping, chosen: Mapping[str, str]) -> list[AmountColumn]:
    columns = []
    for header, name in mapping.fields.items():
        if name in _AMOUNTS:
            unit = mapping.units.get(header)
            known = (unit.dimension, unit.factor) if unit else ("", 0.0)
            columns.append(AmountColumn(header, *known, is_chosen=header in chosen))
    return columns


def _label(header: str) -> tuple[str, str] | None:
    """Return what stands before and behind a value that is kept as a note, where its header is no word for notes."""
    if meaning_of(header, "tickets").field == "notes":
        return None
    outside, brackets = split_brackets(header)
    return plain(outside.strip(), 40), plain(" ".join(brackets), 40)


def _composed(name: str, before: Any, more: Any) -> Any:
    """Return what several columns make up together: parts of an address, of a name, notes, skills."""
    if name in ("skills", "window"):
        return [*before, *more]
    if ord(before[-1]) >= _WITHOUT_BLANK and ord(more[0]) >= _WITHOUT_BLANK and name != "notes":
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


_AXIS_WORDS: Final = (("lat", "纬", "breite"), ("lon", "lng", "经", "lange"))


def _unnamed(origin: SourceRow) -> str:
    """Return the id of what has none: that of its row."""
    return f"row-{origin.path.rpartition('/')[2]}"
