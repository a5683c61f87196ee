"""A job as tools, the job page and events tell it: the same facts in the same words.

Owns which fields of a job a client sees and in which order: `job_id, status, progress` first.
"""

from typing import Any, Final

from planner_mcp.errors import Fault
from planner_mcp.jobs.events import Event
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.lifecycle import JobState
from planner_mcp.jobs.model import Job
from planner_mcp.text import counted, timestamp
from planner_mcp.tools.answers import estimated_tokens, listing_only, number
from planner_mcp.tools.base import Link

STATUSES: Final = tuple(state.upper() for state in JobState)
MAX_ERROR_TOKENS: Final = 250
"""Estimated tokens that a text spends on why a job failed; the faults beyond are in the structured content."""
_FIGURES: Final = ("cost", "distance_m", "duration_s", "agents_used")


def job_view(job: Job) -> dict[str, Any]:
    """Return a job as structured content; what is not known is left out."""
    progress = job.progress
    view = {
        "job_id": job.id,
        "status": job.state.upper(),
        "progress": 100 if job.state is JobState.COMPLETED else min(progress.percent, 99),
        "cost": number(progress.cost),
        "tickets_served": progress.tickets_served,
        "tickets_total": progress.tickets_total,
        "improvements": progress.improvements or None,
        "elapsed_s": number(progress.elapsed_s),
        "queue_position": job.queue_position if job.state is JobState.QUEUED else None,
        "plan_id": plan_of(job.id) if job.is_terminal and job.plan_id else None,
        "result": _result(job) if job.is_terminal else None,
        "error": job.error,
        "cancelled_at": _time(job) if job.state is JobState.CANCELLED else None,
    }
    return {name: value for name, value in view.items() if value is not None}


def job_lines(job: Job) -> str:
    """Return the same as short lines of text."""
    view = job_view(job)
    lines = [f"{job.id} {view['status']} {view['progress']}%{_figures(view)}"]
    if result := view.get("result"):
        lines.append(" · ".join(f"{name} {value}" for name, value in result.items() if not isinstance(value, dict)))
        if reasons := result.get("unassigned_reasons"):
            lines.append("unassigned: " + ", ".join(f"{code} {count}" for code, count in reasons.items()))
    if job.error:
        lines += _error_lines(job.error)
    return "\n".join([*lines, *_next_step(job)])


def job_links(job: Job) -> tuple[Link, ...]:
    """Return where more can be read."""
    plan = (Link(f"plan://{plan_of(job.id)}", "plan"),) if job.is_terminal and job.plan_id else ()
    return (*plan, Link(f"job://{job.id}", "job")) if job.is_terminal else ()


def event_line(event: Event) -> str:
    """Return an event as the message of a progress notification."""
    known = {"status": "", **event.data}
    return f"{known['status']} {known.get('progress', 0)}%{_figures(known)}"


def _figures(view: dict[str, Any]) -> str:
    parts = []
    if (cost := view.get("cost")) is not None:
        parts.append(f"cost {number(cost)}")
    if view.get("tickets_served") is not None:
        parts.append(f"served {view['tickets_served']}/{view.get('tickets_total')}")
    if view.get("improvements"):
        parts.append(counted(view["improvements"], "improvement"))
    if view.get("elapsed_s"):
        parts.append(f"{number(view['elapsed_s'])} s")
    if view.get("queue_position") is not None:
        parts.append(f"queue position {view['queue_position']}")
    return "".join(f" · {part}" for part in parts)


def _error_lines(error: dict[str, Any]) -> list[str]:
    """Return why a job failed: its message, and as many of its faults as there is room for, a line each."""
    told = f"error {error.get('code')} {error.get('type')}: {error.get('message')}"
    faults = [Fault(**fault).as_line() for fault in error.get("errors", ())]
    room, kept = MAX_ERROR_TOKENS - estimated_tokens(told), 0
    for fault in faults:
        room -= estimated_tokens(fault)
        if room < 0 and kept:
            break
        kept += 1
    return [told if kept == len(faults) else listing_only(told, kept), *faults[:kept]]


def _result(job: Job) -> dict[str, Any] | None:
    if job.summary is None:
        return None
    summary = job.summary
    result = {"plan_status": summary.get("status"), **{name: number(summary.get(name)) for name in _FIGURES}}
    served = {name: summary.get(name) for name in ("tickets_served", "tickets_total", "unassigned")}
    reasons = dict(list((summary.get("unassigned_reasons") or {}).items())[:5]) or None
    return {
        name: value for name, value in {**result, **served, "unassigned_reasons": reasons}.items() if value is not None
    }


def _next_step(job: Job) -> list[str]:
    if not job.is_terminal:
        return []
    return [f"read_plan job_id={job.id} shows routes and visits."] if job.plan_id else ["There is no plan."]


def _time(job: Job) -> str | None:
    return timestamp(job.finished_at) if job.finished_at else None
