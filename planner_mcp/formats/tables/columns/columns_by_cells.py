"""What becomes of a column whose header says nothing: a field by its cells, a question, or nothing (SPEC T5).

Owns which cells leave no doubt, what is asked about the others, and which columns nobody is asked about.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from planner_mcp.formats.tables.cells.cell_text import MAX_CELL, filled
from planner_mcp.formats.tables.cells.coordinate_parsing import DEGREES, common_axis, is_map_link
from planner_mcp.formats.tables.cells.total_words import is_total
from planner_mcp.formats.tables.cells.window_parsing import day_of_weekdays
from planner_mcp.formats.tables.columns.address_columns import end_named, is_beside_other, numbers_street
from planner_mcp.formats.tables.columns.column_values import (
    MAX_SAMPLE,
    OPEN_KINDS,
    are_clocks_short,
    are_degrees,
    are_hhmm,
    are_yes_or_no,
    values_of,
)
from planner_mcp.formats.tables.columns.columns_by_header import (
    PLACES_OF_SHIFT,
    are_names_of_places,
    ask_about_days,
    goes_on,
    is_mixed,
    says_one_side,
)
from planner_mcp.formats.tables.columns.other_tables import words_in
from planner_mcp.formats.tables.columns.proposed_columns import ProposedColumns
from planner_mcp.formats.tables.columns.service_columns import SERVICE_OPTIONS, unit_field
from planner_mcp.formats.tables.columns.ticket_kinds import (
    are_halves,
    are_kinds,
    has_pickups,
    named_halves,
    says_half,
)
from planner_mcp.formats.tables.headers.header_meanings import is_of_order, says_crew, side_of
from planner_mcp.formats.tables.headers.header_words import PLACING, UNUSED

_CODE: Final = re.compile(r"[A-Za-z]{1,6}[-/ ]?\d{1,12}|\d{7,18}")
"""What orders, stops and jobs are named by."""
ONE_OF_TWO: Final = "it may be one of two places of a row, it has {}"
_FEW_DIGITS: Final = 4
"""Digits from which a number is rather the id of an order than an amount or the number of a row."""
_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "windows": ("window",),
    "times": ("opens", "closes"),
    "durations": SERVICE_OPTIONS,
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
    "numbers": (
        *("capacity", "max_tickets", "fixed_cost", "cost_per_km", "cost_per_hour"),
        *("max_distance_km", "max_duration_h"),
    ),
    "positions": ("position",),
    "places": ("location",),
}


def settle_by_cells(columns: ProposedColumns, header: str) -> None:
    """Settle a column whose header says nothing: by its cells alone, or ask, or leave it out."""
    meaning, cells, look = columns.meanings[header], columns.cells[header], columns.look(header)
    if name := _field_by_cells(columns, header):
        columns.take(header, name, is_guess=True)
    elif columns.are_tickets and (look.kind == "days" or _are_weekdays(cells, columns.planning_date)):
        ask_about_days(columns, header)
    elif _names_agents(columns, header):
        columns.ask(header, ("only_agents", "preferred_agent", "notes"), "it names agents, {}")
    elif columns.are_tickets and columns.is_free("kind") and _may_be_kinds(header, cells):
        columns.ask(header, ("kind", "notes"), "it may say what is picked up, it has {}")
    elif _names_tickets(columns, header):
        columns.ask(header, ("pickup_ticket", "notes"), "it names other tickets, {}")
    elif _names_an_end(columns, header):
        at = "pickup_location" if end_named(header) == "start" else "location"
        columns.ask(header, (at, "notes"), ONE_OF_TWO)
    elif look.kind in ("texts", "codes") and columns.other.columns_like(header, words_in(cells)):
        why = "agents have this column too, and taken as skills only those of the same word serve a ticket; it has {}"
        columns.ask(header, ("skills", "notes"), why)
    elif (look.kind == "times" and is_of_order(header)) or says_crew(header):
        return
    elif (side := _bare_side(columns, header)) and _says_side(columns, header, side):
        columns.take(header, side)
    elif look.kind in OPEN_KINDS and (meaning.field not in UNUSED or _is_appointment(columns, header)):
        _settle_open_kind(columns, header)


def ask_about_halves(columns: ProposedColumns) -> None:
    """Ask whether ids in pairs (`S1-P`, `S1-D`) are halves of shipments, unless a column names some of them.

    Where a column of kinds says of each of them what its id says, nobody is asked.
    """
    for header in columns.called("id") if columns.are_tickets else ():
        ids, others = columns.cells[header], (columns.cells[each] for each in columns.meanings if each != header)
        if header not in columns.chosen and are_halves(ids) and all(map({*ids}.isdisjoint, others)):
            if _say_halves(columns, header):
                columns.take(header, "shipment_half", is_guess=True)
                continue
            del columns.fields[header]
            why = "its ids come in pairs, which may be pickups and their deliveries; it has {}"
            columns.ask(header, ("shipment_half", "id"), why)


def _say_halves(columns: ProposedColumns, ids: str) -> bool:
    """Return whether a column of kinds says of each half of a shipment what its id says."""
    halves = named_halves(columns.cells[ids])
    rows = [(halves[row[ids]][1], row) for _, row in columns.table.rows if row.get(ids) in halves]
    return any(all(says_half(row.get(kinds, ""), kind) for kind, row in rows) for kinds in columns.called("kind"))


def _settle_open_kind(columns: ProposedColumns, header: str) -> None:
    """Ask about a column of what may not be left out in silence, unless its place in the table says what it is."""
    meaning, cells, look = columns.meanings[header], columns.cells[header], columns.look(header)
    options = _options(columns, header)
    if look.kind == "positions":
        _settle_positions(columns, header, options)
    elif look.kind == "places" and meaning.field == "id":  # a plate UL-AB 1 beside another id
        return
    elif look.kind == "places" and columns.are_tickets:
        is_of_bill = columns.is_billed(header) and columns.is_known_otherwise("address")
        if not is_of_bill and not is_beside_other(columns, header):
            columns.take(header, "notes" if columns.has("address") else "address", is_guess=True)
    elif look.kind in ("numbers", "amounts") and _is_no_amount(columns, header):
        return
    else:
        stay = look.kind == "times" and columns.are_tickets and are_clocks_short(cells)
        columns.ask(header, (*_axes(columns, header), *(["service_min"] if stay else []), *options))


def _options(columns: ProposedColumns, header: str) -> Sequence[str]:
    """Return what a column may be by what it looks like, the unit of its header first, what is known already last.

    Numbers beside an amount that is known are rather said to the driver.
    """
    kind = columns.look(header).kind
    if not columns.are_tickets:
        is_break = "pause" in columns.meanings[header].concepts
        options = _BREAK_OPTIONS.get(kind, ("break",)) if is_break else _AGENT_OPTIONS.get(kind, ("notes",))
        return sorted(options, key=columns.has)
    if kind == "numbers" and (service := unit_field(columns, header)):
        return (service, "notes")
    options = _OPTIONS.get(kind, ("notes",))
    if kind != "numbers":
        return (*options, "notes") if kind in ("times", "windows") and is_mixed(columns, header) else options
    return sorted(options, key=lambda name: (columns.has(name), columns.has("demand") and name != "notes"))


def _field_by_cells(columns: ProposedColumns, header: str) -> str:
    """Return the field that the cells of a column, or those beside it, leave no doubt of; empty for none."""
    meaning, cells, kind = columns.meanings[header], columns.cells[header], columns.look(header).kind
    place = PLACES_OF_SHIFT.get(meaning.field or "", "")
    if place and columns.is_free(place) and kind in ("texts", "codes") and are_names_of_places(cells):
        return place
    if numbers_street(columns, header):
        return "address"
    if columns.are_tickets and columns.is_free("kind") and are_kinds(cells):
        return "kind"
    if _has_skills_of_others(columns, header):
        return "skills"
    if columns.is_free("id") and (_names_rows(columns, header) or _names_shipments(columns, header)):
        return "id"
    is_delivery = columns.are_tickets and meaning.concepts <= {"notes", "delivery"}
    return "window" if kind == "windows" and is_delivery and not columns.has("window", "opens", "closes") else ""


def _are_weekdays(column: Sequence[str], planning_date: str) -> bool:
    """Return whether nearly all cells are weekdays and nothing else: Mo, Mi, Fr."""
    cells = filled(column[:MAX_SAMPLE])
    count = sum(len(cell) <= MAX_CELL and day_of_weekdays(cell, planning_date) != "" for cell in cells)
    return bool(cells) and 5 * count >= 4 * len(cells)


def _names_agents(columns: ProposedColumns, header: str) -> bool:
    """Return whether each cell of a column of tickets is the id or the name of an agent."""
    if not columns.are_tickets or columns.has("only_agents", "preferred_agent"):
        return False
    words = words_in(columns.cells[header]) if columns.other.agents else frozenset()
    return bool(words) and words <= columns.other.agents


def _may_be_kinds(header: str, cells: Sequence[str]) -> bool:
    """Return whether some cells are a word for pickups, or all say yes or no below such a word."""
    return has_pickups(cells) or (has_pickups([header]) and bool(cells) and are_yes_or_no(cells))


def _names_tickets(columns: ProposedColumns, header: str) -> bool:
    """Return whether each cell of a column of tickets is the id of another row, and no number of few digits."""
    ids = next(iter(columns.called("id")), "")
    if not columns.are_tickets or not ids or not columns.is_free("pickup_ticket"):
        return False
    known = {cell for cell in columns.cells[ids] if not (cell.isdecimal() and len(cell) < _FEW_DIGITS)}
    named = [(row[header], row.get(ids)) for _, row in columns.table.rows if header in row]
    return bool(named) and all(name in known and name != own for name, own in named)


def _has_skills_of_others(columns: ProposedColumns, header: str) -> bool:
    """Return whether a cell of a column, where none is one of skills, has a skill that the other table knows.

    A column of which all words are such skills goes before one that has others too.
    """
    known = columns.other.skills
    words = words_in(columns.cells[header]) if known and not columns.has("skills") else frozenset()
    if words <= known or known.isdisjoint(words):
        return bool(words & known)
    rest = (words_in(cells) for each, cells in columns.cells.items() if each not in columns.fields)
    return not any(words and words <= known for words in rest)


def _axes(columns: ProposedColumns, header: str) -> list[str]:
    """Return which coordinates the numbers of a column may be, where none is known as such."""
    axes = [("lat", 90), ("lon", 180)] if columns.is_free("position") else []
    return [name for name, most in axes if columns.is_free(name) and are_degrees(columns.cells[header], most)]


def _is_appointment(columns: ProposedColumns, header: str) -> bool:
    """Return whether days below a header have hours, the first ones of the table, and not those of an order."""
    has_times = columns.look(header).kind in ("times", "windows")
    return has_times and not columns.has("window", "opens") and not is_of_order(header)


def _settle_positions(columns: ProposedColumns, header: str, options: Sequence[str]) -> None:
    """Take a column of positions, or of one coordinate; ask where the place is known, but for links to maps."""
    axis = common_axis(filled(columns.cells[header]))
    if axis and columns.is_free("position") and columns.is_free(axis):
        columns.take(header, axis, is_guess=True)
    elif not axis and not columns.has("position", *DEGREES):
        columns.take(header, "position", is_guess=True)
    elif not any(map(is_map_link, columns.cells[header])):
        columns.ask(header, options)


def _bare_side(columns: ProposedColumns, header: str) -> str:
    """Return the free side of the window that a header names without a word for time: `spätestens`, `打烊`."""
    meaning = columns.meanings[header]
    side = side_of(meaning.concepts) or ""
    is_other = meaning.concepts & {"pause", "shift", "travel", "vehicle", "driver", "date"}
    is_taken = columns.has(side, "window") and not goes_on(columns, header, side)
    return "" if is_other or not columns.are_tickets or is_taken else side


def _says_side(columns: ProposedColumns, header: str, side: str) -> bool:
    """Return whether the cells of a column are times, or windows that have one side alone."""
    kind = columns.look(header).kind
    if kind == "windows":
        return says_one_side(columns, header, side)
    return kind == "times" or (kind in ("codes", "numbers") and are_hhmm(columns.cells[header]))


def _names_rows(columns: ProposedColumns, header: str) -> bool:
    """Return whether cells name each row by another: below a header that says number, or codes in front of all."""
    concepts = columns.meanings[header].concepts
    if concepts & {"code", "money", "phone", "vehicle", "driver", "address"}:
        return False
    rows = [row for _, row in columns.table.rows]
    if rows and (header not in rows[-1] or is_total([rows[-1][header]])):  # it may add up the others
        rows.pop()
    cells = [row[header] for row in rows if header in row]
    if values_of(cells).kind not in ("texts", "codes") or not len(cells) == len(set(cells)) == len(rows):
        return False
    if "id" in concepts:
        return any(char.isdecimal() for cell in cells for char in cell)
    is_first = header == next(filter(None, columns.table.headers))
    return is_first and len(cells) > 1 and all(_CODE.fullmatch(cell.strip()) for cell in cells)


def _names_shipments(columns: ProposedColumns, header: str) -> bool:
    """Return whether cells below a header that says number name two rows each, where a column says what is fetched."""
    concepts, cells = columns.meanings[header].concepts, columns.cells[header]
    if "id" not in concepts or concepts & {"code", "money", "phone", "vehicle", "driver", "address", "name"}:
        return False
    are_pairs = columns.are_tickets and {*Counter(cells).values()} == {2}
    return are_pairs and any(map(has_pickups, columns.cells.values()))


def _names_an_end(columns: ProposedColumns, header: str) -> bool:
    """Return whether texts may name one end of a way, in a table that has another column for the other and no place."""
    if (
        not columns.are_tickets
        or columns.has("location", *PLACING)
        or columns.look(header).kind not in ("texts", "codes")
    ):
        return False
    texts = (each for each in columns.meanings if columns.look(each).kind in ("texts", "codes"))
    ends = {end_named(each) for each in texts if each not in columns.fields}
    return end_named(header) != "" and {"start", "end"} <= ends


def _is_no_amount(columns: ProposedColumns, header: str) -> bool:
    """Return whether numbers are prices, codes or counts of rows by their header or by themselves."""
    meaning, look = columns.meanings[header], columns.look(header)
    if meaning.concepts & {"money", "code", "ordinal", "cost"} or look.is_counting:
        return True
    is_named = "id" in meaning.concepts or ("total" in meaning.concepts and look.kind == "numbers")
    return is_named and not meaning.dimension
