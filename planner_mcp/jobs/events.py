"""One fact in the life of a job, in an ordered stream per job (SPEC J1).

Owns the kinds and the record. What a client is told of it is `notify/events.py`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class EventKind(StrEnum):
    """One fact in the life of a job."""

    QUEUED = "queued"
    STARTED = "started"
    PROGRESS = "progress"
    REQUEUED = "requeued"
    """The worker died or handed the job back; it will run again."""
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL_KINDS = frozenset({EventKind.COMPLETED, EventKind.FAILED, EventKind.CANCELLED})


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a job's ordered stream."""

    id: str
    """Position in the job's own stream (`<ms>-<n>`): what `Last-Event-ID` carries."""
    job_id: str
    kind: EventKind
    at: str
    """ISO 8601, UTC, from the store's clock."""
    data: dict[str, Any]
    """What the notification carries beside `job_id`: at least `status` and `progress`."""
    number: int = 0
    """Count within the job from 1. A jump says that older progress has been trimmed."""

    @property
    def is_final(self) -> bool:
        """Whether nothing can follow."""
        return self.kind in FINAL_KINDS
