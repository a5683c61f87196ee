"""The field of each column of a table, proposed from its header and its cells (SPEC T5).

Owns the decision. A column is used, is open (a question to whoever knows), or is left out and said so with what it
looks like. A column that looks like times, durations, amounts or places is never left out in silence. What a header
says is `header_meanings.py`'s, what cells say `column_values.py`'s. Whoever knows better names the field.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cell_text import MAX_CELL, filled
from planner_mcp.formats.tables.column_mapping import SERVICE_UNITS_S, ColumnMapping, OpenColumn, refuse_unknown
from planner_mcp.formats.tables.column_style import are_stays_of_day, style_of
from planner_mcp.formats.tables.column_values import (
    MAX_SAMPLE,
    OPEN_KINDS,
    ColumnValues,
    Kind,
    are_clocks_short,
    are_degrees,
    are_divisions,
    are_hhmm,
    are_one_sided,
    are_yes_or_no,
    values_of,
)
from planner_mcp.formats.tables.coordinate_parsing import (
    DEGREES,
    Axis,
    axis_of,
    coordinate_in,
    has_minutes,
    is_map_link,
    pair_in,
)
from planner_mcp.formats.tables.duration_parsing import is_duration
from planner_mcp.formats.tables.header_meanings import (
    KNOWN,
    HeaderMeaning,
    has_minute_spans,
    is_of_order,
    is_of_past,
    meaning_of,
    normalized,
    says_crew,
    side_of,
    split_brackets,
)
from planner_mcp.formats.tables.header_words import COMPOSED, FIELDS, PSEUDO, UNUSED
from planner_mcp.formats.tables.number_parsing import number_in
from planner_mcp.formats.tables.other_tables import NO_OTHER_TABLE, OtherTable, words_in
from planner_mcp.formats.tables.text_tables import Table
from planner_mcp.formats.tables.ticket_kinds import are_kinds, has_pickups
from planner_mcp.formats.tables.unexpected_rows import is_total
from planner_mcp.formats.tables.unit_words import SECONDS_OF_UNIT, AmountUnit, unit_named
from planner_mcp.formats.tables.window_parsing import day_of_weekdays, named_day

_SUGGESTION_SIMILARITY: Final = 0.85
_SERVICE_FIELDS: Final = {seconds: name for name, seconds in SERVICE_UNITS_S.items()}
_SECONDS: Final = 180
"""Service times from here on, all of whole half minutes, are seconds: nobody stays for three hours at each stop."""
_CODE: Final = re.compile(r"[A-Za-z]{1,6}[-/ ]?\d{1,12}|\d{7,18}")
"""What orders, stops and jobs are named by."""
_ORIGINS: Final = (
    *("pick up", "pickup", "abhol", "enlevement", "recogida", "origin", "提货", "取货", "取件", "发货", "装货"),
    *("sender", "shipper", "absender", "expediteur", "remitente", "ophaal", "ritiro", "发件", "寄件"),
)
_TARGETS: Final = (
    *("deliver", "liefer", "livraison", "entrega", "destin", "收货", "送货", "卸货", "目的"),
    *("receiver", "recipient", "consignee", "empfanger", "aflever", "bezorg", "consegna", "收件"),
)
"""Parts of headers for the two ends of a way."""
_FEW_DIGITS: Final = 4
"""Digits from which a number is rather the id of an order than an amount or the number of a row."""
CODE_AND_TOWN: Final = re.compile(r"(?:[A-Z]{1,2}-)?\d{4,5} [^\W\d]{3}")
"""How the address of a town begins, whatever its header."""
_WHOLE: Final = re.compile(r"\D*+\d[^,]*+,.*?[^\W\d]{3}|[^省市区县]*+[省市区县].*?\d号")
"""A number before a comma and a word behind it; a division and a number in Chinese."""
_NUMBERS: Final = frozenset({"nr", "no", "n", "num", "number", "nummer", "numero"})
"""Headers of house numbers, behind that of their streets."""
_OF_BILLS: Final = frozenset({"address", "name", "phone"})
"""Fields that are those of a bill only where nothing says them of the delivery."""
_ORDER_NAME: Final = re.compile(r"\s*#\s?\w+\s*")
"""What shops name an order by: #1001."""
_PLACES_IN_ROUTE: Final = frozenset({"first", "auto", "last"})
"""Words of other programs below `Order`, which name no ticket."""
_PLACES_OF_SHIFT: Final = {"shift_start": "location", "shift_end": "end_location"}
"""What `Start` and `End` of an agent are where their cells are addresses or names of places."""
_TIME_KINDS: Final = frozenset({"times", "windows"})
_TIMES: Final = frozenset({"opens", "closes", "window", "time", "shift_start", "shift_end", "shift"})
_TIMES_OR_POSITIONS: Final[frozenset[Kind]] = frozenset({"times", "windows", "positions"})
_AMOUNT_KINDS: Final[frozenset[Kind]] = frozenset({"numbers", "amounts", "codes"})
_ALL_KINDS: Final[frozenset[Kind]] = frozenset({*OPEN_KINDS, "days", "phones", "codes", "texts"})
_FITTING: Final[Mapping[str, frozenset[Kind]]] = {
    "demand": _AMOUNT_KINDS,
    "capacity": _AMOUNT_KINDS,
    "notes": _ALL_KINDS - _TIMES_OR_POSITIONS,
    "id": _ALL_KINDS - _TIMES_OR_POSITIONS,
    "skills": frozenset({"texts", "codes"}),
    "name": frozenset({"texts", "codes", "places"}),
}
"""What the cells of a field may look like, where its header has no more than known parts."""
_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "windows": ("window",),
    "times": ("opens", "closes"),
    "durations": ("service_min", "service_s", "service_h"),
    "amounts": ("demand", "notes"),
    "numbers": ("demand", "service_min", "priority", "notes"),
    "positions": ("position",),
    "places": ("address", "location", "notes"),
}
"""Fields that a column of tickets may be, by what it looks like."""
_BREAK_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "times": ("break_start", "break_end"),
    "numbers": ("break_min",),
    "durations": ("break_min",),
}
"""Fields that a column of breaks may be, other than whole ones."""
_AGENT_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "windows": ("shift", "break"),
    "times": ("shift_start", "shift_end"),
    "amounts": ("capacity",),
    "numbers": ("capacity", "max_tickets", "fixed_cost", "cost_per_km", "cost_per_hour"),
    "positions": ("position",),
    "places": ("location",),
}


def propose_mapping(
    table: Table,
    kind: str,
    chosen: Mapping[str, str],
    *,
    planning_date: str = "",
    other: OtherTable = NO_OTHER_TABLE,
) -> ColumnMapping:
    """Return the mapping of a table.

    Args:
        table: With its cells.
        kind: `tickets` or `agents`.
        chosen: Field by header, where the caller knows better; an empty field leaves the column out.
        planning_date: The day that is planned.
        other: What the table beside it has.

    Raises:
        InputError: A choice names no column or no field.
    """
    refuse_unknown(table.headers, FIELDS[kind], chosen)
    return _Proposal(table, kind, chosen, planning_date, other).mapping()


class _Proposal:
    """The decision about one table, column by column."""

    def __init__(
        self, table: Table, kind: str, chosen: Mapping[str, str], planning_date: str, other: OtherTable
    ) -> None:
        self._table = table
        self._kind = kind
        self._chosen = chosen
        self._planning_date = planning_date
        self._other = other
        self._cells = {header: table.cells(header) for header in table.headers}
        self._values: dict[str, ColumnValues] = {}
        self._meanings = {header: meaning_of(header, kind) for header in table.headers if header}
        self._fields: dict[str, str] = {}
        self._guessed: list[str] = []
        self._open: dict[str, OpenColumn] = {}

    def mapping(self) -> ColumnMapping:
        for header, name in self._chosen.items():
            if name:
                self._take(header, name)
        headers = [header for header in self._table.headers if header and header not in self._chosen]
        headers.sort(key=self._is_billed)  # where goods go is known before where bills go
        self._settle([header for header in headers if self._cells[header]])
        self._settle([header for header in headers if not self._cells[header]])  # templates have columns nobody fills
        left_out = [each for each in self._table.headers if each and each not in {**self._fields, **self._open}]
        ordered = {header: self._fields[header] for header in self._table.headers if header in self._fields}
        units = {header: unit for header in ordered if (unit := self._unit(header)) is not None}
        looks = {header: "" if header in self._chosen else self._look(header).looks for header in left_out}
        return ColumnMapping(ordered, tuple(self._guessed), tuple(left_out), looks, tuple(self._open.values()), units)

    def _settle(self, headers: Sequence[str]) -> None:
        for header in headers:
            if header in self._table.skills:
                self._take(header, "skills")
        # what is a known word goes before what has known parts
        for header in sorted(headers, key=lambda each: (self._is_billed(each), not self._meanings[each].is_exact)):
            meaning = self._meanings[header]
            if meaning.field and header not in self._fields:
                self._by_header(header, meaning)
        for header in headers:
            if header not in self._fields and header not in self._open:
                self._by_likeness(header)
        self._degrees()
        for header in headers:
            if header not in self._fields and header not in self._open:
                self._by_values(header)

    def _look(self, header: str) -> ColumnValues:
        if header not in self._values:
            self._values[header] = values_of(self._cells[header])
        return self._values[header]

    def _is_free(self, name: str) -> bool:
        return name in COMPOSED or name not in self._fields.values()

    def _take(self, header: str, name: str, *, is_guess: bool = False) -> None:
        if name == "service":
            name = "service_min"
        self._fields[header] = name
        if is_guess:
            self._guessed.append(header)

    def _ask(self, header: str, options: Sequence[str], why: str = "it looks like {}") -> None:
        self._open[header] = OpenColumn(header, self._look(header).looks, tuple(options), why)

    def _by_header(self, header: str, meaning: HeaderMeaning) -> None:
        """Take a column by what its header says, if its cells do not contradict it."""
        name, look = meaning.field or "", self._look(header)
        if name in UNUSED:
            self._by_days(header)
            return
        if name == "name" and self._is_free("id") and all(map(_ORDER_NAME.fullmatch, self._cells[header])):
            self._take(header, "id")
            return
        if name in ("location", "address") and look.kind == "positions" and self._is_free("position"):
            self._take(header, "position")
            return
        if (
            self._kind == "tickets"
            and name == "location"
            and look.kind == "places"
            and self._is_whole(header)
            and not self._has_other_places(header)
        ):
            name = "address"
        if name in _TIMES:
            self._by_time(header, name, look)
            return
        if name == "service" or name.startswith("service_"):
            self._service(header, name, look, meaning)
            return
        if not self._is_sound(header, name, look) or not self._is_free(name):
            return
        if name in ("demand", "capacity") and not meaning.is_exact and "ordinal" in meaning.concepts:
            return
        if self._is_billed(header) and name in _OF_BILLS and self._is_known_otherwise(name):
            return
        if name == "address" and self._is_beside_other(header):
            return
        self._take(header, name)

    def _by_days(self, header: str) -> None:
        """Ask about days, other than those of an order, of which some are the one planned and others are not."""
        style = style_of(self._cells[header], self._planning_date)
        days = {named_day(cell, style) for cell in self._cells[header]} - {""}
        is_asked = not self._is_free("date") or any("date" in column.options for column in self._open.values())
        if self._planning_date in days and len(days) > 1 and not is_of_past(header) and not is_asked:
            self._ask(header, ("date",), "some rows are of other days, which date passes over; it has {}")

    def _is_beside_other(self, header: str) -> bool:
        """Return whether there is a column of other addresses; ask which counts, unless that is said."""
        other = self._other_end(header)
        if other and other not in self._chosen:
            self._fields.pop(other)
            for each in (other, header):
                self._ask(each, ("address", "notes"), "a ticket has one place, and beside another it has {}")
        return other is not None

    def _other_end(self, header: str) -> str | None:
        """Return the column of other addresses: of the other end of a way, or whole ones beside whole ones."""
        end = self._end_of_way(header)
        taken = [each for each, name in self._fields.items() if name == "address"]
        whole = [each for each in taken if _unnumbered(each) != _unnumbered(header) and self._is_whole(each)]
        if whole and self._is_whole(header):
            return whole[0]
        return next((each for each in taken if end and self._end_of_way(each) not in ("", end)), None)

    def _is_whole(self, header: str) -> bool:
        """Return whether most cells are addresses with street, number and town, and no part of one."""
        cells = self._cells[header][:MAX_SAMPLE]
        return 2 * sum(_WHOLE.match(cell[:MAX_CELL]) is not None for cell in cells) > len(cells)

    def _has_other_places(self, header: str) -> bool:
        """Return whether another header says where tickets are, and not where bills go."""
        others = (each for each in self._meanings if each != header and not self._is_billed(each))
        return any(self._meanings[each].field in ("address", "position", "lat", "x") for each in others)

    def _is_billed(self, header: str) -> bool:
        """Return whether a column says whom, or where, the bill goes to."""
        return "billing" in self._meanings[header].concepts

    def _is_known_otherwise(self, name: str) -> bool:
        """Return whether a column that says nothing of bills is a field."""
        return any(field == name and not self._is_billed(header) for header, field in self._fields.items())

    def _end_of_way(self, header: str) -> str:
        words, concepts = normalized(header), self._meanings[header].concepts
        ends = [("start", _ORIGINS), ("end", _TARGETS)]
        found = [end for end, parts in ends if end in concepts or any(part in words for part in parts)]
        return found[0] if len(found) == 1 else ""

    def _is_sound(self, header: str, name: str, look: ColumnValues) -> bool:
        """Return whether the cells may be what the header says; faults of single cells are reported later."""
        if look.kind == "nothing":
            return True
        cells, meaning = self._cells[header], self._meanings[header]
        if axis := DEGREES.get(name):
            return any(not isinstance(coordinate_in(cell, "", axis), Fault) or _is_one_angle(cell) for cell in cells)
        if name == "position":
            return any(pair_in(cell) is not None for cell in cells)
        if name == "location":
            return not look.is_counting
        if name == "address" and 2 * sum("@" in cell for cell in cells) > len(cells):
            return False  # of e-mail
        if name == "break":
            return look.kind == "windows"
        if name == "id" and "name" in meaning.concepts and len(set(cells)) < len(cells):
            return False  # numbers of customers, some of whom have several tickets
        if name == "id" and words_in(cells) <= _PLACES_IN_ROUTE:
            return False
        if meaning.is_exact:
            return True
        if name == "address":
            return "address" in meaning.concepts or are_divisions(cells)
        if name == "skills" and are_yes_or_no(cells):
            return False
        if name == "id" and not any(char.isdecimal() for cell in cells for char in cell):
            return False
        return look.kind in _FITTING.get(name, _ALL_KINDS)

    def _by_time(self, header: str, name: str, look: ColumnValues) -> None:
        """Take a column of times: ranges are windows whatever their header, single times need to be one side."""
        is_shift = name.startswith("shift")
        whole, sides = ("shift", ("shift_start", "shift_end")) if is_shift else ("window", ("opens", "closes"))
        if look.kind == "nothing" and name not in ("time", "shift"):
            if self._is_free(name):
                self._take(header, name)
        elif look.kind == "windows":
            has_sides = is_shift and not set(sides).isdisjoint(self._fields.values())
            if name in ("opens", "closes") and self._is_free(name) and self._are_one_sided(header, name):
                self._take(header, name)
            elif (self._is_free(whole) and not has_sides) or self._goes_on(header, whole):
                self._take(header, whole)
            else:
                self._ask(header, (whole,), "beside other times {}")
        elif (end := _PLACES_OF_SHIFT.get(name)) and self._is_free(end) and self._are_towns(header):
            self._take(header, end)
        elif name in sides and look.kind not in ("positions", "places", "phones"):
            is_word = not self._meanings[header].is_exact or len(header) <= len("ab") or self._are_places(header)
            if look.kind != "days" and self._is_free(name) and not (look.kind == "texts" and is_word):
                self._take(header, name)
        elif name == whole and look.kind in ("texts", "numbers", "codes"):
            stays = self._stays(header) if look.kind == "numbers" else ()
            self._ask(header, (whole,) if is_shift else (*stays, whole, "notes"), "its cells are no times, but {}")
        elif name == "time" and (look.kind == "durations" or (look.kind == "numbers" and self._has_time_unit(header))):
            self._service(header, "service", look, self._meanings[header])
        elif name == "shift_start" and look.kind == "positions" and self._is_free("position"):
            self._take(header, "position")
        elif look.kind == "places" and (end := _PLACES_OF_SHIFT.get(name)) and self._is_free(end):
            self._take(header, end)
        elif is_shift and look.kind == "positions":
            self._ask(header, _AGENT_OPTIONS["positions"])
        elif look.kind in OPEN_KINDS:
            cells = self._cells[header]
            if self._unit_field(header) and any(are_clocks_short([cell]) for cell in cells):
                self._ask(header, (*self._stays(header), *sides))
                return
            is_stay = name == "time" and (look.kind == "numbers" or are_clocks_short(cells))
            self._ask(header, (*self._stays(header), *sides) if is_stay else sides)

    def _unit_field(self, header: str) -> str:
        """Return the field of a service time in the unit that a header names, in brackets or at its end; or empty."""
        words = [*self._meanings[header].unit.split(), *(word for word in _words(header)[-1:] if len(word) > 1)]
        seconds = next((SECONDS_OF_UNIT[word] for word in words if word in SECONDS_OF_UNIT), 0.0)
        return _SERVICE_FIELDS.get(seconds, "")

    def _stays(self, header: str) -> list[str]:
        """Return the fields of service times, the one in the unit of the header first."""
        return sorted(_OPTIONS["durations"], key=lambda name: name != self._unit_field(header))

    def _has_time_unit(self, header: str) -> bool:
        return any(word in SECONDS_OF_UNIT for word in self._meanings[header].unit.split())

    def _are_one_sided(self, header: str, name: str) -> bool:
        return are_one_sided(filled(self._cells[header]), is_end=name == "closes")

    def _are_towns(self, header: str) -> bool:
        """Return whether all cells are towns behind their codes."""
        return all(map(CODE_AND_TOWN.match, self._cells[header]))

    def _are_places(self, header: str) -> bool:
        """Return whether cells below `from` or `to` are names of places: words without any digit."""
        cells = self._cells[header]
        return sum(not any(char.isdigit() for char in cell) for cell in cells) > len(cells) / 2

    def _goes_on(self, header: str, whole: str) -> bool:
        """Return whether a column is one of several alike, numbered: `Slot 1`, `Slot 2`."""
        return whole == "window" and any(
            name == whole and _unnumbered(other) == _unnumbered(header) for other, name in self._fields.items()
        )

    def _service(self, header: str, name: str, look: ColumnValues, meaning: HeaderMeaning) -> None:
        """Take a column of service times with its unit, from header or cells; without any the unit is asked about."""
        if any(each.startswith("service_") for each in self._fields.values()):
            if name != "service" and name not in self._fields.values():
                self._take(header, name)
            elif look.kind in OPEN_KINDS and not look.is_counting:
                self._ask(header, ("service_min", "notes"), "beside another service time {}")
            return
        if are_stays_of_day(self._cells[header]):  # whatever unit the header has
            self._take(header, "service_d", is_guess=True)
            return
        if name == "service" and has_minute_spans(header):
            name = "service_min"
        if name == "service":
            words = [*meaning.unit.split(), *(word for word in _words(header) if len(word) > 1)]
            chinese = (unit for unit in SECONDS_OF_UNIT if not unit.isascii() and len(unit) > 1 and unit in header)
            unit_s = next((SECONDS_OF_UNIT[each] for each in (*words, *chinese) if each in SECONDS_OF_UNIT), None)
            name = _SERVICE_FIELDS[unit_s] if unit_s else name
        if name != "service":
            if meaning.is_exact or look.kind not in ("texts", "days", "positions", "places", "windows"):
                self._take(header, name)
            return
        cells = filled(self._cells[header])
        if all(is_duration(cell) or are_clocks_short([cell]) or _is_zero(cell) for cell in cells):
            self._take(header, "service_min")
            return
        numbers = [number_in(cell, "", "") for cell in cells]
        clear = [each for each in numbers if not isinstance(each, Fault) and each > 0]
        are_all = bool(clear) and len(clear) == sum(not _is_zero(cell) for cell in cells)
        if are_all and min(clear) >= _SECONDS and all(each % 30 == 0 for each in clear):
            self._take(header, "service_s", is_guess=True)
            return
        if "stop" in meaning.concepts and look.is_counting:  # stops by number
            return
        if look.kind != "places" and (look.kind in OPEN_KINDS or look.kind == "codes"):
            self._ask(header, ("service_min", "service_s", "service_h"), "its unit is not known, it has {}")

    def _by_likeness(self, header: str) -> None:
        """Take a column whose header is nearly a known word.

        Never as a time, whose unit would be a guess too, nor as a window: its beginning and its end resemble it.
        """
        known, meaning = KNOWN[self._kind], self._meanings[header]
        words = normalized(split_brackets(header)[0]).replace(" ", "")
        near = get_close_matches(words, known, n=1, cutoff=_SUGGESTION_SIMILARITY)
        name = known[near[0]] if near else ""
        if not name or name.startswith("service") or name in ("window", "opens", "closes", *PSEUDO, *UNUSED):
            return
        if name == "name" and "id" in meaning.concepts:  # the number of a customer is not its name
            return
        if meaning.field is None and self._is_free(name) and self._is_sound(header, name, self._look(header)):
            if name == "location" and self._kind == "agents" and self._look(header).kind == "numbers":
                return
            if name in ("demand", "capacity") and self._look(header).kind not in ("numbers", "amounts"):
                return
            if name == "kind" and not has_pickups(self._cells[header]):  # Types of vehicles
                return
            self._take(header, name, is_guess=True)

    def _degrees(self) -> None:
        """Take x and y for longitude and latitude where their numbers are degrees, written with decimals."""
        pairs = {name: header for header, name in self._fields.items() if name in ("x", "y")}
        is_known = not (self._is_free("lat") and self._is_free("lon")) or set(pairs.values()) & set(self._chosen)
        if len(pairs) < 2 or is_known:
            return
        if are_degrees(self._cells[pairs["x"]], 180) and are_degrees(self._cells[pairs["y"]], 90):
            self._take(pairs["x"], "lon", is_guess=True)
            self._take(pairs["y"], "lat", is_guess=True)

    def _by_values(self, header: str) -> None:
        """Settle a column whose header says nothing: by its cells alone, or ask, or leave it out."""
        look, meaning, cells = self._look(header), self._meanings[header], self._cells[header]
        if name := self._field_by_cells(header, look, meaning):
            self._take(header, name, is_guess=True)
            return
        if self._kind == "tickets" and (look.kind == "days" or self._are_weekdays(header)):
            self._by_days(header)
            return
        if self._names_agents(header):
            self._ask(header, ("only_agents", "preferred_agent", "notes"), "it names agents, {}")
            return
        if self._kind == "tickets" and self._is_free("kind") and self._may_be_kinds(header):
            self._ask(header, ("kind", "notes"), "it may say what is picked up, it has {}")
            return
        if self._names_tickets(header):
            self._ask(header, ("pickup_ticket", "notes"), "it names other tickets, {}")
            return
        if look.kind in ("texts", "codes") and self._other.columns_like(header, words_in(cells)):
            why = (
                "agents have this column too, and taken as skills only those of the same word serve a ticket; it has {}"
            )
            self._ask(header, ("skills", "notes"), why)
            return
        if (look.kind == "times" and is_of_order(header)) or says_crew(header):
            return
        side = self._bare_side(meaning)
        are_times = look.kind == "times" or (look.kind in ("codes", "numbers") and are_hhmm(cells))
        if side and (are_times or (look.kind == "windows" and self._are_one_sided(header, side))):
            self._take(header, side)
            return
        if look.kind not in OPEN_KINDS or (meaning.field in UNUSED and not self._is_appointment(header, look)):
            return
        options = self._options(header, look)
        if look.kind == "times" and self._kind == "tickets" and are_clocks_short(cells):
            options = ("service_min", *options)
        if look.kind == "positions":
            self._by_positions(header, options)
            return
        if look.kind == "places" and meaning.field == "id":  # a plate UL-AB 1 beside another id
            return
        if look.kind == "places" and self._kind == "tickets":
            if self._is_billed(header) and self._is_known_otherwise("address"):
                return
            if not self._is_beside_other(header):
                self._take(header, "notes" if "address" in self._fields.values() else "address", is_guess=True)
            return
        if look.kind in ("numbers", "amounts") and self._is_no_amount(look, meaning):
            return
        self._ask(header, (*self._axes(header), *options))

    def _options(self, header: str, look: ColumnValues) -> Sequence[str]:
        """Return what a column may be by what it looks like, the unit of its header first, what is known already last.

        Numbers beside an amount that is known are rather said to the driver.
        """
        if self._kind == "agents":
            is_break = "pause" in self._meanings[header].concepts
            options = _AGENT_OPTIONS.get(look.kind, ("notes",))
            if is_break:
                options = _BREAK_OPTIONS.get(look.kind, ("break",))
            return sorted(options, key=lambda name: name in self._fields.values())
        if look.kind == "numbers" and (service := self._unit_field(header)):
            return (service, "notes")
        options = _OPTIONS.get(look.kind, ("notes",))
        known = self._fields.values() if look.kind == "numbers" else ()
        return sorted(options, key=lambda name: (name in known, "demand" in known and name != "notes"))

    def _field_by_cells(self, header: str, look: ColumnValues, meaning: HeaderMeaning) -> str:
        """Return the field that the cells of a column, or those beside it, leave no doubt of; empty for none."""
        place = _PLACES_OF_SHIFT.get(meaning.field or "", "")
        if place and self._is_free(place) and look.kind in ("texts", "codes") and self._are_places(header):
            return place
        if self._numbers_street(header):
            return "address"
        if self._kind == "tickets" and self._is_free("kind") and are_kinds(self._cells[header]):
            return "kind"
        if self._has_skills_of_others(header):
            return "skills"
        if self._is_free("id") and self._names_rows(header, meaning):
            return "id"
        is_delivery = self._kind == "tickets" and meaning.concepts <= {"notes", "delivery"}
        return "window" if look.kind == "windows" and is_delivery and not self._has_hours() else ""

    def _are_weekdays(self, header: str) -> bool:
        """Return whether nearly all cells are weekdays and nothing else: Mo, Mi, Fr."""
        cells = filled(self._cells[header][:MAX_SAMPLE])
        count = sum(len(cell) <= MAX_CELL and day_of_weekdays(cell, self._planning_date) != "" for cell in cells)
        return bool(cells) and 5 * count >= 4 * len(cells)

    def _names_agents(self, header: str) -> bool:
        """Return whether each cell of a column of tickets is the id or the name of an agent."""
        if self._kind != "tickets" or not {"only_agents", "preferred_agent"}.isdisjoint(self._fields.values()):
            return False
        words = words_in(self._cells[header]) if self._other.agents else frozenset()
        return bool(words) and words <= self._other.agents

    def _may_be_kinds(self, header: str) -> bool:
        """Return whether some cells are a word for pickups, or all say yes or no below such a word."""
        cells = self._cells[header]
        return has_pickups(cells) or (has_pickups([header]) and bool(cells) and are_yes_or_no(cells))

    def _names_tickets(self, header: str) -> bool:
        """Return whether each cell of a column of tickets is the id of another row, and no number of few digits."""
        ids = next((each for each, name in self._fields.items() if name == "id"), "")
        if self._kind != "tickets" or not ids or not self._is_free("pickup_ticket"):
            return False
        known = {cell for cell in self._cells[ids] if not (cell.isdecimal() and len(cell) < _FEW_DIGITS)}
        named = [(row[header], row.get(ids)) for _, row in self._table.rows if header in row]
        return bool(named) and all(name in known and name != own for name, own in named)

    def _has_skills_of_others(self, header: str) -> bool:
        """Return whether a cell of a column, where none is one of skills, has a skill that the other table knows.

        A column of which all words are such skills goes before one that has others too.
        """
        known = self._other.skills
        words = words_in(self._cells[header]) if known and "skills" not in self._fields.values() else frozenset()
        if words <= known or known.isdisjoint(words):
            return bool(words & known)
        rest = (words_in(cells) for each, cells in self._cells.items() if each not in self._fields)
        return not any(words and words <= known for words in rest)

    def _axes(self, header: str) -> list[str]:
        """Return which coordinates the numbers of a column may be, where none is known as such."""
        axes = [("lat", 90), ("lon", 180)] if self._is_free("position") else []
        return [name for name, most in axes if self._is_free(name) and are_degrees(self._cells[header], most)]

    def _numbers_street(self, header: str) -> bool:
        """Return whether a column of numbers stands behind one of streets that have none."""
        at = self._table.headers.index(header)
        street = self._table.headers[at - 1] if at else ""
        if normalized(header) not in _NUMBERS or self._fields.get(street) != "address":
            return False
        are_short = all(cell[0].isdecimal() and len(cell) <= len("1234 a") for cell in self._cells[header])
        return are_short and not any(char.isdecimal() for cell in self._cells[street] for char in cell)

    def _is_appointment(self, header: str, look: ColumnValues) -> bool:
        """Return whether days below a header have hours, the first ones of the table, and not those of an order."""
        is_open = {"window", "opens"}.isdisjoint(self._fields.values())
        return look.kind in _TIME_KINDS and is_open and not is_of_order(header)

    def _has_hours(self) -> bool:
        return not {"window", "opens", "closes"}.isdisjoint(self._fields.values())

    def _by_positions(self, header: str, options: Sequence[str]) -> None:
        """Take a column of positions, or of one coordinate; ask where the place is known, but for links to maps."""
        cells = self._cells[header]
        axis = _axis_of(cells)
        if axis and self._is_free("position") and self._is_free(axis):
            self._take(header, axis, is_guess=True)
        elif not axis and {"position", *DEGREES}.isdisjoint(self._fields.values()):
            self._take(header, "position", is_guess=True)
        elif not any(map(is_map_link, cells)):
            self._ask(header, options)

    def _bare_side(self, meaning: HeaderMeaning) -> str | None:
        """Return the free side of the window that a header names without a word for time: `spätestens`, `打烊`."""
        side = side_of(meaning.concepts)
        is_other = meaning.concepts & {"pause", "shift", "travel", "vehicle", "driver", "date"}
        is_free = side is not None and self._is_free(side) and self._is_free("window")
        return side if is_free and self._kind == "tickets" and not is_other else None

    def _names_rows(self, header: str, meaning: HeaderMeaning) -> bool:
        """Return whether cells name each row by another: below a header that says number, or codes in front of all."""
        if meaning.concepts & {"code", "money", "phone", "vehicle", "driver", "address"}:
            return False
        rows = [row for _, row in self._table.rows]
        if rows and (header not in rows[-1] or is_total([rows[-1][header]])):  # it may add up the others
            rows.pop()
        cells = [row[header] for row in rows if header in row]
        if values_of(cells).kind not in ("texts", "codes") or not len(cells) == len(set(cells)) == len(rows):
            return False
        is_first = header == next(filter(None, self._table.headers))
        if "id" in meaning.concepts:
            return any(char.isdecimal() for cell in cells for char in cell)
        return is_first and len(cells) > 1 and all(_CODE.fullmatch(cell.strip()) for cell in cells)

    def _is_no_amount(self, look: ColumnValues, meaning: HeaderMeaning) -> bool:
        """Return whether numbers are prices, codes or counts of rows by their header or by themselves."""
        if meaning.concepts & {"money", "code", "ordinal", "cost"} or look.is_counting:
            return True
        is_named = "id" in meaning.concepts or ("total" in meaning.concepts and look.kind == "numbers")
        return is_named and not meaning.dimension

    def _unit(self, header: str) -> AmountUnit | None:
        """Return the unit of a column of amounts: that of its header, else the dimension that this speaks of."""
        if self._fields[header] not in ("demand", "capacity"):
            return None
        meaning = self._meanings[header]
        unit = unit_named(meaning.unit) or unit_named(" ".join(_words(header)[1:]))
        return unit or (AmountUnit(meaning.dimension, 0.0) if meaning.dimension else None)


def _is_one_angle(cell: str) -> bool:
    """Return whether a cell is one coordinate in degrees and minutes, whether or not it can be read."""
    return has_minutes(cell) and pair_in(cell) is None


def _axis_of(cells: Sequence[str]) -> Axis:
    """Return the axis that the letters of all coordinates in a column name."""
    axes = set(map(axis_of, filled(cells)))
    return axes.pop() if len(axes) == 1 else ""


def _words(header: str) -> list[str]:
    return normalized(split_brackets(header)[0]).split()


def _unnumbered(header: str) -> str:
    return "".join(char for char in normalized(header) if not char.isdecimal()).strip()


def _is_zero(cell: str) -> bool:
    return cell.strip() in ("0", "00", "0:00", "00:00")
