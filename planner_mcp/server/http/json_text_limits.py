"""Two checks of a JSON text before it is parsed: its nesting depth, and whether it holds half of a surrogate pair.

Owns both rules and the messages of their refusals; each takes time in proportion to the text. Depth is bounded
because parsers recurse. Half a pair is refused by I-JSON (RFC 7493 §2.1): the escape is valid JSON, but it is no
Unicode text and cannot be written as UTF-8 again, neither in an answer that repeats an id nor in a log line. Half a
pair written in bytes is not UTF-8, but parsers that accept any encoding of JSON accept it.
"""

import re
from typing import Final

LONE_SURROGATE: Final = "The body holds half of a surrogate pair."
_ANY_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_IN_BYTES: Final = re.compile(rb"\xed[\xa0-\xbf]")
_ESCAPE: Final = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_HIGH: Final = range(0xD800, 0xDC00)
_LOW: Final = range(0xDC00, 0xE000)
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


def has_lone_surrogate(body: bytes | bytearray) -> bool:
    """Return whether bytes or an escape stand for half a pair whose other half does not follow."""
    if _IN_BYTES.search(body) is not None:
        return True
    if _ANY_HALF.search(body) is None:
        return False
    opened_at = -1  # where the low half of an open pair must begin
    for escape in _ESCAPE.finditer(body):
        code = int(escape[1], 16) if escape[1] else 0
        is_open = opened_at >= 0
        if is_open != (code in _LOW) or (is_open and escape.start() != opened_at):
            return True
        opened_at = escape.end() if code in _HIGH else -1
    return opened_at >= 0
