"""MCP Apps (`io.modelcontextprotocol/ui`, revision 2026-01-26): which tools have a page, and for whom (SPEC O2).

Owns what clients that declare the extension see beside the usual list: the page at the tools that hand over a job, and
the tool that the page calls. The lists of all others, and what their models pay for them, stay as they are.
"""

from typing import Final

import mcp_types as types

from planner_mcp.server.mcp.request_context import Context, declares
from planner_mcp.server.resources.app_page import page_uri
from planner_mcp.server.tools.jobs import query_vrp_status
from planner_mcp.server.tools.solves import plan_day
from planner_mcp.server.tools.tool_definition import Tool
from planner_mcp.translation import Language

EXTENSION: Final = "io.modelcontextprotocol/ui"
WITH_PAGE: Final = frozenset({query_vrp_status.TOOL.name, plan_day.TOOL.name})
"""No others: hosts open a page for each call of such a tool."""


def shows_pages(ctx: Context) -> bool:
    """Return whether the client declared the extension."""
    return declares(ctx, EXTENSION)


def listed_tool(tool: Tool, language: Language, *, has_pages: bool) -> types.Tool:
    """Return a tool as an entry of `tools/list`, with its page for clients that show pages."""
    entry = tool.as_json(language)
    if has_pages and tool.name in WITH_PAGE:
        entry["_meta"] = {**entry["_meta"], "ui": {"resourceUri": page_uri()}}
    return types.Tool.model_validate(entry)
