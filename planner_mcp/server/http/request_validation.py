"""Validation of every HTTP request (SPEC X3): Host, Origin, encoding, framing, and size and nesting of the body.

Owns the refusal of requests that a browser was tricked into sending (DNS rebinding, foreign pages) and of bodies
that no handler should see. Bodies are read whole, up to `max_body_bytes`, before the application sees a request, so
the limit holds for every handler, including the SDK's. `slow_clients.py` deals with slow senders. Authentication
stands between the check of the head and the reading of the body, so that no body of an unknown client is read.

Health probes use whatever address a platform knows, so those two paths are exempt from the Host check; the manifest
is public, so any origin may read it.
"""

import logging
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final, Protocol
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planner_mcp.errors import (
    ForbiddenOriginError,
    InvalidMessageError,
    PlannerError,
    TooLargeError,
    UnsupportedEncodingError,
    WrongHostError,
)
from planner_mcp.server.auth.bearer_challenge import WELL_KNOWN
from planner_mcp.server.http.asgi_receive import replay_body
from planner_mcp.server.http.discovery_routes import CARD_PATHS, CATALOGUE_PATHS
from planner_mcp.server.http.health_probes import PATHS as HEALTH_PATHS
from planner_mcp.server.http.http_responses import refusal
from planner_mcp.server.http.json_text_limits import LONE_SURROGATE, has_lone_surrogate, is_deeper, too_deep
from planner_mcp.server.http.manifest_routes import PATHS as MANIFEST_PATHS
from planner_mcp.server.http.matrices_api import PATH as MATRICES_PATH
from planner_mcp.setting_urls import origin_of
from planner_mcp.settings import Settings

PROBE_PATHS: Final = frozenset(HEALTH_PATHS)
PUBLIC_PATHS: Final = frozenset({*MANIFEST_PATHS, *CARD_PATHS, *CATALOGUE_PATHS})
"""Documents for everybody: a page of any origin may read them, and they need no credential."""
LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
MAX_UNREAD_BODY_S: Final = 2.0
"""How long a body that is too large may go on arriving, unread, after its refusal."""
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
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "traceparent",
)
_ANSWER_HEADERS: Final = ("mcp-session-id", "mcp-protocol-version", "www-authenticate", "retry-after")

log = logging.getLogger(__name__)


class Refusal(Protocol):
    """`http_responses.refusal` in the form of a protocol."""

    def __call__(self, error: PlannerError, *, headers: dict[str, str] | None = None) -> Response:
        """Return the answer to a request that is refused."""
        ...


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
            allow_methods=("GET", "POST", "PUT", "DELETE"),
            allow_headers=_REQUEST_HEADERS,
            expose_headers=_ANSWER_HEADERS,
        )
        layers.append(cors)
    return [*layers, *before_body, Middleware(BodyLimits, settings=settings, refusals=refusals), *after_body]


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
        self._hosts = {host.lower() for host in settings.allowed_hosts} | _public_hosts(settings.public_url)
        self._origins = frozenset({*settings.allowed_origins, *map(origin_of, filter(None, [settings.public_url]))})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _hardened(send)
        try:
            self._check_head(scope)
        except PlannerError as error:
            await self._refusals.get(scope["path"], refusal)(error)(scope, receive, send)
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


class BodyLimits:
    """The ASGI layer that reads the body, up to its limits.

    Args:
        app: The application behind it.
        settings: Size and nesting.
        refusals: As of `http_middleware`.
    """

    def __init__(self, app: ASGIApp, settings: Settings, refusals: Mapping[str, Refusal]) -> None:
        self._app = app
        self._refusals = refusals
        self._max_body = settings.max_body_bytes
        self._max_matrix = settings.max_matrix_bytes
        self._max_nesting = settings.max_nesting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            receive = await self._read(scope, receive)
        except ClientDisconnect:  # nobody is left to answer
            log.info("client left in mid-request", extra={"method": scope["method"], "path": scope["path"]})
            return
        except PlannerError as error:
            refuse = self._refusals.get(scope["path"], refusal)
            if isinstance(error, TooLargeError):
                await refuse(error, headers={"Connection": "close"})(scope, receive, _closing_after_body(receive, send))
            else:
                await refuse(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _read(self, scope: Scope, receive: Receive) -> Receive:
        """Return a `receive` that hands out the body, read and measured."""
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return receive
        is_matrix = scope["path"] == MATRICES_PATH
        most = self._max_matrix if is_matrix else self._max_body
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isdecimal() or int(length) > most:
            raise TooLargeError(f"The body is larger than {most} bytes.")
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            body += message.get("body", b"")
            if len(body) > most:
                raise TooLargeError(f"The body is larger than {most} bytes.")
            if not message.get("more_body", False):
                break
        if is_matrix:  # its reader decodes it item by item, and nothing of it goes farther than it understands
            return replay_body(body, receive)
        if b"\0" in body:  # in UTF-16 or UTF-32, in which what follows would overlook all it looks for (RFC 8259 §8.1)
            raise InvalidMessageError("The body is not in UTF-8.")
        if is_deeper(body, self._max_nesting):
            raise InvalidMessageError(too_deep(self._max_nesting))
        if has_lone_surrogate(body):
            raise InvalidMessageError(LONE_SURROGATE)
        return replay_body(body, receive)


def _is_for_any_origin(path: str) -> bool:
    """Return whether a page is public; one is where a client in a browser learns where to get a token."""
    return path in PUBLIC_PATHS or path.startswith(WELL_KNOWN)


def _closing_after_body(receive: Receive, send: Send) -> Send:
    """Return a `send` that says all at once, and ends only when the client has sent all or `MAX_UNREAD_BODY_S` has
    passed.

    A connection that is closed while its client still sends is reset, and the answer lost with it (RFC 9112 §9.6).
    """

    async def close_after_body(message: Message) -> None:
        is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
        await send({**message, "more_body": True} if is_last else message)
        if is_last:
            with anyio.move_on_after(MAX_UNREAD_BODY_S):
                while (await receive()).get("more_body", False):
                    pass
            await send({"type": "http.response.body"})

    return close_after_body


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
    return _loopback_names(server[1] if server else None)


@cache
def _loopback_names(port: int | None) -> frozenset[str]:
    return frozenset({*(f"{name}:{port}" for name in LOOPBACK_NAMES), *(LOOPBACK_NAMES if port == 80 else ())})


def _public_hosts(public_url: str | None) -> set[str]:
    return {urlsplit(public_url).netloc.lower()} if public_url else set()
