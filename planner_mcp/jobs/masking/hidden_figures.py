"""Jobs and events without the figures of a plan that follow from positions or prices (SPEC R3, ADR 0035).

Owns which figures these are. Whom they are hidden from, and what becomes of scenarios and plans, is
`masked_views.py`'s. Webhook dispatchers need these alone, and load no model of a scenario for it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_model import Job
from planner_mcp.text import Json

HIDDEN_FIGURES: Final = frozenset(
    {"cost", "cost_in", "penalty", "lower_bound", "distance_m", "duration_s", "late_max_s", "overtime_s"}
)


def masked_job(job: Job) -> Job:
    """Return a job without them, and without the reason of a reviewer, which is free text."""
    summary = None if job.summary is None else _without_figures(job.summary)
    review = job.review and replace(job.review, reason="")
    progress = replace(job.progress, cost=None, penalty=None, lower_bound=None)
    return replace(job, progress=progress, summary=summary, review=review)


def masked_event(event: Event) -> Event:
    """Return an event without them, and without the reason of a reviewer."""
    data = _without_figures(event.data)
    if event.is_review:
        data["review"] = {name: value for name, value in data["review"].items() if name != "reason"}
    return replace(event, data=data)


def _without_figures(fields: Mapping[str, Any]) -> Json:
    return {
        name: _without_figures(value) if isinstance(value, Mapping) else value
        for name, value in fields.items()
        if name not in HIDDEN_FIGURES
    }
