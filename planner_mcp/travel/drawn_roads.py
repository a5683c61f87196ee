"""The roads of a box, to be drawn under the routes of a day.

Owns the table of roads in the register of an extract, and the choice of what is drawn: main roads before side streets,
within so many bytes. `street_register_builder.py` fills the table. Roads are © OpenStreetMap contributors.
"""

import logging
import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from planner_mcp.addresses.street_register import opened_register
from planner_mcp.routing.scenario.coordinates import Position, from_wgs84

log = logging.getLogger("planner.roads")

SCHEMA: Final = "CREATE VIRTUAL TABLE roads USING rtree(id, south, north, west, east, low, high, +line);"
"""`low` and `high`: the rank of the road, twice, since a column of an R*Tree is a span. `line`: as `packed_line`."""
RANKS: Final[dict[str, int]] = {
    "motorway": 0,
    "trunk": 0,
    "primary": 1,
    "secondary": 2,
    "tertiary": 3,
    **dict.fromkeys(("unclassified", "residential", "living_street", "pedestrian", "road"), 4),
}
"""Rank by `highway` of OpenStreetMap; a link has the rank of its road, and others are not drawn."""
MAX_BYTES: Final = 150_000
"""Of the roads and lines of one map, as JSON."""
UNITS: Final = 100_000
"""In a degree: coded lines count in about a metre."""
_MOST_ROWS: Final = 20_000
"""Roads of one rank; more never fit."""
_SHARE: Final = 1500
"""Of the extent of a map lie points at least apart that are drawn: less cannot be seen on a screen."""
_MARGIN: Final = 1.15
_HIGH: Final = 0.95
_WIDE: Final = 1.75
"""Height of a map per width, and width per height, at most: phones are high, screens wide."""
Coded = list[int]
"""Differences north and east in `UNITS`, in turn, the first from the origin."""


@dataclass(frozen=True, slots=True)
class Box:
    """A part of the Earth in degrees, west below east."""

    south: float
    west: float
    north: float
    east: float

    @staticmethod
    def around(places: Iterable[Position]) -> "Box | None":
        """Return what a map of these places shows; None for none, and where they lie around the 180th meridian."""
        known = list(places)
        if not known:
            return None
        lats, lons = zip(*known, strict=True)
        height, width = max(lats) - min(lats), max(lons) - min(lons)
        if width > 180:
            return None
        stretch = 2.0 if max(map(abs, lats)) > 45 else 1.3  # degrees of longitude are shorter than those of latitude
        high = _MARGIN * max(height, _HIGH * width, 0.002)
        wide = _MARGIN * max(width, _WIDE * stretch * height, 0.002)
        north, east = (max(lats) + min(lats)) / 2, (max(lons) + min(lons)) / 2
        return Box(north - high / 2, east - wide / 2, north + high / 2, east + wide / 2)

    @property
    def step(self) -> float:
        """Degrees between two points that are drawn."""
        return min(self.north - self.south, self.east - self.west) / _SHARE


def roads_within(path: Path, box: Box, max_bytes: int = MAX_BYTES) -> list[list[list[Position]]]:
    """Return the roads of a box by rank, main roads first: whole ranks while they fit, of the first the longest.

    Args:
        path: Of the register; where there is none nothing is drawn.
        box: In WGS-84.
        max_bytes: Of their coded form.
    """
    try:
        with opened_register(path) as register:
            return _chosen(register, box, max_bytes)
    except sqlite3.Error as error:  # not built yet, of an older form, or being replaced
        log.debug("no roads to draw: %s", error)
        return []


def _chosen(register: sqlite3.Connection, box: Box, max_bytes: int) -> list[list[list[Position]]]:
    chosen: list[list[list[Position]]] = []
    left = max_bytes
    for rank in sorted(set(RANKS.values())):
        lines = [thinned(line, box.step) for line in _read(register, box, rank)]
        sizes = [_coded_bytes(line) for line in lines]
        if sum(sizes) <= left:
            chosen.append(lines)
            left -= sum(sizes)
        elif any(chosen):
            break
        else:
            chosen.append(_longest(lines, sizes, left))
            break
    return chosen


def _read(register: sqlite3.Connection, box: Box, rank: int) -> list[list[Position]]:
    asked = (
        "SELECT line FROM roads WHERE south <= ? AND north >= ? AND west <= ? AND east >= ? AND low = ? "
        "ORDER BY north - south + east - west DESC LIMIT ?"
    )
    rows = register.execute(asked, (box.north, box.south, box.east, box.west, rank, _MOST_ROWS))
    return [unpacked_line(line) for (line,) in rows]


def _longest(lines: Sequence[list[Position]], sizes: Sequence[int], left: int) -> list[list[Position]]:
    """Return the first lines that fit; they come longest first."""
    kept = []
    for line, size in zip(lines, sizes, strict=True):
        left -= size
        if left < 0:
            break
        kept.append(line)
    return kept


def rank_of(highway: str) -> int | None:
    """Return the rank of a way by its tag `highway`; None for one that is not drawn."""
    return RANKS.get(highway.removesuffix("_link"))


def road_row(points: Sequence[Position], rank: int) -> tuple[object, ...]:
    """Return the row of a road, without its id."""
    lats, lons = zip(*points, strict=True)
    return min(lats), max(lats), min(lons), max(lons), rank, rank, packed_line(points)


def packed_line(points: Iterable[Position]) -> bytes:
    """Return a line as it is stored: north and east in `UNITS`, four bytes each."""
    return array("i", (round(degrees * UNITS) for point in points for degrees in point)).tobytes()


def unpacked_line(line: bytes) -> list[Position]:
    """Return the places of a stored line."""
    numbers = array("i", line)
    return [(numbers[at] / UNITS, numbers[at + 1] / UNITS) for at in range(0, len(numbers), 2)]


def thinned(line: Sequence[Position], step: float) -> list[Position]:
    """Return a line without the points that are nearer than `step` degrees to the one before; both ends stay."""
    kept = list(line[:1])
    for point in line[1:-1]:
        if abs(point[0] - kept[-1][0]) + abs(point[1] - kept[-1][1]) >= step:
            kept.append(point)
    return [*kept, *line[1:][-1:]]


def coded(line: Sequence[Position], origin: tuple[int, int], crs: str) -> Coded:
    """Return a line as differences from an origin in `UNITS`, in the coordinates that a scenario uses."""
    places = line if crs == "wgs84" else [from_wgs84(lat, lon, crs) for lat, lon in line]
    whole = [origin, *((round(lat * UNITS), round(lon * UNITS)) for lat, lon in places)]
    return [after[axis] - before[axis] for before, after in pairwise(whole) for axis in (0, 1)]


def _coded_bytes(line: Sequence[Position]) -> int:
    """Return about how long a line is as coded JSON: the first point has larger numbers."""
    return 14 + sum(
        2 + len(str(round((after[axis] - before[axis]) * UNITS))) for before, after in pairwise(line) for axis in (0, 1)
    )
