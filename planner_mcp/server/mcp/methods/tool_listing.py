"""The entries of `tools/list`, and what they say beyond the types of the SDK.

Owns the pages of MCP Apps (`io.modelcontextprotocol/ui`, revision 2026-01-26; SPEC O2): clients that declare the
extension see the page at the tools that hand over a job, and the tool that the page calls. The lists of all others, and
what their models pay for them, stay as they are. And `annotations.callbackSupport` (SPEC T2), which the SDK's
serializer drops because no revision defines it.
"""

from functools import cache
from typing import Final

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult

from planner_mcp.server.mcp.request_context import Context
from planner_mcp.server.resources.app_page import page_uri
from planner_mcp.server.tools.jobs import query_vrp_status
from planner_mcp.server.tools.solves import plan_day
from planner_mcp.server.tools.tool_definition import Tool
from planner_mcp.server.tools.tool_registry import REGISTRY
from planner_mcp.text import Json
from planner_mcp.translation import Language

EXTENSION: Final = "io.modelcontextprotocol/ui"
WITH_PAGE: Final = frozenset({query_vrp_status.TOOL.name, plan_day.TOOL.name})
"""No others: hosts open a page for each call of such a tool."""
WITH_CALLBACK: Final = frozenset(tool.name for tool in REGISTRY if tool.hints.callback)


@cache
def listed_tool(tool: Tool, language: Language, *, has_pages: bool) -> types.Tool:
    """Return a tool as an entry of `tools/list`, with its page for clients that show pages."""
    entry = tool.as_json(language)
    if has_pages and tool.name in WITH_PAGE:
        entry["_meta"] = {**entry["_meta"], "ui": {"resourceUri": page_uri()}}
    return types.Tool.model_validate(entry)


async def mark_callback_support(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Add the annotation, as a layer around `tools/list`."""
    result = await call_next(ctx)
    if ctx.method != "tools/list" or not isinstance(result, dict):
        return result
    return {**result, "tools": [_marked(tool) for tool in result.get("tools", [])]}


def _marked(tool: Json) -> Json:
    if tool.get("name") not in WITH_CALLBACK:
        return tool
    return {**tool, "annotations": {**(tool.get("annotations") or {}), "callbackSupport": True}}
