"""How deep a JSON text nests, found without parsing it and in linear time."""

import re
from typing import Final

_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_OTHERS: Final = bytes(set(range(256)) - set(b"[]{}"))
_ONE_KIND: Final = bytes.maketrans(b"{}", b"[]")


def is_deeper(body: bytes | bytearray, limit: int) -> bool:
    """Return whether brackets nest deeper than `limit`; text inside strings does not count.

    Each pass takes the innermost pairs away, all at once. What is left after `limit` passes was deeper, or no JSON.
    """
    if body.count(b"[") + body.count(b"{") <= limit:
        return False
    rest = _STRING.sub(b"", body).translate(_ONE_KIND, _OTHERS)
    for _ in range(limit):
        fewer = rest.replace(b"[]", b"")
        if len(fewer) == len(rest):
            break
        rest = fewer
    opening = rest.count(b"[")
    return opening > limit or (opening > 0 and 2 * opening == len(rest))


def too_deep(limit: int) -> str:
    """Return how the refusal of a body that nests deeper is put."""
    return f"The body nests deeper than {limit} levels."
