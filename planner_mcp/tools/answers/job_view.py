"""A job in a tool's answer: its lines of text, why it failed, and where more can be read.

Owns how much of a failure a text tells and which step it names next. The fields of a job, and the line that says how
far it is, are `jobs/view.py`'s.
"""

from typing import Any, Final

from planner_mcp.errors import Fault, listing_only
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.model import Job
from planner_mcp.jobs.view import job_view, state_line
from planner_mcp.tools.answers.sizes import estimated_tokens
from planner_mcp.tools.base import Link

MAX_ERROR_TOKENS: Final = 250
"""Estimated tokens that a text spends on why a job failed; the faults beyond are in the structured content."""


def job_lines(job: Job) -> str:
    """Return the job's view as short lines of text."""
    view = job_view(job)
    lines = [f"{job.id} {state_line(view)}"]
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


def _next_step(job: Job) -> list[str]:
    if not job.is_terminal:
        return []
    return [f"read_plan job_id={job.id} shows routes and visits."] if job.plan_id else ["There is no plan."]
