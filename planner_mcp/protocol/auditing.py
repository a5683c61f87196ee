"""Refusals of the protocol itself, in the audit log (SPEC A3).

Owns the line for methods that answer with an error: an unknown resource, a task of another, a tool that is not there.
Tools write their own lines, and everything that changes something is a tool.
"""

import re
from typing import Any, Final

from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError

from planner_mcp.auth.audit import Audit, target_of
from planner_mcp.errors import PlannerError
from planner_mcp.protocol.callers import caller
from planner_mcp.telemetry import trace_id

_METHOD: Final = re.compile(r"[a-z]{1,20}(/[A-Za-z_]{1,30}){0,3}")
_NAME: Final = re.compile(r"(?:scn|job|plan)-[0-9]{1,2}-[a-z2-7]{26}")


class AuditedMethods:
    """A layer around every method.

    Args:
        audit: Told of refusals.
    """

    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    def install(self, server: Server[dict[str, Any]]) -> None:
        """Add the layer."""
        server.middleware.append(self._watch)

    async def _watch(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        try:
            return await call_next(ctx)
        except PlannerError as error:
            await self._refused(ctx, error.code)
            raise
        except MCPError as error:
            data = error.data if isinstance(error.data, dict) else {}
            await self._refused(ctx, data.get("code", error.code))
            raise

    async def _refused(self, ctx: ServerRequestContext[Any, Any], code: int) -> None:
        what = ctx.method if _METHOD.fullmatch(ctx.method) else "unknown method"
        await self._audit.record(caller(ctx), what, outcome=code, trace_id=trace_id(), target=_target(ctx.params))


def _target(params: Any) -> str:
    """Return the id that a handle or a URI holds."""
    named = params if isinstance(params, dict) else {}
    found = _NAME.search(str(named.get("taskId") or named.get("uri") or "")[:200])
    return target_of({"job_id": found[0]} if found else {})
