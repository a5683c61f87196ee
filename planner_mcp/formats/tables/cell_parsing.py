"""What the text of a cell says: a number, a time, a duration, a window, a day, a list (SPEC T5).

Owns the forms in which people write these. What may mean two things is read as the style of its column says
(`column_values.py` settles it); what stays open is a fault, as is what means nothing. Every reader bounds its text
before a pattern sees it.
"""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import takewhile
from typing import Any, Final, Literal

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.amount_units import AmountUnit, unit_named, words_of
from planner_mcp.formats.tables.weekday_hours import CLOSED, EACH_DAY, Segment, hours_by_weekday, names_holidays
from planner_mcp.routing.scenario.field_types import moment, read_date
from planner_mcp.routing.scenario.window_text import OPEN_END, OPEN_END_S
from planner_mcp.text import plain

MAX_CELL: Final = 200
"""Characters of a cell that may be a number or a time; a longer cell is none, and no pattern is tried on it."""
MAX_WINDOWS_CELL: Final = 1000
"""The same of a cell of time windows, which may be fifty."""
Windows = Sequence[Sequence[Any]]
"""Each with its two times as the scenario takes them."""
Decimal = Literal["", ".", ","]
"""The mark before decimals; empty where it is not known."""
BareTimes = Literal["", "hours", "decimals", "hhmm", "seconds"]


@dataclass(frozen=True, slots=True)
class CellStyle:
    """How the cells of a column are written, where a cell alone may mean two things."""

    decimal: Decimal = ""
    """The mark before decimals; empty where `1,500` or `1.500` stays open."""
    bare_times: BareTimes = ""
    """What a whole number is in a column of times; `decimals` of hours, `8.25` is 08:15 then."""
    day_first: bool | None = None
    """Whether 07/08/2025 is a day of August; None where that is open."""
    planning_date: str = ""
    """The day that hours by weekday are read for."""
    counted: str = ""
    """The word behind each number, where it is one that is not known as a unit: what is counted."""


PLAIN_STYLE: Final = CellStyle()
_HOUR_S: Final = 3600
_MINUTE_S: Final = 60
_DAY_HOURS: Final = 24
_DAYS: Final = range(43831, 51502)
"""Days as spreadsheets count them, of the years 2020 to 2040: a time whose format was lost. As seconds: about noon."""
_TIMES: Final = "a time such as 08:30, 8:30 AM, 2025-07-15T08:30, or seconds after midnight"
_WINDOWS: Final = "windows such as 08:00-12:00, from 10:00 or until 12:00, several between semicolons"
_WEEKDAYS: Final = "Mo-Fr 09:00-17:00; Sa 10:00-14:00"
_WHOLE_DAY: Final = [(0.0, 24.0 * 3600 - 60)]
_DURATIONS: Final = "15 min, 0:15, 1h30 or a number"
_NUMBERS: Final = "a number"
_ALWAYS: Final = words_of(
    "- -- – — / any anytime always all_day allday none n/a na 24h 24/7 egal ganztags ganztagig jederzeit flexibel "
    "libre "
    "flexible toute_la_journee sans indifferent todo_el_dia cualquiera 不限 全天 随时 无 均可 不限时"
)
"""Cells of a column of windows that say there is none."""
_HALF_DAYS: Final[Mapping[str, tuple[float, float]]] = {
    **dict.fromkeys(
        words_of(
            "am morning inthemorning forenoon vormittag vormittags amvormittag vorm morgens matin lematin matinee "
            "porlamanana 上午"
        ),
        (0.0, 12.0 * 3600),
    ),
    **dict.fromkeys(
        words_of(
            "pm afternoon intheafternoon nachmittag nachmittags amnachmittag nachm apresmidi lapresmidi porlatarde 下午"
        ),
        (12.0 * 3600, 18.0 * 3600),
    ),
}
"""Words for a half of the day, as windows; `mañana` alone is tomorrow too, and an evening begins at no known hour."""
_GROUPS: Final = re.compile(r"\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+(?=[.,]|$)")
_BODY: Final = re.compile(r"([+-]?[\d.,'’ \u00a0\u202f]*+)(.*)", re.DOTALL)
"""A number and what stands behind it."""
_GROUPED: Final = {mark: re.compile(rf"[1-9]\d{{0,2}}(?:\{mark}\d{{3}})+") for mark in ",."}
_PERIODS: Final = "凌晨|清晨|早上|早晨|上午|中午|下午|午后|傍晚|晚上|夜里|晚|早"
_LATE: Final = frozenset({"下午", "午后", "傍晚", "晚上", "夜里", "晚"})
_CLOCK: Final = re.compile(
    rf"(?P<period>{_PERIODS})?\s*(?P<hour>\d{{1,2}})"
    r"(?:\s*(?P<mark>[:.h点时時]|uhr)\s*(?P<minute>\d{2}|半|一刻|三刻)?\s*分?(?:\s*[:.]\s*(?P<second>\d{2}))?)?"
    r"\s*(?P<unit>uhr|hrs?|h|o'clock|整)?\s*(?P<half>[ap]\.?\s?m\.?|(?<=\d)[ap])?"
)
_QUARTERS: Final = {"半": 30, "一刻": 15, "三刻": 45}
_NOON: Final = frozenset({"noon", "midday", "mittag", "mittags", "midi", "mediodia", "中午", "正午"})
_MIDNIGHT: Final = frozenset({"midnight", "mitternacht", "minuit", "medianoche", "午夜", "零点"})
_YEAR_FIRST: Final = re.compile(r"(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})日?")
_YEAR_LAST: Final = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})")
_MIDNIGHTS: Final = frozenset({"", "0:00", "00:00", "0:00:00", "00:00:00"})
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\dt\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:z|[+-]\d\d:?\d\d)?")
_BETWEEN: Final = re.compile(r"[;；、|]|,(?!\d)|,(?=\d{1,2}[:h点])| / |/(?=\d{1,2}[:h点])")
_AND: Final = re.compile(r"\b(?:and|und|et|y|sowie)\b|\bu\.|&|和|及|以及")
_PAIRED: Final = re.compile(r"(?:between|betw|btw|zwischen|zw|entre(?: las)?)\b\.?")
_RANGE: Final = re.compile(r"[-–—~〜～→]+|至|到|\b(?:to|till|until|bis|a|au|hasta|jusqu'? ?a)\b")
_FROM: Final = re.compile(
    r"(?:(?:from|after|since|not before|von|ab|nach|fruhestens|a partir de|a partir|apres|des|de|desde|desde las"
    r"|despues de(?: las)?|a partir de las|最早|从|>=?|≥)\s*)(?P<time>.+)"
)
_UNTIL: Final = re.compile(
    r"(?:(?:until|till|to|before|by|latest|not after|bis|vor|spatestens(?: um)?|jusqu'?\s?a|avant|au plus tard|hasta"
    r"|hasta las|antes de(?: las)?|最晚|最迟|<=?|≤)\s*)(?P<time>.+)"
)
_AFTERWARDS: Final = ("以后", "之后", "后", "起", "onwards", "onward", "or later", "+", "-", "–", "~")
_BEFOREHAND: Final = ("以前", "之前", "前", "or earlier", "latest")
_SIDES: Final = {False: (_FROM, _AFTERWARDS), True: (_UNTIL, _BEFOREHAND)}
"""How a time is written that is a begin, or an end."""
_LEADING: Final = re.compile(
    r"(?:(?:morning|vormittags?|nachmittags?|matin|manana|tarde|from|von|de|desde|ab|las|les|um|at|a las|从)\b\s*)+|从"
)
_DURATION_PARTS: Final = re.compile(r"(\d+(?:[.,]\d+)?|半)\s*(个?[a-z\u4e00-\u9fff'’′\"″]+)?\.?\s*")
_DURATION_UNITS: Final[Mapping[str, float]] = {
    **dict.fromkeys(
        ["h", "hr", "hrs", "hour", "hours", "std", "stunde", "stunden", "heure", "heures", "hora", "horas"], 3600.0
    ),
    **dict.fromkeys(["小时", "个小时", "时", "钟头", "个钟头"], 3600.0),
    **dict.fromkeys(
        ["m", "mn", "min", "mins", "minute", "minutes", "minuten", "minuto", "minutos", "'", "’", "′"], 60.0
    ),
    **dict.fromkeys(["分", "分钟"], 60.0),
    **dict.fromkeys(
        ["s", "sec", "secs", "seg", "second", "seconds", "sek", "sekunden", "seconde", "secondes", "segundos"], 1.0
    ),
    **dict.fromkeys(["秒", "秒钟", '"', "″"], 1.0),
}
"""Seconds of each unit of time."""
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
_CHINESE_NUMERALS: Final = {char: value for value, char in enumerate("一二三四五六七八九", 1)} | {"两": 2}
_CHINESE_NUMBER: Final = re.compile(
    r"([一二两三四五六七八九]?)(十?)([一二三四五六七八九]?)(?=个?半?(?:小时|钟头|刻|分|秒))"
)
_CHINESE_CLOCK: Final = re.compile(r"([一二两三四五六七八九]?)(十?)([一二三四五六七八九]?)(?=[点點])")
"""The hour of a time in words: `六点半`."""
_CHINESE_QUARTERS: Final = re.compile(r"(\d{1,3})刻钟?")
_AND_A_HALF: Final = re.compile(r"(\d{1,3})个半(?:小时|钟头)")
_SPAN: Final = re.compile(r"(\d{1,3}):(\d\d)(?::(\d\d))?(?:\s?h)?")
_MINUTES: Final = re.compile(r"(?!0?0:\d\d:)(\d{1,3}):(\d\d)(?::00)?")
_NEXT_DAY: Final = re.compile(r"; ?(?=\d{4}-\d\d-\d\d)")
"""Where the windows of another day begin, as an export writes them."""
_COMMAS: Final = re.compile(r"[,，、;；]")
_NO_WORD: Final = re.compile(r"[\W_]+")
_BLANKS: Final = re.compile(r"\s+")


def shown(text: str) -> str:
    """Return a cell as a fault quotes it: short, on one line, in quotes."""
    return f'"{plain(text, 40)}"'


def simplified(text: str) -> str:
    """Return a cell of bounded length in one width, without accents and case."""
    wide = unicodedata.normalize("NFKC", text)
    bare = "".join(each for each in unicodedata.normalize("NFKD", wide) if not unicodedata.combining(each))
    return _BLANKS.sub(" ", _CHINESE_CLOCK.sub(_chinese_number, bare).casefold()).strip()


# ---- numbers


_ABOUT: Final = re.compile(
    r"^(?:[~≈约]|大约|(?:ca|circa|approx|approximately|about|etwa|ungef[aä]hr|rund|env|environ|aprox)\b\.?)\s*(?=\d)"
)
_OR_SO: Final = "左右"
"""What says behind a number that it is an estimate."""


def without_about(simple: str) -> str:
    """Return a cell, in one width and without case, without what says that its number is an estimate."""
    return _ABOUT.sub("", simple).removesuffix(_OR_SO)


def is_estimate(text: str) -> bool:
    """Return whether a cell says that its number is an estimate: `ca. 10 kg`."""
    simple = simplified(text[: MAX_CELL + 1])
    return without_about(simple) != simple


def decimal_mark_of(text: str, *, has_thousands: bool = True) -> Literal["", ".", ",", "?"]:
    """Return what a number shows of its column's decimal mark: the mark, nothing, or `?` where it may mean both."""
    if text.isascii() and "." not in text and "," not in text:  # most cells; all columns are looked at
        return ""
    found = _BODY.match(without_about(unicodedata.normalize("NFKC", text[: MAX_CELL + 1]).strip().casefold()))
    body = found[1].strip().lstrip("+-") if found and len(text) <= MAX_CELL else ""
    if not any(char.isdecimal() for char in body):
        return ""
    marks = [char for char in body if char in ".,"]
    if not marks:
        return ""
    if len(set(marks)) > 1:
        return "." if marks[-1] == "." else ","
    if len(marks) > 1:
        return "," if marks[0] == "." else "."
    mark: Literal[".", ","] = "." if marks[0] == "." else ","
    is_open = has_thousands and _GROUPED[mark].fullmatch(body) is not None
    return "?" if is_open else mark


def has_last_zero(text: str) -> bool:
    """Return whether the number of a cell ends in a zero behind its mark: `1.500` was written so, as text."""
    found = _BODY.match(simplified(text[: MAX_CELL + 1]))
    return decimal_mark_of(text) != "" and found is not None and found[1].rstrip().endswith("0")


def _value_of(body: str, style: CellStyle, *, has_thousands: bool) -> float | None:
    """Return the value of digits with marks; None for what is no number, NaN for what may be two."""
    sign, digits = (-1, body[1:]) if body.startswith("-") else (1, body.removeprefix("+"))
    if any(blank in digits for blank in " '’\u00a0\u202f"):
        if _GROUPS.match(digits) is None:
            return None
        digits = "".join(char for char in digits if char not in " '’\u00a0\u202f")
    marks = {char for char in digits if char in ".,"}
    mark = decimal_mark_of(digits, has_thousands=has_thousands)
    if mark == "?":
        mark = style.decimal or "?"
    if mark == "?":
        return math.nan
    for other in marks - {mark}:
        whole = digits.partition(mark)[0] if mark else digits
        if not _GROUPED[other].fullmatch(whole):
            return None
        digits = digits.replace(other, "")
    if digits.count(mark or ".") > 1:
        return None
    try:
        return sign * float(digits.replace(",", "."))
    except ValueError:
        return None


def amount_in(
    text: str, name: str, path: str, style: CellStyle = PLAIN_STYLE, *, has_thousands: bool = True
) -> tuple[float, AmountUnit | None] | Fault:
    """Return the number of a cell and the unit behind it, where it has a known one.

    Args:
        text: Of the cell.
        name: Of its field.
        path: Where it stands.
        style: Of its column.
        has_thousands: Whether a mark may part thousands; coordinates have none.
    """
    simple = without_about(simplified(text[: MAX_CELL + 1]))
    found = _BODY.match(simple) if len(text) <= MAX_CELL else None
    word = found[2].strip(". ") if found else ""
    unit = _unit_behind(word)
    value = None
    if found and (unit is not None or not found[2] or (word and word == style.counted)):
        value = _value_of(found[1].strip(), style, has_thousands=has_thousands)
    if value is None or math.isinf(value):
        return Fault(path, f"{shown(text)} is not a number: {name}.", _NUMBERS)
    if math.isnan(value):
        mark = "," if "," in simple else "."
        hint = f'Say decimal: "{mark}" or "{"." if mark == "," else ","}".'
        return Fault(path, f"The mark in {shown(text)} may part thousands, or decimals.", _NUMBERS, hint)
    return (int(value) if value.is_integer() else value), unit


def _unit_behind(word: str) -> AmountUnit | None:
    """Return the unit of a number; None where another number stands before it: `3 x 25 kg` is more than 3 kg."""
    words = word.split()
    before = takewhile(lambda each: unit_named(each) is None, words)
    return None if any(map(str.isdecimal, "".join(before))) else unit_named(word)


def has_unit(text: str) -> bool:
    """Return whether a cell begins with a number and names a unit, be it behind a second number: `3 x 25 kg`."""
    found = _BODY.match(without_about(simplified(text[: MAX_CELL + 1]))) if len(text) <= MAX_CELL else None
    if found is None or _value_of(found[1].strip(), CellStyle("."), has_thousands=True) is None:
        return False
    return unit_named(found[2].strip(". ")) is not None


def counted_in(cells: Sequence[str]) -> str:
    """Return the one word that stands behind the number of each cell; empty where it differs, or is a known unit."""
    cells = [without_about(simplified(cell[: MAX_CELL + 1])) for cell in cells]
    words = {found[2].strip(". ") for cell in cells if (found := _BODY.match(cell))}
    word = words.pop() if len(words) == 1 else ""
    is_one = len(cells) > 1 and 0 < len(word) <= _LONGEST_COUNTED and word.isalpha() and word not in _NOT_COUNTED
    are_numbers = all(cell.strip()[:1].isdecimal() for cell in cells)
    return word if is_one and are_numbers and unit_named(word) is None and word not in _DURATION_UNITS else ""


_LONGEST_COUNTED: Final = 20
_NOT_COUNTED: Final = words_of(
    "km m cm mm mi ft 楼 层 级 号 室 栋 幢 岁 年 月 日 周 次 x th st nd rd er ere eme og ug eg"
)
"""What stands behind lengths, floors, ages, days and places in a row."""


def number_in(
    text: str, name: str, path: str, style: CellStyle = PLAIN_STYLE, *, has_thousands: bool = True
) -> float | Fault:
    """Return the number of a cell, which has no unit behind it; arguments are those of `amount_in`."""
    read = amount_in(text, name, path, style, has_thousands=has_thousands)
    if isinstance(read, Fault):
        return read
    value, unit = read
    return value if unit is None else Fault(path, f"{shown(text)} has a unit: {name}.", "a number without a unit")


_PRIORITIES: Final[Mapping[str, int]] = {
    **dict.fromkeys(words_of("low niedrig gering basse faible baja c 低"), 3),
    **dict.fromkeys(words_of("normal medium standard mittel moyenne normale media b 普通 一般 中"), 5),
    **dict.fromkeys(words_of("high hoch haute elevee alta a 高"), 7),
    **dict.fromkeys(words_of("urgent critical express asap dringend eilig tres_haute urgente 紧急 加急 特急"), 9),
}
"""Words for how much a ticket matters, as priorities; a customer of class A matters most."""


def priority_in(text: str, path: str) -> float | Fault:
    """Return the priority of a cell: a number from 1, the least, to 9, or that of a word."""
    if (known := _PRIORITIES.get(normalized_word(simplified(text[: MAX_CELL + 1])))) is not None:
        return known
    number = number_in(text, "priority", path)
    if isinstance(number, Fault):
        return Fault(path, f"{shown(text)} is no priority.", "1 (least) to 9 (most), or low, normal, high, urgent")
    return number


# ---- times


def _clock(simple: str, *, may_be_bare: bool, is_end: bool = False) -> float | None:
    """Return a time of day in seconds; None for what is none. A bare number is an hour where it may be one."""
    if simple in _NOON:
        return 12.0 * _HOUR_S
    if simple in _MIDNIGHT:
        return 24.0 * _HOUR_S if is_end else 0.0
    found = _CLOCK.fullmatch(simple)
    if found is None:
        return None
    period, mark, half = found["period"], found["mark"], found["half"]
    if not (may_be_bare or period or half or found["unit"] or (mark and (mark != "." or found["minute"]))):
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
    elif period in _LATE and hour <= 12:
        hour += 12 * (hour < 12 or period != "下午")
    elif period in ("凌晨", "夜里") and hour == 12:
        hour = 0
    if hour > 47 or minute > 59 or second > 59:
        return None
    return float(hour * _HOUR_S + minute * _MINUTE_S + second)


def written(seconds: float) -> str:
    """Return a time as scenarios take it: HH:MM, with seconds where it has some."""
    whole = round(seconds)
    text = f"{whole // 3600:02d}:{whole // 60 % 60:02d}"
    return text if whole % 60 == 0 else f"{text}:{whole % 60:02d}"


def _split_day(simple: str, style: CellStyle) -> tuple[str, str] | None:
    """Return the day a cell begins with, as YYYY-MM-DD, and the rest of it.

    The day is `?` where day and month may be exchanged; there is none where the cell begins with no day.
    """
    if found := _YEAR_FIRST.match(simple):
        day, month, year = int(found[3]), int(found[2]), int(found[1])
    elif found := _YEAR_LAST.match(simple):
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        year += 2000 * (year < 100)
        is_day_first = found[2] == "." or first > 12 or (style.day_first if second <= 12 else False)
        if is_day_first is None:
            return ("?", simple[found.end() :].lstrip(" t,"))
        day, month = (first, second) if is_day_first else (second, first)
    else:
        return None
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{year:04d}-{month:02d}-{day:02d}", simple[found.end() :].lstrip(" t,")


def time_in(text: str, path: str, style: CellStyle = PLAIN_STYLE, *, is_end: bool = False) -> float | str | Fault:
    """Return a time as the scenario takes it: seconds as a number, HH:MM, or a day with a time.

    Args:
        text: Of the cell.
        path: Where it stands.
        style: Of its column.
        is_end: Whether midnight is that after the day.
    """
    if len(text) > MAX_CELL:
        return Fault(path, f"{shown(text)} is not a time.", _TIMES)
    simple = simplified(text)
    if _ISO.fullmatch(simple):
        return text.strip()
    if dated := _split_day(simple, style):
        return _dated_time(text, path, *dated)
    if style.bare_times == "decimals" and (hours := hours_in(simple)) is not None:
        return written(hours * _HOUR_S)
    seconds = _clock(simple, may_be_bare=False, is_end=is_end)
    if seconds is None and (time := _half_window(simple, *_SIDES[is_end])):
        seconds = _clock(time, may_be_bare=True, is_end=is_end)
    if seconds is not None:
        return written(seconds)
    number = number_in(text, "time", path, CellStyle("."))
    if isinstance(number, Fault) or number < 0:
        return Fault(path, f"{shown(text)} is not a time.", _TIMES)
    return _bare_time(text, path, number, style)


def side_in(text: str, path: str, style: CellStyle = PLAIN_STYLE, *, is_end: bool) -> float | str | Fault | None:
    """Return the time of a cell in a column of begins, or of ends; None where it says that there is no limit.

    Arguments are those of `time_in`. In such a column `8:00a` is a time too.
    """
    simple = simplified(text[: MAX_CELL + 1])
    read = time_in(f"{simple}m" if _ONE_LETTER.fullmatch(simple) else text, path, style, is_end=is_end)
    return None if isinstance(read, Fault) and simple.replace(" ", "_") in _ALWAYS else read


_ONE_LETTER: Final = re.compile(r"\d{1,2}(?::\d\d)? ?[ap]")


def _dated_time(text: str, path: str, day: str, rest: str) -> str | Fault:
    if day == "?":
        return Fault(path, f"Day and month may be exchanged in {shown(text)}.", "YYYY-MM-DD HH:MM")
    if rest in _MIDNIGHTS and not (rest and len(text.strip()) > len("2025-07-15 00:00")):
        return Fault(path, f"{shown(text)} is a day, and no time.", _TIMES, "Add the time, or leave the column out.")
    seconds = _clock(rest, may_be_bare=False)
    if seconds is None or seconds >= _DAY_HOURS * _HOUR_S:
        return Fault(path, f"{shown(text)} is not a time.", _TIMES)
    return f"{day}T{written(seconds)}" + ("" if seconds % 60 else ":00")


def _bare_time(text: str, path: str, number: float, style: CellStyle) -> float | str | Fault:
    """Return the time that a number without any mark is, as its column is written."""
    whole = int(number)
    if style.bare_times == "hours" and number <= _DAY_HOURS:
        return written(number * _HOUR_S)
    if style.bare_times == "hhmm" and whole == number and whole % 100 < 60 and whole <= 2400:
        return written(whole // 100 * _HOUR_S + whole % 100 * _MINUTE_S)
    if whole in _DAYS and number % _MINUTE_S:
        problem = f"{shown(text)} may mean seconds, or a day that lost its format."
        return Fault(path, problem, "HH:MM, or YYYY-MM-DDTHH:MM")
    if number and style.bare_times != "seconds" and (number <= 2 * _DAY_HOURS or is_hhmm(text)):
        return Fault(path, f"{shown(text)} may mean hours or seconds.", "HH:MM")
    return number


def hours_in(text: str) -> float | None:
    """Return the hours of a cell that is a number of at most two decimals, up to 24; None for any other."""
    found = _HOURS.fullmatch(text.strip())
    hours = float(found[0].replace(",", ".")) if found else math.inf
    return hours if hours <= _DAY_HOURS else None


_HOURS: Final = re.compile(r"\d{1,2}(?:[.,]\d{1,2})?", re.ASCII)


def is_hhmm(text: str) -> bool:
    """Return whether a cell may be an hour and its minutes without a mark between them: 0830, 1300."""
    bare = text.strip()
    return bare.isdecimal() and len(bare) in (3, 4) and int(bare) <= 2400 and int(bare) % 100 < 60


# ---- windows


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
    by_line = _windows_in("; ".join(lines), path, style)
    return read if isinstance(by_line, Fault) else by_line


def _windows_in(text: str, path: str, style: CellStyle) -> list[list[str]] | Fault:
    if len(days := _NEXT_DAY.split(text)) > 1:
        found = [_windows_in(each, path, style) for each in days]
        windows_of_days = [window for each in found if not isinstance(each, Fault) for window in each]
        return next((each for each in found if isinstance(each, Fault)), windows_of_days)
    simple = simplified(text)
    if simple.replace(" ", "_") in _ALWAYS:
        return []
    if segments := hours_by_weekday(simple):
        return _weekday_windows(segments, text, path, style)
    day = ""
    if dated := _split_day(simple, style):
        day, simple = dated
    windows = _windows(simple)
    if not windows or day == "?":
        return Fault(path, f"{shown(text)} is no time window.", _WINDOWS, "Write both hours, or leave the column out.")
    return [[_on_day(day, side, style) for side in window] for window in windows]


def _windows(simple: str) -> list[tuple[float, float]]:
    """Return the windows of a text in seconds; none where any part of it is none."""
    if paired := _PAIRED.match(simple):
        simple = _AND.sub("-", simple[paired.end() :], count=1)
    parts = _parts(simple)
    found = [_window(part) for part in parts]
    windows = [window for window in found if window is not None]
    return windows if len(windows) == len(parts) else []


def _parts(simple: str) -> list[str]:
    """Return what stands between the separators of a cell of windows."""
    return [part.strip() for each in _AND.split(simple) for part in _BETWEEN.split(each) if part.strip()]


def _weekday_windows(segments: list[Segment], text: str, path: str, style: CellStyle) -> list[list[str]] | Fault:
    """Return the windows of the planning date, or of the next day that is open: nobody can be served before."""
    hours = [(days, _WHOLE_DAY if not rest else [] if rest in CLOSED else _windows(rest)) for days, rest in segments]
    if any(not windows and rest not in CLOSED for (_days, rest), (_, windows) in zip(segments, hours, strict=True)):
        return Fault(path, f"{shown(text)} is no time window.", _WEEKDAYS, "Write days and hours so.")
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


def names_weekdays(text: str) -> bool:
    """Return whether the hours of a cell depend on the weekday."""
    return len(text) <= MAX_WINDOWS_CELL and bool(hours_by_weekday(simplified(text)))


def names_half_days(text: str) -> bool:
    """Return whether a window of a cell is a half of the day, named by a word."""
    return len(text) <= MAX_WINDOWS_CELL and any(
        normalized_word(part) in _HALF_DAYS for part in _parts(simplified(text))
    )


def says_holidays(text: str) -> bool:
    """Return whether the hours of a cell name public holidays, which are not known."""
    return len(text) <= MAX_WINDOWS_CELL and names_holidays(simplified(text))


def _on_day(day: str, seconds: float, style: CellStyle) -> str:
    """Return an hour of a day, which may be one of the next: 26:00."""
    hour = written(seconds)
    if not day or (hour == OPEN_END and day == style.planning_date):
        return hour
    later, rest_s = divmod(seconds, _DAY_HOURS * _HOUR_S)
    try:
        return f"{date.fromisoformat(day) + timedelta(later)}T{written(rest_s)}"
    except ValueError:  # there is no such day, which the scenario says
        return f"{day}T{hour}"


def _window(part: str) -> tuple[float, float] | None:
    """Return begin and end of one window in seconds."""
    if half := _HALF_DAYS.get(normalized_word(part)):
        return half
    sides = [side.strip() for side in _RANGE.split(part, maxsplit=2)]
    leading = _LEADING.match(sides[0]) if sides else None
    if len(sides) == 2 and sides[0] and sides[1]:
        begin = sides[0][leading.end() :] if leading else sides[0]
        if (both := _both(begin.strip(), sides[1].removeprefix("las ").strip())) is not None:
            return both
    for is_end, side in _SIDES.items():
        time = _half_window(part, *side)
        if time is None and is_end and part.startswith(("-", "–", "~")):
            time = part[1:].strip()
        seconds = _clock(time, may_be_bare=True, is_end=is_end) if time else None
        if seconds is not None:
            return (0.0, seconds) if is_end else (seconds, OPEN_END_S)
    return None


def _half_window(part: str, pattern: re.Pattern[str], ends: Sequence[str]) -> str | None:
    """Return the time of a window that has one side, as `from 10` and `10点以后` do."""
    if found := pattern.fullmatch(part):
        return _LEADING.sub("", found["time"].strip(), count=1).strip()
    ending = next((each for each in ends if part.endswith(each) and len(part) > len(each)), None)
    return part.removesuffix(ending).strip() if ending else None


def _both(begin: str, end: str) -> tuple[float, float] | None:
    """Return the sides of a window; a half of the day that only its end names holds for both where it can."""
    if all(len(side) == len("0830") and is_hhmm(side) for side in (begin, end)):
        begin, end = f"{begin[:2]}:{begin[2:]}", f"{end[:2]}:{end[2:]}"
    closes = _clock(end, may_be_bare=True, is_end=True)
    opens = _clock(begin, may_be_bare=True)
    if opens is None or closes is None or ("." in begin and ":" in end):
        return None
    half = end.rstrip(".")[-2:]
    if begin.replace(":", "").isdecimal() and half in ("am", "pm"):
        later = _clock(f"{begin}{half}", may_be_bare=True)
        opens = later if later is not None and later <= closes else opens
    if (late := next((each for each in _LATE if begin.startswith(each)), "")) and end[:1].isdigit() and closes <= opens:
        closes = _clock(f"{late}{end}", may_be_bare=True, is_end=True) or closes
    return opens, closes


def next_day_end(opens: Any, closes: Any) -> str | None:
    """Return the end of hours that pass midnight, such as 22:00-06:00, in hours of the first day: 30:00.

    Hours that begin in the morning, or would last for more than half a day, are rather a mistake: there is none.
    Those from midnight to midnight are the whole day, as programs write where nothing is limited.
    """
    sides = [_HOURS_OF_DAY.fullmatch(each) if isinstance(each, str) else None for each in (opens, closes)]
    begin, end = (int(side[1]) * _HOUR_S + int(side[2]) * _MINUTE_S if side else -1 for side in sides)
    half_day = _DAY_HOURS * _HOUR_S // 2
    passes = 0 <= end < begin and begin >= half_day and end + half_day <= begin
    return written(end + _DAY_HOURS * _HOUR_S) if passes or begin == end == 0 else None


_HOURS_OF_DAY: Final = re.compile(r"([01]\d|2[0-3]):(\d\d)")


def are_same_windows(one: Windows, other: Windows) -> bool:
    """Return whether windows are of the same hours, however these are written."""
    try:
        first, second = ([[moment(side, {}) for side in window] for window in windows] for windows in (one, other))
    except ValueError:  # no times, which is a fault of the day
        return False
    return first == second


# ---- durations


def duration_in(
    text: str, path: str, *, unit_s: float, style: CellStyle = PLAIN_STYLE, are_minutes: bool = False
) -> float | Fault:
    """Return a duration in seconds.

    Args:
        text: Of the cell.
        path: Where it stands.
        unit_s: Seconds of one where the cell says no unit; 0 where nobody says it.
        style: Of its column.
        are_minutes: Whether `12:30` is of minutes and seconds, and so `12:30:00`, as which a spreadsheet keeps it.
    """
    simple = simplified(text[: MAX_CELL + 1])
    fault = Fault(path, f"{shown(text)} is not a duration.", _DURATIONS)
    if len(text) > MAX_CELL:
        return fault
    minutes = _MINUTES.fullmatch(simple) if are_minutes else None
    seconds = _duration(f"0:{minutes[1]:0>2}:{minutes[2]}" if minutes else simple)
    if seconds is not None:
        return int(seconds) if seconds.is_integer() else seconds
    number = number_in(text, "service time", path, style if style.decimal else CellStyle(","))
    if isinstance(number, Fault) or number < 0 or (not unit_s and number):
        return fault
    return number * unit_s


def _duration(simple: str) -> float | None:
    """Return the seconds of a duration with its unit, or of hours and minutes; None where it has neither."""
    if span := _SPAN.fullmatch(simple):
        hours, minutes, seconds = (int(part or 0) for part in span.groups())
        return float(hours * _HOUR_S + minutes * _MINUTE_S + seconds) if minutes < 60 and seconds < 60 else None
    simple = _in_digits(simple)
    at, total, last = 0, 0.0, 0.0
    while at < len(simple):
        part = _DURATION_PARTS.match(simple, at)
        if part is None:
            return None
        unit = _DURATION_UNITS.get(part[2] or "")
        if not part[2] and last == _HOUR_S:  # 1h30
            unit = 60.0
        if unit is None or (last and unit >= last):
            return None
        total += (0.5 if part[1] == "半" else float(part[1].replace(",", "."))) * unit
        at, last = part.end(), unit
    return total if last else None


def is_duration(text: str) -> bool:
    """Return whether a cell is a duration that says its unit: `15 min`, not `0:15`."""
    simple = simplified(text[: MAX_CELL + 1])
    return len(text) <= MAX_CELL and _SPAN.fullmatch(simple) is None and _duration(simple) is not None


def _in_digits(simple: str) -> str:
    """Return a duration with the numbers that it has as words in digits: `halbe Stunde`, `一刻钟`."""
    for pattern, digits in _SPOKEN:
        simple = pattern.sub(digits, simple)
    simple = _CHINESE_NUMBER.sub(_chinese_number, simple)
    simple = _AND_A_HALF.sub(lambda found: f"{found[1]}小时30分", simple)
    return _CHINESE_QUARTERS.sub(lambda found: f"{15 * int(found[1])}分", simple)


def _chinese_number(found: re.Match[str]) -> str:
    tens, ten, ones = found.groups()
    if not (tens or ten or ones):
        return ""
    value = _CHINESE_NUMERALS.get(tens, 1 if ten else 0) * (10 if ten else 1)
    return str(value + _CHINESE_NUMERALS.get(ones, 0)) if ten or not ones else found[0]


# ---- words


def date_in(text: str) -> str:
    """Return the day of a cell that says one and no time, as YYYY-MM-DD; empty where it says none."""
    dated = _split_day(simplified(text[: MAX_CELL + 1]), PLAIN_STYLE)
    return dated[0] if dated and dated[0] != "?" and dated[1] in _MIDNIGHTS else ""


def has_date(text: str) -> bool:
    """Return whether a cell begins with a day, whichever order that has."""
    return _split_day(simplified(text[: MAX_CELL + 1]), PLAIN_STYLE) is not None


def normalized_word(text: str) -> str:
    """Return a cell as a word to look up: without case, blanks and punctuation."""
    return _NO_WORD.sub("", text[:MAX_CELL]).casefold()


def listed(text: str) -> list[str]:
    """Return the words of a cell between commas of any kind; those that say there is nothing are none."""
    words = (word.strip() for word in _COMMAS.split(text))
    return [word for word in words if word and word.casefold() not in _ALWAYS]
