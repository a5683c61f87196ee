"""Where the header of a table is: below titles, in one line or in two (SPEC T5).

Owns the search. What stands above is named in a note. A line of groups above the header (*Time window* over *From* and
*To*) is put before the headers that it spans, a line of units below it (*kg* under *Weight*) behind them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from planner_mcp.formats.tables.cells.unit_words import SECONDS_OF_UNIT, unit_named, words_of
from planner_mcp.formats.tables.headers.header_meanings import meaning_of, normalized
from planner_mcp.text import plain

MAX_TITLES: Final = 12
"""Lines that may stand above a header."""
_MAX_LENGTH: Final = 60
"""Characters beyond which a cell is no header that anybody knows."""
_LONGEST_CODE: Final = 2
"""Characters up to which a word below a header is rather a name: `a` and `de` are words for times too."""
Line = tuple[int, list[str]]


@dataclass(frozen=True, slots=True)
class FoundHeader:
    """The header of a table."""

    at: int
    """Index of its line."""
    headers: tuple[str, ...]
    notices: tuple[str, ...]


def find_header(lines: Sequence[Line], spans: Sequence[tuple[int, int, int]] = ()) -> FoundHeader:
    """Return the header among the first lines of a table.

    Args:
        lines: Numbered, none of them empty; at least one.
        spans: Merged cells as line number, first and last column from 0.
    """
    lines = [(number, [cell.strip() for cell in cells]) for number, cells in lines[: 2 * MAX_TITLES + 1]]
    scores = [_known(cells) for _, cells in lines[:MAX_TITLES]]
    at = _first_wide(lines)
    best = max(range(len(scores)), key=lambda index: (scores[index], -index))
    if scores[best] >= 2 and scores[best] > 2 * scores[min(at, len(scores) - 1)]:
        at = best
    if at + 1 < len(lines) and (
        _is_second_line(lines[at][1], lines[at + 1][1])
        or (_is_line_of_groups(lines[at], lines[at + 1], spans) and at + 1 < len(scores) and scores[at + 1] >= 2)
    ):
        at += 1
    headers = lines[at][1]
    above = at
    is_next = at > 0 and lines[at - 1][0] + 1 == lines[at][0]
    if is_next and (groups := _groups(lines[at - 1], headers, spans)):
        pairs = zip(groups, headers, strict=True)
        headers = [header if group == header else f"{group} {header}".strip() for group, header in pairs]
        above -= 1
    if at + 1 < len(lines) and (units := _units(lines[at + 1][1])):
        with_units = zip_longest(headers, units[: len(headers)], fillvalue="")
        headers = [f"{header} ({unit})" if unit else header for header, unit in with_units]
        at += 1
    return FoundHeader(at, tuple(headers), _notices_of(lines[:above]))


def _known(cells: Sequence[str]) -> int:
    """Return how many cells are headers that somebody knows, each counted once: `Y` may answer yes in many."""
    headers = {cell for cell in cells if cell and len(cell) <= _MAX_LENGTH and not cell[0].isdigit()}
    return sum(any(meaning_of(each, table).is_exact for table in ("tickets", "agents")) for each in headers)


def names_columns(cells: Sequence[str]) -> bool:
    """Return whether a line is the header of a table by its words: half of them or more are known as such.

    A line of short words such as `a` and `de` is rather one of names.
    """
    words = [cell.strip() for cell in cells if cell.strip()]
    if _have_figures(words) or any(word.endswith((":", "：")) for word in words):
        return False
    known = _known(words)
    is_short = all(len(word) <= _LONGEST_CODE and word.isascii() for word in words)
    return known > 1 and 2 * known >= len(words) and not is_short


def _first_wide(lines: Sequence[Line]) -> int:
    """Return the first line that is not narrower than half of the widest of the next lines."""
    for index, (_, cells) in enumerate(lines[:MAX_TITLES]):
        widest = max((_filled(each) for _, each in lines[index + 1 : index + 1 + MAX_TITLES]), default=0)
        if widest <= 1 or (_filled(cells) > 1 and 2 * _filled(cells) >= widest):
            return index
    return 0


def _is_second_line(above: Sequence[str], cells: Sequence[str]) -> bool:
    """Return whether a line goes on with the header above it: *From* and *To* below a header that has room for both.

    So do other headers, where most words of the line are known as such and none has a figure.
    """
    words = list(filter(None, cells))
    has_room = len(above) == len(cells) and any(cell and not group for group, cell in zip(above, cells, strict=True))
    if not has_room or _have_figures(words) or any(len(word) > _MAX_LENGTH for word in words):
        return False
    meanings = [meaning_of(word, "tickets") for word in words]
    known = sum(len(word) > _LONGEST_CODE and bool(found.field) for word, found in zip(words, meanings, strict=True))
    if known > 1 and 2 * known >= len(words):
        return True
    return len(words) <= _filled(above) and all(found.concepts & _SIDES for found in meanings)


def _is_line_of_groups(line: Line, below: Line, spans: Sequence[tuple[int, int, int]]) -> bool:
    """Return whether merged cells of a line stand over several words of the line below, which has no figures."""
    number, above = line
    merged = [below[1][first : last + 1] for row, first, last in spans if row == number and above[first]]
    return not _have_figures(below[1]) and any(_filled(group) > 1 for group in merged)


def _have_figures(words: Sequence[str]) -> bool:
    return any(char.isdigit() for word in words for char in word)


_SIDES: Final = frozenset({"start", "end", "lat", "lon", "time", "window"})


def _groups(line: Line, headers: Sequence[str], spans: Sequence[tuple[int, int, int]]) -> list[str]:
    """Return the group above each header; none where the line above is no line of groups."""
    groups = list(line[1])
    is_title = _filled(groups) == 1 and groups[0] != ""  # often merged over some columns
    if len(groups) != len(headers) or is_title:
        return []
    merged = [(first, last) for row, first, last in spans if row == line[0] and first < len(groups)]
    if _filled(groups) < 2 or all(headers):
        wide = [(first, last) for first, last in merged if last > first and groups[first]]
        if not wide or any(first == 0 and last + 1 >= len(headers) for first, last in wide):
            return []
    for first, last in merged:
        groups[first : last + 1] = [groups[first]] * (min(last + 1, len(groups)) - first)
    for index in range(1, 0 if merged else len(groups)):
        if not groups[index] and headers[index] and headers[index - 1]:
            groups[index] = groups[index - 1]
    pairs = list(zip(groups, headers, strict=True))
    is_used = any(group and not header for group, header in pairs) or all(group or header for group, header in pairs)
    return groups if is_used else []


def _units(cells: Sequence[str]) -> list[str]:
    """Return the unit in each cell of a line of nothing else, empty for one that no amount or duration has.

    None are returned for any other line.
    """
    words = [normalized(cell) for cell in cells]
    units = ["" if word in _NO_UNITS else word for word in words]
    are_known = all(unit in SECONDS_OF_UNIT or (" " not in unit and unit_named(unit)) for unit in filter(None, units))
    return units if are_known and _filled(units) > 1 else []


_NO_UNITS: Final = words_of("uhr deg grad grados 时 度") | {"", "hh mm"}
"""Other words of such a line; a sign such as ° is none."""


def _filled(cells: Sequence[str]) -> int:
    return sum(map(bool, cells))


def _notices_of(lines: Sequence[Line]) -> tuple[str, ...]:
    if not lines:
        return ()
    first = next(filter(None, lines[0][1]), "")
    return (f'Lines above the header, passed over: {len(lines)} ("{plain(first, 40)}").',)
