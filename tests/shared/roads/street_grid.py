"""An OpenStreetMap extract made up by a test: streets of which every length and time can be computed by hand.

A square grid at the equator, a hundred metres and a bit between crossings. At 36 km/h the car profile of OSRM drives at
80 %, so a second for every 8 m; turns cost more. One street is one way, and one pair of houses lies apart.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

STEP: Final = 0.001
"""Degrees between crossings."""
EAST_M: Final = 111.3195
NORTH_M: Final = 110.5743
"""Metres of a step on the ellipsoid WGS-84."""
METRES_PER_SECOND: Final = 8.0
ORIGIN: Final = (0.0, 10.0)
SIZE: Final = 9
"""Crossings in a row, and rows."""
_TREES: Final = ("Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak")
ONE_WAY_ROW: Final = 4
"""Its street leads east."""


def street_name(number: int) -> str:
    """Return the name of a street: the rows from the south, then the columns from the west, then the island's."""
    return f"{_TREES[number % SIZE]} {('Street', 'Lane', 'Court')[number // SIZE]}"


def crossing(row: int, column: int) -> tuple[float, float]:
    """Return (lat, lon), rounded as they are asked."""
    return round(ORIGIN[0] + row * STEP, 6), round(ORIGIN[1] + column * STEP, 6)


ISLAND: Final = crossing(60, 0)
"""A place at a street of its own, 5 km north."""


def write_grid(path: Path, houses: Sequence[tuple[tuple[float, float], dict[str, str]]] = ()) -> Path:
    """Write the extract as OSM XML, with houses as nodes at (lat, lon) with their tags; return its path."""
    nodes = {(row, column): 1 + row * SIZE + column for row in range(SIZE) for column in range(SIZE)}
    nodes |= {(60, 0): 5001, (60, 1): 5002}
    parts = ['<?xml version="1.0"?>', '<osm version="0.6" generator="test">']
    for (row, column), name in nodes.items():
        lat, lon = crossing(row, column)
        parts.append(f'<node id="{name}" version="1" lat="{lat:.6f}" lon="{lon:.6f}"/>')
    for name, ((lat, lon), tags) in enumerate(houses, 9001):
        words = "".join(f'<tag k="{key}" v="{value}"/>' for key, value in tags.items())
        parts.append(f'<node id="{name}" version="1" lat="{lat:.6f}" lon="{lon:.6f}">{words}</node>')
    rows = [[nodes[row, column] for column in range(SIZE)] for row in range(SIZE)]
    streets = [*rows, *(list(column) for column in zip(*rows, strict=True)), [5001, 5002]]
    for number, street in enumerate(streets):
        tags = {"highway": "residential", "maxspeed": "36", "name": street_name(number)}
        tags |= {"oneway": "yes"} if number == ONE_WAY_ROW else {}
        ends = "".join(f'<nd ref="{node}"/>' for node in street)
        words = "".join(f'<tag k="{name}" v="{value}"/>' for name, value in tags.items())
        parts.append(f'<way id="{100 + number}" version="1">{ends}{words}</way>')
    path.write_text("\n".join([*parts, "</osm>", ""]), encoding="utf-8")
    return path
