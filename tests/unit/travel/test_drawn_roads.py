"""Roads under a map: which are drawn, in how many bytes, and how they are coded."""

from pathlib import Path

import pytest

from planner_mcp.routing.scenario.coordinates import to_wgs84
from planner_mcp.text import compact
from planner_mcp.travel.drawn_roads import UNITS, Box, coded, rank_of, roads_within, thinned
from tests.shared.roads.road_register import register

BOX = Box(60.0, 24.0, 60.1, 24.2)
MAIN = [(60.01, 24.01), (60.05, 24.1), (60.09, 24.19)]


def side_streets(count: int) -> list[tuple[int, list[tuple[float, float]]]]:
    return [(4, [(60.0 + n % 100 / 1000, 24.0 + n / 9000), (60.001 + n % 100 / 1000, 24.003)]) for n in range(count)]


def test_main_roads_come_first_and_side_streets_only_where_all_of_them_fit(tmp_path: Path) -> None:
    """Our choice: side streets are left out first, as a whole, and a map has 150 kB at most."""
    rows = [(0, MAIN), (1, MAIN[:2]), *side_streets(200)]
    roads = register(tmp_path / "a", rows)
    assert [len(lines) for lines in roads_within(roads, BOX)] == [1, 1, 0, 0, 200]
    assert [len(lines) for lines in roads_within(roads, BOX, 2000)] == [1, 1, 0, 0]


def test_of_too_many_main_roads_the_longest_are_drawn_within_the_bytes(tmp_path: Path) -> None:
    """Our choice: a country's motorways do not fit; what is coded stays below the limit."""
    lines = [(0, [(60.0 + n / 50_000, 24.0), (60.0 + n / 25_000, 24.0 + n / 20_000)]) for n in range(1, 2000)]
    roads = roads_within(register(tmp_path / "b", lines), BOX, 10_000)
    written = [coded(line, (round(BOX.south * UNITS), round(BOX.west * UNITS)), "wgs84") for line in roads[0]]
    assert 300 < len(roads[0]) < 2000
    assert len(compact(written)) <= 10_000
    assert roads[0][0] == [pytest.approx(point, abs=1e-5) for point in lines[-1][1]]


def test_roads_outside_the_box_are_not_drawn(tmp_path: Path) -> None:
    """SPEC R3: a reader gets the roads of the box that it is shown, and no others."""
    elsewhere = [(lat + 5, lon) for lat, lon in MAIN]
    roads = roads_within(register(tmp_path / "c", [(0, MAIN), (0, elsewhere)]), BOX)
    assert roads[0] == [[pytest.approx(point, abs=1e-5) for point in MAIN]]


@pytest.mark.parametrize("content", [None, b"", b"no register"])
def test_without_a_register_there_are_no_roads(tmp_path: Path, content: bytes | None) -> None:
    """Our choice: before the register is built, and beside one of an older form, maps have a grid."""
    path = tmp_path / "streets.sqlite"
    if content is not None:
        path.write_bytes(content)
    assert roads_within(path, BOX) == []


def test_a_coded_line_leads_to_its_places_again() -> None:
    """Our choice: differences in hundred-thousandths of a degree."""
    origin = (round(BOX.south * UNITS), round(BOX.west * UNITS))
    assert coded(MAIN, origin, "wgs84") == [1000, 1000, 4000, 9000, 4000, 9000]


@pytest.mark.parametrize("crs", ["gcj02", "bd09"])
def test_lines_lie_in_the_coordinates_of_their_scenario(crs: str) -> None:
    """SPEC T1: positions in GCJ-02 or BD-09 are drawn as they were given, so the roads below them move too."""
    (lat, lon), origin = (39.9042, 116.4074), (0, 0)
    north, east = coded([(lat, lon), (lat + 0.01, lon)], origin, crs)[:2]
    assert to_wgs84(north / UNITS, east / UNITS, crs) == pytest.approx((lat, lon), abs=2e-5)
    assert (north / UNITS, east / UNITS) != pytest.approx((lat, lon), abs=1e-3)


def test_a_box_surrounds_its_places_in_every_shape_of_a_screen() -> None:
    """Our choice: a map is wider or higher than its places, and its edges have roads too."""
    box = Box.around([(60.0, 24.0), (60.1, 24.0)])
    assert box is not None
    assert (box.south, box.north) == pytest.approx((59.9925, 60.1075))
    assert (box.east - box.west) / 2 > 1.75 * (box.north - box.south) * 0.8
    assert Box.around([]) is None
    assert Box.around([(0.0, -179.9), (0.0, 179.9)]) is None, "places on both sides of the 180th meridian have a grid"


def test_a_thinned_line_keeps_its_ends() -> None:
    """Our choice: points that cannot be told apart on a screen are left out."""
    line = [(0.0, n / 10) for n in range(11)]
    assert thinned(line, 0.35) == [(0.0, 0.0), (0.0, 0.4), (0.0, 0.8), (0.0, 1.0)]
    assert thinned(line[:1], 0.35) == line[:1]


def test_links_and_paths_have_the_rank_of_their_kind() -> None:
    """Our choice: a ramp is drawn like its road; foot paths and driveways are not."""
    assert [rank_of(kind) for kind in ("motorway", "primary_link", "residential", "footway", "service", "")] == [
        *(0, 1, 4),
        *(None, None, None),
    ]
