"""What a text costs and how much of a list fits, so that answers stay small (SPEC T9).

What must never be exceeded is bounded in bytes, since no text has more tokens than UTF-8 bytes; what an answer usually
costs is estimated, for sentences and for tables apart.
"""

import re
from collections.abc import Sequence
from typing import Final, TypeVar

from planner_mcp.server.tools.tool_output import ToolOutput
from planner_mcp.text import compact

T = TypeVar("T")
_MARKS: Final = r"!-/:-@\[-`{-~"
_PIECE: Final = re.compile(rf"[{_MARKS}]?(?:[A-Z]?[a-z]{{1,3}}|[A-Z]{{1,2}})|[0-9]{{1,3}}|[{_MARKS}]+")
"""What ids are cut into: at each change from letters to digits, marks or capitals, and then every few characters."""


def tokens_of(plain: float, foreign: float) -> float:
    """Return about how many tokens (o200k) JSON and sentences cost: characters within ASCII, and beyond it."""
    return plain / 3.4 + 1.5 * foreign


def estimated_tokens(text: str) -> float:
    """Return about how many tokens (o200k) a text of JSON and sentences costs, rather too many than too few."""
    plain = sum(char.isascii() for char in text)
    return tokens_of(plain, len(text) - plain)


def table_tokens(text: str) -> float:
    """Return about how many tokens (o200k) a table of ids and numbers costs as JSON.

    Dearer by the character than sentences are: a UUID costs 24 tokens, twice what `tokens_of` takes it for.
    """
    plain = len(_PIECE.findall(text))
    return plain if text.isascii() else plain + len("".join(filter(_is_foreign, text)).encode()) / 2


def _is_foreign(char: str) -> bool:
    return not char.isascii()


def fitting(entries: Sequence[T], room_bytes: int) -> list[T]:
    """Return the first entries that together take no more room as JSON: no text has more tokens than bytes."""
    shown: list[T] = []
    for entry in entries:
        value = entry.as_json() if isinstance(entry, ToolOutput) else entry
        room_bytes -= len(compact(value).encode()) + 1
        if room_bytes < 0:
            break
        shown.append(entry)
    return shown
