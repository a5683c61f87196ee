"""The time windows of a ticket as people read them (SPEC T5)."""

from planner_mcp.routing.scenario.shown_scenario import ShownTicketFields
from planner_mcp.routing.scenario.window_text import dated_span_text, window_text, windows_of
from planner_mcp.routing.scenario.written_language import Language

DAY = "2025-07-15"


def dated(ticket: ShownTicketFields, language: Language = "en") -> list[str]:
    return [dated_span_text(*window, DAY, language) for window in windows_of(ticket, DAY)]


def test_windows_of_a_plan_of_several_days_have_their_dates() -> None:
    """SPEC T5: beside visits with dates, hours past midnight would be of another day than they say."""
    ticket = {"time_windows": [["2025-07-16T08:00", "2025-07-16T10:00"], ["22:30", "26:00"], [30, "09:00"]]}
    assert window_text(ticket, DAY) == "32:00-34:00; 22:30-26:00; 00:00:30-09:00"
    assert dated(ticket) == ["2025-07-16 08:00-10:00", "2025-07-15 22:30-2025-07-16 02:00", "2025-07-15 00:00:30-09:00"]


def test_a_window_with_one_side_says_which() -> None:
    """SPEC T5: nobody wrote the 47:59 with which a window without an end is kept, or the midnight before `until`."""
    ticket = {"time_windows": [["10:00", "47:59"], ["00:00", "12:00"]]}
    assert window_text(ticket, DAY) == "from 10:00; until 12:00"
    assert dated(ticket) == ["from 2025-07-15 10:00", "until 2025-07-15 12:00"]
    assert window_text(ticket, DAY, "zh") == "10:00 起; 12:00 前"
    assert dated(ticket, "zh") == ["2025-07-15 10:00 起", "2025-07-15 12:00 前"]
