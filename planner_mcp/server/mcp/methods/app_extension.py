"""MCP Apps (`io.modelcontextprotocol/ui`, revision 2026-01-26): which tools have a page, and for whom (SPEC O2).

Owns what clients that declare the extension see beside the usual list: the page at the tools that hand over a job, and
the tool that the page calls. The lists of all others, and what their models pay for them, stay as they are.
"""

from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult

from planner_mcp.server.mcp.request_context import Context, declares
from planner_mcp.server.resources.app_page import page_uri
from planner_mcp.server.tools import plan_day, query_vrp_status
from planner_mcp.server.tools.tool_definition import Tool

EXTENSION: Final = "io.modelcontextprotocol/ui"
WITH_PAGE: Final = frozenset({query_vrp_status.TOOL.name, plan_day.TOOL.name})
"""No others: hosts open a page for each call of such a tool."""


class AppExtension:
    """Declares the extension."""

    def install(self, server: Any) -> None:
        """Add it to the capabilities of the SDK's server."""
        server.extensions[EXTENSION] = {}
        server.middleware.append(self._layer)

    async def _layer(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Declare it at a handshake too, whose revisions have no extensions, where the client has declared it."""
        result = await call_next(ctx)
        if ctx.method != "initialize" or not isinstance(result, dict) or not _declared_in(ctx.params or {}):
            return result
        capabilities = result["capabilities"]
        return {**result, "capabilities": {**capabilities, "extensions": {EXTENSION: {}}}}


def _declared_in(params: Mapping[str, Any]) -> bool:
    return EXTENSION in ((params.get("capabilities") or {}).get("extensions") or {})


def shows_pages(ctx: Context) -> bool:
    """Return whether the client declared the extension."""
    return declares(ctx, EXTENSION)


def listed_with_page(tool: Tool) -> types.Tool:
    """Return a tool as an entry of `tools/list` for clients that show pages."""
    entry = tool.as_json()
    if tool.name in WITH_PAGE:
        entry["_meta"] = {**entry["_meta"], "ui": {"resourceUri": page_uri()}}
    return types.Tool.model_validate(entry)
