"""The review of a plan by people: its states and what may change them (SPEC A5).

Owns the transition table and the record. The Lua step is given the table as JSON, so Python and Redis allow the same
steps. Who may take a step is `review_service.py`'s.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from planner_mcp.text import Json, timestamp


class ReviewState(StrEnum):
    """Where a plan stands."""

    DRAFT = "draft"
    """As it was solved."""
    PROPOSED = "proposed"
    APPROVED = "approved"
    REJECTED = "rejected"
    PUBLISHED = "published"


class ReviewStep(StrEnum):
    """What people do to a plan."""

    PROPOSE = "propose"
    APPROVE = "approve"
    REJECT = "reject"
    PUBLISH = "publish"


REVIEWS: Final[dict[tuple[ReviewState, ReviewStep], ReviewState]] = {
    (ReviewState.DRAFT, ReviewStep.PROPOSE): ReviewState.PROPOSED,
    (ReviewState.PROPOSED, ReviewStep.PROPOSE): ReviewState.PROPOSED,
    (ReviewState.REJECTED, ReviewStep.PROPOSE): ReviewState.PROPOSED,
    (ReviewState.PROPOSED, ReviewStep.APPROVE): ReviewState.APPROVED,
    (ReviewState.PROPOSED, ReviewStep.REJECT): ReviewState.REJECTED,
    (ReviewState.APPROVED, ReviewStep.PUBLISH): ReviewState.PUBLISHED,
}
"""Every legal step. `PROPOSED → PROPOSE`: another plan of the day was approved, and the difference is reported anew."""

DECISIONS: Final = frozenset({ReviewStep.APPROVE, ReviewStep.REJECT})
"""Steps of reviewers; the others are the owner's."""
TAKEN_OUT: Final = frozenset({ReviewState.APPROVED, ReviewState.PUBLISHED})
"""States in which a plan leaves the planner unmarked."""
MAX_REASON: Final = 500
"""Characters of the reason for a rejection."""


@dataclass(frozen=True, slots=True)
class PlanReview:
    """How the review of a plan stands."""

    state: ReviewState = ReviewState.DRAFT
    reason: str = ""
    """Why it was rejected, in the reviewer's words; a sensitive field (SPEC R3)."""
    differs_from: str | None = None
    """The plan that was approved for the day when this one was proposed: the difference is measured against it."""
    proposed_at: datetime | None = None
    reviewed_at: datetime | None = None
    published_at: datetime | None = None

    def as_json(self) -> Json:
        """Return the review as clients see it; what is not known is left out."""
        times = {name: getattr(self, name) for name in ("proposed_at", "reviewed_at", "published_at")}
        shown = {"state": self.state.value, "reason": self.reason or None, "differs_from": self.differs_from}
        shown |= {name: at and timestamp(at) for name, at in times.items()}
        return {name: value for name, value in shown.items() if value is not None}


def next_steps(state: ReviewState) -> list[ReviewStep]:
    """Return the steps that a state allows."""
    return [step for (start, step) in REVIEWS if start is state]
