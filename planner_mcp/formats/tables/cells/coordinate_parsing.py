"""What the text of a cell says about a position: one coordinate, or both in one cell (SPEC T5).

Owns the forms in which people write degrees: as decimals, or with minutes and seconds; with the letter of a direction
or without. A letter says which axis a coordinate is of. `O` is east in German and west in French and Spanish: it is
asked about.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import MAX_CELL, shown, simplified
from planner_mcp.formats.tables.cells.number_parsing import number_in

Axis = Literal["", "lat", "lon"]
DEGREES: Final[Mapping[str, Axis]] = {"lat": "lat", "lon": "lon"}
"""Fields of one coordinate in degrees, with its axis."""
_BOUNDS: Final[dict[Axis, float]] = {"": 180.0, "lat": 90.0, "lon": 180.0}
_AXIS_BY_LETTER: Final[dict[str, Axis]] = {"": "", "n": "lat", "s": "lat", "e": "lon", "w": "lon"}
_NEGATIVE: Final = frozenset("sw")
_SIXTIETHS: Final = r"\d{1,2}(?:[.,]\d+)?"
_COORDINATE: Final = re.compile(
    r"(?P<before>[nsew]?) ?(?P<sign>[+-]?)(?P<degrees>\d{1,3}(?:[.,]\d+)?)"
    rf"(?: ?(?P<mark>[°: ]) ?(?P<minutes>{_SIXTIETHS})(?: ?(?:['’′:]|(?<=\d) ) ?(?P<seconds>{_SIXTIETHS}))?)?"
    r" ?[°'’′\"]{0,2} ?(?P<after>[nsew]?)"
)
_SEPARATOR: Final = re.compile(r" ?[,;/] ?| ")
_WITH_MINUTES: Final = re.compile(r"\d ?[°º] ?\d{1,2}(?:[.,]\d+)? ?['’′´]")
_MAX_LINK: Final = 1000
_MAP: Final = re.compile(
    r"geo:|https?://(?:[\w-]+\.)*(?:google\.[a-z.]{2,6}/maps|maps\.google\.|maps\.apple\.|bing\.com/maps|openstreetmap\.org)",
    re.IGNORECASE | re.ASCII,
)
_LAT, _LON = r"(-?\d{1,2}\.\d+)", r"(-?\d{1,3}\.\d+)"
_LINKED: Final = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        rf"!3d{_LAT}!4d{_LON}",
        rf"mlat={_LAT}&(?:amp;)?mlon={_LON}",
        rf"(?:[@=/]|geo:|loc:)\+?{_LAT}(?:,|%2C|~)\+?{_LON}",
    )
)
"""Where a link has a position, the place itself before the middle of the map."""
_POINT: Final = re.compile(
    r"(?:SRID=4326;)?POINT ?(?:Z ?)?\(\s?(-?\d{1,3}(?:\.\d+)?) (-?\d{1,2}(?:\.\d+)?)(?: [\d.-]+)?\s?\)",
    re.IGNORECASE | re.ASCII,
)
"""A point in well-known text, as maps and databases export it: the longitude stands first."""
_EITHER_WAY: Final = re.compile(r"^o ?\d|[\d°'’′\" ]o$")
"""The letter O before or behind a coordinate."""
_DECIMALS: Final = 7
"""Decimals of degrees that minutes and seconds are brought to: a centimetre."""
_EXACT_DECIMALS: Final = 3
"""Decimals from which `52,520,13,405` is two numbers rather than four."""


def coordinate_in(text: str, path: str, axis: Axis) -> float | Fault:
    """Return the degrees of a cell that has one coordinate.

    Args:
        text: Of the cell, such as `52.52`, `52,52 N` or `52°31'12"N`.
    """
    number = number_in(text, "coordinate", path, has_thousands=False)
    if not isinstance(number, Fault):
        return number
    read = _coordinate(_degrees_text(text)) if len(text) <= MAX_CELL else None
    if read is not None and read[1] in ("", axis):
        return read[0]
    if axis == "lat":
        return Fault(
            path, f"{shown(text)} is no latitude.", "degrees such as 52.52 or 52°31'12\"N", _east_or_west(text)
        )
    return Fault(path, f"{shown(text)} is no longitude.", "degrees such as 13.4 or 13°24'00\"E", _east_or_west(text))


def position_in(text: str, path: str, *, lon_first: bool) -> tuple[float, float] | Fault:
    """Return latitude and longitude of a cell that has both.

    Args:
        text: Of the cell, such as `52.52, 13.40`, `52,52; 13,40`, `N 52.52 E 13.40` or `52°31'12"N 13°24'18"E`.
        lon_first: Whether the longitude stands first where the cell does not say.
    """
    pair = pair_in(text)
    if pair is None:
        accepted = "latitude and longitude such as 52.52, 13.40"
        is_link = text.strip().lower().startswith("http")
        hint = "Open the link, and write the two numbers that the map shows." if is_link else _east_or_west(text)
        return Fault(path, f"{shown(text)} is no position.", accepted, hint)
    first, second, named = pair
    if named:
        return (first, second) if named == "lat" else (second, first)
    return (second, first) if lon_first else (first, second)


def pair_in(text: str) -> tuple[float, float, Axis] | None:
    """Return the two numbers of a position, and which of its axes stands first, where letters say so."""
    if is_map_link(text):
        return _pair_of_link(text)
    if len(text) > MAX_CELL or not any(map(str.isdecimal, text)):
        return None
    if point := _POINT.fullmatch(text.strip()):
        return float(point[2]), float(point[1]), "lat"
    simple = _degrees_text(text).strip("()[] ")
    for separator in _SEPARATOR.finditer(simple):
        parts = simple[: separator.start()], simple[separator.end() :]
        first, second = _coordinate(parts[0]), _coordinate(parts[1])
        if first is None or second is None or not all(map(_is_exact, parts)):
            continue
        if separator[0] == "," and any("," in part and not _has_many_decimals(part) for part in parts):
            continue
        axes = first[1], second[1]
        if not axes[0] or axes[0] != axes[1]:
            return first[0], second[0], axes[0] or _other(axes[1])
    return None


def is_map_link(text: str) -> bool:
    """Return whether a cell is a link to a place on a map: of Google, Apple, Bing, OpenStreetMap, or a geo URI."""
    return ":" in text and len(text) <= _MAX_LINK and _MAP.match(text.strip()) is not None


def _pair_of_link(text: str) -> tuple[float, float, Axis] | None:
    """Return latitude and longitude of a link that says them; a short one does not."""
    found = next((match for pattern in _LINKED if (match := pattern.search(text))), None)
    if found is None or abs(float(found[1])) > _BOUNDS["lat"] or abs(float(found[2])) > _BOUNDS["lon"]:
        return None
    return float(found[1]), float(found[2]), "lat"


def axis_of(text: str) -> Axis:
    """Return the axis that the letter of a cell with one coordinate in degrees and minutes names."""
    read = _coordinate(_degrees_text(text)) if has_minutes(text) else None
    return read[1] if read else ""


def common_axis(cells: Iterable[str]) -> Axis:
    """Return the axis that the letters of all coordinates in a column name."""
    axes = set(map(axis_of, cells))
    return axes.pop() if len(axes) == 1 else ""


def is_one_angle(text: str) -> bool:
    """Return whether a cell is one coordinate in degrees and minutes, whether or not it can be read."""
    return has_minutes(text) and pair_in(text) is None


def has_minutes(text: str) -> bool:
    """Return whether a cell has degrees with minutes: `52°31'`."""
    return len(text) <= MAX_CELL and _WITH_MINUTES.search(text) is not None


def _coordinate(simple: str) -> tuple[float, Axis] | None:
    """Return the degrees of a coordinate and its axis, where a letter says it; None for what is none."""
    found = _COORDINATE.fullmatch(simple)
    if found is None or (found["before"] and found["after"]):
        return None
    letter = found["before"] or found["after"]
    if found["minutes"] is None:
        degrees = _number(found["degrees"])
    else:
        minutes, seconds = _number(found["minutes"]), _number(found["seconds"] or "0")
        has_decimals = not found["degrees"].isdecimal() or (found["seconds"] and not found["minutes"].isdecimal())
        if has_decimals or max(minutes, seconds) >= 60 or not (letter or found["mark"] == "°"):
            return None
        degrees = round(int(found["degrees"]) + minutes / 60 + seconds / 3600, _DECIMALS)
    axis = _AXIS_BY_LETTER[letter]
    if degrees > _BOUNDS[axis] or (letter and found["sign"]):
        return None
    return (-degrees if found["sign"] == "-" or letter in _NEGATIVE else degrees), axis


def _degrees_text(text: str) -> str:
    return simplified(text.replace("º", "°"))


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _is_exact(part: str) -> bool:
    return "." in part or "," in part or "°" in part or " " in part.strip("nsew ") or ":" in part


def _has_many_decimals(part: str) -> bool:
    return len(part.rpartition(",")[2].rstrip("nsew° ")) >= _EXACT_DECIMALS


def _other(axis: Axis) -> Axis:
    return {"lat": "lon", "lon": "lat"}.get(axis, "")  # type: ignore[return-value]


def _east_or_west(text: str) -> str:
    is_open = any(map(str.isdecimal, text)) and _EITHER_WAY.search(_degrees_text(text[: MAX_CELL + 1]))
    return "O may be east or west: write E or W." if is_open else ""
