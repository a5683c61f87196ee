"""Which columns of a table are where its tickets are: addresses in one column or in several (SPEC T5).

Owns what distinguishes whole addresses from parts of one, and the two ends of a way from each other.
"""

import re
from collections.abc import Sequence
from typing import Final

from planner_mcp.formats.tables.cell_text import MAX_CELL
from planner_mcp.formats.tables.column_values import MAX_SAMPLE
from planner_mcp.formats.tables.header_meanings import normalized
from planner_mcp.formats.tables.proposed_columns import ProposedColumns

_ORIGINS: Final = (
    *("pick up", "pickup", "abhol", "enlevement", "recogida", "origin", "提货", "取货", "取件", "发货", "装货"),
    *("sender", "shipper", "absender", "expediteur", "remitente", "ophaal", "ritiro", "发件", "寄件"),
)
_TARGETS: Final = (
    *("deliver", "liefer", "livraison", "entrega", "destin", "收货", "送货", "卸货", "目的"),
    *("receiver", "recipient", "consignee", "empfanger", "aflever", "bezorg", "consegna", "收件"),
)
"""Parts of headers for the two ends of a way."""
CODE_AND_TOWN: Final = re.compile(r"(?:[A-Z]{1,2}-)?\d{4,5} [^\W\d]{3}")
"""How the address of a town begins, whatever its header."""
_WHOLE: Final = re.compile(r"\D*+\d[^,]*+,.*?[^\W\d]{3}|[^省市区县]*+[省市区县].*?\d号")
"""A number before a comma and a word behind it; a division and a number in Chinese."""
_NUMBERS: Final = frozenset({"nr", "no", "n", "num", "number", "nummer", "numero"})
"""Headers of house numbers, behind that of their streets."""


def are_whole_addresses(cells: Sequence[str]) -> bool:
    """Return whether most cells are addresses with street, number and town, and no part of one."""
    sample = cells[:MAX_SAMPLE]
    return 2 * sum(_WHOLE.match(cell[:MAX_CELL]) is not None for cell in sample) > len(sample)


def is_beside_other(columns: ProposedColumns, header: str) -> bool:
    """Return whether there is a column of other addresses; ask which counts, unless that is said."""
    other = _other_end(columns, header)
    if other and other not in columns.chosen:
        columns.fields.pop(other)
        for each in (other, header):
            columns.ask(each, ("address", "notes"), "a ticket has one place, and beside another it has {}")
    return other is not None


def _other_end(columns: ProposedColumns, header: str) -> str | None:
    """Return the column of other addresses: of the other end of a way, or whole ones beside whole ones."""
    taken, end = columns.called("address"), _end_of_way(columns, header)
    others = [each for each in taken if unnumbered(each) != unnumbered(header)]
    whole = [each for each in others if are_whole_addresses(columns.cells[each])]
    if whole and are_whole_addresses(columns.cells[header]):
        return whole[0]
    return next((each for each in taken if end and _end_of_way(columns, each) not in ("", end)), None)


def _end_of_way(columns: ProposedColumns, header: str) -> str:
    words, concepts = normalized(header), columns.meanings[header].concepts
    ends = [("start", _ORIGINS), ("end", _TARGETS)]
    found = [end for end, parts in ends if end in concepts or any(part in words for part in parts)]
    return found[0] if len(found) == 1 else ""


def has_other_places(columns: ProposedColumns, header: str) -> bool:
    """Return whether another header says where tickets are, and not where bills go."""
    others = (each for each in columns.meanings if each != header and not columns.is_billed(each))
    return any(columns.meanings[each].field in ("address", "position", "lat", "x") for each in others)


def numbers_street(columns: ProposedColumns, header: str) -> bool:
    """Return whether a column of numbers stands behind one of streets that have none."""
    at = columns.table.headers.index(header)
    street = columns.table.headers[at - 1] if at else ""
    if normalized(header) not in _NUMBERS or columns.fields.get(street) != "address":
        return False
    are_short = all(cell[0].isdecimal() and len(cell) <= len("1234 a") for cell in columns.cells[header])
    return are_short and not any(char.isdecimal() for cell in columns.cells[street] for char in cell)


def unnumbered(header: str) -> str:
    """Return a header as those of `Slot 1` and `Slot 2` are alike."""
    return "".join(char for char in normalized(header) if not char.isdecimal()).strip()
