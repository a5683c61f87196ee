"""A job in a tool's answer: its lines of text, why it failed, and where more can be read.

Owns how much of a failure a text says and which step it names next. The fields of a job, and the line that says how
far it is, are `jobs/job_content.py`'s.
"""

from typing import Final

from planner_mcp.errors import JobFailure, listing_only
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_content import job_view, state_line
from planner_mcp.jobs.job_model import Job
from planner_mcp.routing.plan import NO_TRAVEL
from planner_mcp.server.tools.answers.token_estimates import estimated_tokens
from planner_mcp.server.tools.tool_definition import ResourceLink
from planner_mcp.text import Json, named
from planner_mcp.translation import phrase

OPTIMAL: Final = "This plan is optimal: the bound meets its cost, and the proof was checked."
MAX_ERROR_TOKENS: Final = 250
"""Estimated tokens that a text spends on why a job failed; the faults beyond are in the structured content."""


def job_lines(job: Job) -> str:
    """Return the job's view as short lines of text."""
    view = job_view(job)
    lines = [f"{job.id} {state_line(view)}"]
    if result := view.get("result"):
        lines += summary_lines(result)
        lines += [NO_TRAVEL] if "distance_m" not in result else []
    if error := view.get("error"):
        lines += _error_lines(JobFailure.of(error))
    return "\n".join([*lines, *_next_step(job)])


def figures_line(result: Json) -> str:
    """Return the figures of a plan on one line; `result` is that of its job's view, or a summary of the plan."""
    shown = {name: value for name, value in result.items() if name != "optimal" and not isinstance(value, dict | list)}
    return " · ".join(f"{name} {value}" for name, value in shown.items())


def summary_lines(result: Json) -> list[str]:
    """Return the same with lines of reasons for unassigned tickets, of preferences that are not kept, of a proof."""
    reasons = ", ".join(f"{code} {count}" for code, count in (result.get("unassigned_reasons") or {}).items())
    lines = [figures_line(result), *([f"unassigned: {reasons}"] if reasons else [])]
    if others := result.get("not_preferred_ids"):
        tickets = named(others, result["not_preferred"])
        lines.append(phrase("not served by their preferred_agent: {}", tickets))
    return [*lines, OPTIMAL] if result.get("optimal") else lines


def job_links(job: Job) -> tuple[ResourceLink, ...]:
    """Return where more can be read."""
    plan = (ResourceLink(f"plan://{plan_of(job.id)}", "plan"),) if job.is_terminal and job.plan_id else ()
    return (*plan, ResourceLink(f"job://{job.id}", "job")) if job.is_terminal else ()


def _error_lines(error: JobFailure) -> list[str]:
    """Return why a job failed: its message, and as many of its faults as there is room for, a line each."""
    failure_text = f"error {error.code} {error.type}: {error.message}"
    faults = [fault.as_line() for fault in error.faults]
    room, kept = MAX_ERROR_TOKENS - estimated_tokens(failure_text), 0
    for fault in faults:
        room -= estimated_tokens(fault)
        if room < 0 and kept:
            break
        kept += 1
    return [failure_text if kept == len(faults) else listing_only(failure_text, kept), *faults[:kept]]


def _next_step(job: Job) -> list[str]:
    if not job.is_terminal:
        return []
    if job.plan_id is None:
        return ["There is no plan."]
    return [*_review_lines(job), f"read_plan job_id={job.id} shows routes and visits."]


def _review_lines(job: Job) -> list[str]:
    if job.review is None:
        return []
    return [f"review: {job.review.state}" + (f", {job.review.reason}" if job.review.reason else "")]
