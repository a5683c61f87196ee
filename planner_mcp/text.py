"""Text from strangers made safe to repeat, numbers with their nouns, the first of many names, times, records,
JSON and digests.

Owns what is dropped before a caller's words stand in an answer, an error or a log line: controls, bidirectional
overrides, invisible tag characters, line separators and halves of surrogate pairs, all of which can make a reader
(a person, a terminal or a model) see something other than what is there.
"""

import hashlib
import json
import math
import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, overload

Json = dict[str, Any]
"""An object of JSON whose shape others decide: of JSON-RPC, a JSON Schema, a Lua step, a scenario as it was sent."""
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that show nothing, or change how the rest shows."""
DAY_S: Final = 86_400
"""Seconds of a day; a clock time of a day may be later."""
_BREAK: Final = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")
MAX_NAMED: Final = 5
"""Most ids listed in a sentence."""
MAX_NAMED_BYTES: Final = 200
"""Most bytes of the ids listed in a sentence, each with its quotes and comma."""
MASK: Final = "***"
"""What stands for a text that a reader may not see; what is hidden from whom is `jobs/masking/field_masking.py`."""
ATTRIBUTION: Final = "© OpenStreetMap contributors"
"""What the licence of OpenStreetMap (ODbL 1.0) asks to be shown with lines along its roads."""
LONG_NUMBER: Final = f"A number has more than {sys.int_info.default_max_str_digits} digits."
"""Python reads no longer ones (CVE-2020-10735); named where a JSON text is refused for it."""
_NOISE: Final = 1e-6
"""Tolerance for floating-point noise, in units of the last digit shown: a value this close to a digit becomes it."""
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def plain(text: str, limit: int = 100) -> str:
    """Return text on one line without hidden characters, cut to `limit` characters with an ellipsis.

    A line break becomes a blank: "Torstr. 1" over "10115 Berlin" is no house number 110115.
    """
    cut = text[: 4 * limit]
    line = cut if cut.isprintable() else _BREAK.sub(" ", cut).strip()
    shown = "".join(char for char in line if (char.isascii() and char.isprintable()) or _is_visible(char))
    return shown if len(shown) <= limit and len(cut) == len(text) else shown[: limit - 1] + "…"


def figure(value: float) -> str:
    """Return a number with all its digits and no more: "1234567.5", "0.3"; `:g` keeps six of them."""
    return f"{value:.15g}"


def decimals(value: float) -> str:
    """Return a number as people write it: "0.00001", where Python writes 1e-05."""
    text = str(value)
    return f"{value:.15f}".rstrip("0").rstrip(".") if "e-" in text else text


@overload
def number(value: float) -> float | int: ...
@overload
def number(value: None) -> None: ...
@overload
def number(value: float | None) -> float | int | None: ...
def number(value: float | None) -> float | int | None:
    """Return a number with at most two decimals, whole numbers without any."""
    if value is None:
        return None
    rounded = round(float(value), 2)
    return int(rounded) if rounded.is_integer() else rounded


def at_least(bound: float) -> float | int:
    """Return a lower bound with at most two decimals, rounded down: what it claims stays true."""
    whole = math.floor(bound * 100 + _NOISE)
    return whole // 100 if whole % 100 == 0 else whole / 100


def share_at_most(share: float) -> float:
    """Return a share in thousandths, rounded up: what it claims stays true. A share above 0 is never shown as 0."""
    return max(math.ceil(1000 * share - _NOISE), share > 0) / 1000


def nearest_minute(seconds: float) -> int:
    """Return seconds in whole minutes; half a one counts up, as on the page, and not to the even minute."""
    return math.floor(seconds / 60 + 0.5)


def clock(seconds: float) -> str:
    """Return seconds after midnight as `HH:MM`; hours run past 24 on a long day."""
    minutes = nearest_minute(seconds)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def clock_s(seconds: float) -> str:
    """Return seconds after midnight as `HH:MM:SS`; hours run past 24 on a long day."""
    whole = round(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def timestamp(moment: datetime) -> str:
    """Return a moment as ISO 8601 in UTC with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def compact(value: Any) -> str:
    """Return JSON without blanks, other scripts as themselves."""
    return _ENCODER.encode(value)


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _is_visible(char: str) -> bool:
    return unicodedata.category(char) not in _HIDDEN


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not one: "1 agent", "120 tickets"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def first_few(ids: Sequence[str], room_bytes: int = MAX_NAMED_BYTES) -> list[str]:
    """Return the first ids, as many as there is room for."""
    shown: list[str] = []
    for name in ids[:MAX_NAMED]:
        room_bytes -= len(name.encode()) + 3
        if room_bytes < 0:
            break
        shown.append(name)
    return shown


def named(ids: Sequence[str], count: int | None = None) -> str:
    """Return the first few ids, and how many more there are; of `count` in all, where `ids` are some of them."""
    shown = first_few(ids)
    more = (len(ids) if count is None else count) - len(shown)
    return ", ".join([*shown, *([f"{more} more"] if more else [])])


def plain_fields(record: Any) -> Json:
    """Return the fields of a record whose values are plain; `asdict` would copy each of them."""
    return {name: getattr(record, name) for name in record.__slots__}


def stated_fields(record: Any) -> Json:
    """Return the same without those that are None."""
    return {name: value for name in record.__slots__ if (value := getattr(record, name)) is not None}


def known_fields(record: Any, stored: Mapping[str, Any]) -> Json:
    """Return what was stored of the fields that a class of records has; another version may have written more."""
    return {name: stored[name] for name in record.__slots__ if name in stored}
