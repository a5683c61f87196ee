"""Rows below a table that are no ticket and no agent: totals, notes, orders of another day (SPEC T5, T7).

Owns how they are told from the others. A total taken for a ticket would be the heaviest order of the day; taken for an
agent, a vehicle as large as all others together.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from planner_mcp.errors import Fault
from planner_mcp.formats.cell_parsing import date_in, normalized_word
from planner_mcp.formats.column_mapping import ColumnMapping
from planner_mcp.formats.source_rows import SourceRow
from planner_mcp.formats.text_tables import Table
from planner_mcp.text import counted, plain

Rows = Sequence[tuple[SourceRow, Mapping[str, Any]]]
"""Where each row of a table stands, and its values by field."""
_PLACES: Final = frozenset({"location", "lat", "lon", "x", "y"})
_AMOUNTS: Final = frozenset({"demand", "capacity", "penalty", "fixed_cost", "priority", "max_tickets"})
_NAMES: Final = _PLACES | {"id", "name", "address", "phone"}
"""What says whom or where a row is about, unlike a skill or a shift that some of them want."""
_WORDS: Final = frozenset(
    {"total", "totals", "grandtotal", "subtotal", "sum", "summe", "gesamt", "合计", "总计", "小计", "共计", "总和"}
)


def rows_without_ticket(rows: Rows, table: Table, mapping: ColumnMapping) -> Iterable[Fault]:
    """Return what is told of rows that are no tickets, once a row."""
    faults_by_path = {fault.path: fault for fault in rows_without_place(rows, table, mapping)}
    return (faults_by_path | {fault.path: fault for fault in totals(rows, table, "demand")}).values()


def totals(rows: Rows, table: Table, amount: str) -> Iterator[Fault]:
    """Yield rows that add up those above, all of them or those since the last sum, and are called so or not at all.

    Where a row above has no name either, a row without one is as good as that.
    """
    above = part = 0.0
    are_named = True
    for number, ((origin, cells), (_, texts)) in enumerate(zip(rows, table.rows, strict=True)):
        value = cells.get(amount, 0)
        is_sum = number > 1 and value > 0 and (math.isclose(value, above) or math.isclose(value, part))
        if is_sum and (_is_called_so(texts.values()) or (are_named and _AMOUNTS.issuperset(cells))):
            problem = "The row is a total of those above it."
            yield Fault(origin.path, problem, "a ticket or an agent in each row", "Remove the row.")
            part = 0.0
        else:
            above, part = above + value, part + value
            are_named = are_named and not _NAMES.isdisjoint(cells)


def _is_called_so(texts: Iterable[str]) -> bool:
    return not _WORDS.isdisjoint(map(normalized_word, texts))


def rows_without_place(rows: Rows, table: Table, mapping: ColumnMapping) -> Iterator[Fault]:
    """Yield rows that say nothing of a place, among others that do."""
    headers = {header for header, name in mapping.fields.items() if name in _PLACES}
    placed = [not headers.isdisjoint(texts) for _, texts in table.rows]
    for (origin, _), is_placed in zip(rows, placed, strict=True):
        if any(placed) and not is_placed:
            hint = "Add it, or remove the row where it is no ticket."
            yield Fault(origin.path, "The row has no place.", "a place in each row", hint, "missing")


def other_date_notices(table: Table, mapping: ColumnMapping, planning_date: str) -> Iterator[str]:
    """Yield what is said of columns that are left out and have days in them, some of which are not the one planned."""
    for header in mapping.left_out:
        days = [date_in(texts[header]) for _, texts in table.rows if header in texts]
        others = sum(day != planning_date for day in days)
        if all(days) and others:
            column = plain(header, 40)
            yield f"Another day than the planning date in {counted(others, 'row')} of {column}: read all the same."
