"""What a header says by itself (SPEC T5).

Owns the look-up: a header is looked up whole, then by its parts. `Frühester Liefertermin` has a part that says *begin*
and one that says *time*. The words are `header_words.py`'s; what the cells below a header say is `column_values.py`'s.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from planner_mcp.formats.tables.cells.unit_words import dimension_named, unit_named
from planner_mcp.formats.tables.headers.header_words import CONCEPTS, FIELDS, OF_ORDERS, PAST


def normalized(text: str) -> str:
    """Return text as words are compared: one width, no accents, no case; between words a single blank."""
    parted = _CAMEL.sub(" ", unicodedata.normalize("NFKC", text.replace("ß", "ss").replace("ı", "i")))
    plain = "".join(each for each in unicodedata.normalize("NFKD", parted) if not unicodedata.combining(each))
    return _NO_WORD.sub(" ", plain.casefold()).strip()


_CURRENCY: Final = re.compile(r"[€$£¥￥]")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NO_WORD: Final = re.compile(r"[\W_]+")
_OPENING: Final = frozenset("(（[【")
_CLOSING: Final = frozenset(")）]】")
_FOREIGN: Final = re.compile(r"[\u2e80-\u9fff]")


def split_brackets(header: str) -> tuple[str, list[str]]:
    """Return a header without its brackets, and what stands in each of them; one that nothing closes is no bracket.

    Every character is looked at once.
    """
    outside: list[str] = []
    inside: list[str] = []
    opened = -1
    for at, char in enumerate(header):
        if opened < 0 and char in _OPENING:
            opened = at
        elif opened < 0:
            outside.append(char)
        elif char in _CLOSING:
            inside.append(header[opened + 1 : at])
            opened = -1
    return "".join(outside) + ("" if opened < 0 else header[opened:]), inside


def words_outside(header: str) -> list[str]:
    """Return the words of a header outside of its brackets."""
    return normalized(split_brackets(header)[0]).split()


def _lookup(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the field of each word, and of each field's own name, written without blanks."""
    words = ((word, field) for field, line in fields.items() for word in (field, *line.split()))
    found: dict[str, str] = {}
    for word, field in words:
        found.setdefault(normalized(word).replace(" ", ""), field)
    return found


KNOWN: Final = {table: _lookup(fields) for table, fields in FIELDS.items()}
"""Field by each known word of the headers of a table."""


@dataclass(frozen=True, slots=True)
class HeaderMeaning:
    """What a header says by itself."""

    field: str | None
    """Of its table; a pseudo field where cells must settle the rest; None where it says nothing known."""
    is_exact: bool
    """Whether the whole header is a known word, not only parts of it."""
    concepts: frozenset[str]
    """What its parts say."""
    dimension: str = ""
    """Of an amount: `weight_kg`, `pallets` …"""
    unit: str = ""
    """As the header writes it, in brackets most often."""


@lru_cache(maxsize=4096)
def meaning_of(header: str, table: str) -> HeaderMeaning:
    """Return what a header of at most `MAX_HEADER` characters says in the table of `tickets` or of `agents`."""
    outside, brackets = split_brackets(_CURRENCY.sub(" eur ", header.replace("#", " no ")))
    words, unit = normalized(outside), " ".join(normalized(each) for each in brackets)
    if not words:
        words = unit
    concepts = _concepts(words)
    tokens = words.split()
    amount_unit = unit_named(unit) or next((found for token in tokens[1:] if (found := unit_named(token))), None)
    dimension = (amount_unit.dimension if amount_unit else "") or dimension_named(words) or dimension_named(unit)
    known = KNOWN[table]
    exact = known.get(words.replace(" ", ""))
    if exact is None and unit and not amount_unit:  # 时间窗(开始)
        exact = known.get(f"{words}{unit}".replace(" ", ""))
        concepts |= _concepts(unit)
    concepts |= _concepts(unit) & {"billing"}
    field = (
        exact
        or (_price_field(f"{words} {unit}", concepts) if table == "agents" else None)
        or _by_parts(concepts, table)
        or _amount_field(dimension, concepts, table, is_count=not _OF.isdisjoint(tokens) or tokens[:1] in _NUMBER)
    )
    return HeaderMeaning(field, exact is not None, concepts, dimension, unit)


def _concepts(words: str) -> frozenset[str]:
    words = _PLUS_TOT.sub("debut", words)
    tokens, joined = set(words.split()), words.replace(" ", "")
    tokens |= {token.rstrip("0123456789") for token in tokens if len(token) > _LONGEST_UNIT}  # Addr1
    found = frozenset(
        concept
        for concept, (whole, within) in _PARTS.items()
        if not tokens.isdisjoint(whole) or any(part in joined for part in within)
    )
    is_one_side = ("start" in found) != ("end" in found)
    return found ^ {"start", "end"} if is_one_side and _NEGATED.search(words) else found


def _parts(line: str) -> tuple[frozenset[str], tuple[str, ...]]:
    words = line.split()
    within = tuple(word.lstrip("*") for word in words if word.startswith("*") or _FOREIGN.search(word))
    return frozenset(word for word in words if not word.startswith("*")), within


_LONGEST_UNIT: Final = len("cm3")
"""Characters up to which a word with digits is rather a unit than a word that is numbered."""
_NEGATED: Final = re.compile(
    r"\b(?:not|never|cannot|can ?t|don ?t|must ?n ?t|nicht|pas|jamais|no|nunca)\b.*\b"
    r"(?:before|after|vor|nach|avant|apres|antes|despues)\b"
)
"""`Not before` is a begin; `not later`, which says what `later` says, is left as it is."""
_PLUS_TOT: Final = re.compile(r"\bplus tot\b")
"""French for earliest; `tot` alone is Dutch for until."""
_OF: Final = frozenset({"of", "de", "d", "des", "der", "nb"})
_NUMBER: Final = (["n"], ["no"], ["nr"], ["num"], ["numero"])
"""Words that make a number of things of a number: `No. of pallets` counts, `Pallet no.` names."""
_PARTS: Final = {concept: _parts(line) for concept, line in CONCEPTS.items()}


def _by_parts(concepts: frozenset[str], table: str) -> str | None:
    """Return the field that the parts of a header make together."""
    if "pause" in concepts and table == "agents":
        return _break_field(concepts)
    if "pause" in concepts or "money" in concepts:
        return None
    for place in ("lat", "lon"):
        if place in concepts and not {"lat", "lon"} <= concepts:
            return place
    if "position" in concepts or {"lat", "lon"} <= concepts:
        return "position"
    return _ticket_field(concepts) if table == "tickets" else _agent_field(concepts)


def _ticket_field(concepts: frozenset[str]) -> str | None:
    if "phone" in concepts:
        return "phone"
    if "travel" in concepts:  # buffers and driving times are no service times
        return None
    if "window" in concepts:
        return side_of(concepts) or "window"
    is_stay = (
        "duration" in concepts
        or {"length", "minutes"} <= concepts
        or ("stop" in concepts and {"time", "minutes"} & concepts)
    )
    is_place = "address" in concepts and not {"time", "minutes"} & concepts  # Service city
    if is_stay and not is_place and ("minutes" in concepts or not {"start", "end"} & concepts):
        return "service"
    if {"start", "end"} & concepts and {"time", "delivery"} & concepts:
        return side_of(concepts) or "window"
    if "date" in concepts:
        return "date"
    if "time" in concepts:
        return "time"
    for concept in ("notes", "address", "division", "priority", "skills"):
        if concept in concepts:
            return "address" if concept == "division" else concept
    if "required" in concepts and {"vehicle", "driver"} & concepts:
        return "skills"
    if {"order", "stop"} & concepts and "id" in concepts:
        return "id"
    return "name" if "name" in concepts and not {"id", "thing"} & concepts else None


def _agent_field(concepts: frozenset[str]) -> str | None:
    if "cost" in concepts:
        return None
    if "max" in concepts and "stops" in concepts:
        return "max_tickets"
    if {"shift", "time", "window"} & concepts:
        side = side_of(concepts)
        if side or "shift" in concepts:
            return {"opens": "shift_start", "closes": "shift_end", None: "shift"}[side]
    if "phone" in concepts:
        return "phone"
    if "driver" in concepts:
        return "name"
    if "vehicle" in concepts and ("id" in concepts or len(concepts) == 1):
        return "id"
    return "skills" if "skills" in concepts else None


def _break_field(concepts: frozenset[str]) -> str | None:
    """Return the begin, the end or the length of a break: `Pause von`, `Break duration`."""
    if "duration" in concepts:
        return "break_min"
    return {"opens": "break_start", "closes": "break_end", None: None}[side_of(concepts)]


_PER_KM: Final = re.compile(r"\b(?:km|kms|kilomet(?:er|re|ro)s?)\b|公里")
_PER_HOUR: Final = re.compile(r"\b(?:h|hr|hour|std|stunde|heure|hora|uur|ora)\b|小时")


def _price_field(words: str, concepts: frozenset[str]) -> str | None:
    """Return the field of a price by distance or by time: `Kosten/km`, `Rate (€/h)`."""
    units = [name for name, unit in (("cost_per_km", _PER_KM), ("cost_per_hour", _PER_HOUR)) if unit.search(words)]
    return units[0] if len(units) == 1 and {"cost", "money"} & concepts else None


_STAFF: Final = (
    "(?:carers?|caregivers?|nurses?|technicians?|engineers?|workers?|staff|crew|helpers?|drivers?|monteure?|techniker"
    "|mitarbeiter|pflegekrafte|helfer|fahrer|techniciens?|livreurs?|tecnicos|operarios|monteurs|personeel|tecnici)"
)
_PEOPLE: Final = "(?:people|persons?|men|personen|mann|personnes|personas|mensen|persone|osob)"
"""Whom a ticket takes only where they are needed: a number of people alone may be that of passengers."""
_CREW: Final = re.compile(
    rf"(?:{_STAFF}|{_PEOPLE}) (?:needed|required|reqd|benotigt|erforderlich|requis|necesarios|nodig|necessari)"
    rf"|{_STAFF} (?:size|count)"
    r"|(?:2|two|double|zwei|doppel|dubbele?|deux|dos|due) ?(?:up|handed|staffed|visit|carers?|mann?|mans|people"
    r"|persons?|personen|krafte|besetzung|einsatz|bemanning|bezetting|personnes|intervenants|personas|persone|operatori)"
    rf"|(?:no of|no|number of|num|anzahl|nombre de|nb|nb de|n|numero de|aantal|numero|liczba) {_STAFF}|所?需要?人数"
)


def says_crew(header: str) -> bool:
    """Return whether a header says how many people a ticket takes: `Carers needed`, `Anzahl Monteure`."""
    return _CREW.fullmatch(normalized(header.replace("#", " no "))) is not None


_MINUTE_SPANS: Final = frozenset({"mm ss", "m s", "min sec", "min sek", "min s"})


def has_minute_spans(header: str) -> bool:
    """Return whether a header says that `12:30` below it is of minutes and seconds."""
    return any(normalized(each) in _MINUTE_SPANS for each in split_brackets(header)[1])


def is_of_order(header: str) -> bool:
    """Return whether a header speaks of the day of an order, or of an invoice."""
    return any(word in normalized(header) for word in OF_ORDERS)


def is_of_past(header: str) -> bool:
    """Return whether a header speaks of such a day, of the last visit, or of when a row was written or printed."""
    return any(word in normalized(header) for word in PAST)


def side_of(concepts: frozenset[str]) -> str | None:
    """Return whether a header names the begin or the end of something; None for both and for neither."""
    if ("start" in concepts) == ("end" in concepts):
        return None
    return "opens" if "start" in concepts else "closes"


def _amount_field(dimension: str, concepts: frozenset[str], table: str, *, is_count: bool) -> str | None:
    if not dimension or {"cost", "money"} & concepts or ("id" in concepts and not is_count):
        return None
    return "demand" if table == "tickets" else "capacity"
