"""What a text costs and how much of a list fits, so that answers stay small (SPEC T9).

Sizes are bounded in bytes, since no text has more tokens than UTF-8 bytes.
"""

from collections.abc import Sequence
from typing import TypeVar

from planner_mcp.text import compact

T = TypeVar("T")


def tokens_of(plain: float, foreign: float) -> float:
    """Return about how many tokens (o200k) JSON and sentences cost: characters within ASCII, and beyond it."""
    return plain / 3.4 + 1.5 * foreign


def estimated_tokens(text: str) -> float:
    """Return about how many tokens (o200k) a text of JSON and sentences costs, rather too many than too few."""
    plain = sum(char.isascii() for char in text)
    return tokens_of(plain, len(text) - plain)


def fitting(entries: Sequence[T], room_bytes: int) -> list[T]:
    """Return the first entries that together take no more room as JSON: no text has more tokens than bytes."""
    shown: list[T] = []
    for entry in entries:
        room_bytes -= len(compact(entry).encode()) + 1
        if room_bytes < 0:
            break
        shown.append(entry)
    return shown
