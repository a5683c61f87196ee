"""The register of streets and house numbers of a road extract, for addresses, and of the roads that maps draw.

Owns what is taken of OpenStreetMap: nodes and ways with `addr:housenumber`, and named streets. It is written once for
each content of the extract, in a process of its own, beside the road map. Addresses that stand on relations alone are
not taken: in Helsinki 6 of 1469.
"""

import asyncio
import math
import os
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from planner_mcp.addresses.place_data import fold, folded_spellings
from planner_mcp.addresses.street_names import address_numbers, street_key
from planner_mcp.addresses.street_register import INDEXES, REGISTER_FILE, SCHEMA, register_facts
from planner_mcp.errors import RoadMapError
from planner_mcp.process_limits import bound_to_parent
from planner_mcp.routing.scenario.coordinates import Position, haversine_m
from planner_mcp.settings import Settings
from planner_mcp.travel import drawn_roads
from planner_mcp.travel.road_programs import output_of

FORMAT: Final = "3"
"""Changes where the same extract gives another register."""
_STREET_NAMES: Final = ("name", "alt_name", "official_name", "old_name", "short_name")
_CELL: Final = 0.004
"""Degrees: ways of one name in neighbouring cells are one street."""
_NODE_RADIUS_M: Final = 30.0
_LEAST_STREET_M: Final = 50.0
_MAX_CHARS: Final = 200


def register_path(settings: Settings) -> Path:
    """Return where the register of this deployment lies."""
    return settings.roads_folder / REGISTER_FILE


def is_register_of(settings: Settings, content: str) -> bool:
    """Return whether the register is there and comes from an extract of this content."""
    return register_facts(register_path(settings)).get("content") == f"{content}-{FORMAT}"


async def build_street_register(settings: Settings, extract: Path, content: str) -> None:
    """Write the register of an extract, unless it is there.

    Args:
        content: Its hash.

    Raises:
        RoadMapError: osmium is not installed, or cannot read the extract.
    """
    if await asyncio.to_thread(is_register_of, settings, content):
        return
    words = [str(extract), str(register_path(settings)), f"{content}-{FORMAT}"]
    process = await asyncio.create_subprocess_exec(
        *bound_to_parent([sys.executable, "-P", "-m", __name__, *words]),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        process_group=0,
    )
    output = await output_of(process)
    if process.returncode != 0:
        reason = (output.decode(errors="replace").strip().splitlines() or ["no reason is given"])[-1][:300]
        raise RoadMapError(f"Streets and house numbers of the extract cannot be read: {reason}")


def write_register(extract: Path, path: Path, content: str) -> None:
    """Write the register of an extract as a whole: beside its place first, then renamed.

    Args:
        content: By which it is known again.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(beside)) as register:
            register.executescript(
                f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {SCHEMA} {drawn_roads.SCHEMA}"
            )
            counts = _fill(register, extract)
            facts = {"content": content, **{name: str(count) for name, count in counts.items()}}
            register.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
            register.executescript(INDEXES)
            register.commit()
        beside.rename(path)
    finally:
        beside.unlink(missing_ok=True)


def _fill(register: sqlite3.Connection, extract: Path) -> dict[str, int]:
    """Insert buildings as they are read, and streets once all their ways are known; return how many there are."""
    ways: dict[str, list[tuple[str, list[Position]]]] = defaultdict(list)
    for tags, points in _objects(extract):
        if "highway" in tags:
            _note_street(register, ways, tags, points)
            roads = _road_rows(tags, points)
            register.executemany("INSERT INTO roads VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", roads)
        buildings = _building_rows(tags, points)
        register.executemany("INSERT INTO buildings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", buildings)
    streets = [row for key, found in ways.items() for row in _street_rows(key, found)]
    register.executemany("INSERT INTO streets VALUES (?, ?, ?, ?, ?)", streets)
    (count,) = register.execute("SELECT count(*) FROM buildings").fetchone()
    return {"streets": len(streets), "buildings": count}


def _objects(extract: Path) -> Iterator[tuple[dict[str, str], list[Position]]]:
    """Yield tags and points of every node and way that has a house number or is a street."""
    import osmium  # an extra

    wanted = osmium.filter.KeyFilter("addr:housenumber", "highway")
    for each in osmium.FileProcessor(str(extract)).with_locations().with_filter(wanted):
        if isinstance(each, osmium.osm.Node):
            yield dict(each.tags), [(each.location.lat, each.location.lon)]
        elif isinstance(each, osmium.osm.Way):
            points = [(node.lat, node.lon) for node in each.nodes if node.location.valid()]
            if points:
                yield dict(each.tags), points


def _road_rows(tags: dict[str, str], points: list[Position]) -> list[tuple[Any, ...]]:
    rank = drawn_roads.rank_of(tags["highway"])
    is_area = len(points) < 2 or tags.get("area") == "yes"
    return [] if rank is None or is_area else [drawn_roads.road_row(points, rank)]


def _note_street(
    register: sqlite3.Connection,
    ways: dict[str, list[tuple[str, list[Position]]]],
    tags: dict[str, str],
    points: list[Position],
) -> None:
    name = tags.get("name", "")[:_MAX_CHARS]
    if len(points) < 2 or not (key := street_key(name)):
        return
    ways[key].append((name, [points[0], points[len(points) // 2], points[-1]]))
    written = [text for field, text in tags.items() if field in _STREET_NAMES or field.startswith("name:")]
    register.executemany("INSERT OR IGNORE INTO names VALUES (?, ?)", _aliases(key, [name, *written]))


def _aliases(key: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the other keys that the names of a street have, with umlauts in both spellings."""
    every = (part for name in names for part in name[:_MAX_CHARS].split(";"))
    aliases = {street_key(spelling) for part in every for spelling in (part, *folded_spellings(part))}
    return [(alias, key) for alias in sorted(aliases - {key, ""})]


def _building_rows(tags: dict[str, str], points: Sequence[Position]) -> Iterator[tuple[Any, ...]]:
    key = street_key((tags.get("addr:street") or tags.get("addr:place") or "")[:_MAX_CHARS])
    if not key or "addr:housenumber" not in tags:
        return
    (lat, lon), radius_m = _middle(points)
    city = tags.get("addr:city", "")[:_MAX_CHARS]
    place = city, tags.get("addr:postcode", "")[:20], fold(city)
    for number in address_numbers(tags["addr:housenumber"][:_MAX_CHARS]):
        yield key, number, lat, lon, max(_NODE_RADIUS_M, radius_m), *place


def _street_rows(key: str, ways: Sequence[tuple[str, list[Position]]]) -> Iterator[tuple[Any, ...]]:
    """Yield each street of a name: its ways that lie side by side, with the point nearest to their middle."""
    for group in _side_by_side([points for _, points in ways]):
        (lat, lon), _ = _middle(group)
        centre = min(group, key=lambda point: haversine_m((lat, lon), point))
        radius_m = max(haversine_m(centre, point) for point in group)
        yield key, ways[0][0], *centre, max(_LEAST_STREET_M, radius_m)


def _side_by_side(ways: Sequence[list[Position]]) -> list[list[Position]]:
    """Return the points of ways, those in one group that touch the same or neighbouring cells."""
    cells: dict[tuple[int, int], list[int]] = defaultdict(list)
    for at, points in enumerate(ways):
        for cell in _cells_of(points):
            cells[cell].append(at)
    groups: list[list[Position]] = []
    left, seen = set(cells), set[int]()
    while left:
        pending, members = [left.pop()], list[int]()
        while pending:
            row, column = pending.pop()
            members += (at for at in cells[row, column] if at not in seen)
            seen.update(cells[row, column])
            touched = {cell for at in cells[row, column] for cell in _cells_of(ways[at])}
            around = {(row + north, column + east) for north in (-1, 0, 1) for east in (-1, 0, 1)}
            pending += (near := left & (around | touched))
            left -= near
        groups.append([point for at in members for point in ways[at]])
    return groups


def _cells_of(points: Iterable[Position]) -> set[tuple[int, int]]:
    return {(math.floor(lat / _CELL), math.floor(lon / _CELL)) for lat, lon in points}


def _middle(points: Sequence[Position]) -> tuple[Position, float]:
    """Return the middle of points, and the metres from it to the farthest."""
    middle = sum(lat for lat, _ in points) / len(points), sum(lon for _, lon in points) / len(points)
    return middle, max(haversine_m(middle, point) for point in points)


if __name__ == "__main__":
    try:
        write_register(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
    except ImportError:
        sys.exit("osmium is not installed: it is part of the extra planner-mcp[roads].")
