"""Places that a sheet of a workbook lists, such as depots: tickets and agents name them (SPEC T5).

Owns which of its columns are read: names, positions and addresses. Whatever else it says of a place is left out.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import Decimal
from planner_mcp.formats.tables.columns.column_proposal import propose_mapping
from planner_mcp.formats.tables.headers.header_meanings import meaning_of, normalized
from planner_mcp.formats.tables.headers.header_words import PLACE_SHEETS, PLACING
from planner_mcp.formats.tables.rows.table_rows import TableRows
from planner_mcp.formats.tables.sheets.source_rows import SourceRow
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.text import Json

_NAMES: Final = ("location", "id", "name")
_READ: Final = PLACING.union(_NAMES)


@dataclass(frozen=True, slots=True)
class ListedPlace:
    """A row of such a sheet."""

    names: tuple[str, ...]
    """By which rows of other sheets may name it; the first is its id."""
    name: str
    """What people call it, beside the id; may be empty."""
    where: Json
    """Its coordinates by name, its address, or both."""
    origin: SourceRow


def listed_places(table: Table, planning_date: str, decimal: Decimal) -> tuple[list[ListedPlace], list[Fault]]:
    """Return the places of a table, one without a name called as its address, and what is wrong with its rows.

    Rows that say nothing of where a place is are none.
    """
    chosen = dict.fromkeys(list(filter(_is_name, table.headers))[:1], "location")
    mapping = propose_mapping(table, "tickets", chosen, planning_date=planning_date)
    mapping = replace(mapping, fields={key: name for key, name in mapping.fields.items() if name in _READ})
    reading = TableRows(table, mapping, planning_date, decimal, chosen)
    return list(_places(reading)), reading.faults


def columns_of_places(table: Table, names: Set[str]) -> dict[str, str]:
    """Return the columns of agents whose cells all name places: of the begin of a route, and of its end.

    Numbers may be anything else.
    """
    cells = {header: {text.casefold() for text in table.cells(header)} for header in table.headers if header}
    ours = [
        header for header, texts in cells.items() if texts and names >= texts and not all(map(str.isdecimal, texts))
    ]
    ends = [header for header in ours if meaning_of(header, "agents").field == "end_location"]
    begins = [header for header in ours if header not in ends]
    return dict.fromkeys(begins[:1], "location") | dict.fromkeys((ends or begins[1:])[:1], "end_location")


def _is_name(header: str) -> bool:
    return normalized(header) in PLACE_SHEETS or (header != "" and meaning_of(header, "agents").field == "location")


def _places(reading: TableRows) -> Iterator[ListedPlace]:
    for origin, cells in reading.read():
        name = cells.get("name", "")
        names = tuple(str(cells.pop(field)) for field in _NAMES if field in cells) or (cells.get("address", ""),)
        if names[0] and cells:
            yield ListedPlace(names, "" if name == names[0] else name, cells, origin)
