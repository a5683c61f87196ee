"""Addresses in Latin letters."""

import pytest

from planner_mcp.addresses.structured_address import Accuracy, AddressStatus
from planner_mcp.addresses.western_addresses import resolve_western


@pytest.mark.parametrize(
    ("text", "city"),
    [
        ("Hauptstr. 5, 87435 Kempten", "Kempten (Allgäu)"),
        ("Markt 1, 63450 Hanau", "Hanau am Main"),
        ("Markt 1, 06108 Halle", "Halle (Saale)"),
        ("Bad Homburg, DE", "Bad Homburg vor der Höhe"),
        ("Markt 1, 09599 Freiberg", "Freiberg"),
    ],
)
def test_a_german_city_is_known_by_its_short_name(text: str, city: str) -> None:
    """SPEC O4: people leave out the river; a smaller city is not taken for a larger one of the same name."""
    found = resolve_western(text)
    assert (found.is_sure, found.address.city) == (True, city)


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
        # in the order in which shops write their columns: city, region, postcode, country
        ("Ringstr. 7, 2. OG, Berlin, BE, 10117, DE", "DE", "Berlin"),
        ("Ringstr. 7, Berlin, 10117", "DE", "Berlin"),
        ("13 rue de Berri, Paris, 75008, FR", "FR", "Paris"),
        ("Via Roma 1, Roma, RM, 00184, Italia", "IT", "Rome"),
        ("Dam 1, Amsterdam, NH, 1012 JS, NL", "NL", "Amsterdam"),
        ("Av. Paulista 1000, São Paulo, SP, 01310-100, BR", "BR", "São Paulo"),
        ("110 Sejong-daero, Seoul, 04524, South Korea", "KR", "Seoul"),
    ],
)
def test_state_and_postcode_choose_among_cities_of_one_name(text: str, country: str, city: str) -> None:
    """SPEC O4: the centre of the city with its size is all that is known offline, and the accuracy says so."""
    resolved = resolve_western(text)
    assert (resolved.address.country, resolved.address.city) == (country, city)
    assert resolved.accuracy is Accuracy.CITY
    assert resolved.is_sure


@pytest.mark.parametrize(
    ("text", "postcode", "city"),
    [
        ("Hauptstr. 5, 1067 Dresden, Deutschland", "01067", "Dresden"),
        ("77 Massachusetts Ave, Cambridge, MA 2139, USA", "02139", "Cambridge"),
        ("77 Massachusetts Ave, Cambridge, MA, 2139, United States", "02139", "Cambridge"),
        ("5 Main St, Hartford, CT 6103, US", "06103", "Hartford"),
        ("1067 Dresden, DE", "01067", "Dresden"),
        ("10 rue de la République, 6000 Nice, France", "06000", "Nice"),
    ],
)
def test_a_postcode_that_lost_its_zero_has_it_again(text: str, postcode: str, city: str) -> None:
    """SPEC O4: a spreadsheet makes 1067 of 01067; in a country of five digits it cannot be what it says."""
    resolved = resolve_western(text)
    assert (resolved.address.postcode, resolved.address.city) == (postcode, city)
    assert resolved.is_sure
    assert resolved.notes[-1] == f"The postcode is read as {postcode}: its zero was lost."
    assert resolved.corrected_text == text.replace(postcode[1:], postcode)


@pytest.mark.parametrize(
    "text",
    [
        *("Stephansplatz 1, 1010 Wien, Österreich", "Bahnhofstrasse 1, 8001 Zürich", "Hauptstr. 5, 1067 Dresden"),
        *("1067 Main St, USA", "1000 Chemin du Lac, France", "12 George St, Sydney NSW 2000, Australia"),
        *("Hauptstr. 5, 01067 Dresden, Deutschland", "Hauptstr. 1067, Dresden, Deutschland"),
    ],
)
def test_other_numbers_of_four_digits_stay_as_they_are(text: str) -> None:
    """SPEC O4: postcodes of Austria and Switzerland, of a country that is not known, and house numbers."""
    resolved = resolve_western(text)
    assert resolved.corrected_text == text
    assert not any("zero" in note for note in resolved.notes)


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
