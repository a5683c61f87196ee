"""Paging of newest-first lists by the last entry returned: its time and id, `<time> <id>`.

Owns the mark and which entries follow it. New entries push older ones back, so an offset alone would return some of
them twice. Each list decides what else its cursor holds.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from planner_mcp.jobs.job_model import Job, ScenarioCard
from planner_mcp.text import timestamp

T = TypeVar("T")
Rows = TypeVar("Rows", covariant=True)


class ReadPage(Protocol[Rows]):
    """Reads a list that begins with the newest."""

    async def __call__(self, *, offset: int, count: int) -> tuple[Rows, int]:
        """Return its entries from an offset on, so many or fewer, and how many there are."""
        ...


def mark(at: datetime, name: str) -> str:
    """Return the mark of an entry."""
    return f"{timestamp(at)} {name}"


def mark_of_job(job: Job) -> str:
    """Return the mark of a job."""
    return mark(job.submitted_at, job.id)


def mark_of_scenario(card: ScenarioCard) -> str:
    """Return the mark of a scenario."""
    return mark(card.created_at, card.id)


def rows_after(entries: Sequence[T], marks: Sequence[str], last: str) -> list[T]:
    """Return the entries not returned yet; `last` is empty before the first page.

    Where the last entry returned is among them, its place decides, because times are wrong after a clock went back.
    Otherwise the entries of its time and older ones follow.
    """
    if last in marks:
        return list(entries[marks.index(last) + 1 :])
    limit = last.partition(" ")[0]
    return [entry for entry, each in zip(entries, marks, strict=True) if not last or each.partition(" ")[0] <= limit]


async def next_page(
    read: ReadPage[Sequence[T]], mark_of: Callable[[T], str], *, offset: int, count: int, last: str
) -> tuple[list[T], str, int]:
    """Return the entries of a page, the mark of its last entry, and how many entries there are.

    Args:
        read: Reads the list.
        mark_of: Returns the mark of an entry.
        offset: Where the page begins.
        count: How many entries it has.
        last: The mark of the page before, empty for the first page.
    """
    overlap = 1 if last else 0  # the entry before the page is the last one returned, unless the list has changed
    entries, total = await read(offset=offset - overlap, count=count + overlap)
    found = rows_after(entries, [mark_of(entry) for entry in entries], last)
    return found, mark_of(found[-1]) if found else last, total
