"""Which columns of a table are where its tickets are: addresses in one column or in several (SPEC T5).

Owns what distinguishes whole addresses from parts of one, and the two ends of a way from each other.
"""

import re
from collections.abc import Sequence
from typing import Final

from planner_mcp.formats.tables.cells.cell_text import MAX_CELL
from planner_mcp.formats.tables.columns.column_values import MAX_SAMPLE
from planner_mcp.formats.tables.columns.proposed_columns import ProposedColumns
from planner_mcp.formats.tables.headers.header_meanings import normalized, words_outside
from planner_mcp.formats.tables.headers.header_words import PLACING

_ORIGINS: Final = (
    *("pick up", "pickup", "abhol", "enlevement", "recogida", "origin", "提货", "取货", "取件", "发货", "装货"),
    *("sender", "shipper", "absender", "expediteur", "remitente", "ophaal", "ritiro", "发件", "寄件"),
    *("collect", "beladeort", "beladestelle", "ladeort", "ladestelle", "ladezeit", "origen", "mittente"),
    *("laadtijd", "laadduur", "laadadres", "laadplaats"),
    *("起点", "出发地"),
)
_TARGETS: Final = (
    *("deliver", "liefer", "livraison", "entrega", "destin", "收货", "送货", "卸货", "目的"),
    *("receiver", "recipient", "consignee", "empfanger", "aflever", "bezorg", "consegna", "收件"),
    *("drop off", "dropoff", "entlade", "zustell", "aflaad", "lostijd", "losduur", "losadres", "losplaats"),
    *("终点", "到达地"),
)
"""Parts of headers for the two ends of a way."""
_COUNTRIES: Final = frozenset({"country", "land", "pays", "pais"})
_ONE_PLACE: Final = "a ticket has one place, and beside another it has {}"
_TWO_PLACES: Final = (
    "a ticket has one place, and beside another it has {}; the first of these fields makes each row a shipment from "
    "here to there"
)
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


def are_mail(cells: Sequence[str]) -> bool:
    """Return whether most cells are addresses of e-mail."""
    return 2 * sum("@" in cell for cell in cells) > len(cells)


def end_named(header: str) -> str:
    """Return the end of a way, `start` or `end`, that a header has a word for: `Abholadresse`, `送货地址`."""
    words, is_target = normalized(header).replace("original", " "), False
    for part in _TARGETS:
        is_target = is_target or part in words
        words = words.replace(part, " ")  # Entladestelle has Ladestelle in it
    is_origin = any(part in words for part in _ORIGINS)
    return "" if is_origin == is_target else "end" if is_target else "start"


def pickup_columns(columns: ProposedColumns) -> frozenset[str]:
    """Return the columns that say something of where goods are fetched, in a table that has another place beside it.

    None where the caller says what a column of places is.
    """
    starts = (header for header in columns.meanings if end_named(header) == "start")
    theirs = frozenset(header for header in starts if not says_origin_of_goods(columns, header))
    if not columns.are_tickets or not theirs:
        return frozenset()
    placing = {header for header in columns.meanings if _says_place(columns, header)}
    others = [header for header in placing - theirs if not columns.is_billed(header)]
    has_both = any(_are_two_places(columns, header, other) for header in placing & theirs for other in others)
    return theirs if has_both and placing.isdisjoint(columns.chosen) else frozenset()


def says_origin_of_goods(columns: ProposedColumns, header: str) -> bool:
    """Return whether a column beside a place says which country goods come from: `Country of origin`.

    Beside another column of where goods are fetched it may be of that place.
    """
    if end_named(header) != "start" or _COUNTRIES.isdisjoint(words_outside(header)):
        return False
    others = [each for each in columns.meanings if each != header and _says_place(columns, each)]
    return bool(others) and all(end_named(each) != "start" for each in others)


def _are_two_places(columns: ProposedColumns, header: str, other: str) -> bool:
    """Return whether a column of where goods are fetched and another one are of two places, not parts of one.

    `Abholadresse`, `PLZ` and `Ort` are one address, `Abhol-PLZ` and `PLZ` are of two.
    """
    field, cells = columns.meanings[header].field, (columns.cells[header], columns.cells[other])
    if _end_of_way(columns, other) == "end" or normalized(other) in normalized(header) or are_whole_addresses(cells[1]):
        return True
    if field in PLACING - {"address"}:
        return field == columns.meanings[other].field
    are_streets = all(columns.look(each).kind == "places" for each in (header, other))
    return are_streets and not any(CODE_AND_TOWN.match(cell) for each in cells for cell in each[:MAX_SAMPLE])


def ask_about_pickup(columns: ProposedColumns) -> None:
    """Ask whether goods are fetched at the first place of `pickups`; what the others are waits for the answer."""
    theirs = (header for header in columns.table.headers if header in columns.pickups)
    header = next((header for header in theirs if _says_place(columns, header)), "")
    if not header:
        return
    field = columns.meanings[header].field or ""
    name = field if field in PLACING else "position" if columns.look(header).kind == "positions" else "address"
    if name != "address" or not is_beside_other(columns, header):
        others = ("address", "notes") if name == "address" else ("notes",)
        columns.ask(header, (f"pickup_{name}", *others), _TWO_PLACES)


def _says_place(columns: ProposedColumns, header: str) -> bool:
    is_called_so = columns.meanings[header].field in PLACING and not are_mail(columns.cells[header])
    return bool(columns.cells[header]) and (is_called_so or columns.look(header).kind in ("places", "positions"))


def is_beside_other(columns: ProposedColumns, header: str) -> bool:
    """Return whether there is a column of other addresses; ask which counts, unless that is said."""
    other = _other_end(columns, header)
    if other and other not in columns.chosen:
        columns.fields.pop(other)
        for each in sorted((other, header), key=columns.table.headers.index):
            is_start = _end_of_way(columns, each) == "start"
            options = ("pickup_address", "address", "notes") if is_start else ("address", "notes")
            columns.ask(each, options, _TWO_PLACES if is_start else _ONE_PLACE)
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
    named, concepts = end_named(header), columns.meanings[header].concepts
    found = {named} - {""} | (concepts & {"start", "end"})
    return found.pop() if len(found) == 1 else ""


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
    words = "".join(char for char in normalized(header) if not char.isdecimal())
    return " ".join(words.split())
