"""The time windows of a ticket as people read them (SPEC T5)."""

from planner_mcp.routing.scenario.window_text import dated_window_text, window_text

DAY = "2025-07-15"


def test_windows_of_a_plan_of_several_days_have_their_dates() -> None:
    """SPEC T5: beside visits with dates, hours past midnight would be of another day than they say."""
    ticket = {"time_windows": [["2025-07-16T08:00", "2025-07-16T10:00"], ["22:30", "26:00"], [30, "09:00"]]}
    assert window_text(ticket, DAY) == "32:00-34:00; 22:30-26:00; 00:00:30-09:00"
    assert (
        dated_window_text(ticket, DAY)
        == "2025-07-16 08:00-10:00; 2025-07-15 22:30-2025-07-16 02:00; 2025-07-15 00:00:30-09:00"
    )
    assert dated_window_text({}, DAY) == ""
