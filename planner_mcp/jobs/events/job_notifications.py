"""The JSON-RPC notification each event of a job becomes (SPEC J3).

Owns the payloads. The job channel, MCP streams and webhooks all use them.
"""

from planner_mcp.jobs.job_events import Event, EventKind
from planner_mcp.text import Json


def notification(event: Event, *, is_named: bool = False) -> Json:
    """Return the JSON-RPC 2.0 notification of an event, without `id` (SPEC J3).

    queued, started, progress, requeued → `notifications/progress {job_id, progress, status, …}`;
    completed → `notifications/complete {job_id, status, result}`; failed → the same with `status: FAILED` and `error`;
    cancelled → `notifications/cancelled {job_id, status, cancelled_at}`; plan.proposed, plan.approved,
    plan.rejected, plan.published → `notifications/review {job_id, status, event, plan_id, review, summary}` (SPEC A5).

    Args:
        event: What happened.
        is_named: Whether it says its id and time too, for channels whose ids say neither.
    """
    id_and_time = {"event_id": event.id, "at": event.at} if is_named else {}
    base = {"job_id": event.job_id, **event.data.as_json(), **id_and_time}
    if event.kind in (EventKind.COMPLETED, EventKind.FAILED):
        return {"jsonrpc": "2.0", "method": "notifications/complete", "params": base}
    if event.kind is EventKind.CANCELLED:
        return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": base}
    if event.is_review:
        return {"jsonrpc": "2.0", "method": "notifications/review", "params": {**base, "event": event.kind.value}}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": base}
