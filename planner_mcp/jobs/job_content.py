"""The content of a job for tools, resources, the job page and events: the same fields everywhere.

Owns which fields of a job a client sees and in which order (`job_id, status, progress` first), and the line that says
how far it is. What a tool's text adds to that is `server/tools/answers/job_text.py`.
"""

from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.plan_summary import PlanSummary
from planner_mcp.text import Json, number, timestamp
from planner_mcp.translation import phrase


def job_view(job: Job) -> Json:
    """Return a job as structured content; what is not known is left out."""
    progress = job.progress
    view = {
        "job_id": job.id,
        "status": job.state.upper(),
        "progress": 100 if job.state is JobState.COMPLETED else min(progress.percent, 99),
        "cost": number(progress.cost),
        "cost_in": None if job.is_terminal else cost_unit_of_job(job),
        "tickets_served": progress.tickets_served,
        "tickets_total": progress.tickets_total,
        "improvements": progress.improvements or None,
        "elapsed_s": number(progress.elapsed_s),
        "queue_position": job.queue_position if job.state is JobState.QUEUED else None,
        "plan_id": plan_of(job.id) if job.is_terminal and job.plan_id else None,
        "result": _result(job.summary) if job.is_terminal and job.summary else None,
        "error": job.error.translated().as_json() if job.error else None,
        "cancelled_at": _time(job) if job.state is JobState.CANCELLED else None,
        "review": job.review.as_json() if job.review is not None else None,
    }
    return {name: value for name, value in view.items() if value is not None}


def cost_unit_of_job(job: Job) -> str | None:
    """Return what the costs of a job's plan are in; None where nobody says, or there is no plan yet."""
    return None if job.summary is None else job.summary.cost_in


def event_line(event: Event) -> str:
    """Return an event as the message of a progress notification."""
    return state_line(event.data.as_json())


def state_line(view: Json) -> str:
    """Return how far a job is, from its view or an event's data: status, share done, and the figures that are known."""
    return f"{view['status']} {view['progress']}%{_figures(view)}"


def _figures(view: Json) -> str:
    parts = []
    if (cost := view.get("cost")) is not None:
        parts.append(phrase("cost {}", number(cost)))
    if unit := view.get("cost_in"):
        parts.append(f"cost_in {unit}")
    if view.get("tickets_served") is not None:
        parts.append(phrase("served {}/{}", view["tickets_served"], view.get("tickets_total")))
    if improvements := view.get("improvements"):
        parts.append(phrase("{} improvement" if improvements == 1 else "{} improvements", improvements))
    if view.get("elapsed_s"):
        parts.append(f"{number(view['elapsed_s'])} s")
    if view.get("queue_position") is not None:
        parts.append(phrase("queue position {}", view["queue_position"]))
    return "".join(f" · {part}" for part in parts)


def _result(summary: PlanSummary) -> Json:
    fields = {"plan_status": summary.status, "cost": summary.cost, "cost_in": summary.cost_in, **summary.as_json()}
    return {
        name: number(value) if isinstance(value, float) else value
        for name, value in fields.items()
        if name != "status" and value is not None
    }


def _time(job: Job) -> str | None:
    return timestamp(job.finished_at) if job.finished_at else None
