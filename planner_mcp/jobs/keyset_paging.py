"""How far a newest-first list was read: the time and id of the last entry shown, `<time> <id>`.

Owns the mark and which entries follow it. New entries push older ones back, so an offset alone would show some of them
twice. What else a cursor holds is up to each list.
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


def keyset_of_job(job: Job) -> str:
    """Return the mark of a job."""
    return mark(job.submitted_at, job.id)


def keyset_of_scenario(card: ScenarioCard) -> str:
    """Return the mark of a scenario."""
    return mark(card.created_at, card.id)


def rows_after(entries: Sequence[T], keysets: Sequence[str], last: str) -> list[T]:
    """Return the entries still to tell, of some that have these marks; before the first `last` is empty.

    Where the last entry told is among them, its place counts and no time: a clock that went back made older entries
    look newer. Where it is not, what is of its time or older is still to tell.
    """
    if last in keysets:
        return list(entries[keysets.index(last) + 1 :])
    limit = last.partition(" ")[0]
    return [entry for entry, each in zip(entries, keysets, strict=True) if not last or each.partition(" ")[0] <= limit]


async def next_page(
    read: ReadPage[Sequence[T]], keyset_of: Callable[[T], str], *, offset: int, count: int, last: str
) -> tuple[list[T], str, int]:
    """Return what is to tell of a page, how far the list is told with it, and how many entries there are.

    Args:
        read: Reads the list.
        mark_of: The mark of an entry.
        offset: Where the page begins.
        count: How many entries it has.
        last: How far the list was told before, empty where nothing was.
    """
    overlap = 1 if last else 0  # the entry before the page is the last one told, unless others came or went meanwhile
    entries, total = await read(offset=offset - overlap, count=count + overlap)
    found = rows_after(entries, [keyset_of(entry) for entry in entries], last)
    return found, keyset_of(found[-1]) if found else last, total
