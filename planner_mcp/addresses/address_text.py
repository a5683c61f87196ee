"""Address text made comparable: full-width forms, traditional characters, Chinese numerals, telephone numbers.

Owns what is changed before a text is parsed. It never guesses: each change keeps what the text says.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from planner_mcp.addresses.place_data import place_data

MAX_TEXT: Final = 300
"""Characters of one address that are read."""
_PHONE: Final = re.compile(r"(?<![\d-])(?:\+?86[- ]?)?(?:1[3-9]\d-?\d{4}-?\d{4}|0\d{2,3}-\d{7,8})(?!\d)")
_LABELS: Final = re.compile(
    r"(?:收货地址|送货地址|详细地址|地址|联系电话|联系人|收件人|收货人|手机号?|电话)\s*[::]?\s*"
)
_BRACKETS: Final = re.compile(r"[(\[【][^)\]】]{0,40}[)\]】]")
_RECIPIENT: Final = re.compile(r"[ ,，][一-鿿]{2,4}(?:先生|女士|小姐)?\s*(?:收|\(收\))$")
_NUMERAL: Final = re.compile(r"[零〇一二三四五六七八九十百千两]+(?=号(?!线|路|桥|大街|公路)|栋|幢|单元|室|层|楼|座|弄)")
_DIGITS: Final = {char: index for index, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
HAN: Final = re.compile(r"[一-鿿]")


@dataclass(frozen=True, slots=True)
class CleanText:
    """A text to parse, and what was left aside."""

    text: str
    notes: tuple[str, ...] = ()


def is_chinese(text: str) -> bool:
    """Return whether a text is written in Chinese characters for the larger part."""
    han = len(HAN.findall(text))
    latin = sum(char.isascii() and char.isalpha() for char in text)
    return han >= 2 and 3 * han > latin


def clean(text: str) -> CleanText:
    """Return a Chinese address in one form: half-width, simplified, numerals as digits, without telephone numbers."""
    notes = []
    plain = unicodedata.normalize("NFKC", text[:MAX_TEXT]).translate(place_data().simplified)
    for pattern, note in (
        (_PHONE, "A telephone number was left aside."),
        (_BRACKETS, "What stands in brackets was left aside."),
    ):
        cut = pattern.sub(" ", plain)
        if cut != plain:
            notes.append(note)
        plain = cut
    plain = _RECIPIENT.sub("", plain.strip())
    plain = _LABELS.sub(" ", plain)
    plain = _NUMERAL.sub(lambda match: str(_value(match[0])), plain)
    return CleanText(re.sub(r"\s+", " ", plain).strip(" ,，。;；、"), tuple(notes))


def _value(numeral: str) -> int:
    """Return the number that a Chinese numeral says, with units (二百零八) or digit by digit (二〇八)."""
    if not set(numeral) & set(_UNITS):
        return int("".join(str(_DIGITS[char]) for char in numeral))
    total, digit = 0, 0
    for char in numeral:
        if char in _UNITS:
            total += (digit or 1) * _UNITS[char]
            digit = 0
        else:
            digit = _DIGITS[char]
    return total + digit
