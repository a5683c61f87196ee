"""What of a job's events an event type carries."""

from typing import Any

from planner_mcp.jobs.events.event_types import IMPROVED, Occurrences
from planner_mcp.jobs.job_events import Event, EventData, EventKind
from planner_mcp.jobs.job_ports import FeedStep


def progress(second: int, *, is_change: bool = True, **data: Any) -> FeedStep:
    at = f"2026-01-01T00:00:{second:02}Z"
    said = EventData("SOLVING", 1, **data)
    return FeedStep("", Event(f"{second}-0", "job", EventKind.PROGRESS, at, said, is_change=is_change))


def test_a_plan_that_serves_more_is_an_improvement_whatever_it_costs() -> None:
    """SPEC O6: the penalty comes first; after a cheap plan of few tickets nothing was ever said to be better."""
    steps = [
        progress(0, cost=10, penalty=500),
        progress(11, cost=90, penalty=100),
        progress(22, cost=200),
        progress(33, cost=200),
        progress(44, cost=199),
        progress(55, cost=150),
    ]
    found = Occurrences(IMPROVED, {"min_gain_percent": 5}).of(steps)
    assert [each.data["cost"] for each in found] == [10, 90, 200, 150]


def test_a_poll_reports_no_improvement_of_a_job_that_found_none() -> None:
    """SPEC O6: each poll told one; a gain that came too soon after another is told later."""
    polled = [progress(11, is_change=False, cost=90), progress(12, is_change=False, cost=90)]
    assert [*Occurrences(IMPROVED, {}).of(polled)] == []
    streamed = [progress(0, cost=100), progress(5, cost=90), *polled]
    assert [each.data["cost"] for each in Occurrences(IMPROVED, {}).of(streamed)] == [100, 90]
