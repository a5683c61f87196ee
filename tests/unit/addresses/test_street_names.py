"""Spellings of streets and house numbers that mean the same (SPEC O4)."""

import pytest

from planner_mcp.addresses.street_names import address_numbers, street_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Frankfurter Str.", "Frankfurter Straße"),
        ("Hauptstr. ", "Haupt Strasse"),
        ("Main St", "MAIN STREET"),
        ("St. Mary's Rd", "St Mary s Road"),
        ("Bd Voltaire", "boulevard Voltaire"),
        ("中关村 大街", "中关村大街"),
    ],
)
def test_spellings_of_one_street_have_one_key(one: str, other: str) -> None:
    """SPEC O4: abbreviations, accents and blanks make no other street."""
    assert street_key(one) == street_key(other) != ""


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("12 A", ["12a"]),
        ("5;7", ["5", "7"]),
        ("25-29", ["25", "27", "29"]),
        ("4–7", ["4", "5", "6", "7"]),
        ("１２号", ["12"]),
        ("1-9999", ["1", "9999"]),
        ("", []),
    ],
)
def test_a_number_of_the_register_stands_for_all_its_houses(written: str, numbers: list[str]) -> None:
    """SPEC O4: a range of one side of the street, a list, full-width digits."""
    assert address_numbers(written) == numbers
