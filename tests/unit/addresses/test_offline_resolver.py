"""Batches of addresses, and positions named."""

import pytest

from planner_mcp.addresses.offline_resolver import resolve_offline, reverse_offline
from planner_mcp.addresses.place_data import place_data
from planner_mcp.addresses.structured_address import Accuracy, AddressStatus


def test_an_ambiguous_row_takes_the_city_of_its_neighbours_and_says_so() -> None:
    """SPEC O4: in a list of addresses in Beijing 朝阳区 is that of Beijing, yet it stays below what is used unasked."""
    rows = ["北京市海淀区学院路37号", "北京市西城区金融大街9号", "朝阳区建国路88号"]
    third = resolve_offline(rows)[2]
    assert (third.address.city, third.address.district, third.address.road) == ("北京市", "朝阳区", "建国路")
    assert third.position is not None
    assert not third.is_sure
    assert any("most of the batch" in note for note in third.notes)


def test_one_neighbour_decides_nothing() -> None:
    """Our choice: a city is that of most rows only where at least two of them name it."""
    assert resolve_offline(["北京市海淀区学院路37号", "朝阳区建国路88号"])[1].status is AddressStatus.AMBIGUOUS


def test_answers_come_in_the_order_of_the_texts_whatever_their_script() -> None:
    """SPEC O4: Chinese and Western rows may stand in one batch."""
    answers = resolve_offline(["Alexanderplatz 1, 10178 Berlin", "", "上海市黄浦区南京东路300号"])
    assert [each.address.country for each in answers] == ["DE", "", "CN"]
    assert answers[1].status is AddressStatus.NOT_FOUND


@pytest.mark.parametrize(
    ("lat", "lon", "city"),
    [
        (30.2795, 120.0234, "杭州市"),
        (31.2304, 121.4737, "上海市"),
        (22.5431, 114.0579, "深圳市"),
        (48.1372, 11.5755, "Munich"),
    ],
)
def test_a_position_is_named_by_its_nearest_centre(lat: float, lon: float, city: str) -> None:
    """SPEC O4: offline a name for a position is a hint, never sure: borders are not known."""
    found = reverse_offline(lat, lon)
    assert found.address.city == city
    assert not found.is_sure
    assert found.accuracy in (Accuracy.CITY, Accuracy.DISTRICT, Accuracy.TOWN)
    assert found.position is not None
    assert found.position.radius_m > 1_000, "as far as that place reaches"


def test_the_position_of_a_chinese_map_is_converted() -> None:
    """SPEC O4: the answer is in WGS-84 and says what it was converted from."""
    found = reverse_offline(31.2285, 121.4782, "gcj02")
    assert found.position is not None
    assert (found.position.crs, found.position.source_crs) == ("wgs84", "gcj02")
    assert 0.001 < abs(found.position.lat - 31.2285) + abs(found.position.lon - 121.4782) < 0.02


def test_a_position_at_sea_has_no_name() -> None:
    """SPEC O4: nothing within 60 km is not found."""
    found = reverse_offline(0.0, -30.0)
    assert (found.status, found.accuracy, found.confidence) == (AddressStatus.NOT_FOUND, Accuracy.NONE, 0.0)


def test_the_data_has_the_divisions_of_the_register() -> None:
    """SPEC O4: 41,352 towns and subdistricts, districts founded lately among those above them."""
    divisions = place_data().divisions
    assert sum(len(code) == 9 for code in divisions) == 41_352
    assert divisions["330113"].name == "临平区"
    assert all(-90 <= each.where[0] <= 90 and each.radius_m >= 2_000 for each in divisions.values() if each.where)
