"""How answers are worded and kept small (SPEC T6, T9).

Owns what a text costs, how much of a list fits and the error an edge sends. Sizes are bounded in bytes, since no text
has more tokens than UTF-8 bytes.
"""

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from planner_mcp.errors import PlannerError, listing_only
from planner_mcp.text import compact
from planner_mcp.tools.base import ErrorResult

T = TypeVar("T")
MAX_ERROR_TOKENS: Final = 360
"""Estimated tokens one error may cost; faults beyond are counted, not listed."""


def estimated_tokens(text: str) -> float:
    """Return about how many tokens (o200k) a text of JSON and sentences costs, rather too many than too few."""
    plain = sum(char.isascii() for char in text)
    return plain / 3.4 + 1.5 * (len(text) - plain)


def fitting(entries: Sequence[T], room_bytes: int) -> list[T]:
    """Return the first entries that together take no more room as JSON: no text has more tokens than bytes."""
    shown: list[T] = []
    for entry in entries:
        room_bytes -= len(compact(entry).encode()) + 1
        if room_bytes < 0:
            break
        shown.append(entry)
    return shown


def error_result(error: PlannerError, trace_id: str) -> ErrorResult:
    """Return an error as a tool's answer."""
    body = error_body(error, trace_id)
    return ErrorResult(body, compact(body))


def error_body(error: PlannerError, trace_id: str) -> dict[str, Any]:
    """Return `error.as_json()` with as many faults as the budget holds, and `errors_omitted` where there are more."""
    body = error.as_json(trace_id)
    room = MAX_ERROR_TOKENS - estimated_tokens(compact({**body, "errors": []}))
    kept: list[dict[str, str]] = []
    for fault in body["errors"]:
        room -= estimated_tokens(compact(fault))
        if room < 0 and kept:
            break
        kept.append(fault)
    if len(kept) == len(body["errors"]):
        return body
    message = listing_only(body["message"], len(kept))
    return {**body, "message": message, "errors": kept, "errors_omitted": error.found - len(kept)}
