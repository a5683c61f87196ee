"""Names of streets and house numbers in the form in which they are compared.

Owns abbreviations and what one number of a register stands for. All spellings of a street have one key: `Haupt Str.`
and `Hauptstraße`, `Main St` and `Main Street`.
"""

import re
import unicodedata
from typing import Final

from planner_mcp.addresses.place_data import fold

_LAST_WORDS: Final = {
    "st": "street", "str": "strasse", "rd": "road", "ave": "avenue", "av": "avenue", "ln": "lane", "dr": "drive",
    "blvd": "boulevard", "pl": "place", "sq": "square", "ct": "court", "cres": "crescent", "hwy": "highway",
    "pkwy": "parkway", "ter": "terrace", "terr": "terrace", "cl": "close",
}  # fmt: skip
_FIRST_WORDS: Final = {
    "av": "avenue", "avda": "avenida", "bd": "boulevard", "blvd": "boulevard", "pl": "place", "c": "calle",
}  # fmt: skip
_MAX_RANGE: Final = 40
"""Numbers that a range may span, so that `1-999` is no range."""
_RANGE: Final = re.compile(r"(\d{1,5})\s*[-–~]\s*(\d{1,5})$")
_NUMBER: Final = re.compile(r"(\d{1,5})")


def street_key(name: str) -> str:
    """Return what all spellings of the name of a street have in common; empty for a text without letters."""
    words = fold(unicodedata.normalize("NFKC", name)).split()
    if len(words) > 1:
        words[-1] = _LAST_WORDS.get(words[-1], words[-1])
        words[0] = _FIRST_WORDS.get(words[0], words[0])
    joined = "".join(words)
    return re.sub(r"str$", "strasse", joined) if len(joined) > len("str") else joined


def address_numbers(text: str) -> list[str]:
    """Return the house numbers that a text stands for: `12 A` is 12a, `5;7` and `5-7` are 5 and 7."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("号", "")
    found: list[str] = []
    for part in re.split(r"[;,]", plain):
        written = re.sub(r"\s+", "", part)
        if match := _RANGE.fullmatch(written):
            first, last = sorted((int(match[1]), int(match[2])))
            step = 2 if (last - first) % 2 == 0 else 1
            found += map(str, range(first, last + 1, step)) if last - first <= _MAX_RANGE else (match[1], match[2])
        elif written:
            found.append(written)
    return list(dict.fromkeys(found))


def leading_number(number: str) -> int | None:
    """Return the number before letters: 12 of 12a; None where there is none."""
    match = _NUMBER.match(number)
    return int(match[1]) if match else None
