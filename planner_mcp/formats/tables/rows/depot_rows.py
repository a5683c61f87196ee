"""Rows of the depot among those of tickets: lists of stops begin with it, or end there (SPEC T5).

Owns how such a row is known. Whether it is the depot is settled with the agents, which may start elsewhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from planner_mcp.formats.tables.cells.unit_words import words_of
from planner_mcp.formats.tables.columns.column_mapping import SERVICE_UNITS_S
from planner_mcp.formats.tables.columns.ticket_kinds import DELIVERIES, PICKUPS, kind_word
from planner_mcp.formats.tables.headers.header_words import PLACING
from planner_mcp.formats.tables.rows.amount_settlement import AmountColumn
from planner_mcp.formats.tables.rows.ticket_lines import Rows
from planner_mcp.text import Json, plain

_DEPOTS: Final = words_of(
    "depot warehouse lager zentrallager betriebshof entrepot almacen deposito magazzino magazijn "
    "magazyn sklad depo armazem 仓库 车场 配送中心 倉庫 デポ"
)
"""Words for the depot, without accents and blanks."""
_CALLED: Final = ("location", "name", "id", "kind")
_OF_VISITS: Final = SERVICE_UNITS_S.keys() | {"skills", "only_agents", "preferred_agent", "pickup_ticket"}
"""Fields that say that somebody has something to do there."""
_OF_DEPOTS: Final = PLACING | {*_CALLED, "amounts"}


@dataclass(frozen=True, slots=True)
class DepotRow:
    """A row that may be the depot."""

    at: int
    """Its index among those of tickets."""
    word: str
    """What it is called."""
    kind: str
    """What it says of its kind, if anything."""
    unused: tuple[str, ...]
    """Headers of what a depot has no use for, such as hours."""

    def notices(self, number: str) -> Iterator[str]:
        """Yield what is said of the row, once it is the depot."""
        word = plain(self.word, 40)
        yield (
            f'Row {number}, "{word}", is read as the depot, not as a ticket. '
            "To keep it as a ticket, name the depot yourself."
        )
        if self.unused:
            headers = ", ".join(plain(header, 40) for header in self.unused)
            yield f"Columns not used for the depot in row {number}: {headers}."


def depot_rows(rows: Rows, amounts: Sequence[AmountColumn]) -> Iterator[DepotRow]:
    """Yield the first row and the last one where they are called a depot and nothing is brought or done there."""
    for at in dict.fromkeys((0, len(rows) - 1)) if rows else ():
        origin, cells = rows[at]
        word = _word_of_depot(cells)
        if word and not any(column.numbers[at] for column in amounts) and not any(map(cells.get, _OF_VISITS)):
            unused = tuple(origin.headers[name] for name in cells if name not in _OF_DEPOTS and name in origin.headers)
            yield DepotRow(at, word, str(cells.get("kind", "")), unused)


def _word_of_depot(cells: Json) -> str:
    """Return what a row is called where that is a word for a depot, and its kind none for a visit; else nothing."""
    is_visit = kind_word(str(cells.get("kind", ""))) in (PICKUPS | DELIVERIES) - {""}
    called = (str(cells.get(name, "")) for name in _CALLED)
    return "" if is_visit else next((text for text in called if kind_word(text) in _DEPOTS), "")
