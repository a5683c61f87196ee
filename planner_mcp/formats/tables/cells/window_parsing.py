"""What the text of a cell says as time windows: hours, halves of a day, hours by weekday (SPEC T5).

Owns the forms in which people write these; words for weekdays are `weekday_hours.py`'s, times `time_parsing.py`'s.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import (
    ALWAYS,
    PLAIN_STYLE,
    CellStyle,
    normalized_word,
    shown,
    simplified,
)
from planner_mcp.formats.tables.cells.time_parsing import (
    HOUR_S,
    LATE,
    MINUTE_S,
    clock_seconds,
    date_in,
    half_fault,
    is_hhmm,
    lacks_half,
    one_sided,
    split_day,
    without_leading,
    written,
)
from planner_mcp.formats.tables.cells.unit_words import words_of
from planner_mcp.formats.tables.cells.weekday_hours import CLOSED, EACH_DAY, Segment, hours_by_weekday, names_holidays
from planner_mcp.routing.scenario.field_types import moment, read_date
from planner_mcp.routing.scenario.window_text import OPEN_END, OPEN_END_S
from planner_mcp.text import DAY_S

MAX_WINDOWS_CELL: Final = 1000
"""Characters of a cell that may be time windows, of which there may be fifty."""
Windows = Sequence[Sequence[Any]]
"""Each with its two times as the scenario takes them."""
_WINDOWS: Final = "windows such as 08:00-12:00, from 10:00 or until 12:00, several between semicolons"
BREAKS: Final = "hours such as 12:00-12:30"
_WEEKDAYS: Final = "Mo-Fr 09:00-17:00; Sa 10:00-14:00"
_WHOLE_DAY: Final = [(0.0, float(DAY_S - MINUTE_S))]
_HALF_DAYS: Final[Mapping[str, tuple[float, float]]] = {
    **dict.fromkeys(
        words_of(
            "sochtends smorgens voormiddag rano dimattina "
            "am morning inthemorning forenoon vormittag vormittags amvormittag vorm morgens matin lematin matinee "
            "manana mañana porlamanana ochtend mattina mattino manha demanha dopoledne formiddag 上午 午前 午前中"
        ),
        (0.0, 12.0 * HOUR_S),
    ),
    **dict.fromkeys(
        words_of(
            "smiddags namiddag nelpomeriggio "
            "pm afternoon intheafternoon nachmittag nachmittags amnachmittag nachm apresmidi lapresmidi porlatarde "
            "pomeriggio popołudniu tarde middag odpoledne eftermiddag 下午 午後"
        ),
        (12.0 * HOUR_S, 18.0 * HOUR_S),
    ),
}
"""Words for a half of the day, as windows; `mañana` alone is tomorrow too, and an evening begins at no known hour."""
_BETWEEN: Final = re.compile(r"[;；、|]|,(?!\d)|,(?=\d{1,2}[:h点])| / |/(?=\d{1,2}[:h点])")
_AND: Final = re.compile(r"\b(?:and|und|et|y|en|e|sowie|oder|ou|or(?! later| earlier))\b|\bu\.|&|和|及|以及")
_PAIRED: Final = re.compile(r"(?:between|betw|btw|zwischen|zw|tussen|tra le|entre(?: las)?)\b\.?")
_RANGE: Final = re.compile(r"[-‐−–—~〜～→]+|至|到|\b(?:to|till|until|bis|a|au|tot|alle|do|as|hasta|jusqu'? ?a)\b")
_NEXT_DAY: Final = re.compile(r"; ?(?=\d{4}-\d\d-\d\d)")
"""Where the windows of another day begin, as an export writes them."""
_DELIVERED: Final = re.compile(r"(?:送达|送到|送货|配送|到货)(?=$|[;；,，、])")
"""What may stand behind hours and says nothing of them."""
_NAMED_HOURS: Final = re.compile(r"(?P<part>[^\d()]{1,40}+)\((?P<hours>[^(),;、/]*\d[^(),;、/]*)\)")
"""Hours behind the part of the day that they are, as forms offer them: `morning (8am-12pm)`."""
_BEFORE_FIGURE: Final = re.compile(r"(?=\d)")
_PARTS_OF_DAY: Final[Mapping[str, str]] = {
    **{word: "下午" if opens else "上午" for word, (opens, _) in _HALF_DAYS.items()},
    **dict.fromkeys(words_of("evening abend abends soir noche sera avond 傍晚 晚上"), "晚上"),
    **dict.fromkeys(words_of("lunchtime midday mittag mittags midi mediodia 中午"), "中午"),
    "早上": "早上",
}
"""Words for a part of the day, with the one that may stand before an hour: `下午1-5` is from one in the afternoon."""
_HOURS_OF_DAY: Final = re.compile(r"([01]\d|2[0-3]):(\d\d)")


def windows_in(text: str, path: str, style: CellStyle = PLAIN_STYLE) -> list[list[str]] | Fault:
    """Return the time windows of a cell, such as `08:00-12:00; 14:00-16:00`, as the scenario takes them.

    There are none where the cell says so, as `-` and `不限` do. Lines are windows of their own where they are no
    window together, as `from 8:00` above `to 12:00` is.
    """
    if len(text) > MAX_WINDOWS_CELL:
        return Fault(path, f"The cell has {len(text)} characters.", f"time windows in at most {MAX_WINDOWS_CELL}")
    read = _windows_in(text, path, style)
    lines = text.strip().splitlines()
    if not isinstance(read, Fault) or len(lines) < 2:
        return read
    by_line = _windows_in(";".join(lines), path, style)
    return read if isinstance(by_line, Fault) else by_line


def breaks_in(text: str, path: str, style: CellStyle = PLAIN_STYLE) -> list[list[str]] | Fault:
    """Return the hours of breaks as windows are read; each says both of its sides."""
    if any(map(_open_window, _parts(simplified(text, MAX_WINDOWS_CELL)))):
        return Fault(path, f"{shown(text)} has no begin and end.", BREAKS)
    return windows_in(text, path, style)


def names_weekdays(text: str) -> bool:
    """Return whether the hours of a cell depend on the weekday."""
    simple = _simple(text)
    return split_day(simple, PLAIN_STYLE) is None and bool(hours_by_weekday(simple))


def day_of_weekdays(text: str, planning_date: str) -> str:
    """Return the planning date, or the next day after it, of a cell that names weekdays and no hours; else nothing."""
    segments = hours_by_weekday(_simple(text))
    days = frozenset[int]().union(*(named for named, _ in segments))
    try:
        first = read_date(planning_date)
    except ValueError:
        return ""
    ahead = min(((day - first.weekday()) % 7 for day in days), default=None)
    is_bare = not any(rest for _, rest in segments)
    return "" if ahead is None or not is_bare else (first + timedelta(days=ahead)).isoformat()


def named_day(text: str, style: CellStyle) -> str:
    """Return the day that a cell says by its date and no time, or by weekdays; empty where it says none."""
    return date_in(text, style) or day_of_weekdays(text, style.planning_date)


def names_half_days(text: str) -> bool:
    """Return whether a window of a cell is a half of the day, named by a word."""
    simple = _simple(text)
    dated = split_day(simple, PLAIN_STYLE)
    return any(normalized_word(part) in _HALF_DAYS for part in _parts(dated[1] if dated else simple))


def says_holidays(text: str) -> bool:
    """Return whether the hours of a cell name public holidays, which are not known."""
    return names_holidays(simplified(text, MAX_WINDOWS_CELL))


def next_day_end(opens: Any, closes: Any) -> str | None:
    """Return the end of hours that pass midnight, such as 22:00-06:00, in hours of the first day: 30:00.

    Hours that begin in the morning, or would last for more than half a day, are rather a mistake: there is none.
    Those from midnight to midnight are the whole day, as programs write where nothing is limited.
    """
    sides = [_HOURS_OF_DAY.fullmatch(each) if isinstance(each, str) else None for each in (opens, closes)]
    begin, end = (int(side[1]) * HOUR_S + int(side[2]) * MINUTE_S if side else -1 for side in sides)
    half_day = DAY_S // 2
    passes = 0 <= end < begin and begin >= half_day and end + half_day <= begin
    return written(end + DAY_S) if passes or begin == end == 0 else None


def next_day_begin(begin: Any, shift_start: Any, shift_end: Any) -> str | None:
    """Return the begin of a break after the midnight that a shift passes, in hours of its first day: 26:00."""
    try:
        at, first, last = (moment(each, {}) for each in (begin, shift_start, shift_end))
    except ValueError:  # no times, which is a fault of the day
        return None
    later = at + DAY_S
    return written(later) if at < first and later < last else None


def after_midnight(window: Sequence[Any], first: float, last: float) -> list[Any] | None:
    """Return a window after the midnight that all shifts pass, in hours of their first day: 26:00-29:30.

    Args:
        window: As the scenario takes it.
        first: Begin of the first shift, in seconds.
        last: End of the last shift, after midnight.
    """
    try:
        opens, closes = (moment(side, {}) for side in window)
    except ValueError:  # of another day, or a fault of the day
        return None
    if opens >= first or opens + DAY_S >= last or first < closes <= DAY_S:
        return None
    return [written(opens + DAY_S), window[1] if closes > DAY_S else written(closes + DAY_S)]


def are_same_windows(one: Windows, other: Windows) -> bool:
    """Return whether windows are of the same hours, however these are written."""
    try:
        first, second = ([[moment(side, {}) for side in window] for window in windows] for windows in (one, other))
    except ValueError:  # no times, which is a fault of the day
        return False
    return first == second


def common_windows(windows: Windows, hours: Windows) -> list[list[Any]]:
    """Return what windows have in common with hours beside them; nothing where they share no time, or have no times."""
    found = []
    for opens, closes in windows:
        for begin, end in hours:
            try:
                first = max(opens, begin, key=lambda side: moment(side, {}))
                last = min(closes, end, key=lambda side: moment(side, {}))
                if moment(first, {}) < moment(last, {}):
                    found.append([first, last])
            except ValueError:  # of another day, or a fault of the day
                return []
    return found


def _simple(text: str) -> str:
    return _DELIVERED.sub("", simplified(text, MAX_WINDOWS_CELL))


def _windows_in(text: str, path: str, style: CellStyle) -> list[list[str]] | Fault:
    if len(days := _NEXT_DAY.split(text)) > 1:
        found = [_windows_in(each, path, style) for each in days]
        windows_of_days = [window for each in found if not isinstance(each, Fault) for window in each]
        return next((each for each in found if isinstance(each, Fault)), windows_of_days)
    simple = _simple(text)
    named = _NAMED_HOURS.fullmatch(simple)
    if named and (period := _PARTS_OF_DAY.get(normalized_word(named["part"]))):
        simple = _BEFORE_FIGURE.sub(period, named["hours"], count=1)
    if simple.replace(" ", "_") in ALWAYS:
        return []
    day = ""
    if dated := split_day(simple, style):
        day, simple = dated
    elif segments := hours_by_weekday(simple):
        return _weekday_windows(segments, text, path, style)
    windows = _windows(simple)
    if not windows or day == "?":
        hint = "Write both hours, any where there is no limit, or leave the column out."
        return Fault(path, f"{shown(text)} is no time window.", _WINDOWS, hint)
    if _lack_half(simple, windows, style):
        return half_fault(text, path)
    return [[_on_day(day, side, style) for side in window] for window in windows]


def _weekday_windows(segments: list[Segment], text: str, path: str, style: CellStyle) -> list[list[str]] | Fault:
    """Return the windows of the planning date, or of the next day that is open: nobody can be served before."""
    hours = [(days, _WHOLE_DAY if not rest else [] if rest in CLOSED else _windows(rest)) for days, rest in segments]
    if any(not windows and rest not in CLOSED for (_days, rest), (_, windows) in zip(segments, hours, strict=True)):
        hint = "Write days and hours so; an hour alone is written as until 12:00 or from 12:00."
        return Fault(path, f"{shown(text)} is no time window.", _WEEKDAYS, hint)
    if any(_lack_half(rest, windows, style) for (_days, rest), (_, windows) in zip(segments, hours, strict=True)):
        return half_fault(text, path)
    if not any(windows for _days, windows in hours):  # only days off are named
        hours.append((EACH_DAY.difference(*(days for days, _windows_of in segments)), _WHOLE_DAY))
    try:
        first = read_date(style.planning_date)
    except ValueError:
        return Fault(path, f"The hours of {shown(text)} depend on the weekday.", "planning_date as YYYY-MM-DD")
    for ahead in range(7):
        on = first + timedelta(days=ahead)
        windows = [window for days, found in hours if on.weekday() in days for window in found]
        if windows == _WHOLE_DAY and not ahead:
            return []
        if windows:
            day = on.isoformat() if ahead else ""
            return [[_on_day(day, side, style) for side in window] for window in windows]
    return Fault(path, f"{shown(text)} is open on no day.", _WEEKDAYS)


def _windows(simple: str) -> list[tuple[float, float]]:
    """Return the windows of a text in seconds; none where any part of it is none."""
    if paired := _PAIRED.match(simple):
        simple = _AND.sub("-", simple[paired.end() :], count=1)
    parts = [] if _AND.match(simple) else _parts(simple)  # E-01 names an order
    found = [_window(part) for part in parts]
    windows = [window for window in found if window is not None]
    if len(windows) == len(parts) == 2:
        (begins, last), (first, ends) = sorted(windows, reverse=True)
        if last == OPEN_END_S and first == 0 < begins < ends:  # from 8, until 12
            return [(begins, ends)]
    return windows if len(windows) == len(parts) else []


def _lack_half(simple: str, windows: Sequence[tuple[float, float]], style: CellStyle) -> bool:
    """Return whether a window of a text may be of either half of the day; one that ends at 14:00 is of neither."""
    parts = _parts(simple)
    texts = parts if len(parts) == len(windows) else [simple] * len(windows)
    return any(
        lacks_half(part, opens or closes, style) and not DAY_S / 2 < closes <= DAY_S
        for part, (opens, closes) in zip(texts, windows, strict=True)
    )


def _parts(simple: str) -> list[str]:
    """Return what stands between the separators of a cell of windows."""
    return [part.strip() for each in _AND.split(simple) for part in _BETWEEN.split(each) if part.strip()]


def _window(part: str) -> tuple[float, float] | None:
    """Return begin and end of one window in seconds."""
    sides = [side.strip() for side in _RANGE.split(part, maxsplit=2)]
    are_both = len(sides) == 2 and all(sides)
    if are_both and (both := _both(without_leading(sides[0]), sides[1].removeprefix("las ").strip())):
        return both
    return _open_window(part)


def _open_window(part: str) -> tuple[float, float] | None:
    """Return begin and end of a window of which one side is said, or a half of the day."""
    if half := _HALF_DAYS.get(normalized_word(part)):
        return half
    if (begin := one_sided(part, is_end=False)) is not None:
        return begin, OPEN_END_S
    end = one_sided(part, is_end=True)
    if end is None and part.startswith(("-", "–", "~")):
        end = clock_seconds(part[1:].strip(), may_be_bare=True, is_end=True)
    return None if end is None else (0.0, end)


def _both(begin: str, end: str) -> tuple[float, float] | None:
    """Return the sides of a window; a half of the day that only its end names holds for both where it can."""
    if all(len(side) == len("0830") and is_hhmm(side) for side in (begin, end)):
        begin, end = f"{begin[:2]}:{begin[2:]}", f"{end[:2]}:{end[2:]}"
    closes = clock_seconds(end, may_be_bare=True, is_end=True)
    opens = clock_seconds(begin, may_be_bare=True)
    if opens is None or closes is None or ("." in begin and ":" in end):
        return None
    half = end.rstrip(".")[-2:]
    if begin.replace(":", "").isdecimal() and half in ("am", "pm"):
        later = clock_seconds(f"{begin}{half}", may_be_bare=True)
        opens = later if later is not None and later < closes else opens
    if begin.isdecimal() and opens == closes > 0:  # six to six, or at six
        return None
    if (late := next((each for each in LATE if begin.startswith(each)), "")) and end[:1].isdigit() and closes <= opens:
        closes = clock_seconds(f"{late}{end}", may_be_bare=True, is_end=True) or closes
    return opens, closes


def _on_day(day: str, seconds: float, style: CellStyle) -> str:
    """Return an hour of a day, which may be one of the next: 26:00."""
    hour = written(seconds)
    if not day or (hour == OPEN_END and day == style.planning_date):
        return hour
    later, rest_s = divmod(seconds, DAY_S)
    try:
        return f"{date.fromisoformat(day) + timedelta(later)}T{written(rest_s)}"
    except ValueError:  # there is no such day, which the scenario says
        return f"{day}T{hour}"
