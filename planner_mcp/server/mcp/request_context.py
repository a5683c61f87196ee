"""The caller of a request: principal, session and declared extensions, checks of scopes, and notifications back.

Owns how these are read from the SDK's context. Handlers check scopes themselves, so nothing depends on the
middleware of one transport.
"""

from collections.abc import Mapping, MutableMapping
from typing import Any, Final, cast

import mcp_types as types
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types.jsonrpc import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from planner_mcp.errors import InvalidMessageError, PlannerError
from planner_mcp.jobs.principals import READ, Principal
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import rpc_data
from planner_mcp.text import Json

Context = ServerRequestContext[Any, Any]
_SESSION: Final = "mcp_session"


def scope_of(ctx: Context) -> Mapping[str, Any]:
    """Return the ASGI scope of a request; empty over stdio."""
    scope: Mapping[str, Any] = ctx.request.scope if ctx.request is not None else {}
    return scope


def principal_in(ctx: Context) -> Principal:
    """Return whom a request acts for; the single user over stdio."""
    return principal_of(scope_of(ctx))


def require_reader(ctx: Context) -> Principal:
    """Return whom a request acts for, who needs the scope to read.

    Raises:
        InsufficientScopeError: It lacks the scope.
    """
    (principal := principal_in(ctx)).require(READ)
    return principal


def set_session(scope: MutableMapping[str, Any], session_id: str) -> None:
    """Note on an HTTP request which session it belongs to."""
    scope.setdefault("state", {})[_SESSION] = session_id


def session_of(ctx: Context) -> str | None:
    """Return the session a request belongs to, None where the transport keeps none in the store."""
    return session_in_scope(ctx.request.scope) if ctx.request is not None else None


def session_in_scope(scope: Mapping[str, Any]) -> str | None:
    """Return the session an HTTP request belongs to, as far as it was noted."""
    found = scope.get("state", {}).get(_SESSION)
    return found if isinstance(found, str) else None


def has_session(ctx: Context) -> bool:
    """Return whether something may be kept for the client until it leaves; over stdio the process is its session."""
    return ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS and (ctx.request is None or session_of(ctx) is not None)


def declares(ctx: Context, extension: str) -> bool:
    """Return whether the client declared an extension, on this request or at its handshake."""
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and extension in (capabilities.extensions or {})


def require(ctx: Context, extension: str) -> None:
    """Check that the client declared an extension.

    Raises:
        MCPError: −32021, naming it.
    """
    if not declares(ctx, extension):
        error = InvalidMessageError(f"The client did not declare {extension} on this request.")
        needed: Json = {"requiredCapabilities": {"extensions": {extension: {}}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, error.message, rpc_data(error) | needed)


def check_name(ctx: Context, name: str) -> None:
    """Check the routing header of a request whose name the SDK does not know.

    Raises:
        MCPError: −32020, when `Mcp-Name` is another. One that is missing is let pass, as clients in use leave it out
            where the SDK does not set it; nothing is asked of stdio.
    """
    given = ctx.request.headers.get(MCP_NAME_HEADER) if ctx.request is not None else None
    if given is not None and decode_header_value(given) != name:
        error = InvalidMessageError("The Mcp-Name header does not name the task.")
        raise MCPError(HEADER_MISMATCH, error.message, rpc_data(error))


class _AnyNotification(BaseModel):
    method: str
    params: Json


async def send_notification(session: Any, method: str, params: Json, request_id: Any = None) -> None:
    """Send a notification of any name; the SDK's types know those of MCP alone.

    Args:
        session: The SDK's session of the client.
        method: Its name.
        params: What it says.
        request_id: Of the request on whose stream it is sent; None where it belongs to none.
    """
    sent = cast("types.ServerNotification", _AnyNotification(method=method, params=params))
    await session.send_notification(sent, related_request_id=request_id)


def as_json(result: HandlerResult) -> Json:
    """Return what a handler answered as JSON."""
    if isinstance(result, BaseModel):
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dict(result or {})


def refusal_in(result: Json) -> MCPError | None:
    """Return a tool's refusal as a protocol error, None for a success."""
    if not result.get("isError"):
        return None
    body = result.get("structuredContent") or rpc_data(PlannerError())
    is_callers_fault = 4000 <= body.get("code", 0) < 4029
    return MCPError(INVALID_PARAMS if is_callers_fault else INTERNAL_ERROR, body.get("message", ""), dict(body))
