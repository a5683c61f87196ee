"""Text from strangers."""

import pytest

from planner_mcp.text import at_least, clock, clock_s, counted, figure, plain


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("veh-1", "veh-1"),
        ("北京 LOC_A ñ 🚚", "北京 LOC_A ñ 🚚"),
        ("a\x00b\x1b[31mc\x85d", "ab[31mc d"),
        ("\u202eabc\u2066\u200b\ufeff", "abc"),
        ("hi\U000e0041\U000e0042", "hi"),
        ("one\u2028two\u2029\r\nthree", "one two three"),
        ("Torstr. 1\r\n10115 Berlin\n", "Torstr. 1 10115 Berlin"),
        ("\ud800half", "half"),
        ("\ue000private", "private"),
    ],
)
def test_hidden_characters_go(given: str, shown: str) -> None:
    """SPEC T8: a reader sees what is there, and nothing else is there."""
    assert plain(given) == shown


def test_long_text_is_cut() -> None:
    """Our choice: a million characters cost no more than a thousand."""
    assert plain("x" * 1_000_000, 10) == "x" * 9 + "…"
    assert plain("x" * 10, 10) == "x" * 10
    assert plain("\u200b" * 1_000_000 + "x", 10).endswith("…")


def test_one_of_a_kind_is_written_in_the_singular() -> None:
    """Our choice: sentences are made to be read."""
    assert [counted(number, "agent") for number in (0, 1, 2)] == ["0 agents", "1 agent", "2 agents"]


def test_a_number_keeps_its_digits() -> None:
    """SPEC T7: what an error says is accepted is accepted when it is sent back."""
    shown = {1234567.25: "1234567.25", 40_000_000: "40000000", 0.1 + 0.2: "0.3", 12.0: "12"}
    assert {value: figure(value) for value in shown} == shown


@pytest.mark.parametrize(("seconds", "shown"), [(0, "00:00:00"), (59.9, "00:01:00"), (93_784, "26:03:04")])
def test_times_of_files_have_seconds(seconds: float, shown: str) -> None:
    """SPEC T5: the form of a spreadsheet's cell, read and written; hours run past 24."""
    assert clock_s(seconds) == shown


@pytest.mark.parametrize(("seconds", "shown"), [(28_890, "08:02"), (28_950, "08:03"), (28_949.4, "08:02")])
def test_half_a_minute_counts_up(seconds: float, shown: str) -> None:
    """SPEC T5: as JavaScript rounds it, so that the page and the sheets of drivers have the same time."""
    assert clock(seconds) == shown


@pytest.mark.parametrize(("bound", "shown"), [(3.006, 3), (3.0199, 3.01), (3.01, 3.01), (0.1 + 0.2, 0.3), (6.0, 6)])
def test_a_lower_bound_is_rounded_down(bound: float, shown: float) -> None:
    """SPEC T5, J5: what it claims stays true, and arithmetic costs it no cent."""
    assert (at_least(bound), type(at_least(bound))) == (shown, type(shown))
