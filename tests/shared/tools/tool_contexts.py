"""The context of a call of a tool, as an application makes it over stdio."""

from planner_mcp.geocoding.geocoding_service import GeocodingService
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import LOCAL, Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.audit_log import AuditLog
from planner_mcp.jobs.store.security.confirmed_address_store import ConfirmedAddressStore
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.jobs.store.webhooks.webhook_store import RedisWebhookStore
from planner_mcp.server.auth.access_links import AccessLinks
from planner_mcp.server.resources.downloads import Downloads
from planner_mcp.server.resources.report_folder import ReportFolder
from planner_mcp.server.resources.resource_definition import ReadContext
from planner_mcp.server.tools.tool_caller import without_progress
from planner_mcp.server.tools.tool_definition import NotifyProgress, ToolContext
from planner_mcp.settings import Settings

TRACE = "0" * 32


def tool_context(
    store: RedisStore,
    job_service: JobService,
    settings: Settings,
    principal: Principal = LOCAL,
    notify_progress: NotifyProgress = without_progress,
) -> ToolContext:
    """Return the context of a call that nobody audits and no session keeps anything for."""
    return ToolContext(
        principal,
        job_service,
        settings,
        notify_progress,
        TRACE,
        webhooks=RedisWebhookStore(store.script_client, settings),
        reading=ReadContext(principal, job_service, ReportFolder(None), AuditLog(store.script_client, settings)),
        offer_download=Downloads(settings, AccessLinks(open_cipher(settings), "download")).as_file,
        confirmed=ConfirmedAddressStore(store.script_client, settings),
        geocoding=GeocodingService(settings),
    )
