"""What the cells of a column look like: times, windows, durations, amounts, places, days, texts (SPEC T5).

Owns the judgement of a column by its values. What its header says is `header_meanings.py`'s, how it is written where
one cell alone may mean two things `column_style.py`'s.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, get_args

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import MAX_CELL, CellStyle, filled, normalized_word, says_nothing
from planner_mcp.formats.tables.cells.coordinate_parsing import has_minutes, is_map_link, pair_in
from planner_mcp.formats.tables.cells.duration_parsing import is_duration
from planner_mcp.formats.tables.cells.number_parsing import amount_in, counted_in, has_unit
from planner_mcp.formats.tables.cells.time_parsing import date_in, has_date, is_hhmm, time_in
from planner_mcp.formats.tables.cells.unit_words import words_of
from planner_mcp.formats.tables.cells.window_parsing import names_half_days, windows_in
from planner_mcp.routing.scenario.window_text import OPEN_END
from planner_mcp.text import plain

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
_YES_OR_NO: Final = words_of("y n yes no true false x ja nein j oui non o si sí sì nee tak nie 是 否 有 无")
_DEGREES: Final = re.compile(r"[+-]?\d{1,3}[.,]\d{2,}")
_SIGNED: Final = re.compile(r"[+-]?[\d ]+(?:[.,]\d+)?")
"""A number, and no hour until which: three boxes that are taken back are -3."""
_UNTIL: Final = re.compile(r"- ?(?:0?[5-9]|1\d|2[0-4])\.[0-5]\d")
"""An hour of the day until which, with its minutes: -12.30."""


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
    is_amount = _SIGNED.fullmatch(cell.strip()) is not None and _UNTIL.fullmatch(cell.strip()) is None
    if is_amount or not any(map(str.isdecimal, cell)):
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


def are_divisions(cells: Sequence[str]) -> bool:
    """Return whether most cells are names of Chinese provinces, cities, districts or counties."""
    named = sum(cell.strip()[-1:] in _DIVISIONS for cell in cells if cell.strip())
    return 2 * named > len(cells)


_DIVISIONS: Final = frozenset("省市区县旗州盟镇乡")


def are_yes_or_no(cells: Sequence[str]) -> bool:
    """Return whether each cell answers yes or no."""
    return all(normalized_word(cell) in _YES_OR_NO for cell in cells)


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
