"""The HTTP application: its routes and its middleware, on the services of `app.py`.

Owns the routes and the order of the middleware. `planner_mcp/cli/processes/http_server.py` serves the application.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final

import anyio
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route

from manifest.server_identity import ADDRESS, PLANNER, ServerIdentity
from planner_mcp.app import AppServices, listening_for_wake_ups, open_application
from planner_mcp.jobs.store.connection.error_translation import explained_refusals
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.jobs.store.security.page_session_store import PageSessionStore
from planner_mcp.jobs.store.security.rate_limiter import RateLimiter
from planner_mcp.jobs.store.security.repeated_request_store import RepeatedRequestStore
from planner_mcp.jobs.store.sessions.request_leases import RequestLeases
from planner_mcp.jobs.store.sessions.session_store import SessionStore
from planner_mcp.jobs.store.sessions.subscription_store import SubscriptionStore
from planner_mcp.server.auth.authenticator import Authenticator
from planner_mcp.server.auth.authenticator_factory import open_authenticator
from planner_mcp.server.auth.page_sessions import PageSessions
from planner_mcp.server.auth.revocation_watch import RevocationWatch
from planner_mcp.server.http.middleware.audit_middleware import AuditMiddleware
from planner_mcp.server.http.middleware.authentication_middleware import AuthenticationMiddleware
from planner_mcp.server.http.middleware.authorization_middleware import AuthorizationMiddleware
from planner_mcp.server.http.middleware.language_middleware import LanguageMiddleware
from planner_mcp.server.http.middleware.request_validation import http_middleware
from planner_mcp.server.http.middleware.trailing_slash_middleware import TrailingSlashMiddleware
from planner_mcp.server.http.responses.http_responses import HANDLERS
from planner_mcp.server.http.rest.openapi_routes import openapi_routes
from planner_mcp.server.http.rest.rest_routes import RestRoutes
from planner_mcp.server.http.routes.dashboard_routes import DashboardRoutes
from planner_mcp.server.http.routes.discovery_routes import discovery_routes, manifest_routes, metadata_routes
from planner_mcp.server.http.routes.downloads_api import download_routes
from planner_mcp.server.http.routes.files_api import files_routes
from planner_mcp.server.http.routes.health_probes import health_routes
from planner_mcp.server.http.routes.jobs_api import JobsApi
from planner_mcp.server.http.routes.matrices_api import matrices_routes
from planner_mcp.server.http.routes.metrics_route import RequestMetrics, metrics_routes
from planner_mcp.server.http.routes.scale_route import scale_routes
from planner_mcp.server.http.routes.session_routes import session_routes
from planner_mcp.server.http.routes.shared_plans_api import shared_plan_routes
from planner_mcp.server.mcp.jsonrpc.http_envelope import REVISIONS, validation_refusal
from planner_mcp.server.mcp.transports.http_sse_requests import RequestRunner
from planner_mcp.server.mcp.transports.http_sse_transport import HttpSseTransport
from planner_mcp.server.mcp.transports.stateless_http import StatelessHttpTransport
from planner_mcp.server.mcp.transports.streamable_http import StreamableHttpTransport
from planner_mcp.server.resources import downloads, share_links
from planner_mcp.server.tools.tool_registry import ServerOffer, shown_tools
from planner_mcp.setting_urls import is_address
from planner_mcp.settings import Settings
from planner_mcp.text import Json

GRACE_SHARE: Final = 0.8
"""Of the time connections have to end; what is left is for notifying their clients."""


@asynccontextmanager
async def open_streamable_http(services: AppServices, drain: anyio.Event) -> AsyncIterator[StreamableHttpTransport]:
    """Serve MCP sessions of this replica over Streamable HTTP."""
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
        drain: Set by the server process before it stops: open streams end, so that clients reconnect elsewhere.

    Raises:
        StoreError: The store does not answer, takes no writes or cannot be trusted with jobs.
    """
    async with open_application(settings, drain) as services, open_routes(services, drain) as app:
        yield app


@asynccontextmanager
async def open_routes(services: AppServices, drain: anyio.Event) -> AsyncIterator[Starlette]:
    """Open every route and yield the ASGI app.

    Raises:
        StoreError: The store takes no writes; raised before any route is open.
    """
    settings = services.settings
    with explained_refusals(has_url=bool(settings.redis_url)):
        if settings.server == "planner":
            await services.capabilities.publish(SubscriptionStore(services.store.redis))
    async with (
        open_streamable_http(services, drain) as mcp_endpoint,
        open_http_sse(services, mcp_endpoint, drain) as sse2024_endpoint,
    ):
        authenticator = open_authenticator(settings, ApiKeyStore(services.store.script_client))
        routes = [
            Route("/mcp", mcp_endpoint),
            *sse2024_endpoint.routes(),
            *(planner_routes(services, authenticator, drain) if settings.server == "planner" else ()),
            *(download_routes() if settings.server != "bridge" else ()),
            *manifest_routes(settings, manifest_of(services.offer, settings)),
            *discovery_routes(settings, REVISIONS, identity_of(services.offer, settings)),
            *health_routes(),
            *metrics_routes(services.registry, shown_tools(settings, offer=services.offer)),
            *scale_routes(settings),
            *metadata_routes(settings),
        ]
        audit_middleware = Middleware(AuditMiddleware, audit=services.audit, has_auth=settings.has_auth)
        layers = http_middleware(
            settings,
            before_body=authentication_layers(services, authenticator),
            after_body=authorization_layers(services),
            refusals=dict.fromkeys(("/mcp", "/messages"), validation_refusal),
        )
        metrics = Middleware(RequestMetrics, registry=services.registry)
        outermost = [
            Middleware(TrailingSlashMiddleware),
            Middleware(LanguageMiddleware, language=settings.lang),
            metrics,
            audit_middleware,
        ]
        app = Starlette(routes=routes, middleware=[*outermost, *layers], exception_handlers=HANDLERS)
        app.router.redirect_slashes = False
        app.state.services = services
        yield app


def manifest_of(offer: ServerOffer, settings: Settings) -> Json | None:
    """Return the manifest of a bridge; None for a server whose manifest is committed."""
    if settings.server != "bridge":
        return None
    from manifest.manifest_builder import tools_manifest  # imports everything, which a planner's start does not pay for

    return tools_manifest(offer, f"{datetime.now(UTC):%Y-%m-%d}T00:00:00Z")


def identity_of(offer: ServerOffer, settings: Settings) -> ServerIdentity:
    """Return what a server is called where people look for servers; a bridge is named by its configuration."""
    if settings.server == "bridge":
        return ServerIdentity(f"{PLANNER.name}-{offer.name}", offer.title, offer.description, "bridge")
    return ADDRESS if settings.server == "address" else PLANNER


def planner_routes(services: AppServices, authenticator: Authenticator, drain: anyio.Event) -> list[BaseRoute]:
    """Return the routes that the planner has beside MCP; the address server has neither jobs nor matrices."""
    settings, script_client = services.settings, services.store.script_client
    repeated = RepeatedRequestStore(script_client, open_cipher(settings), settings)
    return [
        *JobsApi(services.streams, drain=drain).routes(),
        *matrices_routes(),
        *files_routes(),
        *openapi_routes(services.settings),
        *RestRoutes(settings, services.tool_caller, repeated).routes(),
        *shared_plan_routes(),
        *DashboardRoutes(services.settings, services.tool_caller).routes(),
        *sign_in_routes(services, authenticator),
    ]


def sign_in_routes(services: AppServices, authenticator: Authenticator) -> list[BaseRoute]:
    """Return the routes by which people sign in to the dashboard."""
    settings, has_reviews = services.settings, services.job_service.reviews.is_on
    if not settings.has_auth:
        return session_routes(None, has_reviews=has_reviews)
    sessions = page_sessions(services)
    if not settings.auth_dashboard_clients:
        return session_routes(sessions, has_reviews=has_reviews)
    from planner_mcp.server.auth.oauth_sign_in import OAuthSignIn  # for deployments with such a dashboard alone
    from planner_mcp.server.http.routes.sign_in_routes import SignInRoutes

    sign_in = OAuthSignIn(
        settings.auth_dashboard_clients,
        scopes=frozenset(settings.auth_dashboard_scopes),
        resource=settings.audience if settings.audience and is_address(settings.audience) else None,
        authenticate=authenticator.principal_of_token,
        cipher=open_cipher(settings),
        backchannels=settings.auth_backchannels,
    )
    return [
        *session_routes(sessions, sign_in.issuers, has_reviews=has_reviews),
        *SignInRoutes(settings, sign_in, sessions, services.audit).routes(),
    ]


def authentication_layers(services: AppServices, authenticator: Authenticator) -> list[Middleware]:
    """Return the middleware that authenticates principals; none without authorization (SPEC A3)."""
    settings, script_client = services.settings, services.store.script_client
    if not settings.has_auth:
        return []
    return [
        Middleware(
            AuthenticationMiddleware,
            settings=settings,
            authenticator=authenticator,
            limiter=RateLimiter(script_client, settings),
            revocations=RevocationWatch(ApiKeyStore(script_client)),
            links={
                downloads.PREFIX: services.tool_caller.downloads.links,
                share_links.PREFIX: services.tool_caller.shares.links,
            },
            sessions=page_sessions(services),
        )
    ]


def page_sessions(services: AppServices) -> PageSessions:
    """Return the sessions of the dashboard."""
    script_client, cipher = services.store.script_client, open_cipher(services.settings)
    store, key_store = PageSessionStore(script_client), ApiKeyStore(script_client)
    return PageSessions(store, key_store, cipher, session_s=services.settings.auth_session_s)


def authorization_layers(services: AppServices) -> list[Middleware]:
    """Return the middleware that checks scopes; none without authorization."""
    if not services.settings.has_auth:
        return []
    scopes = {tool.name: tool.scope for tool in services.offer.tools}
    return [Middleware(AuthorizationMiddleware, settings=services.settings, tool_scopes=scopes)]
