"""How far a list was told."""

from datetime import UTC, datetime, timedelta

from planner_mcp.jobs.marks import is_behind, mark

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_what_is_older_than_the_last_entry_told_is_still_to_tell() -> None:
    """SPEC R2, X2: what came in meanwhile brings nothing twice, and of entries of one time none is lost."""
    last = mark(NOON, "job-b")
    entries = [(NOON + timedelta(seconds=1), "job-c"), (NOON, "job-b"), (NOON, "job-a"), (NOON - timedelta(1), "job-0")]
    assert [name for at, name in entries if is_behind(at, name, last)] == ["job-a", "job-0"]


def test_before_the_first_page_everything_is_to_tell() -> None:
    """SPEC R2."""
    assert is_behind(NOON, "job-a", "")
