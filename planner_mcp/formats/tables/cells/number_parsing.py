"""What the text of a cell says as a number: an amount with its unit, a priority (SPEC T5).

Owns the marks before decimals and between thousands. A mark that may be either is read as the style of its column
says (`column_style.py` settles it); what stays open is a fault, as is what means nothing.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Final, Literal

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import (
    CHINESE_NUMBER,
    PLAIN_STYLE,
    CellStyle,
    chinese_number,
    normalized_word,
    shown,
    simplified,
)
from planner_mcp.formats.tables.cells.unit_words import SECONDS_OF_UNIT, AmountUnit, unit_named, words_of

_NUMBERS: Final = "a number"
_GROUPS: Final = re.compile(r"\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+(?=[.,]|$)")
_BODY: Final = re.compile(r"([+-]?[\d.,'’ \u00a0\u202f]*+)(.*)", re.DOTALL)
"""A number and what stands behind it."""
_GROUPED: Final = {mark: re.compile(rf"[1-9]\d{{0,2}}(?:\{mark}\d{{3}})+") for mark in ",."}
_ABOUT: Final = re.compile(
    r"^(?:[~≈约]|大约|(?:ca|circa|approx|approximately|about|etwa|ungef[aä]hr|rund|env|environ|aprox)\b\.?)\s*(?=\d)"
)
_COUNTS: Final = {
    word: count
    for line in (
        "one two three four five six seven eight nine ten",
        "ein zwei drei vier funf sechs sieben acht neun zehn",
        "een twee drie vier vijf zes zeven acht negen tien",
        "un deux trois quatre cinq six sept huit neuf dix",
        "un dos tres cuatro cinco seis siete ocho nueve diez",
        "un due tre quattro cinque sei sette otto nove dieci",
        "eine",
        "une",
        "una",
    )
    for count, word in enumerate(line.split(), 1)
}
_COUNTED_IN_WORDS: Final = re.compile(rf"(?:{'|'.join(_COUNTS)})(?= [^\W\d])")
_CHINESE_COUNT: Final = re.compile(rf"{CHINESE_NUMBER}(?=[箱件托板个台包吨])")
"""Numbers in words that stand before what they count: `two pallets`, `两箱`."""
_OR_SO: Final = "左右"
"""What says behind a number that it is an estimate."""
_LONGEST_COUNTED: Final = 20
_GOES_ON: Final = re.compile(
    r"\S+\s+(?P<joined>[+&]|(?:und|and|et|y|e|en)\b)?\s*\d+(?:[.,]\d+)?+(?!\s*[\dx×*])\s*(?P<word>\S*)"
)
"""Another number behind a unit, and none of what is counted: `4 Kisten 12 x 0,7`."""
_NOT_COUNTED: Final = words_of(
    "km m cm mm mi ft 楼 层 级 号 室 栋 幢 岁 年 月 日 周 次 x th st nd rd er ere eme og ug eg"
)
"""What stands behind lengths, floors, ages, days and places in a row."""
_PRIORITIES: Final[Mapping[str, int]] = {
    **dict.fromkeys(words_of("low niedrig gering basse faible baja c 低"), 3),
    **dict.fromkeys(words_of("normal regular medium standard mittel moyenne normale media b 普通 一般 中"), 5),
    **dict.fromkeys(words_of("high hoch haute elevee alta a 高"), 7),
    **dict.fromkeys(words_of("urgent critical express asap dringend eilig tres_haute urgente 紧急 加急 特急"), 9),
    **{f"p{number}": 11 - 2 * number for number in range(1, 6)},
}
"""Words for how much a ticket matters, as priorities; a customer of class A matters most."""
_INITIALS: Final = {"l": 3, "m": 5, "h": 7}


def _without_about(simple: str) -> str:
    """Return a cell, in one width and without case, without what says that its number is an estimate."""
    return _ABOUT.sub("", simple).removesuffix(_OR_SO)


def is_estimate(text: str) -> bool:
    """Return whether a cell says that its number is an estimate: `ca. 10 kg`."""
    simple = simplified(text)
    return _without_about(simple) != simple


def _number_and_word(text: str) -> tuple[str, str]:
    """Return the digits and marks that a cell begins with, and what stands behind them."""
    simple = _CHINESE_COUNT.sub(chinese_number, _without_about(simplified(text)), count=1)
    if counted := _COUNTED_IN_WORDS.match(simple):
        simple = f"{_COUNTS[counted[0]]}{simple[counted.end() :]}"
    digits, word = _BODY.fullmatch(simple).groups()  # type: ignore[union-attr]  # any text matches
    return digits.strip(), word.strip(". ")


def decimal_mark_of(text: str, *, has_thousands: bool = True) -> Literal["", ".", ",", "?"]:
    """Return what a number shows of its column's decimal mark: the mark, nothing, or `?` where it may mean both."""
    if text.isascii() and "." not in text and "," not in text:  # most cells; all columns are looked at
        return ""
    body = _number_and_word(text)[0].lstrip("+-")
    marks: list[Literal[".", ","]] = ["." if char == "." else "," for char in body if char in ".,"]
    if not marks or not any(char.isdecimal() for char in body):
        return ""
    if len(set(marks)) > 1:
        return marks[-1]
    if len(marks) > 1:
        return "," if marks[0] == "." else "."
    return "?" if has_thousands and _GROUPED[marks[0]].fullmatch(body) else marks[0]


def has_last_zero(text: str) -> bool:
    """Return whether the number of a cell ends in a zero behind its mark: `1.500` was written so, as text."""
    return decimal_mark_of(text) != "" and _number_and_word(text)[0].endswith("0")


def amount_in(
    text: str, name: str, path: str, style: CellStyle = PLAIN_STYLE, *, has_thousands: bool = True
) -> tuple[float, AmountUnit | None] | Fault:
    """Return the number of a cell and the unit behind it, where it has a known one.

    Args:
        has_thousands: Whether a mark may part thousands; coordinates have none.
    """
    digits, word = _number_and_word(text)
    unit = _unit_behind(word)
    is_number = unit is not None or word in ("", style.counted)
    value = _value_of(digits, style, has_thousands=has_thousands) if is_number else None
    if value is None or math.isinf(value):
        return Fault(path, f"{shown(text)} is not a number: {name}.", _NUMBERS)
    if math.isnan(value):
        mark = "," if "," in digits else "."
        hint = f'Say decimal: "{mark}" or "{"." if mark == "," else ","}".'
        return Fault(path, f"The mark in {shown(text)} may part thousands, or decimals.", _NUMBERS, hint)
    return (int(value) if value.is_integer() else value), unit


def number_in(
    text: str, name: str, path: str, style: CellStyle = PLAIN_STYLE, *, has_thousands: bool = True
) -> float | Fault:
    """Return the number of a cell, which has no unit behind it; arguments are those of `amount_in`."""
    read = amount_in(text, name, path, style, has_thousands=has_thousands)
    if isinstance(read, Fault):
        return read
    value, unit = read
    return value if unit is None else Fault(path, f"{shown(text)} has a unit: {name}.", "a number without a unit")


def has_unit(text: str) -> bool:
    """Return whether a cell begins with a number and names a unit, be it behind a second number: `3 x 25 kg`."""
    digits, word = _number_and_word(text)
    return unit_named(word) is not None and _value_of(digits, CellStyle("."), has_thousands=True) is not None


def counted_in(cells: Sequence[str]) -> str:
    """Return the one word that stands behind the number of each cell; empty where it differs, or is a known unit."""
    read = [_number_and_word(cell) for cell in cells]
    words = {word for _, word in read}
    word = words.pop() if len(words) == 1 else ""
    is_counted = len(cells) > 1 and 0 < len(word) <= _LONGEST_COUNTED and word.isalpha() and word not in _NOT_COUNTED
    are_numbers = all(digits[:1].isdecimal() for digits, _ in read)
    return word if is_counted and are_numbers and not unit_named(word) and word not in SECONDS_OF_UNIT else ""


def has_initials(cells: Iterable[str]) -> bool:
    """Return whether priorities are written L, M, H and C, low to critical, where A, B and C are classes."""
    return not _INITIALS.keys().isdisjoint(normalized_word(simplified(cell)) for cell in cells)


def priority_in(text: str, path: str, *, are_initials: bool = False) -> float | Fault:
    """Return the priority of a cell: a number from 1, the least, to 9, or that of a word; of C as `has_initials`."""
    word = normalized_word(simplified(text))
    if are_initials and word == "c":
        return _PRIORITIES["critical"]
    if (known := _PRIORITIES.get(word, _INITIALS.get(word))) is not None:
        return known
    number = number_in(text, "priority", path)
    if isinstance(number, Fault):
        return Fault(path, f"{shown(text)} is no priority.", "1 (least) to 9 (most), or low, normal, high, urgent")
    return number


def has_classes(cells: Iterable[str]) -> bool:
    """Return whether a cell is a class of urgency, of which P1 is the most urgent."""
    return any(normalized_word(cell).startswith("p") and priority_in(cell, "") in range(1, 10) for cell in cells)


def _value_of(body: str, style: CellStyle, *, has_thousands: bool) -> float | None:
    """Return the value of digits with marks; None for what is no number, NaN for what may be two."""
    sign, digits = (-1, body[1:]) if body.startswith("-") else (1, body.removeprefix("+"))
    if any(blank in digits for blank in " '’\u00a0\u202f"):
        if _GROUPS.match(digits) is None:
            return None
        digits = "".join(char for char in digits if char not in " '’\u00a0\u202f")
    marks = {char for char in digits if char in ".,"}
    mark = decimal_mark_of(digits, has_thousands=has_thousands)
    if mark == "?":
        mark = style.decimal or "?"
    if mark == "?":
        return math.nan
    for other in marks - {mark}:
        whole = digits.partition(mark)[0] if mark else digits
        if not _GROUPED[other].fullmatch(whole):
            return None
        digits = digits.replace(other, "")
    if digits.count(mark or ".") > 1:
        return None
    try:
        return sign * float(digits.replace(",", "."))
    except ValueError:
        return None


def _unit_behind(word: str) -> AmountUnit | None:
    """Return the unit of a number; None where another number stands before it, or the amount goes on behind it.

    `3 x 25 kg` is more than 3 kg, and `9 lb 8 oz` more than 9 lb; `10 kg 2nd floor` is 10 kg, as `10 kg 3 boxes`.
    """
    words = word.split()
    before = takewhile(lambda each: unit_named(each) is None, words)
    unit = None if any(map(str.isdecimal, "".join(before))) else unit_named(word)
    if unit is None or (more := _GOES_ON.match(word)) is None:
        return unit
    other = unit_named(more["word"])
    is_other = normalized_word(more["word"]) in _NOT_COUNTED or (other and other.dimension != unit.dimension)
    return unit if is_other and not more["joined"] else None
