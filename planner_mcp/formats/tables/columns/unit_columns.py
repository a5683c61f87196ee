"""Units that a table has in a column of their own, behind that of the amounts (SPEC T5).

Owns how such a column is known. Goods systems write 300 and G beside 12 and KG, which would be a load of 312.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Final

from planner_mcp.formats.tables.cells.unit_words import unit_named
from planner_mcp.formats.tables.headers.header_meanings import meaning_of, normalized
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.text import plain

_HEADERS: Final = frozenset({"uom", "me", "ge", "geh", "veh"})
_PARTS: Final = ("unit", "einheit", "unidad", "单位", "單位")
"""What headers of units are called, and parts of them."""


def with_units(table: Table) -> Table:
    """Return a table with the unit behind each amount, as `300 G`, where the next column has nothing but units."""
    units = {amount: unit for amount, unit in pairwise(table.headers) if amount and _are_units(table, amount, unit)}
    if not units:
        return table
    rows = tuple(
        (line, {name: f"{cell} {row[units[name]]}" if units.get(name) in row else cell for name, cell in row.items()})
        for line, row in table.rows
    )
    notices = (f'"{plain(unit, 40)}" is read as the unit of "{plain(amount, 40)}".' for amount, unit in units.items())
    return replace(table, rows=rows, notices=(*table.notices, *notices))


def _are_units(table: Table, amount: str, unit: str) -> bool:
    words = normalized(unit).replace(" ", "")  # UoM has two
    is_named = words in _HEADERS or any(part in words for part in _PARTS)
    if not is_named or not _may_be_amount(amount):
        return False
    pairs = [(row[amount], row[unit]) for _, row in table.rows if amount in row and unit in row]
    are_known = all(unit_named(normalized(word)) is not None for _, word in pairs)
    return bool(pairs) and are_known and not any(char.isalpha() for number, _ in pairs for char in number)


def _may_be_amount(header: str) -> bool:
    """Return whether a header is one of amounts, or of nothing that is known, as those of orders and places are."""
    meanings = [meaning_of(header, kind) for kind in ("tickets", "agents")]
    return any(
        each.field in ("demand", "capacity") or (not each.field and each.concepts <= {"order", "delivery"})
        for each in meanings
    )
