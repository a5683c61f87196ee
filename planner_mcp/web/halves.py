r"""Half a surrogate pair in a JSON text, found without parsing it.

Owns one rule of I-JSON (RFC 7493 §2.1): `"\ud800"` is JSON by its grammar, yet no Unicode text, and nothing that holds
it can be written as UTF-8 again: neither an answer that repeats an id nor a log line. The same half written in bytes is
no UTF-8, yet readers that take any encoding of JSON let it pass.
"""

import re
from typing import Final

HALF_A_PAIR: Final = "The body holds half of a surrogate pair."
_ANY_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_IN_BYTES: Final = re.compile(rb"\xed[\xa0-\xbf]")
_ESCAPE: Final = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_HIGH: Final = range(0xD800, 0xDC00)
_LOW: Final = range(0xDC00, 0xE000)


def has_half_pair(body: bytes | bytearray) -> bool:
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
