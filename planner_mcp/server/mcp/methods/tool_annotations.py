"""Adds `annotations.callbackSupport` to `tools/list` (SPEC T2).

Owns that one annotation, which the SDK's serializer drops because no revision defines it.
"""

from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult

from planner_mcp.server.mcp.request_context import Context
from planner_mcp.server.tools.tool_registry import REGISTRY
from planner_mcp.text import Json

SUPPORTING: Final = frozenset(tool.name for tool in REGISTRY if tool.hints.callback)


class CallbackSupport:
    """A layer around `tools/list`."""

    def install(self, server: Any) -> None:
        """Add the layer to the SDK's server."""
        server.middleware.append(self._layer)

    async def _layer(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method != "tools/list" or not isinstance(result, dict):
            return result
        return {**result, "tools": [_marked(tool) for tool in result.get("tools", [])]}


def _marked(tool: Json) -> Json:
    if tool.get("name") not in SUPPORTING:
        return tool
    return {**tool, "annotations": {**(tool.get("annotations") or {}), "callbackSupport": True}}
