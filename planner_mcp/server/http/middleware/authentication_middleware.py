"""The authentication middleware (SPEC A1-A3): it checks the credential and the rate of every request that is not
public.

Owns which paths are public and the answer to a request without a valid credential; `concurrency_limits.py` counts
the open requests of a principal. The principal is stored in the state of the request, and the credential is removed
from the headers, so that no handler can pass it on. Scopes are checked by `authorization_middleware.py` and by the
tools.

An address that sends one wrong credential after another is refused for a while (429). Others behind the same address
are not locked out: a valid credential is accepted all the same, because checking it costs nothing. Only a token that
would have to be looked up at its issuer is refused too, since every guess would cause a request there.

Requests begin one after another, credentials in turn: of two hundred that come at once, each further step would
otherwise wait for the same step of all others, those of another caller included (ADR 0036).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final, Protocol

from starlette.types import ASGIApp, Receive, Scope, Send

from planner_mcp.errors import PlannerError, RateLimitedError, UnauthenticatedError
from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.jobs.limits.token_buckets import TokenBuckets, client_address
from planner_mcp.jobs.principals import READ, WRITE, Principal
from planner_mcp.server.auth.access_links import AccessLinks
from planner_mcp.server.auth.audit_trail import NOBODY
from planner_mcp.server.auth.authenticator import Authenticator, RawHeaders, bearer_of
from planner_mcp.server.auth.bearer_challenge import challenge
from planner_mcp.server.auth.page_sessions import TICKET_PREFIX, PageSessions
from planner_mcp.server.auth.request_principal import set_principal, set_revocation
from planner_mcp.server.auth.revocation_watch import RevocationWatch
from planner_mcp.server.http.concurrency_limits import RequestLimit
from planner_mcp.server.http.middleware.request_validation import PROBE_PATHS, PUBLIC_PATHS
from planner_mcp.server.http.responses.http_responses import refusal_at
from planner_mcp.server.http.routes.dashboard_routes import is_page
from planner_mcp.server.http.routes.scale_route import SCALE_PATH
from planner_mcp.server.http.routes.session_routes import (
    SESSION_PATH,
    SIGN_IN_PATHS,
    cookie_in,
    has_credential,
    is_question_of_stranger,
)
from planner_mcp.settings import Settings

PUBLIC_PREFIX: Final = "/.well-known/"
USUAL_SCOPES: Final = (READ, WRITE)
"""The scopes that the challenge names to a client without a token."""
_COUNT_CALL: Final = "count_call"


def is_public(path: str) -> bool:
    """Return whether anybody may ask for a path."""
    return path in PROBE_PATHS or path in PUBLIC_PATHS or path.startswith(PUBLIC_PREFIX) or is_page(path)


async def count_further_calls(scope: Mapping[str, Any], count: int) -> None:
    """Count further calls that one request carries in a batch; the request itself is counted already.

    Raises:
        RateLimitedError: There were too many calls lately.
    """
    take: Callable[[], Awaitable[None]] | None = scope.get("state", {}).get(_COUNT_CALL)
    if take is not None:  # requests are not counted without authentication
        for _ in range(count):
            await take()


class Limiter(Protocol):
    """Counts the requests of principals, on all replicas together."""

    async def take(self, principal: str) -> None:
        """Count one request.

        Raises:
            RateLimitedError: There were too many lately; with the time until one is let in again.
        """
        ...


class AuthenticationMiddleware:
    """An ASGI layer, there only where authorization is configured.

    Args:
        app: What is behind.
        settings: The resource identifier, how many requests may be open, how many credentials wrong.
        authenticator: Names principals.
        limiter: Counts their requests.
        revocations: Notices API keys that are revoked while a stream is open.
        links: Paths whose next part is the token of an access link, each with the links it is read by.
        sessions: Names principals who are signed in to the dashboard.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        authenticator: Authenticator,
        limiter: Limiter,
        revocations: RevocationWatch,
        links: Mapping[str, AccessLinks],
        sessions: PageSessions,
    ) -> None:
        self._app = app
        self._links = links
        self._revocations = revocations
        self._sessions = sessions
        self._ended_sessions = RevocationWatch(sessions)
        self._resource = settings.described_resource
        self._own_credentials = SIGN_IN_PATHS | ({SCALE_PATH} if settings.scale_token is not None else set())
        """Paths that check a credential of their own: a cookie, or the token of `/scale`."""
        self._authenticator = authenticator
        self._limiter = limiter
        self._failures = TokenBuckets(rate_per_s=settings.auth_failures_per_s, burst=settings.auth_failures_burst)
        self._open = RequestLimit(settings.max_open_requests)
        self._starts = FairLimiter(slots=1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif is_public(scope["path"]) or is_question_of_stranger(scope):
            set_principal(scope, NOBODY)
            await self._app(_without_credential(scope), receive, send)
        elif scope["path"] in self._own_credentials:
            set_principal(scope, NOBODY)
            await self._app(scope, receive, send)
        else:
            await self._authenticate(scope, receive, send)

    async def _authenticate(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with self._starts.turn(_caller_in(scope)):
                await asyncio.sleep(0)  # one begins in each pass of the event loop
            principal = await self._principal_of(scope)
            set_principal(scope, principal)
            if principal.session_id:
                set_revocation(scope, partial(self._ended_sessions.until_revoked, principal.session_id))
            elif principal.key_id:
                set_revocation(scope, partial(self._revocations.until_revoked, principal.key_id))
            take = partial(self._limiter.take, principal.id)
            await take()
            scope["state"][_COUNT_CALL] = take
            self._open.check(principal.id)
        except PlannerError as error:
            await self._refused(error, scope)(scope, receive, send)
            return
        with self._open.counted(principal.id, scope):
            await self._app(_without_credential(scope), receive, send)

    async def _principal_of(self, scope: Scope) -> Principal:
        """Return who sends a request; a wrong credential counts against the address it came from."""
        for prefix, links in self._links.items():
            if scope["path"].startswith(prefix):  # the link is the credential
                return links.open(scope["path"].removeprefix(prefix).partition("/")[0]).principal
        if cookie := cookie_in(scope):
            return await self._sessions.principal(cookie)
        headers, address = scope["headers"], client_address(scope)
        if self._authenticator.needs_lookup(headers) and (wait_s := self._failures.wait_s(address)):
            raise _too_many_wrong(wait_s)
        try:
            if scope["path"] == SESSION_PATH and (ticket := _ticket_in(headers)):
                return await self._sessions.verify(ticket)
            return await self._authenticator.principal(headers)
        except UnauthenticatedError as error:
            if has_credential(scope) and (wait_s := self._failures.take(address)):
                raise _too_many_wrong(wait_s) from error
            raise

    def _refused(self, error: PlannerError, scope: Scope) -> ASGIApp:
        is_stranger = isinstance(error, UnauthenticatedError)
        refuse = refusal_at(scope["path"])
        return refuse(error, headers={"WWW-Authenticate": self._challenge(scope, error)} if is_stranger else None)

    def _challenge(self, scope: Scope, error: PlannerError) -> str:
        """Name what is wrong with a credential that came; one that did not come is no error (RFC 6750 §3.1)."""
        if not has_credential(scope):
            return challenge(self._resource, USUAL_SCOPES)
        return challenge(self._resource, USUAL_SCOPES, error="invalid_token", description=error.message)


def _caller_in(scope: Scope) -> str:
    """Return whose request it claims to be: its credential, else its address."""
    credentials = [value for name, value in scope["headers"] if name in (b"authorization", b"cookie")]
    return b" ".join(credentials).decode("latin-1") or client_address(scope)


def _ticket_in(headers: RawHeaders) -> str | None:
    """Return the one-time ticket that a request brings instead of another credential."""
    try:
        token = bearer_of(headers)
    except UnauthenticatedError:
        return None
    return token if token.startswith(TICKET_PREFIX) else None


def _too_many_wrong(wait_s: float) -> PlannerError:
    return RateLimitedError("Too many credentials from this address were not accepted.", retry_after_s=wait_s)


def _without_credential(scope: Scope) -> Scope:
    """Return the request without its credential, as handlers see it."""
    hidden = (b"authorization", b"cookie")
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name not in hidden]}
