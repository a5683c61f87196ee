"""The field of a column by what its header says, where its cells do not contradict it (SPEC T5).

Owns which cells contradict which header. A column of times is a window whatever its header where its cells are ranges.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import filled
from planner_mcp.formats.tables.cells.coordinate_parsing import DEGREES, coordinate_in, is_one_angle, pair_in
from planner_mcp.formats.tables.cells.window_parsing import named_day
from planner_mcp.formats.tables.columns.address_columns import (
    CODE_AND_TOWN,
    are_mail,
    are_whole_addresses,
    has_other_places,
    is_beside_other,
    says_origin_of_goods,
    unnumbered,
)
from planner_mcp.formats.tables.columns.column_style import style_of
from planner_mcp.formats.tables.columns.column_values import (
    MAX_SAMPLE,
    OPEN_KINDS,
    Kind,
    are_clocks_short,
    are_degrees,
    are_divisions,
    are_one_sided,
    are_yes_or_no,
    values_of,
)
from planner_mcp.formats.tables.columns.other_tables import words_in
from planner_mcp.formats.tables.columns.proposed_columns import ProposedColumns
from planner_mcp.formats.tables.columns.service_columns import has_time_unit, stays, take_service, unit_field
from planner_mcp.formats.tables.columns.ticket_kinds import has_pickups, says_kinds
from planner_mcp.formats.tables.headers.header_meanings import KNOWN, is_of_order, is_of_past, normalized, words_outside
from planner_mcp.formats.tables.headers.header_words import PAIRED, PSEUDO, UNUSED

_SUGGESTION_SIMILARITY: Final = 0.85
_OF_BILLS: Final = frozenset({"address", "name", "phone"})
"""Fields that are those of a bill only where nothing says them of the delivery."""
_ORDER_NAME: Final = re.compile(r"\s*#\s?\w+\s*")
"""What shops name an order by: #1001."""
_PLACES_IN_ROUTE: Final = frozenset({"first", "auto", "last"})
"""Words of other programs below `Order`, which name no ticket."""
PLACES_OF_SHIFT: Final = {"shift_start": "location", "shift_end": "end_location"}
"""What `Start` and `End` of an agent are where their cells are addresses or names of places."""
_TIMES: Final = frozenset({"opens", "closes", "window", "time", "shift_start", "shift_end", "shift"})
_NEVER_GUESSED: Final = frozenset({"window", "opens", "closes", "max_distance_km", "max_duration_h", *PSEUDO, *UNUSED})
_CLOCK_WITHIN: Final = re.compile(r"\d:[0-5]\d|\d ?(?:uhr|[ap]m\b|点)", re.IGNORECASE)
"""A time among other words: `Slot A (08:00-10:00)`."""
_AMOUNT_KINDS: Final[frozenset[Kind]] = frozenset({"numbers", "amounts", "codes"})
_ALL_KINDS: Final[frozenset[Kind]] = frozenset({*OPEN_KINDS, "days", "phones", "codes", "texts"})
_FITTING: Final[Mapping[str, frozenset[Kind]]] = {
    "demand": _AMOUNT_KINDS,
    "capacity": _AMOUNT_KINDS,
    **dict.fromkeys(("notes", "id"), _ALL_KINDS - {"times", "windows", "positions"}),
    "skills": frozenset({"texts", "codes"}),
    "name": frozenset({"texts", "codes", "places"}),
}
"""What the cells of a field may look like, where its header has no more than known parts."""

_SIDES: Final = frozenset({"breite", "lange"})
_HEIGHTS: Final = frozenset({"hohe", "tiefe"})
_SIZE_UNITS: Final = frozenset({"mm", "cm", "dm", "m", "meter"})
_SOUTHMOST, _NORTHMOST = 27, 72
"""Latitudes of Europe, from the Canary Islands to the North Cape."""
_ANGLE: Final = re.compile(r"-.*|.*[.,]\d{4,}", re.DOTALL)
"""A length is neither negative nor written with so many decimals."""


def take_by_header(columns: ProposedColumns, header: str) -> None:
    """Take a column by what its header says, if its cells do not contradict it."""
    meaning, look = columns.meanings[header], columns.look(header)
    name = meaning.field or ""
    if name in UNUSED:
        ask_about_days(columns, header)
        return
    if name == "name" and columns.is_free("id") and all(map(_ORDER_NAME.fullmatch, columns.cells[header])):
        columns.take(header, "id")
        return
    if name == "name" and look.kind == "phones":  # Contact
        name = "phone"
    if name in ("location", "address") and look.kind == "positions" and columns.is_free("position"):
        columns.take(header, "position")
        return
    if columns.are_tickets and (name, look.kind) == ("location", "places"):
        is_address = are_whole_addresses(columns.cells[header]) and not has_other_places(columns, header)
        name = "address" if is_address else name
    if columns.are_tickets and name in ("opens", "closes") and look.kind == "places":
        name = "address"  # from one place to another
    if columns.are_tickets and name == "service" and look.kind == "windows" and columns.is_free("window"):
        name = "window"  # Ladezeit: hours to load in, not how long that takes
    if name in _TIMES:
        _take_time(columns, header, name)
        return
    if name == "service" or name.startswith("service_"):
        take_service(columns, header, name)
        return
    if not _is_sound(columns, header, name) or not columns.is_free(name):
        return
    if name in ("demand", "capacity") and not meaning.is_exact and "ordinal" in meaning.concepts:
        return
    if columns.is_billed(header) and name in _OF_BILLS and columns.is_known_otherwise(name):
        return
    if name == "address" and (says_origin_of_goods(columns, header) or is_beside_other(columns, header)):
        return
    columns.take(header, name)


def ask_about_days(columns: ProposedColumns, header: str) -> None:
    """Ask about days, other than those of an order, of which some are the one planned and others are not."""
    cells, planned = columns.cells[header], columns.planning_date
    style = style_of(cells, planned)
    days = {named_day(cell, style) for cell in cells} - {""}
    is_asked = columns.has("date") or any("date" in column.options for column in columns.asked.values())
    if planned in days and len(days) > 1 and not is_of_past(header) and not is_asked:
        columns.ask(header, ("date",), "some rows are of other days, passed over if it is used; it has {}")


def take_by_likeness(columns: ProposedColumns, header: str) -> None:
    """Take a column whose header is nearly a known word.

    Never as a time, or a longest time or way, whose unit would be a guess too, nor as a window: its beginning and its
    end resemble it.
    """
    known, meaning, kind = KNOWN[columns.kind], columns.meanings[header], columns.look(header).kind
    near = get_close_matches("".join(words_outside(header)), known, n=1, cutoff=_SUGGESTION_SIMILARITY)
    name = known[near[0]] if near else ""
    if not name or name.startswith("service") or name in _NEVER_GUESSED:
        return
    is_other = (
        (name == "name" and "id" in meaning.concepts)  # the number of a customer is not its name
        or (name == "location" and not columns.are_tickets and kind == "numbers")
        or (name in ("demand", "capacity") and kind not in ("numbers", "amounts"))
        or (name == "kind" and not has_pickups(columns.cells[header]))  # Types of vehicles
    )
    if meaning.field is None and not is_other and columns.is_free(name) and _is_sound(columns, header, name):
        columns.take(header, name, is_guess=True)


def take_degrees(columns: ProposedColumns) -> None:
    """Take x and y for longitude and latitude where their numbers are degrees, written with decimals."""
    pairs = {name: header for header, name in columns.fields.items() if name in ("x", "y")}
    is_known = columns.has("lat", "lon") or set(pairs.values()) & set(columns.chosen)
    if len(pairs) < 2 or is_known:
        return
    if are_degrees(columns.cells[pairs["x"]], 180) and are_degrees(columns.cells[pairs["y"]], 90):
        columns.take(pairs["x"], "lon", is_guess=True)
        columns.take(pairs["y"], "lat", is_guess=True)


def _is_sound(columns: ProposedColumns, header: str, name: str) -> bool:
    """Return whether the cells may be what the header says; faults of single cells are reported later."""
    look, cells, meaning = columns.look(header), columns.cells[header], columns.meanings[header]
    if look.kind == "nothing":
        return True
    if axis := DEGREES.get(name):
        are_angles = any(not isinstance(coordinate_in(cell, "", axis), Fault) or is_one_angle(cell) for cell in cells)
        return are_angles and not _says_size(columns, header)
    if name == "kind" and normalized(header) == "kind":  # a child in German
        return says_kinds(cells)
    if name == "position":
        return any(pair_in(cell) is not None for cell in cells)
    if name == "location":
        return not look.is_counting
    if name == "address" and are_mail(cells):
        return False
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


def _says_size(columns: ProposedColumns, header: str) -> bool:
    """Return whether a German header speaks of the size of goods: `Länge cm`, or `Länge` beside `Höhe`.

    So it does over whole numbers, and where none of the widths is a latitude at which such headers are written, or a
    number that only an angle is.
    """
    words = normalized(header).split()
    if _SIDES.isdisjoint(words):
        return False
    cells = columns.cells[header]
    if not _SIZE_UNITS.isdisjoint(words) or all(cell.strip().isdecimal() for cell in cells):
        return True
    others = {each: normalized(each).split() for each in columns.meanings}
    if any(not _HEIGHTS.isdisjoint(each) for each in others.values()):
        return not are_degrees(cells, 180)
    widths = [cell for each, named in others.items() if "breite" in named for cell in columns.cells[each]]
    latitudes = [at for cell in widths if not isinstance(at := coordinate_in(cell, "", DEGREES["lat"]), Fault)]
    are_angles = any(_ANGLE.fullmatch(cell.strip()) for cell in widths)
    return bool(latitudes) and not are_angles and not any(_SOUTHMOST <= at <= _NORTHMOST for at in latitudes)


def _take_time(columns: ProposedColumns, header: str, name: str) -> None:
    """Take a column of times: ranges are windows whatever their header, single times need to be one side."""
    cells, kind, end = columns.cells[header], columns.look(header).kind, PLACES_OF_SHIFT.get(name, "")
    may_be_place = end != "" and columns.is_free(end)
    is_shift = name.startswith("shift")
    whole, sides = ("shift", ("shift_start", "shift_end")) if is_shift else ("window", ("opens", "closes"))
    if kind == "nothing" and name not in ("time", "shift"):
        if columns.is_free(name):
            columns.take(header, name)
    elif kind == "windows":
        has_sides = is_shift and columns.has(*sides)
        if name in ("opens", "closes") and columns.is_free(name) and says_one_side(columns, header, name):
            columns.take(header, name)
        elif (columns.is_free(whole) and not has_sides) or goes_on(columns, header, whole):
            columns.take(header, whole)
        else:
            columns.ask(header, (whole,), "beside other times {}")
    elif may_be_place and all(map(CODE_AND_TOWN.match, cells)):
        columns.take(header, end)
    elif name in sides and kind not in ("positions", "places", "phones"):
        is_word = not columns.meanings[header].is_exact or len(header) <= len("ab") or are_names_of_places(cells)
        is_free = columns.is_free(name) or goes_on(columns, header, name)
        if kind != "days" and is_free and not (kind == "texts" and is_word):
            columns.take(header, name)
    elif name == "time" and kind == "texts" and any(map(_CLOCK_WITHIN.search, cells)):
        columns.ask(header, (whole, "notes"), "its cells are no times, but {}")
    elif name == whole and kind in ("texts", "numbers", "codes"):
        services = stays(columns, header) if kind == "numbers" else ()
        columns.ask(header, (whole,) if is_shift else (*services, whole, "notes"), "its cells are no times, but {}")
    elif name == "time" and (kind == "durations" or (kind == "numbers" and has_time_unit(columns, header))):
        take_service(columns, header, "service")
    elif name == "shift_start" and kind == "positions" and columns.is_free("position"):
        columns.take(header, "position")
    elif kind == "places" and may_be_place:
        columns.take(header, end)
    elif is_shift and kind == "positions":
        columns.ask(header, ("position",))
    elif kind == "times" and is_of_order(header) and "delivery" not in columns.meanings[header].concepts:
        return
    elif kind in OPEN_KINDS:
        has_unit = unit_field(columns, header) and any(are_clocks_short([cell]) for cell in cells)
        is_stay = has_unit or (name == "time" and (kind == "numbers" or are_clocks_short(cells)))
        rest = ("notes",) if not is_shift and is_mixed(columns, header) else ()
        columns.ask(header, (*(stays(columns, header) if is_stay else ()), *sides, *rest))


def is_mixed(columns: ProposedColumns, header: str) -> bool:
    """Return whether some cells are of another kind than most: `AM` beside 10:00, which no field takes."""
    kinds = {values_of([cell]).kind for cell in columns.cells[header][:MAX_SAMPLE]}
    return not kinds <= {columns.look(header).kind, "nothing"}


def says_one_side(columns: ProposedColumns, header: str, name: str) -> bool:
    """Return whether windows of a column have no more than the side that opens, or closes."""
    return are_one_sided(filled(columns.cells[header]), is_end=name == "closes")


def are_names_of_places(cells: list[str]) -> bool:
    """Return whether cells below `from` or `to` are names of places: words without any digit."""
    return sum(not any(char.isdigit() for char in cell) for cell in cells) > len(cells) / 2


def goes_on(columns: ProposedColumns, header: str, whole: str) -> bool:
    """Return whether a column is one of several alike, numbered: `Slot 1`, `Slot 2`; `From 1` and `From 2`."""
    are_windows = whole == "window" or (columns.are_tickets and whole in PAIRED)
    return are_windows and any(unnumbered(other) == unnumbered(header) for other in columns.called(whole))
