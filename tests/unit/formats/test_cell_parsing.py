"""Cells are read in one way, or asked about (SPEC T5, T7)."""

import pytest

from planner_mcp.errors import Fault
from planner_mcp.formats.cell_parsing import date_in, number_in, time_in, windows_in


@pytest.mark.parametrize(
    ("text", "number"), [("1,200", 1200), ("12.5", 12.5), ("-1,200,000.5", -1200000.5), ("4.0", 4), ("1，200", 1200)]
)
def test_numbers_with_thousands_are_read(text: str, number: float) -> None:
    """SPEC T5: where nothing else can be meant."""
    assert number_in(text, "demand", "/2/qty", delimiter=",") == number


@pytest.mark.parametrize(("text", "number"), [("1,500,000", 1500000), ("1,500.25", 1500.25)])
def test_commas_that_only_part_thousands_are_read_between_semicolons(text: str, number: float) -> None:
    """SPEC T5: a number has one decimal mark; a single comma without a point is asked about."""
    assert number_in(text, "demand", "/2/qty", delimiter=";") == number
    assert isinstance(number_in("1,500", "demand", "/2/qty", delimiter=";"), Fault)


@pytest.mark.parametrize(("text", "name", "delimiter"), [("39,953", "lat", ","), ("0,750", "demand", "\t")])
def test_a_decimal_comma_is_not_taken_for_one_of_thousands(text: str, name: str, delimiter: str) -> None:
    """SPEC T7: a latitude has no thousands, and no number begins with none of them."""
    fault = Fault("/2/a", f"The cell of {name} is not a number.", "a number", "Write decimals with a point.")
    assert number_in(text, name, "/2/a", delimiter=delimiter) == fault


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2025/7/15 8:00", "2025-07-15T08:00:00"),
        ("2025-7-15 08:30:15", "2025-07-15T08:30:15"),
        ("2025年7月15日 8:00", "2025-07-15T08:00:00"),
        ("8:00 AM", "08:00:00"),
        ("12:15:30 a.m.", "00:15:30"),
        ("12:00pm", "12:00:00"),
        ("11：59 PM", "23:59:00"),
        ("2025-07-15T08:00:00+08:00", "2025-07-15T08:00:00+08:00"),
        ("15.07.2025 08:00", "15.07.2025 08:00"),
        ("45900", 45900),
        ("28800", 28800),
    ],
)
def test_times_of_spreadsheets_are_read(text: str, time: str | float) -> None:
    """SPEC T5: as CSV of a Chinese or an American spreadsheet has them; what has another order is left to be told."""
    assert time_in(text, "/2/open") == time


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("45853", "The cell may mean seconds, or a day that lost its format."),
        ("45853.375", "The cell may mean seconds, or a day that lost its format."),
        ("0.375", "The cell may mean hours or seconds."),
        ("2025-07-15", "The cell has a day, and no time."),
        ("2025年7月15日", "The cell has a day, and no time."),
        ("soon", "The cell is not a time."),
        ("8h30", "The cell is not a time."),
    ],
)
def test_what_is_no_time_is_told_as_such(text: str, problem: str) -> None:
    """SPEC T7: a day that lost its format is not 12:44, and a day alone is no number."""
    parsed_value = time_in(text, "/2/open")
    assert (parsed_value.problem if isinstance(parsed_value, Fault) else "") == problem


@pytest.mark.parametrize(
    ("text", "day"),
    [("2025/7/5", "2025-07-05"), ("2025-07-05T00:00:00", "2025-07-05"), ("2025-07-05 08:00", ""), ("5.7.2025", "")],
)
def test_a_day_is_read_where_its_order_is_clear(text: str, day: str) -> None:
    """Our choice: midnight is how a spreadsheet writes a day alone."""
    assert date_in(text) == day


@pytest.mark.parametrize(
    ("text", "windows"),
    [
        ("08:00-12:00", [["08:00", "12:00"]]),
        ("8：00～12：00", [["8:00", "12:00"]]),
        ("08:00 至 10:00；14:00到16:00:30", [["08:00", "10:00"], ["14:00", "16:00:30"]]),
        ("-", []),
        ("不限", []),
        ("Any", []),
        ("9:00 AM – 1:00 PM, 14:00 to 15:00;", [["09:00:00", "13:00:00"], ["14:00", "15:00"]]),
    ],
)
def test_a_window_in_one_cell_is_read(text: str, windows: list[list[str]]) -> None:
    """SPEC T5: as most exports of orders have it."""
    assert windows_in(text, "/2/window") == windows


@pytest.mark.parametrize("text", ["morning", "08:00", "08:00-", "8-12", "08:00-12:00-14:00", ";", "08:00-12:00; later"])
def test_what_is_no_window_is_told(text: str) -> None:
    """SPEC T7: a day without its windows would be another's."""
    parsed_value = windows_in(text, "/2/window")
    assert isinstance(parsed_value, Fault) and (parsed_value.path, parsed_value.problem) == (
        "/2/window",
        "The cell is no time window.",
    )
