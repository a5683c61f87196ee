"""Addresses at the streets and houses of a road extract (SPEC O4)."""

from pathlib import Path

import pytest

from planner_mcp.addresses.street_register import SOURCE
from planner_mcp.addresses.structured_address import Accuracy, AddressStatus, ResolvedAddress
from planner_mcp.errors import RoadMapError
from planner_mcp.geocoding.geocoding_service import GeocodingService
from planner_mcp.routing.scenario.coordinates import haversine_m
from planner_mcp.settings import Settings
from planner_mcp.travel.street_register_builder import build_street_register, is_register_of, register_path
from tests.shared.processes.process_tree import LONGEST_S
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.roads.road_installations import HELSINKI, osrm_or_skip
from tests.shared.roads.street_grid import EAST_M, crossing, write_grid

pytestmark = pytest.mark.anyio
TOWN = "Gridtown"


def house(
    row: float, column: float, number: str, street: str, city: str = TOWN
) -> tuple[tuple[float, float], dict[str, str]]:
    lat, lon = crossing(0, 0)
    where = (lat + row * 0.001, lon + column * 0.001)
    return where, {"addr:street": street, "addr:housenumber": number, "addr:city": city, "addr:postcode": "4711"}


HOUSES = (
    house(2, 0.5, "2", "Cedar Street"),
    house(2, 2.5, "6-8", "Cedar Street"),
    house(2, 4.5, "12 A", "Cedar Street"),
    house(0, 1, "1", "Alder Street"),
    house(0, 7, "1", "Alder Street", "Elsewhere"),
)


async def resolved(settings: Settings, *texts: str) -> list[ResolvedAddress]:
    return await GeocodingService(settings).resolve(texts)


@pytest.fixture(scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("town")
    settings = Settings(data_dir=folder, roads_pbf=write_grid(folder / "grid.osm", HOUSES))
    settings.roads_folder.mkdir()
    assert settings.roads_pbf is not None
    await build_street_register(settings, settings.roads_pbf, "c0ffee")
    return settings


@pytest.mark.parametrize(
    ("row", "column", "road", "number", "accuracy"),
    [
        (2.1, 0.5, "Cedar Street", "2", Accuracy.POINT),
        (2.9, 0.5, "Cedar Street", "", Accuracy.STREET),
        (0, 1, "Alder Street", "1", Accuracy.POINT),
        (9, 9, "", "", Accuracy.CITY),
    ],
)
async def test_a_position_is_named_by_the_nearest_house_number(
    town: Settings, row: float, column: float, road: str, number: str, accuracy: Accuracy
) -> None:
    """SPEC O4: street and number at a door, the street alone farther off, neither away from all houses."""
    where, _ = house(row, column, "", "")
    found = await GeocodingService(town).reverse(*where)
    assert (found.address.road, found.address.number, found.accuracy) == (road, number, accuracy)
    assert (found.source == SOURCE) is bool(road)
    assert (TOWN in found.address.label) is bool(road)


@pytest.mark.parametrize(
    ("text", "accuracy", "where", "radius_m"),
    [
        ("Cedar Street 2, 4711 Gridtown", Accuracy.POINT, (2, 0.5), 30),
        ("Cedar Street 8, 4711 Gridtown", Accuracy.POINT, (2, 2.5), 30),
        ("Cedar Street 12b, 4711 Gridtown", Accuracy.POINT, (2, 4.5), 80),
        ("Cedar Street 12a, 4711 Gridtown", Accuracy.POINT, (2, 4.5), 30),
        ("Cedar Street 4, 4711 Gridtown", Accuracy.INTERPOLATED, (2, 1.5), EAST_M + 30),
        ("Cedar Street 99, 4711 Gridtown", Accuracy.STREET, (2, 4), 4 * EAST_M),
    ],
)
async def test_a_position_is_as_exact_as_the_register_is(
    town: Settings, text: str, accuracy: Accuracy, where: tuple[float, float], radius_m: float
) -> None:
    """SPEC O4: the door, between two doors, or the street, each with the radius that holds for it."""
    (found,) = await resolved(town, text)
    assert found.position is not None
    assert (found.source, found.position.accuracy) == (SOURCE, accuracy)
    lat, lon = crossing(0, 0)
    asked = (lat + where[0] * 0.001, lon + where[1] * 0.001)
    assert haversine_m((found.position.lat, found.position.lon), asked) < 1
    assert found.position.radius_m == pytest.approx(radius_m, abs=2)


async def test_what_the_register_does_not_settle_is_asked(town: Settings) -> None:
    """SPEC O4: without a city, in another city, and twice near: below the confidence that is used unasked."""
    bare, other, twice = await resolved(town, "Cedar Street 2", "Cedar Street 2, Othertown", "Alder Street 1")
    assert (bare.status, bare.is_sure, bare.address.city) == (AddressStatus.RESOLVED, False, TOWN)
    assert (other.position, other.source) == (None, "offline")
    assert twice.status is AddressStatus.AMBIGUOUS
    assert [candidate.address.road for candidate in twice.candidates] == ["Alder Street", "Alder Street"]
    assert not twice.is_sure


async def test_a_street_that_every_town_has_is_read_in_the_named_town_alone(tmp_path: Path) -> None:
    """SPEC O4: the town is found among thousands of streets of one name, and a batch does not wait for them."""
    towns = [house(n % 50, n // 50, "5", "Main Street", f"Town{n}") for n in range(3000)]
    settings = Settings(data_dir=tmp_path, roads_pbf=write_grid(tmp_path / "grid.osm", towns))
    settings.roads_folder.mkdir()
    assert settings.roads_pbf is not None
    await build_street_register(settings, settings.roads_pbf, "c0ffee")
    watch = Stopwatch()
    found = await resolved(settings, *(f"Main Street 5, Town{n}" for n in range(2900, 3000)))
    assert watch.spent_s < LONGEST_S
    assert {each.accuracy for each in found} == {Accuracy.POINT}
    assert found[0].position is not None
    assert (found[0].position.lat, found[0].position.lon) == towns[2900][0]


async def test_a_register_is_read_once_for_each_content(town: Settings) -> None:
    """SPEC O9: the same extract is not read again; another one replaces it as a whole."""
    assert town.roads_pbf is not None
    before = register_path(town).stat().st_mtime_ns
    await build_street_register(town, town.roads_pbf, "c0ffee")
    assert register_path(town).stat().st_mtime_ns == before
    assert is_register_of(town, "c0ffee")
    assert not is_register_of(town, "other")


async def test_an_extract_that_cannot_be_read_leaves_no_register(tmp_path: Path) -> None:
    """SPEC O9: one sentence, and addresses stay as they were."""
    (broken := tmp_path / "broken.osm").write_text('<?xml version="1.0"?><osm version="0.6"><node', encoding="utf-8")
    settings = Settings(data_dir=tmp_path, roads_pbf=broken)
    settings.roads_folder.mkdir()
    with pytest.raises(RoadMapError, match="cannot be read"):
        await build_street_register(settings, broken, "c0ffee")
    assert list(settings.roads_folder.iterdir()) == []
    (found,) = await resolved(settings, "Mannerheimintie 3, 00100 Helsinki")
    assert found.accuracy is Accuracy.CITY


async def test_houses_of_helsinki_are_found_at_their_doors(tmp_path: Path) -> None:
    """SPEC O4: real data: both languages, a range, a street alone; the neighbour city and another street stay open."""
    osrm_or_skip()
    settings = Settings(data_dir=tmp_path, roads_pbf=HELSINKI)
    settings.roads_folder.mkdir()
    await build_street_register(settings, HELSINKI, "c0ffee")
    finnish, swedish, span, street, espoo, tampere = await resolved(
        settings,
        "Aleksanterinkatu 17, 00100 Helsinki",
        "Alexandersgatan 17, 00100 Helsingfors",
        "Unioninkatu 25-27, 00130 Helsinki",
        "Mannerheimintie, Helsinki, Finland",
        "Mannerheimintie 3, Espoo, Finland",
        "Aleksanterinkatu 17, 33100 Tampere, Finland",
    )
    door = (60.16894, 24.94326)
    for each in (finnish, swedish):
        assert each.position is not None
        assert (each.accuracy, each.is_sure) == (Accuracy.POINT, True)
        assert haversine_m((each.position.lat, each.position.lon), door) < each.position.radius_m
    assert any("© OpenStreetMap contributors" in note for note in finnish.notes)
    assert span.accuracy is Accuracy.POINT
    assert (street.accuracy, street.is_sure) == (Accuracy.STREET, True)
    assert not espoo.is_sure
    assert (tampere.source, tampere.accuracy) == ("offline", Accuracy.CITY)
