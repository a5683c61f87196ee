"""How deep a JSON text nests, found without parsing it."""

import re
from typing import Final

_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_BRACKET: Final = re.compile(rb"[\[\]{}]")


def is_deeper(body: bytes | bytearray, limit: int) -> bool:
    """Return whether brackets nest deeper than `limit`; text inside strings does not count."""
    if body.count(b"[") + body.count(b"{") <= limit:
        return False
    depth = 0
    for bracket in _BRACKET.finditer(_STRING.sub(b"", body)):
        depth += 1 if bracket[0] in b"[{" else -1
        if depth > limit:
            return True
    return False
