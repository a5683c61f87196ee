"""Streets and house numbers of a road extract, from a register made here (SPEC O4)."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from planner_mcp.addresses.offline_resolver import resolve_offline
from planner_mcp.addresses.street_names import street_key
from planner_mcp.addresses.street_register import INDEXES, SCHEMA, located_by_register
from planner_mcp.addresses.structured_address import Accuracy

DAMRAK = ("Damrak", "1", 52.376, 4.898, "Amsterdam")
MARKET = ("Market Street", "500", 37.79, -122.4, "San Francisco")
Building = tuple[str, str, float, float, str]


@pytest.mark.parametrize(
    ("building", "postcode", "text"),
    [
        (DAMRAK, "1012AB", "Damrak 1, 1012 AB Amsterdam"),
        (DAMRAK, "1012 AB", "Damrak 1, 1012AB Amsterdam"),
        (MARKET, "94104", "500 Market St, San Francisco, CA 94104-1234"),
    ],
)
def test_a_building_is_found_however_its_postcode_is_written(
    building: Building, postcode: str, text: str, tmp_path: Path
) -> None:
    """SPEC O4: maps of the Netherlands have no blank in it, and those of the US five digits; people write more."""
    street, number, lat, lon, city = building
    with closing(sqlite3.connect(path := tmp_path / "streets.sqlite")) as register:
        register.executescript(f"{SCHEMA} {INDEXES}")
        row = (street_key(street), number, lat, lon, 30.0, city, postcode, city.lower())
        register.execute("INSERT INTO buildings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        register.commit()
    (found,) = located_by_register(path, resolve_offline([text]))
    assert (found.accuracy, found.position and found.position.lat) == (Accuracy.POINT, lat)


def test_a_building_of_another_postcode_is_not_meant(tmp_path: Path) -> None:
    """SPEC O4: the street of the next quarter has the same name."""
    with closing(sqlite3.connect(path := tmp_path / "streets.sqlite")) as register:
        register.executescript(f"{SCHEMA} {INDEXES}")
        row = (street_key("Damrak"), "1", 52.376, 4.898, 30.0, "Amsterdam", "1013AB", "amsterdam")
        register.execute("INSERT INTO buildings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        register.commit()
    (found,) = located_by_register(path, resolve_offline(["Damrak 1, 1012 AB Amsterdam"]))
    assert found.accuracy is Accuracy.CITY
