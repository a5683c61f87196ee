"""Who comes in (SPEC A1-A3): every request but the public ones shows a credential, keeps to its rate, and is named.

Owns which paths are public, the answer to strangers, and how many requests one principal may have open here. The
principal is left in the request's state for every door behind, and the credential is taken out of the headers, so that
nothing behind could pass it on. Whether a principal may do what it asks is `web.judge`'s and the tools' to say.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from planner_mcp.auth.audit import NOBODY, Audit
from planner_mcp.auth.authenticator import Authenticator
from planner_mcp.auth.challenge import challenge
from planner_mcp.errors import PlannerError, QuotaExceededError, UnauthenticatedError
from planner_mcp.jobs.model import READ, WRITE, Principal
from planner_mcp.settings import Settings
from planner_mcp.store.rates import RateLimiter
from planner_mcp.telemetry import new_trace_id, tracing
from planner_mcp.web.answers import refusal

PUBLIC_PATHS: Final = frozenset({"/healthz", "/readyz", "/manifest", "/mcp/server-card"})
PUBLIC_PREFIX: Final = "/.well-known/"
USUAL_SCOPES: Final = (READ, WRITE)
"""What a client without a token is told to ask for."""
OPEN_RETRY_S: Final = 5.0


def is_public(path: str) -> bool:
    """Return whether anybody may ask for a path."""
    return path in PUBLIC_PATHS or path.startswith(PUBLIC_PREFIX)


class Gate:
    """An ASGI layer, there only where authorization is configured.

    Args:
        app: What is behind.
        settings: The resource identifier, and how many requests may be open.
        authenticator: Names principals.
        limiter: Counts their requests.
        audit: Told of every refusal.
    """

    def __init__(
        self, app: ASGIApp, *, settings: Settings, authenticator: Authenticator, limiter: RateLimiter, audit: Audit
    ) -> None:
        self._app = app
        self._resource = settings.resource
        self._max_open = settings.max_open_requests
        self._authenticator = authenticator
        self._limiter = limiter
        self._audit = audit
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif is_public(scope["path"]):
            await self._app(_as(scope, NOBODY), receive, send)
        else:
            await self._guard(scope, receive, send)

    async def _guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        principal = NOBODY
        try:
            principal = await self._authenticator.principal(scope["headers"])
            await self._limiter.take(principal.id)
            self._check_open(principal)
        except PlannerError as error:
            await (await self._refused(error, principal, scope))(scope, receive, send)
            return
        with self._counted(principal):
            await self._app(_as(scope, principal), receive, send)

    def _check_open(self, principal: Principal) -> None:
        if self._open[principal.id] >= self._max_open:
            raise QuotaExceededError("Too many requests are open.", retry_after_s=OPEN_RETRY_S)

    @contextmanager
    def _counted(self, principal: Principal) -> Iterator[None]:
        self._open[principal.id] += 1
        try:
            yield
        finally:
            self._open[principal.id] -= 1
            if not self._open[principal.id]:
                del self._open[principal.id]

    async def _refused(self, error: PlannerError, principal: Principal, scope: Scope) -> ASGIApp:
        trace = new_trace_id()
        with tracing(trace):
            await self._audit.record(principal, request_name(scope), outcome=error.code, trace_id=trace)
            headers = {"WWW-Authenticate": self._challenge(scope, error)} if _is_stranger(error) else None
            return refusal(error, headers=headers)

    def _challenge(self, scope: Scope, error: PlannerError) -> str:
        """Name what is wrong with a credential that came; one that did not come is no error (RFC 6750 §3.1)."""
        if not any(name == b"authorization" for name, _value in scope["headers"]):
            return challenge(self._resource, USUAL_SCOPES)
        return challenge(self._resource, USUAL_SCOPES, error="invalid_token", description=error.message)


def request_name(scope: Scope) -> str:
    """Return how the audit log names a request: its method and the first part of its path, if they are ours."""
    root = "/" + scope["path"].split("/")[1] if scope["path"].startswith("/") else ""
    method = scope["method"] if scope["method"] in ("GET", "POST", "DELETE", "HEAD", "OPTIONS") else "HTTP"
    return f"{method} {root}" if root in ("/mcp", "/sse", "/messages", "/jobs") else f"{method} other"


def _is_stranger(error: PlannerError) -> bool:
    return isinstance(error, UnauthenticatedError)


def _as(scope: Scope, principal: Principal) -> Scope:
    """Return a request as the doors see it: with its principal, without its credential."""
    headers = [(name, value) for name, value in scope["headers"] if name != b"authorization"]
    return {**scope, "headers": headers, "state": {**scope.get("state", {}), "principal": principal}}
