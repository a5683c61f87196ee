"""The states of a job and what may change them.

Owns the transition table. The Lua steps are given this table as JSON, so Python and Redis allow the same transitions.
"""

from enum import StrEnum
from typing import Final

MAX_CRASHES: Final = 3
"""Times a job may kill its worker or its child before it ends failed. A lost worker counts, a hand-back does not."""


class JobState(StrEnum):
    """Where a job stands (SPEC J1)."""

    QUEUED = "queued"
    SOLVING = "solving"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Change(StrEnum):
    """What may happen to a job."""

    CLAIM = "claim"
    IMPROVE = "improve"
    HAND_BACK = "hand_back"
    CRASH = "crash"
    COMPLETE = "complete"
    FAIL = "fail"
    CANCEL = "cancel"


TERMINAL: Final = frozenset({JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED})

TRANSITIONS: Final[dict[tuple[JobState, Change], JobState]] = {
    (JobState.QUEUED, Change.CLAIM): JobState.SOLVING,
    (JobState.QUEUED, Change.CANCEL): JobState.CANCELLED,
    (JobState.QUEUED, Change.FAIL): JobState.FAILED,
    (JobState.SOLVING, Change.CLAIM): JobState.SOLVING,
    (JobState.SOLVING, Change.IMPROVE): JobState.SOLVING,
    (JobState.SOLVING, Change.HAND_BACK): JobState.QUEUED,
    (JobState.SOLVING, Change.CRASH): JobState.QUEUED,
    (JobState.SOLVING, Change.COMPLETE): JobState.COMPLETED,
    (JobState.SOLVING, Change.FAIL): JobState.FAILED,
    (JobState.SOLVING, Change.CANCEL): JobState.CANCELLED,
}
"""Every legal change. `SOLVING → CLAIM`: another worker takes over an expired lease under a higher fencing number."""
