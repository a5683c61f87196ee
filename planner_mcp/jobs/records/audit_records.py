"""What the audit log keeps: one entry per use of a tool and per refusal, and the store that keeps entries.

Owns the record and its form as a line. Who writes entries, and when, is `server/auth/audit_trail.py`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from planner_mcp.text import plain_fields


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line of the audit log."""

    at: str
    """ISO 8601, UTC."""
    who: str
    """The principal's id."""
    subject: str
    tenant: str
    what: str
    """Name of a tool, or method and route of a request."""
    target: str
    """Id of what was acted on; empty where there is none."""
    outcome: str
    """`ok`, or the code of the error."""
    trace_id: str
    left_out: int = 0
    """Refusals of the same caller before this one of which only the process log has a line."""

    def as_line(self) -> str:
        """Return the entry as one line of ASCII JSON."""
        return json.dumps(plain_fields(self), ensure_ascii=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Some lines of a day, oldest first."""

    entries: list[AuditEntry]
    next: str | None
    """Where the next page starts, None after the last."""


class AuditStore(Protocol):
    """Keeps entries and never changes one."""

    async def append(self, entries: Sequence[AuditEntry]) -> None:
        """Add entries, oldest first, each to its day."""
        ...
