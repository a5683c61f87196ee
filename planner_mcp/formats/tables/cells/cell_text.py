"""The text of a cell as it is compared, and how a column writes what a cell alone leaves open (SPEC T5).

Owns the bound of every pattern: text of a longer cell is empty here. What a text says is read by the modules of
numbers, times, windows and durations.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from planner_mcp.formats.tables.cells.unit_words import words_of
from planner_mcp.text import plain

MAX_CELL: Final = 200
"""Characters of a cell that may be a number or a time; a longer cell is none, and no pattern is tried on it."""
Decimal = Literal["", ".", ","]
"""The mark before decimals; empty where it is not known."""
BareTimes = Literal["", "hours", "decimals", "hhmm", "seconds", "days"]


@dataclass(frozen=True, slots=True)
class CellStyle:
    """How the cells of a column are written, where a cell alone may mean two things."""

    decimal: Decimal = ""
    """The mark before decimals; empty where `1,500` or `1.500` stays open."""
    bare_times: BareTimes = ""
    """What a number is in a column of times; `decimals` of hours, `8.25` is 08:15 then; of `days`, `0.375` is 09:00."""
    day_first: bool | None = None
    """Whether 07/08/2025 is a day of August; None where that is open."""
    planning_date: str = ""
    """The day that hours by weekday are read for."""
    has_halves: bool = False
    """Whether some times say am or pm, so that `1-4` beside them may be of either half of the day."""
    counted: str = ""
    """The word behind each number, where it is one that is not known as a unit: what is counted."""


PLAIN_STYLE: Final = CellStyle()
ALWAYS: Final = words_of(
    "- -- – — / any anytime always all_day allday none n/a na 24h 24/7 egal ganztags ganztagig jederzeit flexibel "
    "libre flexible toute_la_journee sans indifferent todo_el_dia cualquiera hele_dag tutto_il_giorno cały_dzien k.a. "
    "n.v.t. nvt 終日 指定なし 不限 全天 随时 无 均可 不限时"
)
"""Cells that say there is no limit, or nothing."""
_NOTHING: Final = words_of("na null none nvt ka keine keiner aucun aucune ninguno geen nessuno brak 无 没有")
_COMMAS: Final = re.compile(r"[,，、;；]")
_NO_WORD: Final = re.compile(r"[\W_]+")
_SIGNS: Final = str.maketrans(dict.fromkeys("✓✔√✅☑", "yes") | dict.fromkeys("✗✘❌☐", "no"))
"""Signs that answer yes or no."""
_BLANKS: Final = re.compile(r"\s+")
_CHINESE_NUMERALS: Final = {char: value for value, char in enumerate("一二三四五六七八九", 1)} | {"两": 2}
CHINESE_NUMBER: Final = r"([一二两三四五六七八九]?)(十?)([一二三四五六七八九]?)"
"""A number up to 99 in words, or none: its tens, ten and ones."""
_CHINESE_CLOCK: Final = re.compile(rf"{CHINESE_NUMBER}(?=[点點])")
"""The hour of a time in words: `六点半`."""


def shown(text: str) -> str:
    """Return a cell as a fault quotes it: short, on one line, in quotes."""
    return f'"{plain(text, 40)}"'


def simplified(text: str, most: int = MAX_CELL) -> str:
    """Return a cell in one width, without accents and case; empty for one of more than `most` characters."""
    bare = text if len(text) <= most else ""
    if not bare.isascii():
        wide = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", bare))
        bare = _CHINESE_CLOCK.sub(chinese_number, "".join(each for each in wide if not unicodedata.combining(each)))
    return _BLANKS.sub(" ", bare.casefold()).strip()


def chinese_number(found: re.Match[str]) -> str:
    """Return the digits of a Chinese number up to 99, matched as `CHINESE_NUMBER`; nothing else is changed."""
    tens, ten, ones = found.groups()
    if not (tens or ten or ones):
        return ""
    value = _CHINESE_NUMERALS.get(tens, 1 if ten else 0) * (10 if ten else 1)
    return str(value + _CHINESE_NUMERALS.get(ones, 0)) if ten or not ones else found[0]


def normalized_word(text: str) -> str:
    """Return a cell as a word to look up: without case, blanks and punctuation; `✓` as yes."""
    word = text[:MAX_CELL]
    return _NO_WORD.sub("", word if word.isascii() else word.translate(_SIGNS)).casefold()


def filled(cells: Iterable[str]) -> list[str]:
    """Return the cells that say something: more than blanks and punctuation."""
    return [cell for cell in cells if normalized_word(cell)]


def says_nothing(text: str) -> bool:
    """Return whether a cell is no more than a mark, or a word, for nothing: `-`, `n/a`."""
    word = normalized_word(text)
    return "?" not in text and (not word or word in _NOTHING)


def listed(text: str) -> list[str]:
    """Return the words of a cell between commas of any kind; those that say there is nothing are none."""
    words = (word.strip() for word in _COMMAS.split(text))
    return [word for word in words if word and word.casefold() not in ALWAYS]
