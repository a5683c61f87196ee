"""Words for what a ticket is: a pickup or a delivery (SPEC T5).

Owns the words, and the judgement of a column by them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from planner_mcp.formats.tables.cells.cell_text import MAX_CELL
from planner_mcp.formats.tables.cells.total_words import is_total
from planner_mcp.formats.tables.cells.unit_words import words_of
from planner_mcp.formats.tables.headers.header_meanings import normalized

RETURNS: Final = words_of("return returns retoure rucknahme retour devolucion 退货 回收")
"""Words for what is picked up to go to the depot."""
PICKUPS: Final = RETURNS | words_of(
    "pu pickup pickups collect collection abholung enlevement ramasse collecte recogida retiro abholen holen ophalen "
    "afhalen ramasser recoger ritiro ritirare odbior loading beladung beladen 取货 揽收 取件 提货 装货"
)
DELIVERIES: Final = {""} | words_of(
    "delivery deliver del dropoff drop unloading lieferung anlieferung zustellung auslieferung entladung livraison "
    "entrega reparto liefern anliefern zustellen entladen leveren bezorgen brengen levering livrer entregar consegna "
    "consegnare dostawa doreczenie 配送 送货 派送 派件 送件 投递 卸货"
)
KIND_INITIALS: Final[Mapping[str, str]] = {"p": "pickup", "d": "delivery"}
_HALF: Final = re.compile(r"(.+?)(?:[-_/. ]{1,3}|(?<=\d))([^\W\d_]+)")
"""The id of a shipment, and which half of it a row is: `S1-P`, `S1 delivery`, `1001取`."""
_HALVES: Final[Mapping[str, str]] = {
    **dict.fromkeys({*PICKUPS, "取"}, "pickup"),
    **dict.fromkeys(RETURNS, "return"),
    **dict.fromkeys({*DELIVERIES, "送"} - {""}, "delivery"),
}
_HALVES_OF_NUMBERS: Final[Mapping[str, str]] = {**KIND_INITIALS, "a": "pickup", "b": "delivery"}
"""Only behind an id with digits: `Stop A` and `Stop B` are two stops."""


def are_kinds(cells: Sequence[str]) -> bool:
    """Return whether each cell says that something is picked up, or delivered, and not all are empty."""
    words = _kind_words(cells)
    initials = KIND_INITIALS.keys() if has_kind_initials(cells) else frozenset[str]()
    return bool(words - {""}) and words <= PICKUPS | DELIVERIES | initials


def says_kinds(cells: Iterable[str]) -> bool:
    """Return whether a cell is a word, or the initial of one, for what is picked up or delivered."""
    known = (PICKUPS | DELIVERIES | KIND_INITIALS.keys()) - {""}
    return not known.isdisjoint(_kind_words(cells))


def has_pickups(cells: Iterable[str]) -> bool:
    """Return whether a cell is a word for what is picked up."""
    return not PICKUPS.isdisjoint(_kind_words(cells))


def has_kind_initials(cells: Iterable[str]) -> bool:
    """Return whether a column has both `P` and `D`: one alone may be a class of customers."""
    return KIND_INITIALS.keys() <= _kind_words(cells)


def named_halves(cells: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return of each id that names half of a shipment the id of that and its kind; a half alone keeps its own id."""
    found: dict[str, tuple[str, str]] = {}
    for cell in cells:
        half = _HALF.fullmatch(cell) if len(cell) <= MAX_CELL else None
        if half is not None and (kind := _kind_of_half(half[1], kind_word(half[2]))):
            found[cell] = half[1], kind
    ends = {(name, kind == "delivery") for name, kind in found.values()}
    return {
        cell: (name if {(name, False), (name, True)} <= ends else cell, kind) for cell, (name, kind) in found.items()
    }


def are_halves(cells: Sequence[str]) -> bool:
    """Return whether all ids, save that of a total, come in pairs of a pickup and its delivery."""
    ids = [cell for cell in cells if not is_total([cell])]
    halves = named_halves(ids)
    counts = Counter(name for name, _ in halves.values())
    return len(halves) == len(ids) and {*counts.values()} == {2}


def says_half(cell: str, kind: str) -> bool:
    """Return whether a cell of a column of kinds says of half of a shipment what its id says."""
    word = kind_word(cell[:MAX_CELL])
    return kind == (_HALVES.get(word) or KIND_INITIALS.get(word))


def _kind_of_half(name: str, word: str) -> str:
    """Return the kind of a row that a word behind the id of a shipment says; empty for none."""
    has_digits = any(char.isdecimal() for char in name)
    return _HALVES.get(word) or (_HALVES_OF_NUMBERS.get(word, "") if has_digits else "")


def kind_word(cell: str) -> str:
    """Return a cell as such words are compared."""
    return normalized(cell).replace(" ", "")


def _kind_words(cells: Iterable[str]) -> set[str]:
    return {kind_word(cell[:MAX_CELL]) for cell in cells}
