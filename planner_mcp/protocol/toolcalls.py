"""`tools/list` and `tools/call`: the tools in MCP's words.

Owns the translation between `planner_mcp.tools` and the SDK's types. Arguments are checked by the tools themselves, so
that a mistake is a tool result with all faults at once (SPEC T7) and never the SDK's own message.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from planner_mcp.auth.audit import Audit
from planner_mcp.auth.principal import principal_of
from planner_mcp.errors import UnknownToolError
from planner_mcp.jobs.deliveries import Webhooks
from planner_mcp.jobs.model import Principal
from planner_mcp.jobs.service import Planner
from planner_mcp.protocol.faults import INVALID_PARAMS, rpc_data
from planner_mcp.settings import Settings
from planner_mcp.telemetry import trace_id
from planner_mcp.tools.base import ErrorResult, NotifyProgress, Tool, ToolContext, ToolResult
from planner_mcp.tools.registry import dispatch, shown_tools

LEAST_STEP = 1e-3
"""MCP wants progress to rise with every notification, so news without progress moves it by this much."""


class ToolDesk:
    """Lists and calls the tools of a deployment.

    Args:
        planner: What the tools work on.
        settings: Which tool sets are shown.
        webhooks: What the tools for webhooks work on.
        audit: Told of every call.
    """

    def __init__(
        self, planner: Planner, settings: Settings, webhooks: Webhooks | None = None, audit: Audit | None = None
    ) -> None:
        self._planner = planner
        self._webhooks = webhooks
        self._audit = audit
        self._settings = settings
        self._tools: dict[str, Tool] = {tool.name: tool for tool in shown_tools(settings)}
        self._listed = [(tool.scope, types.Tool.model_validate(tool.as_json())) for tool in self._tools.values()]

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """Return a tool's input schema, None for an unknown tool."""
        tool = self._tools.get(name)
        return tool.input_schema if tool is not None else None

    def is_long(self, name: str) -> bool:
        """Return whether a tool may be run as a task."""
        tool = self._tools.get(name)
        return tool is not None and tool.may_be_task

    async def list_tools(
        self, ctx: ServerRequestContext[Any, Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Answer `tools/list`: what the principal may call, in the same order on every replica."""
        principal = _principal(ctx)
        return types.ListToolsResult(tools=[tool for scope, tool in self._listed if principal.may(scope)])

    async def call_tool(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Answer `tools/call`.

        Raises:
            MCPError: No such tool.
        """
        if (tool := self._tools.get(params.name)) is None:
            unknown = UnknownToolError()
            raise MCPError(INVALID_PARAMS, unknown.message, rpc_data(unknown))
        context = ToolContext(
            principal=_principal(ctx),
            planner=self._planner,
            settings=self._settings,
            notify_progress=_rising(ctx.session.report_progress),
            trace_id=trace_id(),
            webhooks=self._webhooks,
            audit=self._audit,
        )
        return call_result(await dispatch(tool, context, params.arguments or {}))


def _principal(ctx: ServerRequestContext[Any, Any]) -> Principal:
    return principal_of(ctx.request.scope if ctx.request is not None else {})


def _rising(report: Any) -> NotifyProgress:
    """Return a reporter whose progress never repeats and never falls."""
    last = float("-inf")

    async def notify(progress: float, total: float | None, message: str) -> None:
        nonlocal last
        last = max(progress, last + LEAST_STEP)
        await report(round(last, 3), total, message)

    return notify


def call_result(result: ToolResult | ErrorResult) -> types.CallToolResult:
    """Return a tool's answer in MCP's words."""
    content: Sequence[types.ContentBlock] = [
        types.TextContent(type="text", text=result.text),
        *(
            types.ResourceLink(type="resource_link", uri=link.uri, name=link.name, mime_type=link.mime_type)
            for link in result.links
        ),
    ]
    return types.CallToolResult(content=list(content), structured_content=result.structured, is_error=result.is_error)
