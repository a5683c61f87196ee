"""Positions as people write them (SPEC T5)."""

import pytest

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.coordinate_parsing import Axis, axis_of, coordinate_in, pair_in, position_in


@pytest.mark.parametrize(
    "text",
    [
        "52.52, 13.40",
        "52.52 13.40",
        "(52.52,13.40)",
        "52,52; 13,40",
        "52,52 13,40",
        "52,52, 13,40",
        "52,5200,13,4000",
        "N 52.52 E 13.40",
        "13.40 E, 52.52 N",
        "52.52°N, 13.40°E",
        "52°31'12\"N 13°24'00\"E",
        "52° 31' 12\" N, 13° 24' 0\" E",
        "52°31.2' N / 13°24' E",
        "N52°31.200' E013°24.000'",
        "52 31 12 N 13 24 00 E",
        "52º31′12″N 13º24′00″E",
        "52°31´12´´N; 13°24´0´´E",
        "52°31'12\" 13°24'0\"",
    ],
)
def test_a_position_in_one_cell_is_read(text: str) -> None:
    """SPEC T5: as maps, receivers and spreadsheets write it."""
    assert position_in(text, "/2/gps", lon_first=False) == (52.52, 13.4)


@pytest.mark.parametrize(
    "link",
    [
        "https://www.google.com/maps/place/Depot/@52.5,13.1,17z/data=!3m1!4b1!4m5!3m4!1s0x0!8m2!3d52.52!4d13.40",
        "https://www.google.de/maps/@52.52,13.40,17z",
        "https://maps.google.com/?q=52.52,13.40",
        "https://www.google.com/maps/search/?api=1&query=52.52%2C13.40",
        "https://maps.apple.com/?ll=52.52,13.40&q=Depot",
        "https://www.openstreetmap.org/?mlat=52.52&mlon=13.40#map=17/52.5/13.1",
        "https://www.bing.com/maps?cp=52.52~13.40&lvl=16",
        "geo:52.52,13.40;u=35",
    ],
)
def test_a_link_to_a_map_is_a_position(link: str) -> None:
    """SPEC T5: as people share places; that of the place goes before the middle of the map."""
    assert position_in(link, "/2/map", lon_first=True) == (52.52, 13.4)


@pytest.mark.parametrize(
    "link", ["https://maps.google.com/?q=Torstr.+1", "https://example.com/?q=52.52,13.40", "geo:152.5,13.4"]
)
def test_a_link_without_a_place_is_no_position(link: str) -> None:
    """SPEC T5: an address, another host, degrees that there are not."""
    assert pair_in(link) is None


@pytest.mark.parametrize(
    ("text", "axis", "degrees"),
    [
        ("52.52 N", "lat", 52.52),
        ("33.85 S", "lat", -33.85),
        ("S 33,85", "lat", -33.85),
        ("70.5 W", "lon", -70.5),
        ("-70.5", "lon", -70.5),
        ("52,52°", "lat", 52.52),
        ("52°31'12\"N", "lat", 52.52),
        ("13° 24.3' E", "lon", 13.405),
        ("70 30 00 W", "lon", -70.5),
    ],
)
def test_one_coordinate_is_read_with_its_letter(text: str, axis: Axis, degrees: float) -> None:
    """SPEC T5: latitude and longitude in columns of their own."""
    assert coordinate_in(text, "/2/lat", axis) == degrees


@pytest.mark.parametrize(
    ("text", "axis", "hint"),
    [
        ("13.40 E", "lat", ""),
        ("91.5 N", "lat", ""),
        ("-33.85 S", "lat", ""),
        ("52°71'00\"N", "lat", ""),
        ("13°24'18\" O", "lon", "O may be east or west: write E or W."),
        ("Ort", "lon", ""),
        ("9" * 300, "lon", ""),
    ],
)
def test_what_is_no_such_coordinate_is_refused_with_its_value(text: str, axis: Axis, hint: str) -> None:
    """SPEC T5: the letter O is east in German and west in French."""
    fault = coordinate_in(text, "/2/Lon", axis)
    assert isinstance(fault, Fault)
    assert text[:10] in fault.problem
    assert fault.hint == hint


@pytest.mark.parametrize(
    "text", ["08:00 12:00", "12, 13", "1,5,2,5", "5 s 10 s", "52.52 N 53.10 N", "200.5, 300.5", "4 °C", "", "13:24:18"]
)
def test_what_only_resembles_a_position_is_none(text: str) -> None:
    """SPEC T5: times, lists, durations and temperatures are no positions."""
    assert pair_in(text) is None


def test_the_letter_of_an_angle_names_its_axis() -> None:
    """SPEC T5: columns of degrees and minutes are found whatever their headers."""
    assert [axis_of(text) for text in ("52°31'12\"N", "13°24'18\"E", "13°24'18\"O", "30 s")] == ["lat", "lon", "", ""]


def test_a_short_link_is_refused_with_what_to_do() -> None:
    """SPEC T7: it leads to a place and has no position in it; a way to cure that was not said."""
    read = position_in("https://maps.app.goo.gl/AbCdEf123456", "", lon_first=False)
    assert isinstance(read, Fault) and read.hint == "Open the link, and write the two numbers that the map shows."
