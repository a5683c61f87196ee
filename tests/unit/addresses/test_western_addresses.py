"""Addresses in Latin letters."""

import pytest

from planner_mcp.addresses.structured_address import Accuracy, AddressStatus
from planner_mcp.addresses.western_addresses import resolve_western


@pytest.mark.parametrize(
    ("text", "country", "city"),
    [
        ("Marienplatz 8, 80331 München", "DE", "Munich"),
        ("Marienplatz 8, 80331 Muenchen, Germany", "DE", "Munich"),
        ("10 rue de Rivoli, 75004 Paris", "FR", "Paris"),
        ("10 rue de Rivoli, Paris", "FR", "Paris"),
        ("Torstraße 125, Berlin", "DE", "Berlin"),
        ("Paris, TX 75460", "US", "Paris"),
        ("London, ON N6A 3K7", "CA", "London"),
        ("10 Downing Street, London SW1A 2AA", "GB", "London"),
        ("Warschauer Str. 5, 10243 Berlin-Friedrichshain", "DE", "Berlin"),
        ("1600 Amphitheatre Parkway, Mountain View, CA", "US", "Mountain View"),
    ],
)
def test_state_and_postcode_choose_among_cities_of_one_name(text: str, country: str, city: str) -> None:
    """SPEC O4: the centre of the city with its size is all that is known offline, and the accuracy says so."""
    resolved = resolve_western(text)
    assert (resolved.address.country, resolved.address.city) == (country, city)
    assert resolved.accuracy is Accuracy.CITY
    assert resolved.is_sure


@pytest.mark.parametrize("text", ["17 Church Street, Cambridge", "12 Main Street, Springfield", "10 High St, Richmond"])
def test_a_city_name_alone_that_many_have_is_ambiguous(text: str) -> None:
    """SPEC O4: candidates instead of a guess."""
    resolved = resolve_western(text)
    assert resolved.status is AddressStatus.AMBIGUOUS
    assert len(resolved.candidates) == 3
    assert resolved.position is None


@pytest.mark.parametrize("text", ["Berlin", "5 Main St, Berlin", "Birmingham", "5 Main St, Portland"])
def test_a_city_chosen_by_its_size_alone_is_not_sure(text: str) -> None:
    """SPEC O4: wrong and sure is worse than asked."""
    assert not resolve_western(text).is_sure


@pytest.mark.parametrize(
    "text", ["", "asdf", "12345", "🚚", "Musterstraße 12", "a, " * 200, "x" * 4000, "Nowhereville, ZZ 99999"]
)
def test_what_names_no_city_gets_no_position(text: str) -> None:
    """SPEC O4: no position is better than a wrong one."""
    resolved = resolve_western(text)
    assert resolved.position is None
    assert resolved.confidence < 0.5


def test_a_chinese_address_in_latin_letters_has_its_divisions() -> None:
    """SPEC O4: pinyin and English names lead to the same division as the characters."""
    address = resolve_western("969 Wenyi West Road, Yuhang District, Hangzhou, Zhejiang, China").address
    assert (address.province, address.city, address.district, address.adcode) == (
        "浙江省",
        "杭州市",
        "余杭区",
        "330110",
    )
