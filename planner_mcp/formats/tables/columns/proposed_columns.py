"""The columns of a table while their fields are settled (SPEC T5).

Owns what is known so far: which column is which field, which ones are asked about. What decides is
`columns_by_header.py` and `columns_by_cells.py`.
"""

from collections.abc import Mapping, Sequence

from planner_mcp.formats.tables.columns.column_mapping import OpenColumn
from planner_mcp.formats.tables.columns.column_values import ColumnValues, values_of
from planner_mcp.formats.tables.columns.other_tables import OtherTable
from planner_mcp.formats.tables.headers.header_meanings import meaning_of
from planner_mcp.formats.tables.headers.header_words import COMPOSED
from planner_mcp.formats.tables.sheets.text_tables import Table


class ProposedColumns:
    """What is known of the columns of one table."""

    def __init__(
        self, table: Table, kind: str, chosen: Mapping[str, str], planning_date: str, other: OtherTable
    ) -> None:
        self.table = table
        self.kind = kind
        self.are_tickets = kind == "tickets"
        self.chosen = chosen
        self.planning_date = planning_date
        self.other = other
        self.cells = {header: table.cells(header) for header in table.headers}
        self.meanings = {header: meaning_of(header, kind) for header in table.headers if header}
        self.fields: dict[str, str] = {}
        self.guessed: list[str] = []
        self.asked: dict[str, OpenColumn] = {}
        self.pickups: frozenset[str] = frozenset()
        """Columns about a place where goods are fetched, beside another place."""
        self._values: dict[str, ColumnValues] = {}

    def look(self, header: str) -> ColumnValues:
        """Return what the cells of a column look like."""
        if header not in self._values:
            self._values[header] = values_of(self.cells[header])
        return self._values[header]

    def is_settled(self, header: str) -> bool:
        """Return whether a column is a field, or asked about."""
        return header in self.fields or header in self.asked

    def has(self, *names: str) -> bool:
        """Return whether a column is one of some fields."""
        return not set(names).isdisjoint(self.fields.values())

    def is_free(self, name: str) -> bool:
        """Return whether a further column may be a field."""
        return name in COMPOSED or not self.has(name)

    def called(self, name: str) -> list[str]:
        """Return the headers of the columns that are a field."""
        return [header for header, field in self.fields.items() if field == name]

    def take(self, header: str, name: str, *, is_guess: bool = False) -> None:
        """Have a column be a field; of a service time minutes, where nothing says its unit."""
        self.fields[header] = "service_min" if name == "service" else name
        if is_guess:
            self.guessed.append(header)

    def ask(self, header: str, options: Sequence[str], why: str = "it looks like {}") -> None:
        """Have whoever knows say which of some fields a column is."""
        self.asked[header] = OpenColumn(header, self.look(header).looks, tuple(options), why)

    def is_billed(self, header: str) -> bool:
        """Return whether a column says whom, or where, the bill goes to."""
        return "billing" in self.meanings[header].concepts

    def is_known_otherwise(self, name: str) -> bool:
        """Return whether a column that says nothing of bills is a field."""
        return not all(map(self.is_billed, self.called(name)))
