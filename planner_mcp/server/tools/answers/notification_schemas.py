"""The JSON Schema of what webhooks and the job channel carry, notification by notification (SPEC W2, J3).

Owns the schema alone; `jobs/job_notifications.py` writes the notifications.
"""

from typing import Final

from planner_mcp.jobs.field_meanings import with_meanings
from planner_mcp.server.tools.answers.job_output import JobOutput, ReviewOutput
from planner_mcp.server.tools.tool_output import whole_schema
from planner_mcp.text import Json

_OF_EVERY_NOTIFICATION: Final = (
    *("job_id", "status", "progress", "cost", "tickets_served", "tickets_total", "improvements", "elapsed_s"),
    *("plan_id", "result", "error"),
)
"""Fields of a job that any of them may have."""


def callback_payload_schema() -> Json:
    """Return the schema of a webhook's body."""
    text, time = {"type": "string"}, {"type": "string", "format": "date-time"}
    review: Json = {"event": text, "plan_id": text, "review": whole_schema(ReviewOutput), "summary": {"type": "object"}}
    notifications = [
        _notification("progress", ("progress",), status={"enum": ["QUEUED", "SOLVING"]}),
        _notification("complete", (), status={"enum": ["COMPLETED", "FAILED"]}),
        _notification("cancelled", ("cancelled_at",), status={"const": "CANCELLED"}, cancelled_at=time),
        _notification("review", ("event", "plan_id"), **review),
    ]
    return {"oneOf": notifications}


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
