"""A scenario from tables of tickets and agents (SPEC T5).

Owns how a row becomes a ticket, an agent and a location; its cells are read by `table_rows.py`. The day is then checked
like any scenario.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic_core import PydanticCustomError

from planner_mcp.errors import Fault, input_error
from planner_mcp.formats.tables.cells.cell_text import Decimal
from planner_mcp.formats.tables.cells.coordinate_parsing import pair_in
from planner_mcp.formats.tables.cells.number_parsing import number_in
from planner_mcp.formats.tables.cells.time_parsing import written
from planner_mcp.formats.tables.cells.window_parsing import (
    BREAKS,
    are_same_windows,
    common_windows,
    next_day_begin,
    next_day_end,
)
from planner_mcp.formats.tables.columns.address_columns import CODE_AND_TOWN
from planner_mcp.formats.tables.columns.column_mapping import SERVICE_UNITS_S, ColumnMapping
from planner_mcp.formats.tables.columns.column_proposal import propose_mapping
from planner_mcp.formats.tables.columns.other_tables import NO_OTHER_TABLE, OtherTable
from planner_mcp.formats.tables.columns.ticket_kinds import DELIVERIES, PICKUPS, kind_word
from planner_mcp.formats.tables.headers.header_words import PLACING
from planner_mcp.formats.tables.rows.amount_settlement import AmountColumn, settle_amounts
from planner_mcp.formats.tables.rows.depot_rows import DepotRow, depot_rows
from planner_mcp.formats.tables.rows.group_headings import group_headings
from planner_mcp.formats.tables.rows.listed_places import listed_places
from planner_mcp.formats.tables.rows.shipment_rows import join_halves, with_named_halves, with_pickup_rows
from planner_mcp.formats.tables.rows.table_rows import AXES, TableRows
from planner_mcp.formats.tables.rows.ticket_lines import Rows, join_lines
from planner_mcp.formats.tables.rows.unexpected_rows import rows_without_place
from planner_mcp.formats.tables.rows.unique_names import UniqueNames
from planner_mcp.formats.tables.sheets.exported_stops import RARE_COLUMNS
from planner_mcp.formats.tables.sheets.source_rows import SourceRow
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.routing.scenario.field_types import fault_at, moment, read_date
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.window_text import OPEN_END
from planner_mcp.text import Json, plain

Spot = tuple[tuple[str, float], ...]
"""A position: its coordinates by name."""
FEW: Final = 3
_SIDE: Final = re.compile(r"(?:opens|closes)( \d+)?")
"""Names of the begins and ends of the windows of a row: `opens`, `opens 2`."""
_STROKES: Final = re.compile(r"[/+&|／]")
_WORD: Final = re.compile(r"[^\W\d_]{3}")
"""Letters that no position has."""
LONGEST_OWNER: Final = 90
"""Characters of an id that a place is named after; a name has a hundred at most."""
_RENAMED: Final = {header: name for header, name in RARE_COLUMNS.items() if header != name}
"""Fields of a ticket by their name in a table, where other columns are called as in the scenario."""
_HOME: Final = re.compile(r"address|adres|home|wohn|domicil|direcci|indirizzo|地址|住址", re.IGNORECASE)
"""Parts of headers below which agents have addresses, and no names of depots."""
_SHIFT: Final = frozenset({"shift_start", "shift_end"})
_SAME_PLACE: Final = 0.001
"""Degrees, or units of the plane, up to which two positions of a named place are taken for one."""


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
    """Tickets whose row says nothing of a demand."""
    without_capacity: int = 0
    """Agents whose row says nothing of a capacity."""
    overnight: dict[str, None] = field(default_factory=dict)
    """Hours that pass midnight."""
    taken_as_deliveries: dict[str, None] = field(default_factory=dict)
    """Kinds that are no known word."""
    in_common: int = 0
    """Tickets of which columns say different hours."""
    origins: dict[str, list[SourceRow]] = field(default_factory=lambda: {"tickets": [], "agents": [], "locations": []})
    """What each part of the day was read from."""
    _wanted: list[AmountColumn] = field(default_factory=list)
    _carried: list[AmountColumn] | None = None
    _made: UniqueNames = field(default_factory=UniqueNames)
    """Names given to places that had none."""
    _named: dict[Spot, str] = field(default_factory=dict)
    _addressed: dict[str, str] = field(default_factory=dict)
    """Places that have an address and no position, by that address."""
    _depots: list[DepotRow] = field(default_factory=list)
    """Tickets that may be the depot."""
    listed: dict[str, str] = field(default_factory=dict)
    """Places of a sheet of their own, by their names in small letters."""

    def add_places(self, table: Table) -> None:
        """Take in a sheet of places, which tickets and agents name."""
        places, faults = listed_places(table, self.planning_date, self.decimal)
        self.faults += faults
        for each in places:
            place = self._place({**each.where, "location": each.names[0]}, each.names[0], each.origin)
            if place not in self.locations:
                self.locations[place] = {"id": place, "address": each.where["address"]}
                self.origins["locations"].append(each.origin)
            if each.name:
                self.locations[place]["name"] = each.name
            self.listed |= {name.casefold(): place for name in each.names}

    def add_tickets(self, table: Table, chosen: Mapping[str, str], other: OtherTable = NO_OTHER_TABLE) -> ColumnMapping:
        """Take in a table of tickets; return what its columns were taken for."""
        proposal = self._proposal(table, "tickets", chosen, other)
        table, mapping, alone = with_named_halves(table, proposal)
        table, mapping, split = with_pickup_rows(table, mapping)
        rows, self._wanted = self._rows("tickets", table, mapping, chosen)
        rows, joined = join_lines(rows, table, self._wanted)
        paired, faults = join_halves(rows, self._wanted)
        self.notices |= dict.fromkeys([*alone, *split, *joined, *paired])
        self.faults += faults
        self.origins["tickets"] = [origin for origin, _ in rows]
        headings = {fault.path: fault for fault in group_headings(rows, table, mapping, other.agents)}
        self.faults = [fault for fault in self.faults if fault.path.rpartition("/")[0] not in headings]
        self.faults += headings.values()
        self.faults += rows_without_place([row for row in rows if row[0].path not in headings], table, mapping)
        self._depots = list(depot_rows(rows, self._wanted))
        for origin, cells in rows:
            self.without_demand += not cells.pop("amounts", 0)
            ticket: Json = {"id": str(cells.pop("id", f"row-{origin.number}")), "demand": 0}
            ticket["location"] = self._place(cells, ticket["id"], origin)
            if windows := self._windows(cells, origin):
                ticket["time_windows"] = windows
            if (service_s := self._service(cells, origin)) is not None:
                ticket["service_time_s"] = service_s
            if self._is_pickup(str(cells.pop("kind", ""))):
                ticket["kind"] = "pickup"
            ticket |= {name: cells.pop(header) for header, name in _RENAMED.items() if header in cells}
            self.tickets.append(ticket | cells)
        return proposal

    def add_agents(self, table: Table, chosen: Mapping[str, str], other: OtherTable = NO_OTHER_TABLE) -> ColumnMapping:
        """Take in a table of agents; one that names a place starts and ends there."""
        mapping = self._proposal(table, "agents", chosen, other)
        are_addressed = any("address" in ticket for ticket in self.tickets)
        wanted = {skill for ticket in self.tickets for skill in ticket.get("skills", ())}
        rows, self._carried = self._rows("agents", table, mapping, chosen)
        for origin, cells in rows:
            self.without_capacity += not cells.pop("amounts", 0)
            agent: Json = {"id": str(cells.pop("id", f"row-{origin.number}")), "capacity": 0}
            if {"location", *AXES} & cells.keys():
                name = str(cells.get("location", ""))
                is_address = CODE_AND_TOWN.match(name) or _HOME.search(origin.headers.get("location", ""))
                if name and AXES & cells.keys() and is_address:  # several may live in one town
                    del cells["location"]
                elif name and not AXES & cells.keys() and (is_address or are_addressed):
                    self._add_home(name, origin)
                place = self._place(cells, agent["id"], origin)
                agent |= {"start_location": place, "end_location": place}
            if len(shifts := cells.pop("shift", [])) > 1:
                problem, hint = "The shift has several parts.", "Write it from its begin to its end."
                self.faults.append(origin.fault(problem, "one begin and one end", hint, field="shift"))
            for shift in shifts[:1]:
                cells |= {"shift_start": shift[0], "shift_end": shift[1]}
            if "skills" in cells:
                cells["skills"] = [part for skill in cells["skills"] for part in self._parts(skill, wanted)]
            if "end_location" in cells:
                if are_addressed:
                    self._add_home(cells["end_location"], origin)
                cells["end_location"] = self._listed_id(cells["end_location"])
            if (longest_s := cells.pop("max_duration_h", None)) is not None:
                agent["max_duration_s"] = longest_s
            if cells.keys() >= _SHIFT:
                cells["shift_end"] = self._forward(cells["shift_start"], cells["shift_end"])[1]
            breaks = [self._break(each, cells, origin) for each in cells.pop("break", [])]
            if breaks := [*breaks, *self._break_of_parts(cells, origin)]:
                agent["breaks"] = breaks
            self.agents.append(agent | cells)
        return mapping

    def settle(self) -> None:
        """Hold what tickets want against what agents carry, once both are there."""
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
                return self._listed_id(text)
            read = {"lat": number_in(lat, "depot", "depot"), "lon": number_in(lon, "depot", "depot")}
            self.faults += [value for value in read.values() if isinstance(value, Fault)]
            position = {axis: value for axis, value in read.items() if not isinstance(value, Fault)}
        place = self._place({"location": "depot", **position}, "depot", SourceRow("depot", {}))
        self.listed.setdefault(place, place)  # whatever its case, agents may name it
        if place in self.locations:
            self.locations[place]["name"] = name
        return place

    def take_depot_rows(self) -> str | None:
        """Have rows that are called a depot be no tickets; return their place, None where there is no such row.

        Agents that say where they start may have something to do there: it is a ticket then.
        """
        places = {
            (ticket["location"], ticket.get("address")) for ticket in (self.tickets[row.at] for row in self._depots)
        }
        have_own_start = any({"start_location", "end_location"} & agent.keys() for agent in self.agents)
        named = {ticket.get("pickup") for ticket in self.tickets}
        are_halves = any(self.tickets[row.at]["id"] in named for row in self._depots)
        if len(places) != 1 or len(self.tickets) <= len(self._depots) or have_own_start or are_halves or self.listed:
            return None
        ((place, address),) = places
        first = self._depots[0]
        if address and place not in self.locations:
            self.locations[place] = {"id": place, "address": address}
            self.origins["locations"].append(self.origins["tickets"][first.at])
        if place in self.locations and place != first.word:
            self.locations[place]["name"] = first.word
        for row in self._depots:
            self.notices |= dict.fromkeys(row.notices(self.origins["tickets"][row.at].number))
            self.taken_as_deliveries.pop(row.kind, None)
        for row in reversed(self._depots):
            del self.tickets[row.at], self.origins["tickets"][row.at]
            numbers = [column.numbers.pop(row.at) for column in self._wanted]
            self.without_demand -= all(number is None for number in numbers)
        return str(place)

    def take_as_address(self, depot: str) -> None:
        """Have a depot that is no place of the table looked up as an address, like those of the tickets."""
        if depot not in self.locations and all(ticket.get("location") != depot for ticket in self.tickets):
            self.locations[depot] = {"id": depot, "address": depot}
            self.origins["locations"].append(SourceRow("depot", {}))

    def lacks_coordinates(self, mapping: ColumnMapping) -> bool:
        """Return whether tickets lie at unknown places, beside known ones, and no column may be their coordinates."""
        is_known = all(ticket["location"] in self.locations for ticket in self.tickets)
        maybe = {name for column in mapping.open_columns for name in column.options}
        return bool(self.locations) and not PLACING & {*mapping.fields.values(), *maybe} and not is_known

    def is_unplaced(self, mapping: ColumnMapping) -> bool:
        """Return whether nothing says where any place is."""
        return not self.locations and not PLACING & set(mapping.fields.values())

    def lacks_capacity(self, mapping: ColumnMapping) -> bool:
        """Return whether no column says what agents carry, while tickets want something carried."""
        wants = any(number for column in self._wanted for number in column.numbers)
        return "capacity" not in mapping.fields.values() and wants

    def assumed(self) -> list[str]:
        """Return what was taken for granted where rows say nothing, or nothing that is known."""
        notices = list(self.notices)
        for column in (*self._wanted, *(self._carried or ())):
            if column.unit_of_cell and column.has_bare_numbers:
                header, unit_of = plain(column.header, 40), plain(column.unit_of_cell, 20)
                notices.append(f'Amounts without a unit in "{header}" are read in that of "{unit_of}".')
        has_windows = any("time_windows" in ticket for ticket in self.tickets)
        if has_windows and not any(_SHIFT & agent.keys() for agent in self.agents):
            notices.append("No agent has a shift, so routes may begin at midnight.")
        if self.without_demand:
            notices.append(f"Tickets without a demand, for which 0 is taken: {self.without_demand}.")
        if self.without_capacity:
            notices.append(f"Agents without a capacity, for which 0 is taken: {self.without_capacity}.")
        if self.overnight:
            notices.append(f"Read as ending on the next day: {', '.join(list(self.overnight)[:FEW])}.")
        if self.in_common:
            notices.append(f"Tickets with hours in several columns, read as what these share: {self.in_common}.")
        if self.taken_as_deliveries:
            kinds = ", ".join(plain(kind, 40) for kind in list(self.taken_as_deliveries)[:FEW])
            notices.append(f"Of unknown kind, taken as deliveries: {kinds}.")
        return notices

    def scenario(self, **fields: Any) -> ScenarioBody:
        """Return the scenario.

        Raises:
            InputError: Columns that must be named, and cells that could not be read, each with its line.
        """
        self.settle()
        if self.faults:
            raise input_error([*self.faults, *_date_faults(self.planning_date)])
        day = {**fields, "agents": self.agents, "tickets": self.tickets}
        return day | ({"locations": list(self.locations.values())} if self.locations else {})

    def _parts(self, skill: str, wanted: Collection[str]) -> list[str]:
        """Return a skill, or its parts between strokes or plus signs where tickets want one of these, not the whole."""
        parts = [part.strip() for part in _STROKES.split(skill) if part.strip()]
        if skill in wanted or len(parts) < 2 or set(parts).isdisjoint(wanted):
            return [skill]
        self.notices[f"Skills with a stroke are read as several: {plain(skill, 40)}."] = None
        return parts

    def _proposal(self, table: Table, kind: str, chosen: Mapping[str, str], other: OtherTable) -> ColumnMapping:
        mapping = propose_mapping(table, kind, chosen, planning_date=self.planning_date, other=other)
        self.faults += [column.fault() for column in mapping.open_columns]
        for header, name in mapping.fields.items():
            if header in mapping.guessed and name == "service_s":
                self.notices[f'"{plain(header, 40)}" has no unit and is taken for seconds.'] = None
        return mapping

    def _rows(
        self, kind: str, table: Table, mapping: ColumnMapping, chosen: Mapping[str, str]
    ) -> tuple[Rows, list[AmountColumn]]:
        """Return the rows of a table as values by field, and its columns of amounts."""
        reading = TableRows(table, mapping, self.planning_date, self.decimal, chosen)
        rows = list(reading.read())
        self.origins[kind] = [origin for origin, _ in rows]
        self.faults += dict.fromkeys(reading.faults)  # a cell of both halves of a shipment is read twice
        self.notices |= reading.notices
        return rows, list(reading.amounts.values())

    def _is_pickup(self, kind: str) -> bool:
        word = kind_word(kind)
        if word not in PICKUPS | DELIVERIES:
            self.taken_as_deliveries[kind] = None
        return word in PICKUPS

    def _windows(self, cells: Json, origin: SourceRow) -> list[list[Any]]:
        """Return the time windows of a row; none where it says nothing of them."""
        windows: list[list[Any]] = [self._forward(*window) for window in cells.pop("window", [])]
        hours = []
        for number in sorted({side[1] or "" for name in cells if (side := _SIDE.fullmatch(name))}):
            opens, closes = cells.pop(f"opens{number}", "00:00"), cells.pop(f"closes{number}", OPEN_END)
            hours.append(self._forward(opens, closes))
        if not hours:
            return windows
        if not windows or are_same_windows(windows, hours):
            return hours
        if common := common_windows(windows, hours):
            self.in_common += 1
            return common
        problem, hint = "The row has a time window, and other hours beside it.", "Leave one of the columns out."
        self.faults.append(origin.fault(problem, "hours that overlap", hint))
        return hours

    def _forward(self, opens: Any, closes: Any) -> list[Any]:
        """Return hours in the order in which they pass: those over midnight end on the next day."""
        if (later := next_day_end(opens, closes)) is None:
            return [opens, closes]
        self.overnight[f"{opens}-{closes}"] = None
        return [opens, later]

    def _break_of_parts(self, cells: Json, origin: SourceRow) -> Iterator[Json]:
        """Yield the break of a row that says in columns of their own when it begins, when it ends, how long it is.

        One that is shorter than its hours may begin later in them.
        """
        begin, end, length_s = (cells.pop(name, None) for name in ("break_start", "break_end", "break_min"))
        if begin is None or (end is None and length_s is None):
            if (begin, end, length_s) != (None, None, None):
                problem = "The break has no begin, or neither end nor length."
                self.faults.append(origin.fault(problem, BREAKS, "Add it, or leave the cells empty."))
            return
        if end is None:
            begin = next_day_begin(begin, cells.get("shift_start"), cells.get("shift_end")) or begin
            yield {"earliest": begin, "latest": begin, "duration_s": length_s}
            return
        whole = self._break([begin, end], cells, origin)
        if length_s is not None and (slack_s := whole["duration_s"] - length_s) >= 0:
            whole |= {"latest": written(moment(whole["earliest"], {}) + slack_s), "duration_s": length_s}
        elif length_s is not None:
            self.faults.append(origin.fault("The break is longer than the hours that it is to lie in.", BREAKS))
        yield whole

    def _break(self, hours: list[Any], shift: Json, origin: SourceRow) -> Json:
        """Return a break that lasts for the hours that a cell names, on the day that the shift has reached by then."""
        begin, end = self._forward(*hours)
        try:
            length_s = moment(end, {}) - moment(begin, {})
        except ValueError:  # of another day
            length_s = -1.0
        if length_s < 0:
            problem = "The break has no begin and end on one day."
            part = min({"break", "break_start"} & origin.headers.keys())
            self.faults.append(origin.fault(problem, BREAKS, field=part))
        begin = next_day_begin(begin, shift.get("shift_start"), shift.get("shift_end")) or begin
        return {"earliest": begin, "latest": begin, "duration_s": length_s}

    def _service(self, cells: Json, origin: SourceRow) -> Any:
        """Return the service time of a row in seconds, None where it says none."""
        times = {cells.pop(name) for name in SERVICE_UNITS_S if name in cells}
        if len(times) > 1 and max(times) - min(times) > 1:
            problem, hint = "The row has two service times.", "Leave one of the columns out."
            self.faults.append(origin.fault(problem, "one, in seconds or in minutes", hint))
        return max(times, default=None)

    def _add_home(self, address: str, origin: SourceRow) -> None:
        """Have the home of an agent looked up as an address, be it no more than a town, unless it is a known place."""
        known = {*self.locations, *(ticket["location"] for ticket in self.tickets)}
        is_placed = bool(self.locations) or any("address" in ticket for ticket in self.tickets)
        if is_placed and self._listed_id(address) not in known:
            self.locations[address] = {"id": address, "address": address}
            self.origins["locations"].append(origin)

    def _listed_id(self, name: str) -> str:
        return self.listed.get(name.casefold(), name)

    def _place(self, cells: Json, owner: str, origin: SourceRow) -> str:
        """Return the location of a row: by its name, or made from its position; equal positions are one place.

        Rows without both that have an address are at the place of that address.
        """
        position: dict[str, float] = {name: cells.pop(name) for name in ("lat", "lon", "x", "y") if name in cells}
        spot = tuple(sorted(position.items()))
        own, address = self._listed_id(str(cells.pop("location", ""))), str(cells.get("address", ""))
        known = self._named.get(spot) or ("" if position else self._addressed.get(address, ""))
        name = own or known or self._made.unused(f"at {owner[:LONGEST_OWNER]}", self.locations)
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
                self.faults.append(origin.fault(problem, "one position for each place", hint))
            self._named.setdefault(spot, name)
        return name


def _date_faults(planning_date: str) -> Iterator[Fault]:
    """Yield what is wrong with the date of the call, beside faults of the file: else the day is checked with it."""
    try:
        if planning_date:
            read_date(planning_date)
    except PydanticCustomError as error:
        yield fault_at("planning_date", error)
