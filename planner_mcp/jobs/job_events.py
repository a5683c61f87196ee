"""Events of a job, in one ordered stream per job (SPEC J1).

Owns the kinds and the records, how positions compare, and the notification that each event becomes: the job channel,
MCP streams and webhooks all use it.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from planner_mcp.errors import Fault, JobFailure, input_error
from planner_mcp.jobs.plan_review import PlanReview
from planner_mcp.jobs.plan_summary import PlanSummary
from planner_mcp.text import Json, stated_fields

_POSITION: Final = re.compile(r"[0-9]{1,19}(-[0-9]{1,19})?")


class EventKind(StrEnum):
    """What happened to a job."""

    QUEUED = "queued"
    STARTED = "started"
    PROGRESS = "progress"
    REQUEUED = "requeued"
    """The worker died or handed the job back; it will run again."""
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    PROPOSED = "plan.proposed"
    """Steps of a review come after the end of the job (SPEC A5)."""
    APPROVED = "plan.approved"
    REJECTED = "plan.rejected"
    PUBLISHED = "plan.published"


FINAL_KINDS = frozenset({EventKind.COMPLETED, EventKind.FAILED, EventKind.CANCELLED})
REVIEW_KINDS = frozenset({EventKind.PROPOSED, EventKind.APPROVED, EventKind.REJECTED, EventKind.PUBLISHED})


@dataclass(frozen=True, slots=True)
class EventData:
    """What an event says of its job. What its kind does not say is None."""

    status: str = ""
    """Of the job, in capitals."""
    progress: int = 0
    """Percent."""
    attempt: int | None = None
    """Number of the claim that started."""
    reason: str | None = None
    """Why the job is queued again."""
    crashes: int | None = None
    cost: float | None = None
    """This and the six below are those of `Progress`, in an event of progress."""
    penalty: float | None = None
    tickets_served: int | None = None
    tickets_total: int | None = None
    improvements: int | None = None
    elapsed_s: float | None = None
    lower_bound: float | None = None
    cancelled_at: str | None = None
    plan_id: str | None = None
    review: PlanReview | None = None
    """After a step of it, without its times."""
    summary: PlanSummary | None = None
    """Of a job that was not completed, or whose plan is reviewed."""
    error: JobFailure | None = None
    result: PlanSummary | None = None
    """Of a completed job, with the id of its plan."""
    gap: bool | None = None
    """True: events before it, which nobody can read any more, are missing."""

    def as_json(self) -> Json:
        """Return what a notification carries beside `job_id`."""
        parts = {"review": self.review, "summary": self.summary, "error": self.error, "result": self.result}
        return stated_fields(self) | {name: part.as_json() for name, part in parts.items() if part is not None}


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a job's ordered stream."""

    id: str
    """Position in the job's own stream (`<ms>-<n>`): what `Last-Event-ID` carries."""
    job_id: str
    kind: EventKind
    at: str
    """ISO 8601, UTC, from the store's clock."""
    data: EventData
    number: int = 0
    """Count within the job from 1. A jump says that older progress has been trimmed."""
    scenario_id: str = field(default="", compare=False)
    """Scenario of the job; known where the events of all jobs are read together, empty in the job's own stream."""
    scenario_name: str = field(default="", compare=False)
    is_change: bool = field(default=True, compare=False)
    """Whether the state or the best cost has changed; known where the events of all jobs are read together."""

    @property
    def is_final(self) -> bool:
        """Whether it ends its job; what follows are steps of a review."""
        return self.kind in FINAL_KINDS

    @property
    def ends_reviews(self) -> bool:
        """Whether no step of a review can follow."""
        return self.kind in (EventKind.PUBLISHED, EventKind.FAILED)

    @property
    def is_review(self) -> bool:
        """Whether it is a step in the review of the plan."""
        return self.kind in REVIEW_KINDS


def notification(event: Event, *, is_named: bool = False) -> Json:
    """Return the JSON-RPC 2.0 notification of an event, without `id` (SPEC J3).

    queued, started, progress, requeued → `notifications/progress {job_id, progress, status, …}`;
    completed → `notifications/complete {job_id, status, result}`; failed → the same with `status: FAILED` and `error`;
    cancelled → `notifications/cancelled {job_id, status, cancelled_at}`; plan.proposed, plan.approved,
    plan.rejected, plan.published → `notifications/review {job_id, status, event, plan_id, review, summary}` (SPEC A5).

    Args:
        event: What happened.
        is_named: Whether it says its id and time too, for channels whose ids say neither.
    """
    id_and_time = {"event_id": event.id, "at": event.at} if is_named else {}
    base = {"job_id": event.job_id, **event.data.as_json(), **id_and_time}
    if event.kind in (EventKind.COMPLETED, EventKind.FAILED):
        return {"jsonrpc": "2.0", "method": "notifications/complete", "params": base}
    if event.kind is EventKind.CANCELLED:
        return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": base}
    if event.is_review:
        return {"jsonrpc": "2.0", "method": "notifications/review", "params": {**base, "event": event.kind.value}}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": base}


def is_position(text: str) -> bool:
    """Return whether a text has the form of a position in a stream: `<ms>-<n>`, or `<ms>` for `<ms>-0`."""
    return _POSITION.fullmatch(text) is not None


def position_key(position: str, path: str = "") -> tuple[int, int]:
    """Return a position (`<ms>-<n>`, or `<ms>` for `<ms>-0`) as numbers that compare as the stream orders them.

    Args:
        position: An event id, or one such as a caller gave it.
        path: Where the caller gave it, for the error.

    Raises:
        InputError: Not a position.
    """
    if not is_position(position):
        raise input_error([Fault(path, "The event id is not one of this server's.", "<milliseconds>-<number>")])
    ms, _dash, number = position.partition("-")
    return int(ms), int(number or 0)
