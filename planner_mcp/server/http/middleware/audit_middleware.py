"""The audit middleware records the outcome of HTTP requests (SPEC A3): every refusal, and every use of an endpoint
other than an MCP message, such as a job's page, a stream, an upload or the end of a session.

Owns the audit line of HTTP. Tools and methods of MCP write their own lines (`tools/tool_registry.py`,
`mcp/method_audit.py`) and mark the request as audited; this layer then adds nothing. The line carries the code and
the trace id of the answer, and is in the process log before the answer is sent.

The number of lines in the store is bounded: after `LINES_BURST` refusals of one caller, one a second is kept there,
with the number of those left out before it. The process log has all of them.
"""

import json
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planner_mcp.jobs.ids import is_id
from planner_mcp.jobs.limits.token_buckets import TokenBuckets, client_address
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.auth.audit_trail import NOBODY, OK, Audit
from planner_mcp.server.auth.request_principal import is_audited, principal_of, set_principal
from planner_mcp.server.http.middleware.authentication_middleware import is_public
from planner_mcp.server.http.middleware.request_validation import PROBE_PATHS
from planner_mcp.server.http.routes.http_endpoint import METHODS
from planner_mcp.server.http.routes.session_routes import is_question_of_stranger
from planner_mcp.telemetry import new_trace_id, trace_context
from planner_mcp.text import Json

LINES_PER_S: Final = 1.0
LINES_BURST: Final = 200
"""Refusals of one caller kept in a row."""
MAX_ERROR_BYTES: Final = 16 * 1024
"""Bytes of a refusal in which its code is searched."""
_ROOTS: Final = (
    "/mcp",
    "/sse",
    "/messages",
    "/jobs",
    "/events",
    "/matrices",
    "/metrics",
    "/scale",
    "/downloads",
    "/shared",
    "/ui",
    "/v1",
)


class AuditMiddleware:
    """The ASGI layer around all others but `TrailingSlashMiddleware` and `RequestMetrics`.

    Args:
        app: The application behind it.
        audit: Records the outcome of requests.
        has_auth: Whether authentication is configured; without it every request is the single user's.
    """

    def __init__(self, app: ASGIApp, *, audit: Audit, has_auth: bool) -> None:
        self._app = app
        self._audit = audit
        self._has_auth = has_auth
        self._lines = TokenBuckets(rate_per_s=LINES_PER_S, burst=LINES_BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request and record its outcome."""
        if scope["type"] != "http" or scope["path"] in PROBE_PATHS:
            await self._app(scope, receive, send)
            return
        if self._has_auth:
            set_principal(scope, NOBODY)
        await self._app(scope, receive, self._watching(scope, send))

    def _watching(self, scope: Scope, send: Send) -> Send:
        held: list[Message] = []

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_audited_answer(scope, message["status"]):
                held.append(message)
                return
            if held:
                start = held.pop()
                await self._record(scope, start["status"], message.get("body", b""))
                await send(start)
            await send(message)

        return watch

    async def _record(self, scope: Scope, status: int, body: bytes) -> None:
        if is_audited(scope):
            return
        principal = principal_of(scope)
        code, trace = (OK, new_trace_id()) if status < 400 else _code_and_trace_in(body, status)
        with trace_context(trace):
            about: Json = {"outcome": code, "trace_id": trace, "target": _target(scope["path"])}
            await self._audit.record(principal, request_name(scope), **about, **self._kept(principal, scope, status))

    def _kept(self, principal: Principal, scope: Scope, status: int) -> Json:
        """Return whether the store keeps the line, and how many earlier lines were left out."""
        if status < 400:
            return {}
        name = client_address(scope) if principal is NOBODY else principal.id
        if self._lines.take(name):
            return {"is_kept": False}
        return {"left_out": self._lines.refused(name)}


def request_name(scope: Scope) -> str:
    """Return how the audit log names a request: its method and the first part of its path, if they are ours."""
    root = _root(scope["path"])
    method = scope["method"] if scope["method"] in METHODS else "HTTP"
    return f"{method} {root if root in _ROOTS else 'other'}"


def _is_audited_answer(scope: Scope, status: int) -> bool:
    """Return whether an answer is recorded: refusals, and uses but MCP messages, preflights and public pages."""
    is_message = scope["method"] == "POST" and scope["path"].endswith(("/mcp", "/messages"))
    is_open = is_public(scope["path"]) or is_question_of_stranger(scope)
    return status >= 400 or not (is_message or scope["method"] == "OPTIONS" or is_open)


def _root(path: str) -> str:
    return "/" + path.split("/")[1] if path.startswith("/") else ""


def _target(path: str) -> str:
    return next((part for part in path.split("/")[2:4] if is_id(part)), "")


def _code_and_trace_in(body: bytes, status: int) -> tuple[int, str]:
    """Return code and trace id from the body of an error, in the form of JSON-RPC or of our own routes."""
    try:
        error_body = json.loads(body[:MAX_ERROR_BYTES])
        error = error_body.get("error", error_body)
        data = error.get("data", error)
        return int(data["code"]), str(data["traceId"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return status, new_trace_id()
