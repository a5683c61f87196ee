"""Rows below a table that are no ticket and no agent: totals, notes, orders of another day (SPEC T5, T7).

Owns how they are distinguished from the others. A total taken for a ticket would be the heaviest order of the day; a
total taken for an agent would be a vehicle as large as all others together.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise, takewhile
from typing import Any, Final

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import CellStyle, normalized_word, simplified
from planner_mcp.formats.tables.cells.number_parsing import amount_in, number_in
from planner_mcp.formats.tables.cells.time_parsing import split_day
from planner_mcp.formats.tables.cells.total_words import begins_as_total, is_total
from planner_mcp.formats.tables.cells.unit_words import words_of
from planner_mcp.formats.tables.cells.window_parsing import day_of_weekdays, named_day
from planner_mcp.formats.tables.columns.column_mapping import ColumnMapping
from planner_mcp.formats.tables.columns.column_style import style_of
from planner_mcp.formats.tables.columns.column_values import are_yes_or_no
from planner_mcp.formats.tables.columns.yes_no_columns import says_yes
from planner_mcp.formats.tables.headers.header_meanings import is_of_past, meaning_of, says_crew
from planner_mcp.formats.tables.headers.header_words import PLACING
from planner_mcp.formats.tables.sheets.source_rows import SourceRow
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.text import plain

_CANCELLED: Final = words_of(
    "cancelled canceled storniert abgesagt annulliert entfällt annulé annulée annule annulee cancelado "
    "cancelada anulado anulada 取消 已取消 作废 已作废"
)
_INACTIVE: Final = _CANCELLED | words_of(
    "done completed delivered onhold hold erledigt geliefert zugestellt gesperrt livré livree terminé fait entregado "
    "hecho geannuleerd geleverd annullato consegnato anulowane dostarczone 完成 已完成 已送达 暂停"
)
_ABSENT: Final = words_of(
    "absent sick ill onleave holiday vacation krank urlaub abwesend malade congé encongé enfermo enferma ausente "
    "vacaciones 请假 病假 休假 缺勤"
)
_PRESENT: Final = words_of(
    "available present active induty onduty verfügbar anwesend aktiv imdienst einsatzbereit disponible présent actif "
    "activo presente beschikbaar disponibile dostępny 可用 在岗 出勤"
)
"""Headers of columns that say no of agents who are absent."""
Rows = Sequence[tuple[SourceRow, Mapping[str, Any]]]
"""Where each row of a table stands, and its values by field."""
_PLACES: Final = PLACING | {"location"}
_AMOUNTS: Final = frozenset({"demand", "capacity", "penalty", "fixed_cost", "priority", "max_tickets"})
_OF_BLOCKS: Final = frozenset({"only_agents", "preferred_agent", "date"})
"""What people write once, above the rows that it holds for."""
_DAYS: Final = frozenset({"date", "time", "opens", "closes", "window"})
_NAMES: Final = _PLACES | {"id", "name", "phone"}
"""What says whom or where a row is about, unlike a skill or a shift that some of them want."""
_NUMBER: Final = re.compile(r"(?=\D*\d)[\w/#.-]+")
"""What orders are named by."""


def total_rows(table: Table, mapping: ColumnMapping) -> set[int]:
    """Return the rows, by their index, that add up those above, all of them or those since the last sum.

    They are called so, or not at all while every row above has a name. A row that is called a total and has neither
    a place nor a name of its own is one whatever it adds up to. One that is called `Total: 2 orders`, which may be a
    name, adds up the others and has no place, or no position and no address where every row above has; or it has a
    sum alone beside that name, in whatever column, be the name itself where addresses are.
    """
    amounts, named = mapping.headers_of(("demand", "capacity")), {*mapping.headers_of(_NAMES)}
    placed, positioned = placed_headers(mapping), {*mapping.headers_of(PLACING)}
    wanted = {header for header, name in mapping.fields.items() if name not in _AMOUNTS}
    found: set[int] = set()
    above, part = 0.0, 0.0
    are_named = are_positioned = True
    for index, (_, texts) in enumerate(table.rows):
        own, alone = _amount(texts, amounts), _amount_beside_total(texts, amounts, positioned)
        value = alone or own
        is_sum = index > 1 and value > 0 and (math.isclose(value, above) or math.isclose(value, part))
        is_called_so = is_total(texts.values())
        is_nowhere = bool(placed) and placed.isdisjoint(texts) and len(texts) < len(table.headers)
        is_unlike = are_positioned and positioned.isdisjoint(texts)
        is_beside = alone > 0 or is_nowhere or is_unlike
        is_called_so = is_called_so or (is_sum and is_beside and begins_as_total(texts.values()))
        if (is_sum and (is_called_so or (are_named and wanted.isdisjoint(texts)))) or (
            index > 1 and is_called_so and is_nowhere
        ):
            found.add(index)
            part = 0.0
        else:
            above, part = above + own, part + own
            are_named = are_named and not named.isdisjoint(texts)
            are_positioned = are_positioned and not positioned.isdisjoint(texts)
    return found


def rows_below_totals(table: Table, mapping: ColumnMapping, totals: set[int]) -> set[int]:
    """Return the rows below the last total, by their index, where each is one cell that is no place: a note.

    One with more, with a place, or a number of one word (`A4`) may be an order added below: then there are none.
    """
    placed, last = placed_headers(mapping), max(totals, default=len(table.rows))
    below = [texts for _, texts in table.rows[last + 1 :]]
    are_notes = bool(placed) and all(
        len(texts) == 1 and placed.isdisjoint(texts) and not any(map(_NUMBER.fullmatch, texts.values()))
        for texts in below
    )
    return set(range(last + 1, len(table.rows))) if are_notes else set()


def placed_headers(mapping: ColumnMapping) -> set[str]:
    """Return the headers of what says where a row is."""
    return {*mapping.headers_of(_PLACES)}


def _amount(texts: Mapping[str, str], headers: Sequence[str]) -> float:
    """Return the first amount of a row; 0 where it has none that is clear."""
    for header in headers:
        read = amount_in(texts.get(header, ""), "", "", CellStyle("."))
        if not isinstance(read, Fault):
            return read[0]
    return 0.0


def _amount_beside_total(texts: Mapping[str, str], amounts: Sequence[str], positioned: Set[str]) -> float:
    """Return the amount of a row that has nothing beside it but a cell that begins as a total; 0 for any other row.

    One of the two is where no order has it: the amount in another column, or the word where addresses are.
    """
    if len(texts) != 2:
        return 0.0
    first, other = texts
    is_elsewhere = first in positioned or other not in amounts
    return _amount(texts, [other]) if is_elsewhere and begins_as_total([texts[first]]) else 0.0


def rows_without_place(rows: Rows, table: Table, mapping: ColumnMapping) -> Iterator[Fault]:
    """Yield rows that say nothing of a place, among others that do."""
    headers = placed_headers(mapping)
    by_line = {str(line): texts for line, texts in table.rows}
    placed = [not headers.isdisjoint(by_line[origin.number]) for origin, _ in rows]
    for (origin, _), is_placed in zip(rows, placed, strict=True):
        if any(placed) and not is_placed:
            hint = "Add it, or remove the row where it is no ticket."
            yield Fault(
                origin.path, "The row has no place.", "a place in each row", hint, "missing", which=origin.which
            )


def _without_totals(cells: Iterable[str]) -> list[str]:
    """Return the cells of a column without those that say that their row is a total, as a first column may."""
    return [cell for cell in cells if not is_total([cell])]


def days_of_rows(table: Table, chosen: Mapping[str, str], default_date: str) -> set[str]:
    """Return the days in columns of days or times where every cell, and most rows, name one; not those of orders.

    The day is `?` where day and month may be exchanged, and neither reading is `default_date`.
    """
    found: set[str] = set()
    for header in filter(None, table.headers):
        cells = _without_totals(table.cells(header))
        meaning = meaning_of(header, "tickets")
        field, is_named = chosen.get(header, meaning.field), header in chosen or meaning.is_exact
        is_delivery = "delivery" in meaning.concepts and header not in chosen
        is_plain = field in _DAYS and (is_named or field != "date")  # no day of birth
        if not (is_plain or is_delivery) or 2 * len(cells) < len(table.rows) or is_of_past(header):
            continue
        style = style_of(cells, default_date)
        days = [split_day(simplified(cell), style) for cell in cells]
        named = [day for day in days if day]
        found |= {day for day, _ in named} if len(named) == len(days) else set()
    return found


def other_date_notices(table: Table, mapping: ColumnMapping, planning_date: str) -> Iterator[str]:
    """Yield what is said of columns that are left out and have days in them, some of which are not the one planned."""
    for header in mapping.left_out:
        cells = _without_totals(table.cells(header))
        style = style_of(cells, planning_date)
        days = list(takewhile(bool, (named_day(cell, style) for cell in cells)))  # most columns have none
        others = sum(day != planning_date for day in days)
        if len(days) == len(cells) and others:
            column = plain(header, 40)
            yield f"Rows with another day than the planning date in {column}, read all the same: {others}."


def inactive_notices(table: Table, mapping: ColumnMapping) -> Iterator[str]:
    """Yield what is said of columns that are left out and in which rows are called cancelled, done or on hold.

    The word is in the cell, or is the header of one that does not say no.
    """
    for header in mapping.left_out:
        is_inactive = normalized_word(header) in _INACTIVE
        count = sum(map(says_yes, table.cells(header))) if is_inactive else _count(table, header, _INACTIVE)
        if count:
            yield f"Rows that are called cancelled, done or on hold in {plain(header, 40)}, read all the same: {count}."


def block_notices(table: Table, mapping: ColumnMapping) -> Iterator[str]:
    """Yield what is said of columns of agents or days that may be filled in the first row of each block alone.

    The first row is filled, no row says again what the one above it says, and at least half of the rows are empty.
    """
    for header in mapping.headers_of(_OF_BLOCKS):
        cells = [row.get(header, "") for _, row in table.rows]
        empty = cells.count("")
        is_filled_down = any(cell and cell == above for above, cell in pairwise(cells))
        if any(cells[:1]) and 2 * empty >= len(cells) and not is_filled_down:
            name = plain(header, 40)
            yield (
                f'Rows with no value in "{name}": {empty}. '
                "If a value holds for the rows below it, write it into each of them."
            )


def crew_notices(table: Table, mapping: ColumnMapping) -> Iterator[str]:
    """Yield what is said of columns by which a ticket takes several people; a plan sends one agent to each."""
    for header in filter(says_crew, mapping.left_out):
        if several := sum(map(_says_several, table.cells(header))):
            column = plain(header, 40)
            yield f"Tickets for more than one person in {column}, to which one agent is sent all the same: {several}."


def _says_several(cell: str) -> bool:
    """Return whether a cell is a number above one, or yes: `Double-up`."""
    count = number_in(cell, "", "")
    return are_yes_or_no([cell]) and says_yes(cell) if isinstance(count, Fault) else count > 1


def absent_notices(table: Table, mapping: ColumnMapping, planning_date: str) -> Iterator[str]:
    """Yield what is said of columns of agents that are left out and in which some are called absent or not there."""
    for header in mapping.left_out:
        count = _count(table, header, _ABSENT)
        if normalized_word(header) in _PRESENT:
            count += sum(bool(normalized_word(cell)) and not says_yes(cell) for cell in table.cells(header))
        if count:
            yield f"Agents that are called absent in {plain(header, 40)}, read all the same: {count}."
        cells = table.cells(header)
        days = [day_of_weekdays(cell, planning_date) for cell in cells]
        are_codes = len(set(cells)) == 1 and len(cells[0].strip()) <= len("FR")  # of a country, or of a zone
        if all(days) and not are_codes and (others := sum(day != planning_date for day in days)):
            column = plain(header, 40)
            yield f"Agents of other weekdays than the planning date in {column}, read all the same: {others}."


def _count(table: Table, header: str, words: frozenset[str]) -> int:
    """Return how many cells of a column are one of some words; a column of states has few that differ."""
    return sum(count for cell, count in Counter(table.cells(header)).items() if normalized_word(cell) in words)
