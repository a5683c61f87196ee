"""What no argument may be, whatever the tool.

Owns the checks that come before any model: an object, not nested beyond measure, text that can be written as UTF-8,
numbers that JSON knows. The walk is a loop, so depth cannot exhaust the stack.
"""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from planner_mcp.errors import Fault, input_error
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.text import Json

MAX_FAULTS: Final = 20
"""Faults listed; others are counted alone, so that a million cost what it takes to see them."""

_Place = tuple[str | int, ...]
_Finding = tuple[_Place, str, str]
"""Where, what is wrong, what is accepted."""


def check_json(args: Any, *, max_nesting: int) -> Json:
    """Return the arguments if they are a JSON object that every later step can take.

    Raises:
        InvalidParameterError: With the first `MAX_FAULTS` faults.
    """
    if not isinstance(args, dict):
        raise input_error([Fault("", "The arguments are not an object.", "object")])
    found = _findings(args, max_nesting)
    if faults := [Fault(pointer(place), *words) for place, *words in islice(found, MAX_FAULTS)]:
        raise input_error(faults, most=MAX_FAULTS, found=len(faults) + sum(1 for _ in found))
    return args


def _findings(args: Json, max_nesting: int) -> Iterator[_Finding]:
    pending: list[tuple[_Place, Any]] = [((), args)]
    while pending:
        place, value = pending.pop()
        if isinstance(value, dict | list):
            if len(place) >= max_nesting:
                yield (*place[:4], "…"), "The value is nested too deeply.", f"{max_nesting} levels"
                continue
            entries = value.items() if isinstance(value, dict) else enumerate(value)
            pending.extend(((*place, key), entry) for key, entry in entries if not _is_harmless(key, entry))
        elif isinstance(value, str) and not _is_text(value):
            yield place, "The text holds half of a surrogate pair.", "valid Unicode text"
        elif isinstance(value, float) and not math.isfinite(value):
            yield place, "The number is not finite.", "a finite number"
        elif place and isinstance(place[-1], str) and not _is_text(place[-1]):
            yield place, "The name holds half of a surrogate pair.", "valid Unicode text"


def _is_harmless(key: str | int, value: Any) -> bool:
    """Return whether there is nothing to look at: the common case of large inputs, kept cheap."""
    if isinstance(key, str) and not _is_text(key):
        return False
    if isinstance(value, str):
        return value.isascii()
    return value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))


def _is_text(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
