"""Where the header of a table is: below titles, in one line or in two (SPEC T5).

Owns the search. What stands above is named in a note. A line of groups above the header (*Time window* over *From* and
*To*) is put before the headers that it spans, a line of units below it (*kg* under *Weight*) behind them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from planner_mcp.formats.tables.header_words import meaning_of, normalized
from planner_mcp.formats.tables.unit_words import SECONDS_OF_UNIT, unit_named, words_of
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
    _, cells = lines[at]
    headers = [cell.strip() for cell in cells]
    above = at
    if at and (groups := _groups(lines[at - 1], headers, spans)):
        headers = [_joined(group, header) for group, header in zip(groups, headers, strict=True)]
        above -= 1
    if at + 1 < len(lines) and (units := _units(lines[at + 1][1])):
        pairs = zip_longest(headers, units[: len(headers)], fillvalue="")
        headers = [f"{header} ({unit})" if unit else header for header, unit in pairs]
        at += 1
    return FoundHeader(at, tuple(headers), _notices_of(lines[:above]))


def _known(cells: Sequence[str]) -> int:
    """Return how many cells are headers that somebody knows."""
    found = 0
    for cell in cells:
        header = cell.strip()
        if header and len(header) <= _MAX_LENGTH and not header[0].isdigit():
            found += any(meaning_of(header, table).is_exact for table in ("tickets", "agents"))
    return found


def _first_wide(lines: Sequence[Line]) -> int:
    """Return the first line that is not narrower than half of the widest of the next lines."""
    for index, (_, cells) in enumerate(lines[:MAX_TITLES]):
        widest = max((_filled(each) for _, each in lines[index + 1 : index + 1 + MAX_TITLES]), default=0)
        if _filled(cells) > 1 and 2 * _filled(cells) >= widest:
            return index
        if widest <= 1:
            return index
    return 0


def _is_second_line(above: Sequence[str], cells: Sequence[str]) -> bool:
    """Return whether a line goes on with the header above it: *From* and *To* below a header that has room for both.

    So do other headers, where most words of the line are known as such and none has a figure.
    """
    if len(above) != len(cells) or not any(
        cell.strip() and not group.strip() for group, cell in zip(above, cells, strict=True)
    ):
        return False
    words = [cell.strip() for cell in cells if cell.strip()]
    known = [word for word in words if len(word) > _LONGEST_CODE and meaning_of(word, "tickets").field]
    if len(known) > 1 and 2 * len(known) >= len(words) and not any(char.isdigit() for word in words for char in word):
        return True
    return len(words) < _filled(above) + 1 and all(len(word) <= _MAX_LENGTH and _is_side(word) for word in words)


def _is_line_of_groups(line: Line, below: Line, spans: Sequence[tuple[int, int, int]]) -> bool:
    """Return whether merged cells of a line stand over several words of the line below, which has no figures."""
    number, above = line
    words = [cell.strip() for cell in below[1]]
    merged = [words[first : last + 1] for row, first, last in spans if row == number and above[first].strip()]
    has_figures = any(char.isdigit() for word in words for char in word)
    return not has_figures and any(sum(map(bool, group)) > 1 for group in merged)


def _is_side(word: str) -> bool:
    return not any(char.isdigit() for char in word) and bool(meaning_of(word, "tickets").concepts & _SIDES)


_SIDES: Final = frozenset({"start", "end", "lat", "lon", "time", "window"})


def _groups(line: Line, headers: Sequence[str], spans: Sequence[tuple[int, int, int]]) -> list[str]:
    """Return the group above each header; none where the line above is no line of groups."""
    number, cells = line
    texts = [cell.strip() for cell in cells]
    if len(texts) != len(headers) or _filled(texts) < 2 or all(headers):
        merged = [(first, last) for row, first, last in spans if row == number and last > first and texts[first]]
        if (
            len(texts) != len(headers)
            or not merged
            or any(first == 0 and last + 1 >= len(headers) for first, last in merged)
        ):
            return []
    groups = list(texts)
    for row, first, last in spans:
        if row == number and first < len(groups):
            groups[first : last + 1] = [groups[first]] * (min(last + 1, len(groups)) - first)
    if not any(row == number for row, _, _ in spans):
        for index in range(1, len(groups)):
            if not groups[index] and headers[index]:
                groups[index] = groups[index - 1] if headers[index - 1] and groups[index - 1] else ""
    are_filled = [bool(group or header) for group, header in zip(groups, headers, strict=True)]
    return (
        groups
        if any(group and not header for group, header in zip(groups, headers, strict=True)) or all(are_filled)
        else []
    )


def _units(cells: Sequence[str]) -> list[str]:
    """Return the unit in each cell of a line of nothing else, empty for one that no amount or duration has.

    None are returned for any other line.
    """
    words = [normalized(cell) for cell in cells]
    units = ["" if word in _NO_UNITS else word for word in words]
    are_known = all(unit in SECONDS_OF_UNIT or (" " not in unit and unit_named(unit)) for unit in filter(None, units))
    return units if are_known and sum(map(bool, units)) > 1 else []


_NO_UNITS: Final = words_of("uhr deg grad grados 时 度") | {"", "hh mm"}
"""Other words of such a line; a sign such as ° is none."""


def _joined(group: str, header: str) -> str:
    return f"{group} {header}".strip() if group != header else header


def _filled(cells: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)


def _notices_of(lines: Sequence[Line]) -> tuple[str, ...]:
    if not lines:
        return ()
    first = next((cell.strip() for cell in lines[0][1] if cell.strip()), "")
    return (f'Lines above the header, passed over: {len(lines)} ("{plain(first, 40)}").',)
