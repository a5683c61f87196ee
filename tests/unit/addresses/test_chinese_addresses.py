"""Chinese text to divisions, streets and centroids."""

import pytest

from planner_mcp.addresses.chinese_addresses import resolve_chinese
from planner_mcp.addresses.structured_address import Accuracy, AddressStatus
from planner_mcp.routing.scenario.coordinates import haversine_m


@pytest.mark.parametrize(
    "text",
    [
        "浙江省杭州市西湖区文三路478号",
        "浙江杭州西湖区文三路478号",
        "浙江省 杭州市 西湖区 文三路 ４７８号",
        "浙江省杭州市西湖區文三路478號",
        "中国浙江省杭州市西湖区文三路四百七十八号",
        "收货地址：浙江省杭州市西湖区文三路478号 联系电话13812345678",
        "浙江省杭州市西湖区文三路478号（靠近学院路） 李四收",
    ],
)
def test_one_address_is_read_alike_however_it_is_written(text: str) -> None:
    """SPEC O4: short names, full-width forms, traditional characters, numerals and telephone numbers change nothing."""
    address = resolve_chinese(text).address
    assert (address.province, address.city, address.district) == ("浙江省", "杭州市", "西湖区")
    assert (address.road, address.number, address.adcode) == ("文三路", "478号", "330106")


@pytest.mark.parametrize(
    ("text", "district", "adcode"),
    [
        ("上海市南汇区人民路1号", "浦东新区", "310115"),
        ("北京市宣武区广安门内大街6号", "西城区", "110102"),
        ("杭州市下城区体育场路218号", "拱墅区", "330105"),
        ("浙江省上虞市市民大道699号", "上虞区", "330604"),
    ],
)
def test_a_merged_or_renamed_district_becomes_that_of_today(text: str, district: str, adcode: str) -> None:
    """SPEC O4: old address books name districts that are gone; the answer says so."""
    resolved = resolve_chinese(text)
    assert (resolved.address.district, resolved.address.adcode) == (district, adcode)
    assert any("former name" in note for note in resolved.notes)


def test_a_district_that_exists_several_times_is_ambiguous() -> None:
    """SPEC O4: nobody guesses among the four districts called 鼓楼区; the candidates are given."""
    resolved = resolve_chinese("鼓楼区中山路1号")
    assert resolved.status is AddressStatus.AMBIGUOUS
    assert resolved.position is None
    assert len(resolved.candidates) == 3
    assert {each.address.district for each in resolved.candidates} == {"鼓楼区"}
    assert resolved.confidence < 0.3


def test_contradicting_divisions_are_reported_and_never_sure() -> None:
    """SPEC O4: the city of another province is no typing error that a program may repair alone."""
    resolved = resolve_chinese("江苏省杭州市余杭区文一西路969号")
    assert resolved.status is AddressStatus.PARTIAL
    assert resolved.confidence <= 0.5
    assert any("contradict" in note for note in resolved.notes)
    assert resolved.candidates[0].label == "浙江省杭州市余杭区"


def test_a_street_named_after_a_city_is_no_city() -> None:
    """Our choice: 北京路 and 南京东路 are streets everywhere; without a city there is no position."""
    for text in ("北京路168号", "南京东路300号", "朝阳大街5号"):
        resolved = resolve_chinese(text)
        assert (resolved.address.city, resolved.position, resolved.status) == ("", None, AddressStatus.PARTIAL)


def test_a_zone_that_is_no_division_is_kept_apart() -> None:
    """Our choice: 高新区 belongs to several districts, so it neither becomes one nor a part of the road."""
    resolved = resolve_chinese("成都高新区天府大道北段1700号")
    assert (resolved.address.zone, resolved.address.road, resolved.address.district) == ("高新区", "天府大道北段", "")
    assert not resolved.is_sure


def test_a_centroid_has_an_honest_radius() -> None:
    """SPEC O4: the square of 天安门 lies within the radius of its district, and the accuracy says district."""
    position = resolve_chinese("北京市东城区东长安街1号").position
    assert position is not None
    assert position.accuracy is Accuracy.DISTRICT
    assert haversine_m((position.lat, position.lon), (39.9087, 116.4052)) <= position.radius_m <= 30_000


def test_confidence_is_the_product_of_the_evidence() -> None:
    """SPEC O4: whoever asks why finds each reason with its factor."""
    resolved = resolve_chinese("杭州市文三路478号")
    product = 1.0
    for each in resolved.evidence:
        product *= each.factor
    assert resolved.confidence == int(product * 100) / 100
    assert [each.text for each in resolved.evidence if each.factor < 1] == [
        "no division above 杭州市 is named; there is one of this name",
        "no district is named",
        "the road is as written: no register of streets is at hand",
    ]


@pytest.mark.parametrize(
    "text", ["", "   ", "？？？", "啊" * 5000, "1" * 300, "号号号路路路", "\ud800北京", "北京市" * 100]
)
def test_any_text_gets_an_answer(text: str) -> None:
    """SPEC T7: an address of any form is answered, and what is no address is never sure."""
    resolved = resolve_chinese(text)
    assert 0 <= resolved.confidence <= 1
