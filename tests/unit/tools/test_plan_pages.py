"""A plan cut into tables."""

import pytest

from planner_mcp.text import clock
from planner_mcp.tools.answers.plan_pages import MAX_PAGE_BYTES, VIEWS, page_of, summary
from tests.unit.tools.plans import stored_plan


def test_pages_join_into_the_whole_table() -> None:
    """SPEC T5: nothing twice, nothing lost."""
    plan = stored_plan(routes=7, visits=9)
    found, page = [], 1
    while True:
        part = page_of(VIEWS["visits"], plan, columns=["ticket_id"], agents=[], page=page, size=20)
        found += [row[0] for row in part.rows]
        if page * part.size >= part.total:
            break
        page += 1
    assert found == [f"t-{n}" for n in range(63)]
    assert page == 4


def test_a_page_beyond_the_last_is_empty() -> None:
    """SPEC T5: asking too far is no error."""
    part = page_of(VIEWS["routes"], stored_plan(routes=2, visits=1), columns=[], agents=[], page=9, size=20)
    assert (part.rows, part.total) == ([], 2)


def test_columns_and_agents_narrow_a_table() -> None:
    """SPEC T5: trimmed by fields."""
    plan = stored_plan(routes=3, visits=2)
    part = page_of(VIEWS["visits"], plan, columns=["ticket_id", "start_s"], agents=["veh-1"], page=1, size=20)
    assert part.columns == ("ticket_id", "start_s")
    assert part.rows == [["t-2", 28860], ["t-3", 29760]]


@pytest.mark.parametrize("view", sorted(VIEWS))
def test_wide_rows_make_short_pages_of_equal_size(view: str) -> None:
    """SPEC T9: the longest ids there can be do not break the budget, and pages still join."""
    plan = stored_plan(routes=60, visits=2, left_out=60, id_form="北" * 90 + "{}-{}")
    columns = list(VIEWS[view].columns)
    pages = [page_of(VIEWS[view], plan, columns=columns, agents=[], page=page, size=50) for page in (1, 2)]
    assert {page.size for page in pages} == {len(pages[0].rows)}
    assert all(len(str(page.rows).encode()) < 1.3 * MAX_PAGE_BYTES for page in pages)
    assert pages[0].rows[-1] != pages[1].rows[0]


def test_a_summary_counts_reasons() -> None:
    """SPEC T5: figures, and why tickets are left out."""
    figures = summary(stored_plan(routes=1, visits=1, left_out=4))
    assert figures["unassigned"] == 4
    assert figures["unassigned_reasons"] == {
        "NO_ROOM_FOUND": 2,
        "ALL_CAPACITY_USED": 1,
        "TIME_WINDOW_UNREACHABLE": 1,
    }


@pytest.mark.parametrize(("seconds", "shown"), [(0, "00:00"), (59.9, "00:01"), (30_000, "08:20"), (90_000, "25:00")])
def test_times_are_hours_and_minutes(seconds: float, shown: str) -> None:
    """Our choice: the form callers write themselves; long days run past 24."""
    assert clock(seconds) == shown
