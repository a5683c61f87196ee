"""Text from strangers made safe to repeat, and numbers with their nouns.

Owns what is dropped before a caller's words stand in an answer, an error or a log line: controls, bidirectional
overrides, invisible tag characters, line separators and halves of surrogate pairs, all of which can make a reader
(a person, a terminal or a model) see something other than what is there.
"""

import unicodedata
from typing import Final

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that show nothing, or change how the rest shows."""


def plain(text: str, limit: int = 100) -> str:
    """Return text on one line without hidden characters, cut to `limit` characters with an ellipsis."""
    cut = text[: 4 * limit]
    shown = "".join(char for char in cut if (char.isascii() and char.isprintable()) or _is_visible(char))
    return shown if len(shown) <= limit and len(cut) == len(text) else shown[: limit - 1] + "…"


def figure(value: float) -> str:
    """Return a number with all its digits and no more: "1234567.5", "0.3"; `:g` keeps six of them."""
    return f"{value:.15g}"


def clock(seconds: float) -> str:
    """Return seconds after midnight as `HH:MM`; hours run past 24 on a long day."""
    minutes = round(seconds / 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def _is_visible(char: str) -> bool:
    return unicodedata.category(char) not in _HIDDEN


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not one: "1 agent", "120 tickets"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
