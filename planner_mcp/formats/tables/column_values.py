"""What the cells of a column look like: times, windows, durations, amounts, places, days, texts (SPEC T5).

Owns the judgement of a column by its values, and how it is written where one cell alone may mean two things. What its
header says is `header_meanings.py`'s.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, get_args

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cell_text import (
    MAX_CELL,
    BareTimes,
    CellStyle,
    Decimal,
    filled,
    normalized_word,
    says_nothing,
)
from planner_mcp.formats.tables.coordinate_parsing import has_minutes, is_map_link, pair_in
from planner_mcp.formats.tables.duration_parsing import is_duration
from planner_mcp.formats.tables.header_meanings import normalized
from planner_mcp.formats.tables.number_parsing import amount_in, counted_in, decimal_mark_of, has_unit
from planner_mcp.formats.tables.time_parsing import (
    YEAR_LAST,
    date_in,
    has_date,
    hours_in,
    is_hhmm,
    share_of_day,
    time_in,
)
from planner_mcp.formats.tables.unit_words import words_of
from planner_mcp.formats.tables.window_parsing import names_half_days, windows_in
from planner_mcp.routing.scenario.window_text import OPEN_END
from planner_mcp.text import DAY_S, plain

OpenKind = Literal["windows", "times", "durations", "amounts", "numbers", "positions", "places"]
"""What a column may not be left out for in silence, the most telling first."""
Kind = Literal[OpenKind, "days", "phones", "codes", "texts", "nothing"]
OPEN_KINDS: Final[tuple[OpenKind, ...]] = get_args(OpenKind)
_LOOKS: Final[dict[Kind, str]] = {
    "windows": "windows ({})",
    "times": "times ({})",
    "durations": "durations ({})",
    "amounts": "amounts ({})",
    "numbers": "numbers ({})",
    "positions": "positions of places ({})",
    "places": "addresses ({})",
    "days": "days ({})",
    "phones": "phones ({})",
    "codes": "codes ({})",
    "texts": "texts ({})",
}
MAX_SAMPLE: Final = 200
"""Cells of a column that are looked at to say what it is; how it is written is settled by all of them."""
_MOST: Final = 0.7
"""Share of cells that makes a kind the column's."""
_SOME: Final = 0.3
"""The same of a kind that must not be passed over."""
_MAX_EXAMPLES: Final = 3
_ROUNDED_S: Final = 6
"""Seconds by which four decimals of a day may miss a whole minute."""
_SHORT_STAY: Final = 1 / 48
"""Part of a day, below which is a stay that numbers may be, …"""
_LONG_STAY: Final = 1 / 4
"""… and from which on none is."""
_PHONE: Final = re.compile(r"\+?\(?\d[\d\s()/.-]{5,20}\d")
_CHINESE_PLACE: Final = re.compile(r"[省市区县镇乡村路街道巷弄号楼栋]")
_STREET_WITH_NUMBER: Final = re.compile(
    r"\b(?:street|st|road|rd|avenue|ave|lane|ln|drive|way|square|blvd|court|close|via|viale|piazza|corso"
    r"|rua|ul)\b|(?:straat|laan|plein)\b",
    re.IGNORECASE,
)
"""Words of a street that need a number beside them."""
_STREET: Final = re.compile(
    r"(?:stra(?:ss|ß)e|str\.|platz|weg|allee|gasse|damm|ufer|ring) ?\d"
    r"|\b(?:rue|avenue|av|bd|boulevard|place|quai|chemin|calle|avenida|avda|plaza|paseo|carrer|c/)\b",
    re.IGNORECASE,
)
_VAGUE_TIMES: Final = words_of(
    "evening noon morgens abends fruh soir manana tarde noche 早上 中午 晚上 傍晚 asap sofort urgent 尽快"
)
"""Words for a time that nobody can plan with, and that must not be lost."""
PICKUPS: Final = words_of(
    "pu pickup pickups collect collection return returns abholung retoure rucknahme enlevement ramasse retour "
    "collecte recogida devolucion retiro abholen holen ophalen afhalen ramasser recoger ritiro ritirare odbior "
    "取货 揽收 取件 退货 提货 回收"
)
DELIVERIES: Final = {""} | words_of(
    "delivery deliver dropoff drop lieferung zustellung auslieferung livraison entrega reparto liefern zustellen "
    "leveren bezorgen brengen levering livrer entregar consegna consegnare dostawa doreczenie "
    "配送 送货 派送 派件 送件 投递"
)
KIND_INITIALS: Final[Mapping[str, str]] = {"p": "pickup", "d": "delivery"}
_YES_OR_NO: Final = words_of("y n yes no true false x ja nein j oui non o si sí sì nee tak nie 是 否 有 无")
_DEGREES: Final = re.compile(r"[+-]?\d{1,3}[.,]\d{2,}")


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """What the cells of a column look like."""

    kind: Kind
    examples: tuple[str, ...]
    is_counting: bool = False
    """Whether it counts rows."""

    @property
    def looks(self) -> str:
        """Return in words what the column looks like, with examples."""
        found = ", ".join(plain(each, 20) for each in self.examples)
        return _LOOKS[self.kind].format(found) if found and self.kind in _LOOKS else "empty cells"


def values_of(cells: Sequence[str]) -> ColumnValues:
    """Return what the cells of a column look like, empty ones left out."""
    sample = cells if len(cells) <= MAX_SAMPLE else cells[:: len(cells) // MAX_SAMPLE + 1]
    kinds = [_kind_of_cell(cell) for cell in sample]
    counts = Counter(kinds)
    del counts["nothing"]
    nonempty = filled(sample)
    # 2h beside 45 min, or 0:30
    if counts["durations"] and all(is_duration(cell) or are_clocks_short([cell]) for cell in nonempty):
        counts = Counter({"durations": counts.total()})
        kinds = ["durations"] * len(kinds)
    kind = _kind(counts)
    examples = dict.fromkeys(cell for cell, found in zip(sample, kinds, strict=True) if found == kind)
    if kind == "texts" and counted_in(nonempty):
        kind, examples = "amounts", dict.fromkeys(nonempty)
    numbers = [cell.strip() for cell in sample]
    are_whole = all(each.isdecimal() for each in numbers)
    is_counting = are_whole and len(cells) > 2 and _counts(cells)
    if kind == "numbers" and are_whole and _are_codes(numbers):
        kind = "codes"
    return ColumnValues(kind, tuple(examples)[:_MAX_EXAMPLES], is_counting)


def _kind(counts: Counter[Kind]) -> Kind:
    if not counts:
        return "nothing"
    total = sum(counts.values())
    (most, count), *_ = counts.most_common(1)
    if count >= _MOST * total:
        return most
    if counts["times"] + counts["windows"] >= _SOME * total:
        return "windows" if counts["windows"] > counts["times"] else "times"
    kind = max(OPEN_KINDS, key=lambda kind: counts[kind])
    return kind if counts[kind] >= _SOME * total else "texts"


def _kind_of_cell(cell: str) -> Kind:
    """Return what one cell looks like; `nothing` for one that says there is nothing."""
    if is_map_link(cell):
        return "positions" if pair_in(cell) else "texts"
    if len(cell) > MAX_CELL:
        return "texts"
    if says_nothing(cell):
        return "nothing"
    return next((kind for kind, is_one in _CHECKS if is_one(cell)), "texts")


_SOME_MONDAY: Final = "2025-01-06"
"""Whether hours by weekday are windows does not depend on the day."""


def _is_window(cell: str) -> bool:
    read = windows_in(cell, "", CellStyle(planning_date=_SOME_MONDAY))
    if not isinstance(read, list):
        return False
    if names_half_days(cell):
        return True
    if cell.replace(" ", "").isdecimal() or not any(map(str.isdecimal, cell)):
        return False
    return bool(read) and (":" in cell or not _PHONE.fullmatch(cell.strip()) or len(cell) <= len("0800-1200"))


def _has_hours(cell: str) -> bool:
    return ":" in cell or _is_window(cell)


def _is_time(cell: str) -> bool:
    if normalized_word(cell) in _VAGUE_TIMES:
        return True
    simple = cell.strip()
    if simple.replace(".", "").replace(",", "").replace("-", "").isdecimal():
        return False  # a number
    return isinstance(time_in(cell, ""), str) or (has_date(cell) and not date_in(cell) and ":" in cell)


def _is_number(cell: str) -> bool:
    read = amount_in(cell, "", "", CellStyle("."))
    return not isinstance(read, Fault) and read[1] is None


def _is_place(cell: str) -> bool:
    if _CHINESE_PLACE.search(cell):
        return len(_CHINESE_PLACE.findall(cell)) > 1 or any(char.isdecimal() for char in cell)
    has_number = any(char.isdecimal() for char in cell)
    return _STREET.search(cell) is not None or (has_number and _STREET_WITH_NUMBER.search(cell) is not None)


def _is_code(cell: str) -> bool:
    simple = cell.strip()
    return simple.isdecimal() and len(simple) > 1 and simple.startswith("0")


def _is_position(cell: str) -> bool:
    return has_minutes(cell) or (pair_in(cell) is not None and ("," not in cell or cell.count(".") != 1))


_CHECKS: Final[tuple[tuple[Kind, Callable[[str], bool]], ...]] = (
    ("positions", _is_position),
    (
        "days",
        lambda cell: (
            bool(date_in(cell)) or (has_date(cell) and len(cell) <= len("2025-07-15") and not _has_hours(cell))
        ),
    ),
    ("windows", _is_window),
    ("times", _is_time),
    ("durations", is_duration),
    ("codes", _is_code),
    ("numbers", _is_number),
    ("amounts", has_unit),
    ("phones", lambda cell: _PHONE.fullmatch(cell.strip()) is not None),
    ("places", _is_place),
)


def are_kinds(cells: Sequence[str]) -> bool:
    """Return whether each cell says that something is picked up, or delivered, and not all are empty."""
    words = _kind_words(cells)
    initials = KIND_INITIALS.keys() if has_kind_initials(cells) else frozenset[str]()
    return bool(words) and words <= PICKUPS | DELIVERIES | initials


def has_pickups(cells: Iterable[str]) -> bool:
    """Return whether a cell is a word for what is picked up."""
    return not PICKUPS.isdisjoint(_kind_words(cells))


def has_kind_initials(cells: Iterable[str]) -> bool:
    """Return whether a column has both `P` and `D`: one alone may be a class of customers."""
    return KIND_INITIALS.keys() <= _kind_words(cells)


def _kind_words(cells: Iterable[str]) -> set[str]:
    return {normalized(cell[:MAX_CELL]).replace(" ", "") for cell in cells}


def are_divisions(cells: Sequence[str]) -> bool:
    """Return whether most cells are names of Chinese provinces, cities, districts or counties."""
    named = sum(cell.strip()[-1:] in _DIVISIONS for cell in cells if cell.strip())
    return 2 * named > len(cells)


_DIVISIONS: Final = frozenset("省市区县旗州盟镇乡")


def are_yes_or_no(cells: Sequence[str]) -> bool:
    """Return whether each cell answers yes or no."""
    return all(cell.strip().casefold() in _YES_OR_NO for cell in cells)


def _are_codes(numbers: Sequence[str]) -> bool:
    """Return whether whole numbers are names: of four digits or more, all as long, all different."""
    return (
        len(numbers) > 1
        and len(set(numbers)) == len(numbers)
        and {len(each) for each in numbers} <= {len(numbers[0])}
        and len(numbers[0]) > 3
    )


def _counts(cells: Sequence[str]) -> bool:
    values = [int(cell) for cell in cells if len(cell) < MAX_CELL and cell.strip().isdecimal()]
    return (
        len(values) == len(cells)
        and values[0] in (0, 1)
        and all(after - before == 1 for before, after in pairwise(values))
    )


def are_hhmm(cells: Sequence[str]) -> bool:
    """Return whether each cell that says something is an hour and its minutes in four digits: `0830`."""
    nonempty = [cell.strip() for cell in filled(cells)]
    return bool(nonempty) and all(len(each) == len("0830") and is_hhmm(each) for each in nonempty)


def are_one_sided(cells: Sequence[str], *, is_end: bool) -> bool:
    """Return whether each cell says a time, or a window with that side alone: `bis 12 Uhr` beside `11:30`."""
    for cell in cells:
        windows = windows_in(cell, "", CellStyle(planning_date=_SOME_MONDAY))
        is_half = isinstance(windows, list) and len(windows) == 1 and windows[0][not is_end] == _OPEN_SIDES[is_end]
        if not is_half and not isinstance(time_in(cell, "", is_end=is_end), str):
            return False
    return True


_OPEN_SIDES: Final = {True: "00:00", False: OPEN_END}
"""The side of a window that a cell leaves open, where it says the end, or the begin."""


def are_clocks_short(cells: Iterable[str]) -> bool:
    """Return whether cells such as 0:15 are durations rather than times of day: none reaches four in the morning."""
    spans = [cell.strip() for cell in cells if len(cell) <= MAX_CELL]
    return bool(spans) and all(_SHORT_SPAN.fullmatch(each) for each in spans)


def has_long_clocks(cells: Iterable[str]) -> bool:
    """Return whether a cell such as 15:00 would be four hours or more: nobody stays at a stop for so long."""
    return any(_CLOCK_SPAN.fullmatch(cell.strip()) and not are_clocks_short([cell]) for cell in cells)


_CLOCK_SPAN: Final = re.compile(r"\d{1,2}:\d\d(?::\d\d)?")
_SHORT_SPAN: Final = re.compile(r"0?[0-3]:\d\d(?::\d\d)?")


def are_degrees(cells: Sequence[str], most: float) -> bool:
    """Return whether numbers are degrees: with two decimals or more, most of them, and none beyond a bound."""
    if not cells or any(len(cell) > MAX_CELL for cell in cells):
        return False
    if sum(_DEGREES.fullmatch(cell.strip()) is not None for cell in cells) < _MOST * len(cells):
        return False
    numbers = (amount_in(cell, "", "", has_thousands=False) for cell in cells)
    return all(not isinstance(each, Fault) and each[1] is None and abs(each[0]) <= most for each in numbers)


# ---- how a column is written


def style_of(cells: Sequence[str], planning_date: str, *, has_thousands: bool = True) -> CellStyle:
    """Return how the cells of a column are written, as far as they show it themselves.

    Args:
        cells: All of them, without empty ones.
        planning_date: Settles the order of day and month where one of the two readings is this day.
        has_thousands: Whether a mark may part thousands.
    """
    decimal = decimal_of(cells, has_thousands=has_thousands)
    return CellStyle(decimal, _bare_times(cells), _day_first(cells, planning_date), planning_date, counted_in(cells))


def decimal_of(cells: Iterable[str], *, has_thousands: bool = True) -> Decimal:
    """Return the mark before decimals that cells show; empty where none does, or they differ."""
    marks = {decimal_mark_of(cell, has_thousands=has_thousands) for cell in cells}
    if "." in marks:
        return "" if "," in marks else "."
    return "," if "," in marks else ""


def open_mark_in(cells: Iterable[str]) -> str:
    """Return the first cell whose mark may part thousands, or decimals; empty for none."""
    return next((cell for cell in cells if decimal_mark_of(cell) == "?"), "")


def _bare_times(cells: Sequence[str]) -> BareTimes:
    if are_shares_of_day(cells) and any(len(each.strip()) >= len("0.375") for each in cells if ":" not in each):
        return "days"
    hours = {cell.strip().replace(",", "."): found for cell in cells if (found := hours_in(cell)) is not None}
    decimals = {text.partition(".")[2] for text in hours}
    if decimals & _NO_MINUTES and decimals <= _QUARTERS and min(hours.values()) >= 1:  # else 0.75 of a day is 18:00
        return "decimals"
    bare = [cell.strip() for cell in cells if cell.strip().isdecimal() and len(cell) <= MAX_CELL]
    values = [int(each) for each in bare]
    if not values:
        return ""
    if 0 < max(values) <= 24:
        return "hours"
    if all(map(is_hhmm, bare)) and (any(map(_is_padded, bare)) or _are_quarters(values)):
        return "hhmm"
    return "seconds" if max(values) > 2400 else ""


def are_shares_of_day(cells: Sequence[str]) -> bool:
    """Return whether each cell, but for clock times, may be a part of a day: 0.375 is no hour and no second."""
    nonempty = [cell for cell in cells if not says_nothing(cell) and ":" not in cell]
    return bool(nonempty) and all(len(cell) <= MAX_CELL and share_of_day(cell) is not None for cell in nonempty)


def are_stays_of_day(cells: Sequence[str]) -> bool:
    """Return whether numbers are whole minutes as spreadsheets keep them, parts of a day: 0.0104 is 15 min.

    As hours, or less, one of them would be no more than a minute.
    """
    if not are_shares_of_day(cells):
        return False
    shares = [share for cell in cells if (share := share_of_day(cell))]
    minutes = [share * DAY_S / 60 for share in shares]
    are_minutes = all(60 * abs(each - round(each)) < _ROUNDED_S for each in minutes)
    return bool(shares) and are_minutes and min(shares) < _SHORT_STAY and max(shares) < _LONG_STAY


def _is_padded(number: str) -> bool:
    return number.startswith("0") and len(number) == len("0830")


def _are_quarters(values: Sequence[int]) -> bool:
    """Return whether several numbers are quarters of an hour as 1100 and 1430, and none as minutes since midnight."""
    return (
        len(set(values)) > 1 and all(value % 100 % 15 == 0 for value in values) and any(value % 15 for value in values)
    )


_QUARTERS: Final = frozenset({"", "0", "00", "25", "5", "50", "75"})
"""Decimals of hours in quarters."""
_NO_MINUTES: Final = frozenset({"5", "75"})
"""Those that nobody writes for minutes: 8.5 and 8.75, where 8.25 and 8.50 alone may be clock times."""


def _day_first(cells: Sequence[str], planning_date: str) -> bool | None:
    """Return whether the day stands before the month; None where nothing shows it.

    A number beyond twelve shows it; else the reading that is the planning date, where the other reading is none.
    """
    found = [match for cell in cells if len(cell) <= MAX_CELL and (match := YEAR_LAST.match(cell.strip()))]
    found = [match for match in found if match[2] != "."]
    if any(int(each[1]) > 12 for each in found):
        return True
    if any(int(each[3]) > 12 for each in found):
        return False
    _, month, day = [*planning_date.split("-"), "", ""][:3]
    orders = {(int(each[1]), int(each[3])) for each in found}
    if not (month.isdecimal() and day.isdecimal()) or not orders or month == day:
        return None
    readings = {(int(day), int(month)): True, (int(month), int(day)): False}
    settled = {readings[order] for order in orders if order in readings}
    return settled.pop() if len(settled) == 1 else None
