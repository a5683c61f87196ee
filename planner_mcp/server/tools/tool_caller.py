"""Calls a tool for a principal, whatever the call came by.

Owns the making of a tool's context and the count of its answers. MCP (`server/mcp/methods/tool_methods.py`) and the
dashboard (`server/http/routes/dashboard_routes.py`) call tools here, so that both have the same checks, audit and
metrics.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from planner_mcp.geocoding.geocoding_service import GeocodingService
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.store.security.confirmed_address_store import ConfirmedAddressStore
from planner_mcp.jobs.webhooks.delivery_records import WebhookStore
from planner_mcp.server.auth.audit_trail import Audit
from planner_mcp.server.resources.downloads import Downloads, base_url
from planner_mcp.server.resources.resource_definition import ReadContext
from planner_mcp.server.resources.share_links import ShareLinks
from planner_mcp.server.tools.answers.tool_usage_meter import UsageMeter
from planner_mcp.server.tools.tool_definition import (
    AskUser,
    EnableToolset,
    ErrorResult,
    NotifyProgress,
    Tool,
    ToolContext,
    ToolResult,
)
from planner_mcp.server.tools.tool_registry import dispatch
from planner_mcp.settings import Settings
from planner_mcp.telemetry import trace_id


async def without_progress(_progress: float, _total: float | None, _message: str) -> None:
    """Drop a progress message, for callers that cannot receive any."""


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """Calls tools.

    Args:
        job_service: What the tools work on.
        settings: Limits.
        open_reading: How tools read resources for a principal.
        webhooks: What the tools for webhooks work on.
        confirmed: Addresses that principals confirmed.
        geocoding: Resolves addresses.
        downloads: Hands over what people open or print.
        shares: Makes share links.
        audit: Records every call.
        meter: Counts the answers.
    """

    job_service: JobService
    settings: Settings
    open_reading: Callable[[Principal], ReadContext]
    webhooks: WebhookStore
    confirmed: ConfirmedAddressStore
    geocoding: GeocodingService
    downloads: Downloads
    shares: ShareLinks
    audit: Audit
    meter: UsageMeter

    async def call(
        self,
        principal: Principal,
        tool: Tool,
        arguments: Any,
        *,
        request_scope: Mapping[str, Any] | None,
        notify_progress: NotifyProgress = without_progress,
        ask_user: AskUser | None = None,
        enable_toolset: EnableToolset | None = None,
    ) -> ToolResult | ErrorResult:
        """Call a tool; its scope is checked whether or not its tool set is on.

        Args:
            principal: Whom the call acts for.
            tool: What to call.
            arguments: Any JSON value.
            request_scope: The ASGI scope of the HTTP request that carries the call; None over stdio.
            notify_progress: Receives progress meanwhile.
            ask_user: Asks the person behind the call.
            enable_toolset: Switches a tool set on for the session of the call.
        """
        context = ToolContext(
            principal=principal,
            job_service=self.job_service,
            settings=self.settings,
            notify_progress=notify_progress,
            trace_id=trace_id(),
            webhooks=self.webhooks,
            reading=self.open_reading(principal),
            offer_download=(
                self.downloads.as_file if request_scope is None else self.downloads.by_url(principal, request_scope)
            ),
            confirmed=self.confirmed,
            geocoding=self.geocoding,
            audit=self.audit,
            offer_share=None if request_scope is None else self.shares.by_url(principal, request_scope),
            base_url=None if request_scope is None else base_url(self.settings, request_scope),
            ask_user=ask_user,
            enable_toolset=enable_toolset,
        )
        began = time.perf_counter()
        result = await dispatch(tool, context, arguments)
        self.meter.count(tool.name, result, time.perf_counter() - began)
        return result
