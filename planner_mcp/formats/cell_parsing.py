"""What the text of a cell says: a number, a time, a day, a list of words (SPEC T5).

Owns what can be read in one way alone. What may mean two things is a fault, as is what means nothing.
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.field_types import moment

Windows = Sequence[Sequence[Any]]
"""Each with its two times as the scenario takes them."""
_HOURS: Final = 48
"""A bare number up to here could be an hour."""
_CLOCK: Final = re.compile(r"0[1-9]\d\d")
"""An hour without its colon: nobody writes seconds like this."""
_DAYS: Final = range(43831, 51502)
"""Days as spreadsheets count them, of the years 2020 to 2040: a time whose format was lost. As seconds: about noon."""
_MINUTE_S: Final = 60
_GROUPED: Final = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
"""A number whose commas can part thousands."""
_DATE: Final = r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?"
_DAY: Final = re.compile(rf"{_DATE}(?:[T ]+0?0:00(?::00)?)?")
_MOMENT: Final = re.compile(rf"{_DATE}[T ]+(\d{{1,2}}):(\d\d)(?::(\d\d))?")
_HALF_DAY: Final = re.compile(r"(0?[1-9]|1[0-2]):(\d\d)(?::(\d\d))? ?([ap])\.?m\.?", re.IGNORECASE)
_HOUR: Final = r"\d{1,2}:\d\d(?::\d\d)?(?: ?[apAP]\.?[mM]\.?)?"
_WINDOW: Final = re.compile(rf"({_HOUR})\s*(?:[-–—~～至到]|to)\s*({_HOUR})")
_ALWAYS: Final = frozenset(
    {"-", "--", "–", "—", "/", "any", "anytime", "all day", "none", "不限", "全天", "随时", "无"}
)
"""Cells of a column of windows that say there is none."""
_BETWEEN: Final = re.compile(r"[;；,，、|/\n]")
_COMMAS: Final = re.compile(r"[,，、;；]")
_NO_WORD: Final = re.compile(r"[\W_]+")
MAX_CELL: Final = 200
"""Characters of a cell that may be a number or a time; a longer cell is none, and no pattern is tried on it."""
MAX_WINDOWS_CELL: Final = 1000
"""The same of a cell of time windows, which may be fifty."""
_TIMES: Final = "HH:MM, YYYY-MM-DDTHH:MM, or seconds"
_UNGROUPED: Final = frozenset({"lat", "lon", "depot"})
"""What has no thousands."""


def number_in(text: str, name: str, path: str, *, delimiter: str = "") -> float | Fault:
    """Return the number of a cell; commas before a point, or several of them, part thousands.

    Args:
        text: Of the cell.
        name: Of its field.
        path: Where it stands.
        delimiter: Of the file's cells. Where that is a semicolon, a comma is most often the decimal one.
    """
    text = text[: MAX_CELL + 1].replace("，", ",")
    if len(text) > MAX_CELL:
        return Fault(path, f"The cell of {name} is not a number.", "a number", "")
    if name not in _UNGROUPED and _GROUPED.fullmatch(text):
        if delimiter == ";" and text.count(",") == 1 and "." not in text:
            hint = "Leave the comma out, or write a point for it."
            return Fault(path, "The comma may part thousands, or decimals.", "a number", hint)
        text = text.replace(",", "")
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or "_" in text:
        hint = "Write decimals with a point." if "," in text else ""
        return Fault(path, f"The cell of {name} is not a number.", "a number", hint)
    return int(number) if number.is_integer() else number


def time_in(text: str, path: str) -> float | str | Fault:
    """Return a time as the scenario takes it: seconds as a number, any other form as it stands or in its ISO form."""
    if len(text) > MAX_CELL:
        return Fault(path, "The cell is not a time.", _TIMES)
    text = text.replace("：", ":")
    if moment := _MOMENT.fullmatch(text):
        year, month, day, hour, minute, second = (part or "0" for part in moment.groups())
        return f"{year}-{month:>02}-{day:>02}T{hour:>02}:{minute}:{second:>02}"
    if _DAY.fullmatch(text):
        return Fault(path, "The cell has a day, and no time.", _TIMES, "Add the time, or leave the column out.")
    if ":" in text or "T" in text:
        return _clock(text)
    number = number_in(text, "time", path)
    if isinstance(number, Fault):
        return Fault(path, "The cell is not a time.", _TIMES)
    if 0 < number <= _HOURS or _CLOCK.fullmatch(text):
        return Fault(path, "The cell may mean hours or seconds.", "HH:MM")
    if int(number) in _DAYS and number % _MINUTE_S:
        return Fault(path, "The cell may mean seconds, or a day that lost its format.", "HH:MM, or YYYY-MM-DDTHH:MM")
    return number


def windows_in(text: str, path: str) -> list[list[str]] | Fault:
    """Return the time windows of a cell, such as `08:00-12:00; 14:00-16:00`, as the scenario takes them.

    There are none where the cell says so, as `-` and `不限` do.
    """
    if text[:MAX_CELL].casefold() in _ALWAYS:
        return []
    if len(text) > MAX_WINDOWS_CELL:
        return Fault(path, f"The cell has {len(text)} characters.", f"time windows in at most {MAX_WINDOWS_CELL}", "")
    parts = [part.strip() for part in _BETWEEN.split(text.replace("：", ":")) if part.strip()]
    windows = [window for part in parts if (window := _WINDOW.fullmatch(part))]
    if len(windows) < len(parts) or not parts:
        accepted, hint = "HH:MM-HH:MM, several between semicolons", "Write both hours, or leave the column out."
        return Fault(path, "The cell is no time window.", accepted, hint)
    return [[_clock(side) for side in window.groups()] for window in windows]


def are_no_windows(texts: Iterable[str]) -> bool:
    """Return whether cells are something else than time windows: some cannot be read, and none has one."""
    read = [windows_in(text, "") for text in texts]
    return any(isinstance(each, Fault) for each in read) and not any(isinstance(each, list) and each for each in read)


def are_same_windows(one: Windows, other: Windows) -> bool:
    """Return whether windows are of the same hours, however these are written."""
    try:
        first, second = ([[moment(side, {}) for side in window] for window in windows] for windows in (one, other))
    except ValueError:  # no times, which is told of the day
        return False
    return first == second


def _clock(text: str) -> str:
    """Return a time of half a day by the hours of a whole one, any other as it stands."""
    half = _HALF_DAY.fullmatch(text)
    if half is None:
        return text
    hour = int(half[1]) % 12 + 12 * (half[4] in "pP")
    return f"{hour:02d}:{half[2]}:{half[3] or '00'}"


def date_in(text: str) -> str:
    """Return the day of a cell that says one and no time, as YYYY-MM-DD; empty where it says none."""
    found = _DAY.fullmatch(text[: MAX_CELL + 1])
    return f"{found[1]}-{found[2]:>02}-{found[3]:>02}" if found else ""


def normalized_word(text: str) -> str:
    """Return a cell as a word to look up: without case, blanks and punctuation."""
    return _NO_WORD.sub("", text[:MAX_CELL]).casefold()


def listed(text: str) -> list[str]:
    """Return the words of a cell between commas of any kind."""
    words = (word.strip() for word in _COMMAS.split(text))
    return [word for word in words if word]
