"""A scenario from tables of tickets and agents (SPEC T5).

Owns how a row becomes a ticket, an agent and a location. It judges only whether a cell can be read in one way; whether
the day makes sense is judged as for any scenario. A fault names the line of the file.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from planner_mcp.errors import Fault, input_error
from planner_mcp.formats.cell_parsing import (
    are_no_windows,
    are_same_windows,
    listed,
    normalized_word,
    number_in,
    time_in,
    windows_in,
)
from planner_mcp.formats.column_mapping import AGENTS, TICKETS, ColumnMapping, propose_mapping, says_unit, unit_of
from planner_mcp.formats.source_rows import SourceRow
from planner_mcp.formats.text_tables import Table, place_in
from planner_mcp.formats.unexpected_rows import rows_without_ticket, totals
from planner_mcp.formats.unique_names import UniqueNames
from planner_mcp.text import counted, figure, plain

Json = dict[str, Any]
Read = TypeVar("Read")
Spot = tuple[tuple[str, float], ...]
"""A position: its coordinates by name."""
_FEW: Final = 3
_LONGEST_OWNER: Final = 90
"""Characters of an id that a place is named after; a name has a hundred at most."""
_MINUTES: Final = 120
"""A service time up to here, of no unit, could be in minutes."""
_NUMBERS: Final = frozenset(
    {
        *("demand", "capacity", "lat", "lon", "x", "y", "penalty", "fixed_cost", "cost_per_km", "cost_per_hour"),
        *("priority", "max_tickets"),
    }
)
_PICKUPS: Final = frozenset({"pickup", "collect", "collection", "return", "returns", "取货", "揽收", "取件", "退货"})
_DELIVERIES: Final = frozenset({"", "delivery", "deliver", "dropoff", "drop", "配送", "送货", "派送", "派件", "送件"})
_POINTED: Final = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_SAME_PLACE: Final = 0.001
"""Degrees, or units of the plane, up to which two positions of a named place are taken for one."""


@dataclass(slots=True)
class TableImport:
    """A scenario in the making."""

    locations: dict[str, Json] = field(default_factory=dict)
    tickets: list[Json] = field(default_factory=list)
    agents: list[Json] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    without_demand: int = 0
    """Tickets whose row says nothing of it."""
    without_capacity: int = 0
    """The same of agents."""
    taken_as_deliveries: dict[str, None] = field(default_factory=dict)
    """Kinds that are no known word."""
    without_windows: list[str] = field(default_factory=list)
    """Headers that are left out, as they are called after windows and none of their cells is one."""
    units: dict[str, str] = field(default_factory=dict)
    """What headers say that `demand` and `capacity` are measured in."""
    longest_service: float = 0
    """Among service times of a column whose header says no unit."""
    decimal_point_example: str = ""
    """The first amount whose point might part thousands, where cells are parted as they are in such countries."""
    origins: dict[str, list[SourceRow]] = field(default_factory=lambda: {"tickets": [], "agents": [], "locations": []})
    """What each part of the day was read from."""
    _made: UniqueNames = field(default_factory=UniqueNames)
    """Names given to places that had none."""
    _named: dict[Spot, str] = field(default_factory=dict)

    def add_tickets(self, table: Table, chosen: Mapping[str, str]) -> ColumnMapping:
        """Take in a table of tickets; return what its columns were taken for."""
        mapping = self._proposal(table, TICKETS, chosen)
        rows = list(self._rows("tickets", table, mapping))
        self.faults += rows_without_ticket(rows, table, mapping)
        is_unsaid = any(name == "service_s" and not says_unit(header) for header, name in mapping.fields.items())
        for origin, cells in rows:
            self.without_demand += "demand" not in cells
            ticket = {"id": str(cells.pop("id", _unnamed(origin))), "demand": cells.pop("demand", 0)}
            ticket["location"] = self._place(cells, ticket["id"], origin)
            if windows := self._windows(cells, origin.path):
                ticket["time_windows"] = windows
            if is_unsaid:
                self.longest_service = max(self.longest_service, cells.get("service_s", 0))
            if (service_s := self._service(cells, origin.path)) is not None:
                ticket["service_time_s"] = service_s
            if self._is_pickup(str(cells.pop("kind", ""))):
                ticket["kind"] = "pickup"
            self.tickets.append(ticket | cells)
        return mapping

    def add_agents(self, table: Table, chosen: Mapping[str, str]) -> ColumnMapping:
        """Take in a table of agents; one that names a place starts and ends there."""
        mapping = self._proposal(table, AGENTS, chosen)
        rows = list(self._rows("agents", table, mapping))
        self.faults += totals(rows, table, "capacity")
        for origin, cells in rows:
            self.without_capacity += "capacity" not in cells
            agent = {"id": str(cells.pop("id", _unnamed(origin))), "capacity": cells.pop("capacity", 0)}
            if {"location", "lat", "x"} & cells.keys():
                place = self._place(cells, agent["id"], origin)
                agent |= {"start_location": place, "end_location": place}
            self.agents.append(agent | cells)
        return mapping

    def add_depot(self, text: str) -> str:
        """Return the location of a depot given as `lat,lon` or by name."""
        lat, comma, lon = text.partition(",")
        if not comma:
            return text
        read = {"lat": self._number("depot", lat, "depot"), "lon": self._number("depot", lon, "depot")}
        position = {name: value for name, value in read.items() if value is not None}
        return self._place({"location": "depot", **position}, "depot", SourceRow("depot", {}))

    def lacks_coordinates(self, mapping: ColumnMapping) -> bool:
        """Return whether tickets have no columns of coordinates and lie at unknown places, beside known ones."""
        is_placed = {"lat", "lon", "x", "y"} & set(mapping.fields.values())
        is_known = all(ticket["location"] in self.locations for ticket in self.tickets)
        return bool(self.locations) and not is_placed and not is_known

    def lacks_capacity(self, mapping: ColumnMapping) -> bool:
        """Return whether no column says what agents carry, while tickets want something carried."""
        return "capacity" not in mapping.fields.values() and any(ticket["demand"] for ticket in self.tickets)

    def assumed(self) -> list[str]:
        """Return what was taken for granted where rows say nothing, or nothing that is known."""
        notices = []
        if self.without_demand:
            notices.append(f"{counted(self.without_demand, 'ticket')} without a demand: 0 is taken.")
        if self.without_capacity:
            notices.append(f"{counted(self.without_capacity, 'agent')} without a capacity: 0 is taken.")
        if self.without_windows:
            headers = ", ".join(plain(header, 40) for header in self.without_windows[:_FEW])
            notices.append(f"Left out, as no cell is a time window: {headers}.")
        if self.taken_as_deliveries:
            kinds = ", ".join(plain(kind, 40) for kind in list(self.taken_as_deliveries)[:_FEW])
            notices.append(f"Of unknown kind, taken as deliveries: {kinds}.")
        if 0 < self.longest_service <= _MINUTES:
            most = figure(self.longest_service)
            notices.append(
                f"Service times without a unit are taken for seconds, {most} at most; service_min has minutes."
            )
        if self.decimal_point_example:
            notices.append(
                f"A point is taken for the decimal one: {self.decimal_point_example} is "
                f"{figure(float(self.decimal_point_example))}."
            )
        if len(set(self.units.values())) > 1:
            goods, room = (plain(self.units[name], 40) for name in ("demand", "capacity"))
            notices.append(
                f"Headers say ({goods}) of demand and ({room}) of capacity; numbers are taken as they stand."
            )
        return notices

    def scenario(self, **fields: Any) -> Json:
        """Return the scenario.

        Raises:
            InputError: Cells that could not be read, each with its line.
        """
        if self.faults:
            raise input_error(self.faults)
        day = {**fields, "agents": self.agents, "tickets": self.tickets}
        return day | ({"locations": list(self.locations.values())} if self.locations else {})

    def _proposal(self, table: Table, words: Mapping[str, str], chosen: Mapping[str, str]) -> ColumnMapping:
        mapping = propose_mapping(table.headers, words, chosen)
        window = next((header for header, name in mapping.fields.items() if name == "window"), "")
        if window and window not in chosen and are_no_windows(row[window] for _, row in table.rows if window in row):
            self.without_windows.append(window)
            return self._proposal(table, words, {**chosen, window: ""})
        for header, name in mapping.fields.items():
            if name in ("demand", "capacity") and (unit := unit_of(header)):
                self.units[name] = unit
        return mapping

    def _rows(self, kind: str, table: Table, mapping: ColumnMapping) -> Iterator[tuple[SourceRow, Json]]:
        """Yield each row as values by field."""
        headers = {name: header for header, name in mapping.fields.items()}
        for line, row in table.rows:
            origin = SourceRow(place_in(table.name, line), headers)
            self.origins[kind].append(origin)
            values: Json = {}
            for header, name in mapping.fields.items():
                if header in row:
                    path = place_in(table.name, line, header)
                    values[name] = self._value(name, row[header], path, table.delimiter)
            yield origin, {name: value for name, value in values.items() if value is not None}

    def _value(self, name: str, text: str, path: str, delimiter: str) -> Any:
        if name in ("demand", "capacity") and delimiter == ";" and _POINTED.fullmatch(text):
            self.decimal_point_example = self.decimal_point_example or text
        if name in _NUMBERS or name.startswith("service_"):
            return self._number(name, text, path, delimiter=delimiter)
        if name in ("opens", "closes", "shift_start", "shift_end"):
            return self._read(time_in(text, path))
        if name == "window":
            return self._read(windows_in(text, path))
        return listed(text) if name == "skills" else text

    def _is_pickup(self, kind: str) -> bool:
        word = normalized_word(kind)
        if word not in _PICKUPS | _DELIVERIES:
            self.taken_as_deliveries[kind] = None
        return word in _PICKUPS

    def _number(self, name: str, text: str, path: str, *, delimiter: str = "") -> float | None:
        return self._read(number_in(text, name, path, delimiter=delimiter))

    def _read(self, value: Read | Fault) -> Read | None:
        """Return what a cell says; None where it says nothing clear, which is told."""
        if isinstance(value, Fault):
            self.faults.append(value)
            return None
        return value

    def _windows(self, cells: Json, path: str) -> list[list[Any]]:
        """Return the time windows of a row; none where it says nothing of them."""
        windows: list[list[Any]] = cells.pop("window", [])
        opens, closes = cells.pop("opens", None), cells.pop("closes", None)
        if opens is None and closes is None:
            return windows
        hours = [["00:00" if opens is None else opens, "47:59" if closes is None else closes]]
        if windows and not are_same_windows(windows, hours):
            hint = "Leave one of the columns out."
            self.faults.append(Fault(path, "The row has a time window, and hours beside it.", "one of the two", hint))
        return hours

    def _service(self, cells: Json, path: str) -> Any:
        """Return the service time of a row in seconds, None where it says none."""
        minutes, seconds = cells.pop("service_min", None), cells.pop("service_s", None)
        if minutes is None:
            return seconds
        if seconds is not None and abs(seconds - minutes * 60) > 1:
            hint = "Leave one of the columns out."
            self.faults.append(Fault(path, "The row has two service times.", "one, in seconds or in minutes", hint))
        return minutes * 60

    def _place(self, cells: Json, owner: str, origin: SourceRow) -> str:
        """Return the location of a row: by its name, or made from its position; equal positions are one place."""
        position: dict[str, float] = {name: cells.pop(name) for name in ("lat", "lon", "x", "y") if name in cells}
        spot = tuple(sorted(position.items()))
        own = str(cells.pop("location", ""))
        name = own or self._named.get(spot) or self._unused(f"at {owner[:_LONGEST_OWNER]}")
        if position:
            if name not in self.locations:
                self.locations[name] = {"id": name} | position
                self.origins["locations"].append(origin)
            known = self.locations[name]
            if own and any(abs(known.get(axis, math.inf) - value) > _SAME_PLACE for axis, value in position.items()):
                problem = "The place has another position in a row before."
                hint = "Give each place one name, or leave the name out."
                self.faults.append(Fault(origin.path, problem, "one position for each place", hint))
            self._named.setdefault(spot, name)
        return name

    def _unused(self, name: str) -> str:
        """Return a name that no other row was given: a ticket and an agent may be called alike."""
        return self._made.unused(name, self.locations)


def _unnamed(origin: SourceRow) -> str:
    """Return the id of what has none: that of its row."""
    return f"row-{origin.path.rpartition('/')[2]}"
