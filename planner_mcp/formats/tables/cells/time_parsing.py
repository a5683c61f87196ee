"""What the text of a cell says as a day or a time of day (SPEC T5).

Owns the forms in which people write these. What may mean two things is read as the style of its column says
(`column_style.py` settles it); what stays open is a fault, as is what means nothing.
"""

import math
import re
from datetime import date, timedelta
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import ALWAYS, MAX_CELL, PLAIN_STYLE, CellStyle, shown, simplified
from planner_mcp.formats.tables.cells.number_parsing import number_in
from planner_mcp.formats.tables.cells.weekday_hours import LATIN_DAYS
from planner_mcp.text import DAY_S, clock_s

HOUR_S: Final = 3600
MINUTE_S: Final = 60
DAY_HOURS: Final = 24
_DAYS: Final = range(43831, 51502)
"""Days as spreadsheets count them, of the years 2020 to 2040: a time whose format was lost. As seconds: about noon."""
_DAY_DIGITS: Final = 5
_DAY_ZERO: Final = date(1899, 12, 30)
_TIMES: Final = "a time such as 08:30, 8:30 AM, 2025-07-15T08:30, or seconds after midnight"
_PERIODS: Final = "凌晨|清晨|早上|早晨|上午|中午|下午|午后|午前|午後|傍晚|晚上|夜里|晚|早"
_PERIOD: Final = re.compile(_PERIODS)
LATE: Final = frozenset({"下午", "午后", "午後", "傍晚", "晚上", "夜里", "晚"})
_CLOCK: Final = re.compile(
    rf"(?P<period>{_PERIODS})?\s*(?P<hour>\d{{1,2}})"
    r"(?:\s*(?P<mark>[:.hu点时時]|uhr|uur)\s*(?P<minute>\d{2}|半|一刻|三刻)?\s*分?(?:\s*[:.]\s*(?P<second>\d{2}))?)?"
    r"\s*(?P<unit>uhr|uur|hrs?|h|u|o'clock|整)?\s*(?P<half>[ap]\.?\s?m\.?|(?<=\d)[ap])?"
)
_QUARTERS: Final = {"半": 30, "一刻": 15, "三刻": 45}
_NOON: Final = frozenset({"noon", "midday", "mittag", "mittags", "midi", "mediodia", "mezzogiorno", "中午", "正午"})
_MIDNIGHT: Final = frozenset({"midnight", "mitternacht", "minuit", "medianoche", "午夜", "零点"})
_YEAR_FIRST: Final = re.compile(r"(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})日?")
YEAR_LAST: Final = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})")
_NO_YEAR: Final = re.compile(
    r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?!\d)|(?P<month_first>\d{1,2})月(?P<day_last>\d{1,2})[日号]"
)
"""`15.7.` and `7月15日`."""
_MONTHS: Final = {
    name: month
    for month, names in enumerate(
        (
            "january jan januar jaenner januari janvier janv enero ene gennaio gen janeiro",
            "february feb februar februari fevrier fevr fev febrero febbraio fevereiro",
            "march mar marz maart mrt mars marzo marco",
            "april apr avril avr abril abr aprile",
            "may mai mei mayo maggio mag maio",
            "june jun juni juin junio giugno giu junho",
            "july jul juli juillet juil julio luglio lug julho",
            "august aug augustus aout agosto ago",
            "september sept sep septembre septiembre settembre set setembro",
            "october oct oktober okt octobre octubre ottobre ott outubro out",
            "november nov novembre noviembre novembro",
            "december dec dezember dez decembre diciembre dicembre dic dezembro",
        ),
        1,
    )
    for name in names.split()
}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_MONTH_NAMED: Final = re.compile(
    rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|er)?[ ./-]{{0,2}}(?:de |of )?(?P<month>{_MONTH})\b\.?(?: de)?(?:,? |[./-])"
    rf"|(?P<month_first>{_MONTH})\.? (?P<day_last>\d{{1,2}})(?:st|nd|rd|th)?,? )"
    r"(?P<year>\d{4}|(?<=[./-])\d{2}|\d{2}$)(?!\d)"
)
"""`07-Dec-26`, `7 Dec 26`, `7. Dezember 2026` and `December 7, 2026`."""
_BEFORE_DAY: Final = re.compile(
    rf"(?:(?:am|on|le|el|il|op)\s+)?(?:(?:{LATIN_DAYS})\b\.?,?\s*)?(?:den\s+)?(?=\d|(?:{_MONTH})\b)"
)
"""What may stand before a day and says no more: its weekday."""
_DAYS_WRITTEN: Final = (_YEAR_FIRST, YEAR_LAST, _MONTH_NAMED, _NO_YEAR)
_ANY_LEAP_YEAR: Final = 2000
"""Of a day without a year where no day is planned."""
_HALF_A_YEAR: Final = 6
"""Months."""
_MIDNIGHTS: Final = frozenset({"", "0:00", "00:00", "0:00:00", "00:00:00"})
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\dt\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:z|[+-]\d\d:?\d\d)?")
_FROM: Final = re.compile(
    r"(?:(?:from|after|since|not before|nicht vor|nicht fruher als|niet voor|pas avant|no antes de(?: las)?"
    r"|vanaf|nach|na|dalle|dopo le|od|po|von|ab|fruhestens|a partir de"
    r"|a partir|apres|des|de|desde|desde las"
    r"|despues de(?: las)?|a partir de las|最早|从|>=?|≥)\s*)(?P<time>.+)"
)
_UNTIL: Final = re.compile(
    r"(?:(?:until|till|nicht nach|nicht spater als|niet na|pas apres|no despues de(?: las)?"
    r"|(?:bis )?spatestens(?: um)?|tot|to|voor|uiterlijk|entro le|entro|przed|before|by|latest|not after|bis|vor"
    r"|jusqu'?\s?a|avant|au plus tard|hasta"
    r"|ate(?: as)?|hasta las|antes de(?: las)?|最晚|最迟|<=?|≤)\s*)(?P<time>.+)"
)
_AFTERWARDS: Final = ("以降", "から", "以后", "之后", "后", "起", "onwards", "onward", "or later", "+", "-", "–", "~")
_BEFOREHAND: Final = ("まて", "以前", "之前", "前", "or earlier", "latest")
_SIDES: Final = {False: (_FROM, _AFTERWARDS), True: (_UNTIL, _BEFOREHAND)}
"""How a time is written that is a begin, or an end."""
_LEADING: Final = re.compile(
    r"^(?:(?:morning|vormittags?|nachmittags?|matin|manana|tarde|from|vanaf|van|dalle|das|od|von|de|desde|ab|las|les|um"
    r"|at|a las)\b\s*)+|^从"
)
_HOURS: Final = re.compile(r"\d{1,2}(?:[.,]\d{1,2})?", re.ASCII)
_SHARE: Final = re.compile(r"0(?:[.,]\d{1,17})?|1", re.ASCII)
_HALF_NAMED: Final = re.compile(r"\d ?[ap](?:\.?\s?m\b|\b(?! ?\w))")
"""`8 am` and `8a`; `8 a 10` is from eight to ten in several languages."""
_FIRST_CLEAR_S: Final = 7 * HOUR_S
"""Hours before this one are rather of the afternoon where others of the column say am or pm."""
_ONE_LETTER: Final = re.compile(r"\d{1,2}(?::\d\d)? ?[apu]")
_AFTER_LETTER: Final = {"a": "m", "p": "m", "u": "ur"}
"""What makes a time of `8:00a`, and of `8u`, which are amounts elsewhere."""


def time_in(text: str, path: str, style: CellStyle = PLAIN_STYLE, *, is_end: bool = False) -> float | str | Fault:
    """Return a time as the scenario takes it: seconds as a number, HH:MM, or a day with a time.

    Args:
        is_end: Whether midnight is that after the day.
    """
    simple = simplified(text)
    if _ISO.fullmatch(simple):
        return text.strip()
    if dated := split_day(simple, style):
        return _dated_time(text, path, *dated)
    if style.bare_times == "decimals" and (hours := hours_in(simple)) is not None:
        return written(hours * HOUR_S)
    if style.bare_times == "days" and (share := share_of_day(simple)) is not None:
        return written(round(share * DAY_HOURS * HOUR_S))
    seconds = clock_seconds(simple, may_be_bare=False, is_end=is_end)
    if seconds is None:
        seconds = one_sided(simple, is_end=is_end)
    if seconds is not None:
        return half_fault(text, path) if lacks_half(simple, seconds, style) else written(seconds)
    number = number_in(text, "time", path, CellStyle("."))
    if isinstance(number, Fault) or number < 0:
        return Fault(path, f"{shown(text)} is not a time.", _TIMES)
    is_open = style.bare_times == "hours" and lacks_half(simple, number * HOUR_S, style)
    return half_fault(text, path) if is_open else _bare_time(text, path, number, style)


def side_in(text: str, path: str, style: CellStyle = PLAIN_STYLE, *, is_end: bool) -> float | str | Fault | None:
    """Return the time of a cell in a column of begins, or of ends; None where it says that there is no limit.

    Arguments are those of `time_in`. In such a column `8:00a` is a time too.
    """
    simple = simplified(text)
    full = simple + _AFTER_LETTER[simple[-1]] if _ONE_LETTER.fullmatch(simple) else text
    read = time_in(full, path, style, is_end=is_end)
    return None if isinstance(read, Fault) and simple.replace(" ", "_") in ALWAYS else read


def hours_in(text: str) -> float | None:
    """Return the hours of a cell that is a number of at most two decimals, up to 24; None for any other."""
    found = _HOURS.fullmatch(text.strip())
    hours = float(found[0].replace(",", ".")) if found else math.inf
    return hours if hours <= DAY_HOURS else None


def share_of_day(text: str) -> float | None:
    """Return the part of a day that a cell is as spreadsheets keep times, `0.375` for 09:00; None for any other."""
    return float(text.strip().replace(",", ".")) if _SHARE.fullmatch(text.strip()) else None


def is_hhmm(text: str) -> bool:
    """Return whether a cell may be an hour and its minutes without a mark between them: 0830, 1300."""
    bare = text.strip()
    return bare.isdecimal() and len(bare) in (3, 4) and int(bare) <= 2400 and int(bare) % 100 < 60


def date_in(text: str, style: CellStyle = PLAIN_STYLE) -> str:
    """Return the day of a cell that says one and no time, as YYYY-MM-DD; empty where it says none."""
    dated = split_day(simplified(text), style)
    return dated[0] if dated and dated[0] != "?" and dated[1] in _MIDNIGHTS else ""


def day_in(text: str, style: CellStyle) -> str:
    """Return the day of a cell that may say a time too, as YYYY-MM-DD; empty where it says none."""
    day, rest = split_day(simplified(text), style) or ("?", "")
    return day if day != "?" and (rest in _MIDNIGHTS or clock_seconds(rest, may_be_bare=False) is not None) else ""


def serial_day(text: str) -> str:
    """Return the day of a number as spreadsheets count days, of the years 2020 to 2040; empty for any other cell."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) == _DAY_DIGITS else 0
    return (_DAY_ZERO + timedelta(number)).isoformat() if number in _DAYS else ""


def has_date(text: str) -> bool:
    """Return whether a cell begins with a day, whichever order that has."""
    return split_day(simplified(text), PLAIN_STYLE) is not None


def written(seconds: float) -> str:
    """Return a time as scenarios take it: HH:MM, with seconds where it has some."""
    return clock_s(seconds).removesuffix(":00")


def split_day(simple: str, style: CellStyle) -> tuple[str, str] | None:
    """Return the day a cell begins with, as YYYY-MM-DD, and the rest of it.

    The day is `?` where day and month may be exchanged; there is none where the cell begins with no day.
    """
    if before := _BEFORE_DAY.match(simple):
        rest = simple[before.end() :]
        simple = rest if any(form.match(rest) for form in _DAYS_WRITTEN) else simple
    if found := _YEAR_FIRST.match(simple):
        day, month, year = int(found[3]), int(found[2]), int(found[1])
    elif found := YEAR_LAST.match(simple):
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        year += 2000 * (year < 100)
        is_day_first = found[2] == "." or first > 12 or (style.day_first if second <= 12 else False)
        if is_day_first is None:
            return ("?", simple[found.end() :].lstrip(" t,"))
        day, month = (first, second) if is_day_first else (second, first)
    elif found := _MONTH_NAMED.match(simple):
        day, year = int(found["day"] or found["day_last"]), int(found["year"])
        month = _MONTHS[found["month"] or found["month_first"]]
        year += 2000 * (year < 100)
    elif found := _NO_YEAR.match(simple):
        day, month = int(found["day"] or found["day_last"]), int(found["month"] or found["month_first"])
        year = _nearest_year(month, style.planning_date)
    else:
        return None
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{year:04d}-{month:02d}-{day:02d}", simple[found.end() :].lstrip(" t,")


def _nearest_year(month: int, planning_date: str) -> int:
    """Return the year of a day without one: it is less than half a year from the day that is planned."""
    year, planned = (int(part) if part.isdecimal() else 0 for part in [*planning_date.split("-"), "", ""][:2])
    year = year or _ANY_LEAP_YEAR
    if planned and month > planned + _HALF_A_YEAR:
        return year - 1
    return year + 1 if month + _HALF_A_YEAR < planned else year


def clock_seconds(simple: str, *, may_be_bare: bool, is_end: bool = False) -> float | None:
    """Return a time of day in seconds; None for what is none. A bare number is an hour where it may be one."""
    if simple in _NOON:
        return 12.0 * HOUR_S
    if simple in _MIDNIGHT:
        return 24.0 * HOUR_S if is_end else 0.0
    found = _CLOCK.fullmatch(simple)
    if found is None:
        return None
    period, mark, half = found["period"], found["mark"], found["half"]
    if not (may_be_bare or period or half or found["unit"] or (mark and (mark not in (".", "u") or found["minute"]))):
        return None
    if (mark == ":" and not found["minute"]) or (half and len(half) == 1 and not may_be_bare):
        return None
    minute = _QUARTERS.get(found["minute"] or "") or int(found["minute"] or 0)
    hour, second = int(found["hour"]), int(found["second"] or 0)
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * half.startswith("p")
    elif period == "中午":
        hour += 12 * (hour < 4)
    elif period in LATE and hour <= 12:
        hour += 12 * (hour < 12 or period not in ("下午", "午後"))
    elif period in ("凌晨", "夜里") and hour == 12:
        hour = 0
    if hour > 47 or minute > 59 or second > 59:
        return None
    return float(hour * HOUR_S + minute * MINUTE_S + second)


def names_half(text: str) -> bool:
    """Return whether a time of a cell says of which half of the day it is: `8:30 AM`, `1-4pm`."""
    return _HALF_NAMED.search(text[:MAX_CELL].casefold()) is not None


def lacks_half(simple: str, seconds: float, style: CellStyle) -> bool:
    """Return whether an hour may be of either half of the day: `1:30` in a column that says am or pm elsewhere."""
    is_early = HOUR_S <= seconds < _FIRST_CLEAR_S
    return style.has_halves and is_early and not names_half(simple) and not _PERIOD.search(simple)


def half_fault(text: str, path: str) -> Fault:
    """Return the fault of a cell with such an hour."""
    return Fault(path, f"{shown(text)} may be of the morning or of the afternoon.", "am or pm, as in other cells")


def without_leading(simple: str) -> str:
    """Return a time without the words before it: `um 8`, `a las 8`."""
    return _LEADING.sub("", simple.strip()).strip()


def one_sided(simple: str, *, is_end: bool) -> float | None:
    """Return the seconds of a time that is a begin, or an end, as `from 10` and `10点以后` are; None for any other."""
    pattern, endings = _SIDES[is_end]
    found = pattern.fullmatch(simple)
    ending = next((each for each in endings if simple.endswith(each)), "")
    time = without_leading(found["time"]) if found else simple.removesuffix(ending).strip() if ending else ""
    return clock_seconds(time, may_be_bare=True, is_end=is_end) if time else None


def _dated_time(text: str, path: str, day: str, rest: str) -> str | Fault:
    if day == "?":
        return Fault(path, f"Day and month may be exchanged in {shown(text)}.", "YYYY-MM-DD HH:MM")
    if rest in _MIDNIGHTS and not (rest and len(text.strip()) > len("2025-07-15 00:00")):
        return Fault(path, f"{shown(text)} is a day, and no time.", _TIMES, "Add the time, or leave the column out.")
    seconds = clock_seconds(rest, may_be_bare=False)
    if seconds is None or seconds >= DAY_S:
        return Fault(path, f"{shown(text)} is not a time.", _TIMES)
    return f"{day}T{written(seconds)}" + ("" if seconds % 60 else ":00")


def _bare_time(text: str, path: str, number: float, style: CellStyle) -> float | str | Fault:
    """Return the time that a number without any mark is, as its column is written."""
    whole = int(number)
    if style.bare_times == "hours" and number <= DAY_HOURS:
        return written(number * HOUR_S)
    if style.bare_times == "hhmm" and whole == number and whole % 100 < 60 and whole <= 2400:
        return written(whole // 100 * HOUR_S + whole % 100 * MINUTE_S)
    if whole in _DAYS and number % MINUTE_S:
        problem = f"{shown(text)} may mean seconds, or a day that lost its format."
        return Fault(path, problem, "HH:MM, or YYYY-MM-DDTHH:MM")
    if number and style.bare_times != "seconds" and (number <= 2 * DAY_HOURS or is_hhmm(text)):
        return Fault(path, f"{shown(text)} may mean hours or seconds.", "HH:MM")
    return number
