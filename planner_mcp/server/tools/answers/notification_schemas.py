"""The JSON Schema of what webhooks and the job channel carry, notification by notification (SPEC W2, J3).

Owns the schema alone; `jobs/job_events.py` writes the notifications.
"""

from typing import Final

from planner_mcp.jobs.field_meanings import FIELD_MEANINGS, with_meanings
from planner_mcp.server.tools.answers.job_output import JobOutput, PlanFigures, ReviewOutput
from planner_mcp.server.tools.tool_output import whole_schema
from planner_mcp.text import Json

_OF_EVERY_NOTIFICATION: Final = (
    *("job_id", "status", "progress", "cost", "tickets_served", "tickets_total", "improvements", "elapsed_s"),
    *("plan_id", "error"),
)
"""Fields of a job that any of them may have."""
_FIGURES: Final = whole_schema(PlanFigures)["properties"]


def callback_payload_schema() -> Json:
    """Return the schema of a webhook's body."""
    return {"oneOf": list(notification_schemas().values())}


def notification_schemas() -> dict[str, Json]:
    """Return the schema of each notification by its last word."""
    text, time = {"type": "string"}, {"type": "string", "format": "date-time"}
    review: Json = {"event": text, "plan_id": text, "review": whole_schema(ReviewOutput)}
    ended = {"status": {"enum": ["COMPLETED", "FAILED"]}, "result": _figures(plan_id=text)}
    return {
        "progress": _notification("progress", ("progress",), status={"enum": ["QUEUED", "SOLVING"]}),
        "complete": _notification("complete", (), **ended, summary=_figures()),
        "cancelled": _notification(
            "cancelled", ("cancelled_at",), status={"const": "CANCELLED"}, cancelled_at=time, summary=_figures()
        ),
        "review": _notification("review", ("event", "plan_id"), **review, summary=_figures()),
    }


def _figures(**first: Json) -> Json:
    """Return the schema of a plan's figures as events carry them, where its status is called so."""
    figures = {"status" if name == "plan_status" else name: each for name, each in _FIGURES.items()}
    return {"type": "object", "description": FIELD_MEANINGS["result"], "properties": with_meanings(first | figures)}


def _notification(kind: str, required: tuple[str, ...], **fields: Json) -> Json:
    """Return the schema of one notification; `required` are there beside id and status, `fields` its own."""
    job = whole_schema(JobOutput)["properties"]
    return {
        "type": "object",
        "required": ["jsonrpc", "method", "params"],
        "properties": with_meanings(
            {
                "jsonrpc": {"const": "2.0", "description": "version of JSON-RPC"},
                "method": {"const": f"notifications/{kind}"},
                "params": {
                    "type": "object",
                    "required": ["job_id", "status", *required],
                    "properties": with_meanings({name: job[name] for name in _OF_EVERY_NOTIFICATION} | fields),
                },
            }
        ),
    }
