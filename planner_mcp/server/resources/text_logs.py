"""Logs as lines of text: the events of one job, and the audit log of a day (SPEC R1).

Owns the form of the lines. The same facts as JSON are `job://`, the job channel and `logs://vrp/{date}`.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from planner_mcp.jobs.job_content import event_line
from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.principals import ADMIN
from planner_mcp.jobs.records.audit_records import AuditEntry
from planner_mcp.server.resources.json_resources import LOG_LINES, Variables
from planner_mcp.server.resources.resource_definition import Contents, ReadContext, ResourceMetadata, Template
from planner_mcp.text import plain

TEXT: Final = "text/plain"
_MAX_FIELD: Final = 200
"""Characters of a field of the audit log in a line."""


async def _job_log(reading: ReadContext, variables: Variables) -> Contents:
    events = await reading.job_service.history(reading.principal, variables["job_id"])
    return Contents(TEXT, _lines(_event_lines(events)))


def _event_lines(events: Sequence[Event]) -> Iterator[str]:
    if events and events[0].number > 1:
        yield f"({events[0].number - 1} earlier events are no longer kept)"
    for event in events:
        why = f" · {error.code} {error.type}" if (error := event.data.error) else ""
        yield f"{event.at} {event.kind} {event_line(event)}{why}"


async def _audit_log(reading: ReadContext, variables: Variables) -> Contents:
    date = variables["date"]
    page = await reading.logs.read(date, variables.get("after", "0"), LOG_LINES)
    more = [f"(more: logs://vrp/{date}.txt?after={page.next})"] if page.next is not None else []
    return Contents(TEXT, _lines([*map(_audit_line, page.entries), *more]))


def _audit_line(entry: AuditEntry) -> str:
    fields = (entry.at, entry.who, entry.what, entry.target, entry.outcome)
    return " ".join(plain(field, _MAX_FIELD) or "-" for field in fields)


def _lines(lines: Iterator[str] | list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


JOB_LOG: Final = Template(
    "job://{job_id}/log.txt",
    ResourceMetadata("job-log", "Log of a job", "A line an event: queued, started, improvements, end.", TEXT),
    _job_log,
)
LOG_TEXT: Final = Template(
    "logs://vrp/{date}.txt",
    ResourceMetadata("log-text", "Audit log of a day as text", "A line a call: when, who, what.", TEXT, ("user",), 0.2),
    _audit_log,
    scope=ADMIN,
    optional=frozenset({"after"}),
)
