"""The services behind every transport: store, job service, tools and MCP kernel, put together in one place.

Owns the order in which they open and close. `http_app.py` puts HTTP routes on them; `cli` starts processes.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from prometheus_client import CollectorRegistry

from planner_mcp.geocoding.geocoding_service import GeocodingService, register_of
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.store.events.channel_notifier import ChannelNotifier
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.audit_log import AuditLog
from planner_mcp.jobs.store.security.confirmed_address_store import ConfirmedAddressStore
from planner_mcp.jobs.store.security.encryption import open_cipher, state_key
from planner_mcp.jobs.store.sessions.elicitation_store import ElicitationStore
from planner_mcp.jobs.store.sessions.subscription_store import SubscriptionStore
from planner_mcp.jobs.store.webhooks.event_subscription_store import RedisEventSubscriptions
from planner_mcp.jobs.store.webhooks.webhook_store import RedisWebhookStore
from planner_mcp.jobs.webhooks.event_webhooks import EventWebhooks
from planner_mcp.jobs.webhooks.webhook_client import WebhookClient
from planner_mcp.server.auth.access_links import AccessLinks
from planner_mcp.server.auth.audit_trail import Audit
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.mcp.client_requests import ClientRequests
from planner_mcp.server.mcp.kernel import Kernel, ServerFeature
from planner_mcp.server.mcp.method_audit import AuditedMethods
from planner_mcp.server.mcp.methods.argument_completion import Completion
from planner_mcp.server.mcp.methods.elicitation import Elicitation
from planner_mcp.server.mcp.methods.page_cursors import Cursors
from planner_mcp.server.mcp.methods.prompt_methods import Prompts
from planner_mcp.server.mcp.methods.resource_methods import Resources
from planner_mcp.server.mcp.methods.skill_methods import Skills
from planner_mcp.server.mcp.methods.task_methods import Tasks
from planner_mcp.server.mcp.methods.tool_methods import PlannerToolHandler
from planner_mcp.server.mcp.notifications.event_methods import Events
from planner_mcp.server.mcp.notifications.list_capabilities import ListCapabilities
from planner_mcp.server.mcp.notifications.listen_method import Listen
from planner_mcp.server.mcp.notifications.log_notifications import LogNotifications
from planner_mcp.server.mcp.notifications.resource_subscriptions import Subscriptions
from planner_mcp.server.mcp.notifications.watched_resources import WatchedJobs
from planner_mcp.server.resources.downloads import Downloads
from planner_mcp.server.resources.report_folder import ReportFolder
from planner_mcp.server.resources.resource_definition import ReadContext
from planner_mcp.server.resources.share_links import ShareLinks
from planner_mcp.server.tools.answers.tool_usage_meter import UsageMeter
from planner_mcp.server.tools.tool_caller import ToolCaller
from planner_mcp.server.tools.tool_registry import OFFERS, ServerOffer
from planner_mcp.settings import Settings
from planner_mcp.task_cancellation import cancel_and_wait
from planner_mcp.travel.road_daemon import road_daemon_beside
from planner_mcp.travel.route_geometry import RouteGeometry


@dataclass(frozen=True, slots=True)
class AppServices:
    """What every transport needs."""

    settings: Settings
    store: RedisStore
    job_service: JobService
    kernel: Kernel
    audit: Audit
    notifier: ChannelNotifier
    subscriptions: Subscriptions
    streams: StreamLimit
    capabilities: ListCapabilities
    registry: CollectorRegistry
    """The metrics of this replica."""
    tool_caller: ToolCaller
    offer: ServerOffer
    """The tools of this server."""


@asynccontextmanager
async def open_application(settings: Settings, drain: anyio.Event | None = None) -> AsyncIterator[AppServices]:
    """Connect the store (starting the embedded one where no URL is set) and put planner and kernel on it."""
    offer = offer_of(settings)
    async with road_daemon_beside(settings), connect(settings) as store, EventFeed(store) as feed:
        job_service = JobService(store, feed, settings=settings)
        audit_log, registry = AuditLog(store.script_client, settings), CollectorRegistry()
        audit = Audit(audit_log)
        open_reading = reading_by(settings, job_service, audit_log)
        notifier = ChannelNotifier(store.redis)
        watched_jobs, subscription_store = WatchedJobs(job_service, notifier), SubscriptionStore(store.redis)
        subscriptions = Subscriptions(watched_jobs, subscription_store, job_ttl_s=settings.job_ttl_s)
        webhooks, cipher = RedisWebhookStore(store.script_client, settings), open_cipher(settings)
        event_subscriptions = RedisEventSubscriptions(store.script_client, cipher, settings)
        event_webhooks = EventWebhooks(job_service, event_subscriptions, webhooks, WebhookClient(settings), settings)
        tool_caller = ToolCaller(
            job_service,
            settings,
            open_reading,
            webhooks=webhooks,
            confirmed=ConfirmedAddressStore(store.script_client, settings),
            geocoding=GeocodingService(settings),
            downloads=Downloads(settings, AccessLinks(cipher, "download")),
            shares=ShareLinks(settings, AccessLinks(cipher, "share"), job_service),
            audit=audit,
            meter=UsageMeter(registry),
        )
        cursors = Cursors(cipher)
        tool_handler = PlannerToolHandler(tool_caller, cursors, subscriptions, offer)
        streams, drain = StreamLimit(settings.max_streams), drain or anyio.Event()
        listen = Listen(watched_jobs, subscription_store, settings.job_ttl_s, drain, streams)
        tasks = Tasks(job_service, tool_handler, settings, cursors=cursors, on_created=subscriptions.add_task)
        elicitation_store = ElicitationStore(store.redis)
        questions = Elicitation(settings, [state_key(settings)], job_service.imports, tool_handler.is_on)
        capabilities = ListCapabilities(settings)
        features: list[ServerFeature] = [
            tasks,
            subscriptions,
            listen,
            Events(job_service, settings, streams, drain, event_webhooks),
            Resources(open_reading, cursors, settings.lang),
            Prompts(cursors, job_service.imports, settings.lang),
            Completion(job_service),
            Skills(cursors),
            questions,
            LogNotifications(elicitation_store),
            capabilities,
        ]
        if settings.server != "planner":  # it has tools alone: neither jobs nor resources to follow
            features = [LogNotifications(elicitation_store)]
        features = [tool_handler, AuditedMethods(audit), *features]
        kernel = Kernel(features, offer, settings.lang, ClientRequests(elicitation_store, notifier))
        try:
            yield AppServices(
                settings,
                store,
                job_service,
                kernel,
                audit,
                notifier,
                subscriptions,
                streams,
                capabilities,
                registry,
                tool_caller,
                offer,
            )
        finally:
            await audit.until_written()


def offer_of(settings: Settings) -> ServerOffer:
    """Return what the server of these settings offers.

    Raises:
        InputError: The configuration of a bridge cannot be used.
    """
    if settings.server == "bridge" and settings.bridge_config is not None:
        from planner_mcp.bridge.bridge_offer import bridged_offer  # its libraries are for bridges alone

        return bridged_offer(settings.bridge_config, os.environ)
    return OFFERS[settings.server]


def reading_by(settings: Settings, job_service: JobService, audit_log: AuditLog) -> Callable[[Principal], ReadContext]:
    """Return what opens the resources for a principal."""
    reports, geometry = ReportFolder(settings.reports_dir), RouteGeometry(settings)
    roads = register_of(settings)
    return lambda principal: ReadContext(principal, job_service, reports, audit_log, geometry, roads)


@asynccontextmanager
async def listening_for_wake_ups(services: AppServices) -> AsyncIterator[None]:
    """Listen for notifications of the store during the block."""
    listening = asyncio.create_task(services.notifier.run(), name="wake-ups")
    listening.add_done_callback(_log_failure)
    try:
        yield
    finally:
        await cancel_and_wait(listening)


def _log_failure(listening: asyncio.Task[None]) -> None:
    """Log at once what ended the listening: from then on nobody here is woken."""
    if not listening.cancelled() and (error := listening.exception()) is not None:
        logging.getLogger(__name__).error("wake-ups failed", exc_info=error)
