"""A job as an MCP task: the task is the job, and its id is the job's id (SPEC X2).

Owns what both forms of tasks share: status, times, life, and the result the task ends with. A failed job is `failed`
in the core form of 2025-11-25 (spec, task status) and `completed` with an `isError` result in the extension, which
keeps `failed` for JSON-RPC errors.
"""

from datetime import UTC, datetime
from typing import Final

from planner_mcp.jobs.job_content import event_line, job_view, state_line
from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job
from planner_mcp.server.mcp.methods.tool_methods import call_result
from planner_mcp.server.tools.answers.job_output import JobOutput
from planner_mcp.server.tools.answers.job_text import job_lines, job_links
from planner_mcp.server.tools.tool_definition import ToolResult
from planner_mcp.text import Json, timestamp

POLL_MS: Final = 2000
"""How often a client that only polls should ask."""
MANY_EVENTS: Final = 10_000
"""So many events add half a percent to the progress, which must rise with every notification."""
_ENDS: Final = {"COMPLETED": "completed", "FAILED": "failed", "CANCELLED": "cancelled"}


def core_task(job: Job, job_ttl_s: int, event: Event | None = None) -> Json:
    """Return a job as a `Task` of revision 2025-11-25.

    Args:
        job: As read at some time.
        job_ttl_s: How long jobs are kept after their end.
        event: What happened to it since; None for the job as it stands.
    """
    return {**_shared(job, event), "ttl": _ttl_ms(job, job_ttl_s), "pollInterval": POLL_MS}


def extension_task(job: Job, job_ttl_s: int, event: Event | None = None) -> Json:
    """Return a job as a `Task` of the extension, without what only a detailed one has."""
    task = {**_shared(job, event), "ttlMs": _ttl_ms(job, job_ttl_s), "pollIntervalMs": POLL_MS}
    return task | ({"status": "completed"} if task["status"] == "failed" else {})


def queued_task(answer: Json, job_ttl_s: int) -> Json:
    """Return a job that was queued just now as a `Task` of the extension.

    A read of it would wait for the worker that claims it meanwhile, so its task is made of what the tool has answered.

    Args:
        answer: Structured content of `solve_vrp`.
        job_ttl_s: How long jobs are kept after their end.
    """
    line, at = state_line({"progress": 0, **answer}), answer["submitted_at"]
    task = _fields(answer["job_id"], answer["status"], line, created_at=at, updated_at=at)
    return task | {"ttlMs": round(job_ttl_s * 1000), "pollIntervalMs": POLL_MS}


def detailed_task(job: Job, job_ttl_s: int, event: Event | None = None) -> Json:
    """Return a job as a `DetailedTask` of the extension: with its result once it is completed."""
    task = extension_task(job, job_ttl_s, event)
    return task | ({"result": {"resultType": "complete", **result_json(job)}} if task["status"] == "completed" else {})


def result_json(job: Job) -> Json:
    """Return what a call of the tool would have returned had it waited for the end of its job.

    As JSON, in the form every revision knows.
    """
    output = JobOutput(submitted_at=timestamp(job.submitted_at), **job_view(job))
    result = call_result(ToolResult(output, job_lines(job), job_links(job)))
    return result | {"isError": job.state is JobState.FAILED}


def task_progress(percent: float, number: int) -> float:
    """Return the progress value: it rises with every event, and reaches 100 with the percentage (SPEC J5)."""
    return round(percent + min(1.0, 100 - percent) * number / (number + MANY_EVENTS), 9)


def _shared(job: Job, event: Event | None) -> Json:
    status = job.state.upper() if event is None else event.data.status
    line, updated_at = (state_line(job_view(job)), _updated_at(job)) if event is None else (event_line(event), event.at)
    return _fields(job.id, status, line, created_at=timestamp(job.submitted_at), updated_at=updated_at)


def _fields(job_id: str, status: str, line: str, *, created_at: str, updated_at: str) -> Json:
    return {
        "taskId": job_id,
        "status": _ENDS.get(status, "working"),
        "statusMessage": line,
        "createdAt": created_at,
        "lastUpdatedAt": updated_at,
    }


def _updated_at(job: Job) -> str:
    """Return the time of a job's last event, from its position."""
    ms = job.event_id.partition("-")[0]
    return timestamp(datetime.fromtimestamp(int(ms) / 1000, UTC) if ms.isdecimal() else job.submitted_at)


def _ttl_ms(job: Job, job_ttl_s: int) -> int:
    """Return how long after its submission a job is kept at least; it counts anew from the end."""
    run_s = (job.finished_at - job.submitted_at).total_seconds() if job.finished_at else 0.0
    return round((run_s + job_ttl_s) * 1000)
