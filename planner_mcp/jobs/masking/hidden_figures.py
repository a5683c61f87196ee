"""Jobs and events without the figures of a plan that follow from positions or prices (SPEC R3, ADR 0035).

Owns which figures these are. Whom they are hidden from, and what becomes of scenarios and plans, is
`masked_views.py`'s. Webhook dispatchers need these alone, and load no model of a scenario for it.
"""

from dataclasses import replace
from typing import Any, Final, TypeVar

from planner_mcp.jobs.job_events import Event, EventData
from planner_mcp.jobs.job_model import Job, Progress
from planner_mcp.jobs.plan_review import PlanReview
from planner_mcp.jobs.plan_summary import PlanSummary

R = TypeVar("R", Progress, PlanSummary, EventData)
HIDDEN_FIGURES: Final = frozenset(
    {"cost", "cost_in", "penalty", "lower_bound", "distance_m", "duration_s", "late_max_s", "overtime_s"}
)


def masked_job(job: Job) -> Job:
    """Return a job without them, and without the reason of a reviewer, which is free text."""
    summary = job.summary and _without_figures(job.summary)
    return replace(job, progress=_without_figures(job.progress), summary=summary, review=_without_reason(job.review))


def masked_event(event: Event) -> Event:
    """Return an event without them, and without the reason of a reviewer."""
    data = event.data
    shown = replace(
        _without_figures(data),
        summary=data.summary and _without_figures(data.summary),
        result=data.result and _without_figures(data.result),
        review=_without_reason(data.review),
    )
    return replace(event, data=shown)


def _without_figures(record: R) -> R:
    hidden: dict[str, Any] = dict.fromkeys(HIDDEN_FIGURES.intersection(record.__slots__))
    return replace(record, **hidden)


def _without_reason(review: PlanReview | None) -> PlanReview | None:
    return review and replace(review, reason="")
