"""The authorization middleware checks scopes before an answer begins, where path and body say enough (SPEC A1). It
answers 403 with every scope that is needed.

Owns which scope a path or an MCP method needs. The scope of a tool belongs to the tool; `tools/tool_registry.py`
checks it again for every call, so that nothing depends on this layer.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from starlette.types import ASGIApp, Receive, Scope, Send

from planner_mcp.errors import InsufficientScopeError
from planner_mcp.jobs.principals import ADMIN, READ, SCOPES, WRITE, Principal
from planner_mcp.server.auth.bearer_challenge import challenge
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.bodies.body_intake import decoded_in
from planner_mcp.server.http.bodies.json_reading import DecodedBody, UnreadableJsonError
from planner_mcp.server.http.responses.http_responses import plain_path, refusal_at
from planner_mcp.server.http.rest.rest_operations import scope_at
from planner_mcp.settings import Settings

OF_OPERATORS: Final = ("logs://", "workers://")
METHOD_SCOPES: Final = {
    "resources/list": READ,
    "resources/templates/list": READ,
    "resources/read": READ,
    "resources/subscribe": READ,
    "resources/unsubscribe": READ,
    "completion/complete": READ,
    "subscriptions/listen": READ,
    "events/list": READ,
    "events/poll": READ,
    "events/stream": READ,
    "tasks/list": READ,
    "tasks/get": READ,
    "tasks/result": READ,
    "tasks/update": WRITE,
    "tasks/cancel": WRITE,
}
"""Methods not named here need no scope of their own."""


class AuthorizationMiddleware:
    """An ASGI layer behind authentication and the limits of bodies.

    Args:
        app: What is behind.
        settings: The resource identifier.
        tool_scopes: What each tool needs.
    """

    def __init__(self, app: ASGIApp, *, settings: Settings, tool_scopes: Mapping[str, str]) -> None:
        self._app = app
        self._tool_scopes = tool_scopes
        self._resource = settings.described_resource

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        principal = principal_of(scope)
        needed: frozenset[str] = frozenset()
        path = plain_path(scope["path"])
        if rest_scope := scope_at(scope["method"], scope["path"]):
            needed = frozenset({rest_scope})
        elif path.startswith("/jobs/") or path == "/events":
            needed = frozenset({READ})
        elif path.startswith("/matrices"):
            needed = frozenset({READ if scope["method"] in ("GET", "HEAD") else WRITE})
        elif scope["path"] == "/metrics":
            needed = frozenset({ADMIN})
        elif scope["path"] in ("/mcp", "/messages") and scope["method"] == "POST" and not principal.scopes >= SCOPES:
            needed = scopes_needed(decoded_in(scope), self._tool_scopes)
        if needed <= principal.scopes:
            await self._app(scope, receive, send)
        else:
            await self._refused(principal, needed, scope["path"])(scope, receive, send)

    def _refused(self, principal: Principal, needed: frozenset[str], path: str) -> ASGIApp:
        names = sorted(needed - principal.scopes)
        error = InsufficientScopeError(f"The token lacks {', '.join(names)}.")
        challenge_header = challenge(
            self._resource, needed | principal.scopes, error="insufficient_scope", description=error.message
        )
        return refusal_at(path)(error, headers={"WWW-Authenticate": challenge_header})


def scopes_needed(decoded: DecodedBody, tool_scopes: Mapping[str, str]) -> frozenset[str]:
    """Return the scopes a body of `/mcp` needs, all messages of a batch together; none where it cannot be read."""
    try:
        value = decoded.value
    except UnreadableJsonError:
        return frozenset()
    return frozenset(_needs(value if isinstance(value, list) else [value], tool_scopes))


def _needs(messages: list[Any], tool_scopes: Mapping[str, str]) -> Iterator[str]:
    for message in messages:
        method = message.get("method") if isinstance(message, dict) else None
        params = message.get("params") if isinstance(message, dict) else None
        named = params if isinstance(params, dict) else {}
        if method == "tools/call":
            if isinstance(named.get("name"), str) and named["name"] in tool_scopes:
                yield tool_scopes[named["name"]]
        elif isinstance(method, str) and method in METHOD_SCOPES:
            yield METHOD_SCOPES[method]
            if method == "resources/read" and str(named.get("uri", "")).startswith(OF_OPERATORS):
                yield ADMIN
