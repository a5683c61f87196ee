"""How far a list was told."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from planner_mcp.jobs.keyset_paging import mark, next_page, rows_after

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_entries_older_than_the_last_one_shown_come_next() -> None:
    """SPEC R2, X2: what came in meanwhile brings nothing twice, and of entries of one time none is lost."""
    last = mark(NOON, "job-b")
    entries = [(NOON + timedelta(seconds=1), "job-c"), (NOON, "job-b"), (NOON, "job-a"), (NOON - timedelta(1), "job-0")]
    marks = [mark(at, name) for at, name in entries]
    assert rows_after(entries, marks, last) == entries[2:]
    assert rows_after(["c", "a", "0"], [marks[0], *marks[2:]], last) == [
        "a",
        "0",
    ]  # the last one told is gone meanwhile


def test_before_the_first_page_everything_remains() -> None:
    """SPEC R2."""
    assert rows_after(["a"], [mark(NOON, "job-a")], "") == ["a"]


async def read(
    listed: list[tuple[datetime, str]], *, offset: int, count: int
) -> tuple[list[tuple[datetime, str]], int]:
    """Return a part of what a store lists."""
    assert offset >= 0
    return listed[offset : offset + count], len(listed)


@pytest.mark.anyio
@pytest.mark.parametrize("added", [0, 1, 2, 3])
async def test_a_clock_that_went_back_hides_nothing(added: int) -> None:
    """SPEC R2, X2: older entries that look newer are told once, also while others come."""
    shown = [(NOON + timedelta(seconds=second), f"job-{second}") for second in (1, 0, 9, 8, 7)]
    shown_ids, last, total, offset = [], "", 5, 0
    while offset < total:
        page, last, total = await next_page(
            partial(read, shown), lambda entry: mark(*entry), offset=offset, count=2, last=last
        )
        shown_ids += [name for _at, name in page]
        shown = [(NOON + timedelta(seconds=2 + each), f"new-{each}") for each in range(added)][::-1] + shown
        added, offset = 0, offset + 2
    assert shown_ids == ["job-1", "job-0", "job-9", "job-8", "job-7"]
