"""Audit lines of protocol methods (SPEC A3): every refusal, and every use of a principal's data.

Owns the line of a method: a resource that was read, a task that was requested, a stream that was opened, and every
error. Tools write their own lines, and everything that changes something is a tool.
"""

import re
from typing import Any, Final

from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError

from planner_mcp.jobs.ids import id_in
from planner_mcp.server.auth.audit_trail import OK, Audit
from planner_mcp.server.auth.request_principal import mark_audited
from planner_mcp.server.mcp.request_context import Context, principal_in
from planner_mcp.telemetry import new_trace_id, trace_context, trace_id
from planner_mcp.text import Json

AUDITED_METHODS: Final = frozenset(
    {
        "completion/complete",
        "events/list",
        "events/poll",
        "events/subscribe",
        "events/unsubscribe",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/get",
        "tasks/list",
        "tasks/result",
        "tasks/update",
    }
)
"""Methods that reach what belongs to a principal; `tasks/cancel` calls a tool."""
STREAM_METHODS: Final = frozenset({"subscriptions/listen", "events/stream"})
"""Methods whose answer may take hours: their line is written when they are asked for."""
STREAM_OPENED: Final = "asked"
_METHOD: Final = re.compile(r"[a-z]{1,20}(/[A-Za-z_]{1,30}){0,3}")


class AuditedMethods:
    """A layer around every method.

    Args:
        audit: Records uses and refusals.
    """

    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    def install(self, server: Server[Json]) -> None:
        """Add the layer outside of all others, so that it sees the final answer."""
        server.middleware.insert(0, self._audit_method)

    async def _audit_method(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        with trace_context(new_trace_id()):
            if ctx.method in STREAM_METHODS:
                await self._record(ctx, STREAM_OPENED)
            try:
                answer = await call_next(ctx)
            except MCPError as error:
                error_data = error.data if isinstance(error.data, dict) else {}
                await self._record(ctx, error_data.get("code", error.code))
                raise
            if ctx.method in AUDITED_METHODS:
                await self._record(ctx, OK)
            return answer

    async def _record(self, ctx: Context, outcome: str | int) -> None:
        what = ctx.method if _METHOD.fullmatch(ctx.method) else "unknown method"
        await self._audit.record(
            principal_in(ctx), what, outcome=outcome, trace_id=trace_id(), target=_target(ctx.params)
        )
        if ctx.request is not None:
            mark_audited(ctx.request.scope)


def _target(params: Any) -> str:
    """Return the id that a handle or a URI holds."""
    named = params if isinstance(params, dict) else {}
    return id_in(str(named.get("taskId") or named.get("uri") or "")[:200])
