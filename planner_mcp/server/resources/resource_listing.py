"""`resources/list` in pages: what there is for a principal, newest first within each kind.

Owns the order of kinds and what a place in the list is. A job that is submitted while somebody pages moves the ones
behind it; what was listed before is then left out, so nothing comes twice and nothing is lost.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

import anyio.to_thread

from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_model import Job, ScenarioCard
from planner_mcp.jobs.keyset_paging import mark_of_job, mark_of_scenario, next_page
from planner_mcp.jobs.principals import ADMIN
from planner_mcp.server.resources.json_resources import JOB, LOG, PAGE_SIZE, PLAN, RESULT, SCENARIO, STATUSES
from planner_mcp.server.resources.resource_catalogue import REPORT_FILE, fixed_for
from planner_mcp.server.resources.resource_definition import ReadContext, ResourceEntry, ResourceMetadata, Template
from planner_mcp.text import plain

PAGE: Final = 50
"""Entries of a page, about."""


@dataclass(frozen=True, slots=True)
class ListPosition:
    """Where a page of the list begins."""

    kind: int = 0
    offset: int = 0
    before: str = ""
    """The mark of the last entry listed of this kind."""

    def as_text(self) -> str:
        """Return the place as the words a cursor seals."""
        return json.dumps([self.kind, self.offset, self.before])

    @staticmethod
    def parse(text: str) -> "ListPosition":
        """Return the place that `as_text` wrote."""
        return ListPosition(*json.loads(text))


@dataclass(frozen=True, slots=True)
class _Part:
    """Some entries of one kind."""

    entries: list[ResourceEntry]
    before: str = ""
    is_over: bool = True


async def resource_page(reading: ReadContext, place: ListPosition) -> tuple[list[ResourceEntry], ListPosition | None]:
    """Return the entries from a place on, and the place of the next page, None after the last."""
    found: list[ResourceEntry] = []
    while place.kind < len(_KINDS):
        list_kind, width = _KINDS[place.kind]
        count = (PAGE - len(found)) // width
        if count <= 0:
            return found, place
        part = await list_kind(reading, place, count)
        found += part.entries
        place = (
            ListPosition(place.kind + 1)
            if part.is_over
            else ListPosition(place.kind, place.offset + count, part.before)
        )
    return found, None


async def _fixed(reading: ReadContext, _place: ListPosition, _count: int) -> _Part:
    """Return the jobs by status, what there is one of and, for readers with its scope, today's log."""
    entries = [
        ResourceEntry(f"jobs://vrp/status/{status}?page=1&size={PAGE_SIZE}", _jobs_metadata(status))
        for status in STATUSES
    ]
    entries += [ResourceEntry(kind.uri_template, kind.metadata) for kind in fixed_for(reading)]
    if reading.principal.may(ADMIN):
        entries.append(ResourceEntry(f"logs://vrp/{datetime.now(UTC):%Y-%m-%d}", LOG.metadata))
    return _Part(entries)


def _jobs_metadata(status: str) -> ResourceMetadata:
    return ResourceMetadata(
        f"jobs-{status}", f"Jobs: {status}", f"Your jobs ({status}), newest first.", "application/json"
    )


async def _reports(reading: ReadContext, place: ListPosition, count: int) -> _Part:
    shown = await anyio.to_thread.run_sync(reading.reports.reports, place.offset, count + 1)
    entries = [
        ResourceEntry(
            file.uri,
            replace(REPORT_FILE, name=file.path, title=file.path, mime_type=file.mime_type),
            file.size,
            file.modified_at,
        )
        for file in shown[:count]
    ]
    return _Part(entries, is_over=len(shown) <= count)


async def _jobs(reading: ReadContext, place: ListPosition, count: int) -> _Part:
    read = partial(reading.job_service.jobs, reading.principal)
    jobs, last, total = await next_page(read, mark_of_job, offset=place.offset, count=count, last=place.before)
    entries = [entry for job in jobs for entry in _of_job(job)]
    return _Part(entries, last, place.offset + count >= total)


def _of_job(job: Job) -> list[ResourceEntry]:
    name = job.id.rpartition("-")[2][:6]
    at = job.finished_at or job.submitted_at
    found = [_entry(f"job://{job.id}", JOB, f"Job {name}, {job.state}", at)]
    if job.plan_id:
        found.append(_entry(f"plan://{plan_of(job.id)}", PLAN, f"Plan {name}", at))
    return found


async def _scenarios(reading: ReadContext, place: ListPosition, count: int) -> _Part:
    read = partial(reading.job_service.scenarios, reading.principal)
    cards, last, total = await next_page(read, mark_of_scenario, offset=place.offset, count=count, last=place.before)
    entries = [entry for card in cards for entry in _of_scenario(card)]
    return _Part(entries, last, place.offset + count >= total)


def _of_scenario(card: ScenarioCard) -> list[ResourceEntry]:
    name = plain(card.name, 60)
    found = [_entry(f"scenario://{card.id}", SCENARIO, name, card.created_at)]
    if card.last_job_id:
        found.append(_entry(f"scenario://{card.id}/result", RESULT, f"{name}: result"))
    return found


def _entry(uri: str, template: Template, title: str, modified_at: datetime | None = None) -> ResourceEntry:
    return ResourceEntry(uri, replace(template.metadata, title=title), modified_at=modified_at)


_List = Callable[[ReadContext, ListPosition, int], Awaitable[_Part]]
_KINDS: Final[tuple[tuple[_List, int], ...]] = ((_fixed, 1), (_reports, 1), (_jobs, 2), (_scenarios, 2))
"""The kinds in the order of the list, each with the most entries that one of it makes."""
