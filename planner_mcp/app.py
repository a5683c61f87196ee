"""Joins the rooms: the one place where adapters meet ports, and where routes are named.

Owns the order in which things open and close. What serves this app, and the workers beside it, is `cli`'s.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import anyio
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from planner_mcp.jobs.event_feed import EventFeed
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.store.connection.error_translation import explained_refusals
from planner_mcp.jobs.store.events.channel_notifier import ChannelNotifier
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.api_key_store import RedisApiKeyStore
from planner_mcp.jobs.store.security.audit_log import AuditLog
from planner_mcp.jobs.store.security.encryption import open_cipher, state_key
from planner_mcp.jobs.store.security.rate_limiter import RateLimiter
from planner_mcp.jobs.store.sessions.elicitation_store import ElicitationStore
from planner_mcp.jobs.store.sessions.request_leases import RequestLeases
from planner_mcp.jobs.store.sessions.session_store import SessionStore
from planner_mcp.jobs.store.sessions.subscription_store import SubscriptionStore
from planner_mcp.jobs.store.webhooks.webhook_store import RedisWebhookStore
from planner_mcp.server.auth.audit_trail import Audit
from planner_mcp.server.auth.authenticator_factory import open_authenticator
from planner_mcp.server.http.audit_middleware import AuditMiddleware
from planner_mcp.server.http.authentication_middleware import AuthenticationMiddleware
from planner_mcp.server.http.authorization_middleware import AuthorizationMiddleware
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.http.discovery_routes import discovery_routes
from planner_mcp.server.http.health_probes import health_routes
from planner_mcp.server.http.http_responses import HANDLERS
from planner_mcp.server.http.jobs_api import JobsApi
from planner_mcp.server.http.manifest_routes import manifest_routes
from planner_mcp.server.http.matrices_api import MatricesApi
from planner_mcp.server.http.metrics_route import RequestMetrics, metrics_routes
from planner_mcp.server.http.protected_resource_metadata import metadata_routes
from planner_mcp.server.http.request_validation import http_middleware
from planner_mcp.server.http.trailing_slash_middleware import TrailingSlashMiddleware
from planner_mcp.server.mcp.client_requests import ClientRequests
from planner_mcp.server.mcp.jsonrpc.http_envelope import validation_refusal
from planner_mcp.server.mcp.kernel import Kernel, ServerFeature
from planner_mcp.server.mcp.method_audit import AuditedMethods
from planner_mcp.server.mcp.methods.content_features import ContentFeatures
from planner_mcp.server.mcp.methods.elicitation import Elicitation
from planner_mcp.server.mcp.methods.page_cursors import Cursors
from planner_mcp.server.mcp.methods.task_methods import Tasks
from planner_mcp.server.mcp.methods.tool_methods import PlannerToolHandler
from planner_mcp.server.mcp.notifications.list_capabilities import ListCapabilities
from planner_mcp.server.mcp.notifications.listen_method import Listen
from planner_mcp.server.mcp.notifications.listen_stream import ListenSources
from planner_mcp.server.mcp.notifications.log_notifications import LogNotifications
from planner_mcp.server.mcp.notifications.resource_subscriptions import Subscriptions
from planner_mcp.server.mcp.notifications.watched_resources import WatchedJobs
from planner_mcp.server.mcp.protocol_revisions import REVISIONS
from planner_mcp.server.mcp.transports.http_sse_requests import RequestRunner
from planner_mcp.server.mcp.transports.http_sse_transport import HttpSseTransport
from planner_mcp.server.mcp.transports.stateless_http import StatelessHttpTransport
from planner_mcp.server.mcp.transports.streamable_http import StreamableHttpTransport
from planner_mcp.server.resources.report_folder import ReportFolder
from planner_mcp.server.resources.resource_definition import ReadContext
from planner_mcp.server.tools.answers.tool_usage_meter import UsageMeter
from planner_mcp.settings import Settings
from planner_mcp.task_cancellation import cancel_and_wait

GRACE_SHARE: Final = 0.8
"""Of the time connections have to end; what is left is for telling their clients."""


@dataclass(frozen=True, slots=True)
class AppServices:
    """What every door needs."""

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


@asynccontextmanager
async def open_application(settings: Settings, drain: anyio.Event | None = None) -> AsyncIterator[AppServices]:
    """Connect the store (starting the embedded one where no URL is set) and put planner and kernel on it."""
    async with connect(settings) as store, EventFeed(store) as feed:
        job_service = JobService(store, feed, settings=settings)
        audit_log, registry = AuditLog(store.script_client, settings), CollectorRegistry()
        audit = Audit(audit_log)
        resource_reader = resource_methods(settings, job_service, audit_log)
        tool_handler = PlannerToolHandler(
            job_service,
            settings,
            resource_reader,
            webhooks=RedisWebhookStore(store.script_client, settings),
            audit=audit,
            meter=UsageMeter(registry),
        )
        notifier = ChannelNotifier(store.redis)
        watched_jobs, subscription_store = WatchedJobs(job_service, notifier), SubscriptionStore(store.redis)
        subscriptions = Subscriptions(watched_jobs, subscription_store, notifier, job_ttl_s=settings.job_ttl_s)
        streams = StreamLimit(settings.max_streams)
        listen = Listen(
            ListenSources(watched_jobs, subscription_store, settings.job_ttl_s, drain or anyio.Event()), streams
        )
        tasks = Tasks(
            job_service, tool_handler, settings, cursors=resource_reader.cursors, on_created=subscriptions.add_task
        )
        elicitation_store, questions = ElicitationStore(store.redis), Elicitation(settings, [state_key(settings)])
        capabilities = ListCapabilities(settings, subscription_store)
        features: list[ServerFeature] = [
            tasks,
            subscriptions,
            listen,
            *resource_reader.features(),
            questions,
            LogNotifications(elicitation_store),
            capabilities,
        ]
        kernel = Kernel(tool_handler, [AuditedMethods(audit), *features])
        kernel.client_requests = ClientRequests(elicitation_store, notifier)
        try:
            yield AppServices(
                settings, store, job_service, kernel, audit, notifier, subscriptions, streams, capabilities, registry
            )
        finally:
            await audit.until_written()


def resource_methods(settings: Settings, job_service: JobService, audit_log: AuditLog) -> ContentFeatures:
    """Return what can be read beside tools."""
    reports = ReportFolder(settings.reports_dir)
    return ContentFeatures(
        job_service,
        Cursors(open_cipher(settings)),
        lambda principal: ReadContext(principal, job_service, reports, audit_log),
    )


@asynccontextmanager
async def open_streamable_http(services: AppServices, drain: anyio.Event) -> AsyncIterator[StreamableHttpTransport]:
    """Serve sessions of the house's kernel on this replica."""
    notifier = services.notifier
    async with services.kernel.sdk_entry(services.settings.max_body_bytes) as sdk:
        mcp_endpoint = StreamableHttpTransport(
            services.kernel,
            SessionStore(services.store.redis, services.settings.max_sessions),
            notifier,
            stateless=StatelessHttpTransport(services.kernel, sdk, streams=services.streams),
            drain=drain,
            streams=services.streams,
            forward_events=services.subscriptions.forward_events,
            grace_s=GRACE_SHARE * services.settings.grace_s,
        )
        notifier.on_cancel(mcp_endpoint.cancelled)
        async with listening_for_wake_ups(services), mcp_endpoint.running():
            yield mcp_endpoint


@asynccontextmanager
async def listening_for_wake_ups(services: AppServices) -> AsyncIterator[None]:
    """Hear wake-ups of the store for the length of the block."""
    listening = asyncio.create_task(services.notifier.run(), name="wake-ups")
    try:
        yield
    finally:
        await cancel_and_wait(listening)


@asynccontextmanager
async def open_http_sse(
    services: AppServices, mcp_endpoint: StreamableHttpTransport, drain: anyio.Event
) -> AsyncIterator[HttpSseTransport]:
    """Serve the transport of revision 2024-11-05 on this replica."""
    store, notifier = SessionStore(services.store.redis, services.settings.max_sessions), services.notifier
    request_runner = RequestRunner(services.kernel, store, RequestLeases(services.store.redis))
    notifier.on_cancel(request_runner.cancelled)
    async with request_runner.running():
        yield HttpSseTransport(
            store,
            notifier,
            request_runner=request_runner,
            receiver=mcp_endpoint,
            forward_events=services.subscriptions.forward_events,
            drain=drain,
            streams=services.streams,
        )


@asynccontextmanager
async def open_app(settings: Settings, *, drain: anyio.Event) -> AsyncIterator[Starlette]:
    """Open one replica and yield its ASGI app, which has no lifespan of its own.

    Args:
        settings: As read from the environment and the command line.
        drain: Set by whoever serves the app before it stops: open streams then end, so that clients go elsewhere.

    Raises:
        StoreError: The store does not answer, takes no writes or cannot be trusted with jobs.
    """
    async with open_application(settings, drain) as services, open_routes(services, drain) as app:
        yield app


@asynccontextmanager
async def open_routes(services: AppServices, drain: anyio.Event) -> AsyncIterator[Starlette]:
    """Open every door of a house and yield the app behind them.

    Raises:
        StoreError: The store takes no writes; told before any door is open.
    """
    settings = services.settings
    with explained_refusals(has_url=bool(settings.redis_url)):
        await services.capabilities.publish()
    async with (
        open_streamable_http(services, drain) as mcp_endpoint,
        open_http_sse(services, mcp_endpoint, drain) as sse2024_endpoint,
    ):
        routes = [
            Route("/mcp", mcp_endpoint),
            *sse2024_endpoint.routes(),
            *JobsApi(services.streams, drain=drain).routes(),
            *MatricesApi(settings).routes(),
            *manifest_routes(settings),
            *discovery_routes(settings, REVISIONS),
            *health_routes(),
            *metrics_routes(settings, services.registry),
            *metadata_routes(settings),
        ]
        audit_middleware = Middleware(AuditMiddleware, audit=services.audit, has_auth=settings.has_auth)
        layers = http_middleware(
            settings,
            before_body=authentication_layers(services),
            after_body=authorization_layers(services),
            refusals=dict.fromkeys(("/mcp", "/messages"), validation_refusal),
        )
        metrics = Middleware(RequestMetrics, registry=services.registry)
        outermost = [Middleware(TrailingSlashMiddleware), metrics, audit_middleware]
        app = Starlette(routes=routes, middleware=[*outermost, *layers], exception_handlers=HANDLERS)
        app.router.redirect_slashes = False
        app.state.services = services
        yield app


def authentication_layers(services: AppServices) -> list[Middleware]:
    """Return the layer that names principals; none where everybody is the single user (SPEC A3)."""
    settings, script_client = services.settings, services.store.script_client
    if not settings.has_auth:
        return []
    authenticator = open_authenticator(settings, RedisApiKeyStore(script_client))
    return [
        Middleware(
            AuthenticationMiddleware,
            settings=settings,
            authenticator=authenticator,
            limiter=RateLimiter(script_client, settings),
        )
    ]


def authorization_layers(services: AppServices) -> list[Middleware]:
    """Return the layer that judges scopes; none where everybody holds them all."""
    return [Middleware(AuthorizationMiddleware, settings=services.settings)] if services.settings.has_auth else []
