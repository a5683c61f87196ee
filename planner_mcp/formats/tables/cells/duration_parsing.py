"""What the text of a cell says as a duration: with units, as hours and minutes, or in words (SPEC T5).

Owns the forms in which people write these; words for units are `unit_words.py`'s.
"""

import re
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import (
    CHINESE_NUMBER,
    PLAIN_STYLE,
    CellStyle,
    chinese_number,
    shown,
    simplified,
)
from planner_mcp.formats.tables.cells.number_parsing import number_in
from planner_mcp.formats.tables.cells.time_parsing import HOUR_S, MINUTE_S
from planner_mcp.formats.tables.cells.unit_words import SECONDS_OF_UNIT
from planner_mcp.text import DAY_S

_DURATIONS: Final = "15 min, 0:15, 1h30 or a number"
_DURATION_PARTS: Final = re.compile(r"(\d+(?:[.,]\d+)?|半)\s*(个?[a-z\u4e00-\u9fff'’′\"″]+)?\.?\s*")
_QUARTER: Final = r"(?:stunden?|of an hour|hours?|d['’ ]?heure|de hora)"
_SPOKEN: Final = tuple(
    (re.compile(pattern), digits)
    for pattern, digits in (
        (rf"\b(?:drei ?viertel ?|three quarters |trois quarts |tres cuartos ){_QUARTER}", "45 min"),
        (rf"\b(?:(?:eine|an?|one|un) )?(?:viertel ?|quarter |quart |cuarto ){_QUARTER}", "15 min"),
        (r"\b(?:anderthalb|eineinhalb) stunden?", "90 min"),
        (r"\b(?:(?:une|una|1) )?(?:heure et demie|hora y media)", "90 min"),
        (r"\b(?:(?:eine|une) )?(?:halbe ?stunde|demi[- ]heure|media hora|half (?:an )?hour)", "30 min"),
        (r"\b(?:an?|one|eine?|une?|una?)(?= (?:hours?|minutes?|stunden?|minuten?|heures?|horas?|minutos?)\b)", "1"),
    )
)
"""Durations that people write in words, after all their accents are gone."""
_CHINESE_NUMBER: Final = re.compile(rf"{CHINESE_NUMBER}(?=个?半?(?:小时|钟头|刻|分|秒))")
_CHINESE_QUARTERS: Final = re.compile(r"(\d{1,3})刻钟?")
_AND_A_HALF: Final = re.compile(r"(\d{1,3})个半(?:小时|钟头)")
_SPAN: Final = re.compile(r"(\d{1,3}):(\d\d)(?::(\d\d))?(?:\s?h)?")
_MINUTES: Final = re.compile(r"(?!0?0:\d\d:)(\d{1,3}):(\d\d)(?::00)?")


def duration_in(
    text: str, path: str, *, unit_s: float, style: CellStyle = PLAIN_STYLE, are_minutes: bool = False
) -> float | Fault:
    """Return a duration in seconds.

    Args:
        unit_s: Seconds of one where the cell says no unit; 0 where nobody says it. Parts of a day are whole minutes.
        are_minutes: Whether `12:30` is of minutes and seconds, and so `12:30:00`, as which a spreadsheet keeps it.
    """
    simple = simplified(text)
    fault = Fault(path, f"{shown(text)} is not a duration.", _DURATIONS)
    minutes = _MINUTES.fullmatch(simple) if are_minutes else None
    seconds = _duration(f"0:{minutes[1]:0>2}:{minutes[2]}" if minutes else simple)
    if seconds is not None:
        return int(seconds) if seconds.is_integer() else seconds
    number = number_in(text, "service time", path, style if style.decimal else CellStyle(","))
    if isinstance(number, Fault) or number < 0 or (not unit_s and number):
        return fault
    return 60 * round(number * unit_s / 60) if unit_s == DAY_S else number * unit_s


def is_duration(text: str) -> bool:
    """Return whether a cell is a duration that says its unit: `15 min`, not `0:15`."""
    simple = simplified(text)
    return _SPAN.fullmatch(simple) is None and _duration(simple) is not None


def _duration(simple: str) -> float | None:
    """Return the seconds of a duration with its unit, or of hours and minutes; None where it has neither."""
    if span := _SPAN.fullmatch(simple):
        hours, minutes, seconds = (int(part or 0) for part in span.groups())
        return float(hours * HOUR_S + minutes * MINUTE_S + seconds) if minutes < 60 and seconds < 60 else None
    simple = _in_digits(simple)
    at, total, last = 0, 0.0, 0.0
    while at < len(simple):
        part = _DURATION_PARTS.match(simple, at)
        if part is None:
            return None
        unit = SECONDS_OF_UNIT.get(part[2] or "")
        if not part[2] and last == HOUR_S:  # 1h30
            unit = 60.0
        if unit is None or (last and unit >= last):
            return None
        total += (0.5 if part[1] == "半" else float(part[1].replace(",", "."))) * unit
        at, last = part.end(), unit
    return total if last else None


def _in_digits(simple: str) -> str:
    """Return a duration with the numbers that it has as words in digits: `halbe Stunde`, `一刻钟`."""
    for pattern, digits in _SPOKEN:
        simple = pattern.sub(digits, simple)
    simple = _CHINESE_NUMBER.sub(chinese_number, simple)
    simple = _AND_A_HALF.sub(lambda found: f"{found[1]}小时30分", simple)
    return _CHINESE_QUARTERS.sub(lambda found: f"{15 * int(found[1])}分", simple)
