"""Validation of the head of every HTTP request (SPEC X3): Host, Origin, encoding, framing.

Owns the refusal of requests that a browser was tricked into sending (DNS rebinding, foreign pages). Bodies are read
whole by `body_intake.py` before the application sees a request. Authentication stands between the two, so that no
body of an unknown client is read. A request that is refused before its body was read is answered at once; what still
arrives of the body is thrown away.

Health probes use whatever address a platform knows, so those two paths are exempt from the Host check; the manifest
is public, so any origin may read it.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planner_mcp.errors import (
    ForbiddenOriginError,
    InvalidMessageError,
    PlannerError,
    UnsupportedEncodingError,
    WrongHostError,
)
from planner_mcp.server.auth.bearer_challenge import WELL_KNOWN
from planner_mcp.server.http.bodies.body_intake import BodyIntake
from planner_mcp.server.http.bodies.body_pacing import paced_parts
from planner_mcp.server.http.responses.http_responses import Refusal, refusal_at
from planner_mcp.server.http.rest.openapi_routes import PATHS as OPENAPI_PATHS
from planner_mcp.server.http.routes.discovery_routes import CARD_PATHS, CATALOGUE_PATHS, MANIFEST_PATHS
from planner_mcp.server.http.routes.health_probes import PATHS as HEALTH_PATHS
from planner_mcp.setting_urls import origin_of
from planner_mcp.settings import Settings

PROBE_PATHS: Final = frozenset(HEALTH_PATHS)
PUBLIC_PATHS: Final = frozenset({*MANIFEST_PATHS, *CARD_PATHS, *CATALOGUE_PATHS, *OPENAPI_PATHS})
"""Documents for everybody: a page of any origin may read them, and they need no credential."""
LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
UNREAD: Final = "unread"
"""Bodies that are thrown away, whoever sends them, as `body_pacing.py` counts them."""
MAX_UNREAD_BODY_S: Final = 15.0
"""How long a body may go on arriving, unread, after its refusal."""
SECURITY_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
"""Given to every answer that does not say otherwise itself."""
_SECURITY: Final = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
_REQUEST_HEADERS: Final = (
    "accept",
    "authorization",
    "content-type",
    "idempotency-key",
    "if-match",
    "if-none-match",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "prefer",
    "traceparent",
)
_ANSWER_HEADERS: Final = (
    "content-disposition",
    "etag",
    "idempotency-replayed",
    "location",
    "mcp-protocol-version",
    "mcp-session-id",
    "preference-applied",
    "retry-after",
    "www-authenticate",
)


def http_middleware(
    settings: Settings,
    *,
    before_body: Sequence[Middleware] = (),
    after_body: Sequence[Middleware] = (),
    refusals: Mapping[str, Refusal] = MappingProxyType({}),
) -> list[Middleware]:
    """Return the layers around the app, outermost first.

    Checks of the head, CORS for the allowed origins, `before_body`, the limits of bodies, `after_body`.

    Args:
        settings: Hosts, origins and limits.
        before_body: Layers that need the head alone.
        after_body: Layers that read bodies.
        refusals: By path, the refusal in the form of the protocol spoken there.
    """
    layers = [Middleware(RequestValidation, settings=settings, refusals=refusals)]
    if settings.allowed_origins:
        cors = Middleware(
            CORSMiddleware,
            allow_origins=settings.allowed_origins,
            allow_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
            allow_headers=_REQUEST_HEADERS,
            expose_headers=_ANSWER_HEADERS,
        )
        layers.append(cors)
    return [*layers, *before_body, Middleware(BodyIntake, settings=settings, refusals=refusals), *after_body]


class RequestValidation:
    """The ASGI layer that checks the head of a request.

    Args:
        app: The application behind it.
        settings: Hosts and origins.
        refusals: As of `http_middleware`.
    """

    def __init__(self, app: ASGIApp, settings: Settings, refusals: Mapping[str, Refusal]) -> None:
        self._app = app
        self._refusals = refusals
        self._hosts = {host.lower() for host in settings.allowed_hosts}
        if settings.public_url:
            self._hosts.add(urlsplit(settings.public_url).netloc.lower())
        self._origins = frozenset({*settings.allowed_origins, *map(origin_of, filter(None, [settings.public_url]))})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        receive, send = _with_unread_body(receive, _hardened(send))
        try:
            self._check_head(scope)
        except PlannerError as error:
            await (self._refusals.get(scope["path"]) or refusal_at(scope["path"]))(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check_head(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        path = scope["path"]
        if "content-length" in headers and "transfer-encoding" in headers:  # two readers could end it at two places
            raise InvalidMessageError("A request has Content-Length or Transfer-Encoding, not both.")
        hosts = headers.getlist("host")
        if path not in PROBE_PATHS and not (len(hosts) == 1 and hosts[0].lower() in self._hosts | _loopback(scope)):
            raise WrongHostError
        origins = headers.getlist("origin")
        if not _is_for_any_origin(path) and not all(self._is_own(origin, scope) for origin in origins):
            raise ForbiddenOriginError
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise UnsupportedEncodingError

    def _is_own(self, origin: str, scope: Scope) -> bool:
        """Return whether an origin is allowed by name, or is an address of this server, scheme included."""
        scheme, _colon, host = origin.lower().partition("://")
        return origin in self._origins or (scheme == scope["scheme"] and host in self._hosts | _loopback(scope))


def _is_for_any_origin(path: str) -> bool:
    """Return whether a page is public; one is where a client in a browser learns where to get a token."""
    return path in PUBLIC_PATHS or path.startswith(WELL_KNOWN)


def _with_unread_body(receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Return the two so that an answer that comes before the body ends only when the client has sent all, or
    `MAX_UNREAD_BODY_S` has passed.

    A connection that is closed while its client still sends is reset, and the answer lost with it (RFC 9112 §9.6).
    """
    has_body = True

    async def take() -> Message:
        nonlocal has_body
        message = await receive()
        has_body = has_body and message.get("more_body", False)
        return message

    async def close_after_body(message: Message) -> None:
        is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
        if not is_last or not has_body:
            await send(message)
            return
        await send({**message, "more_body": True})
        with paced_parts(UNREAD) as pause, anyio.move_on_after(MAX_UNREAD_BODY_S):
            await take()
            while has_body:
                await pause()
                await take()
        await send({"type": "http.response.body"})

    return take, close_after_body


def _hardened(send: Send) -> Send:
    async def hardened(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = message.setdefault("headers", [])
            names = {name.lower() for name, _value in given}
            message["headers"] = [*given, *(header for header in _SECURITY if header[0] not in names)]
        await send(message)

    return hardened


def _loopback(scope: Scope) -> frozenset[str]:
    """Return the loopback names under the port the request came in by. No foreign name resolves to these."""
    server = scope.get("server")
    port = server[1] if server else None
    return frozenset({*(f"{name}:{port}" for name in LOOPBACK_NAMES), *(LOOPBACK_NAMES if port == 80 else ())})
