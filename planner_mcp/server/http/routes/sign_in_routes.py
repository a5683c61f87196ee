"""`POST /ui/sign-in` and `GET /ui/signed-in`: to an authorization server and back (SPEC A1, O2).

Owns the HTTP half: the cookie that a browser takes along, the session at the end, and where the browser goes then,
which is a place of this page alone. `server/auth/oauth_sign_in.py` owns the rules. The cookie is SameSite=Lax, because
it comes back by a link of another site; it opens nothing by itself.
"""

from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from planner_mcp.errors import AuthorityUnavailableError, Fault, RateLimitedError, input_error
from planner_mcp.jobs.limits.token_buckets import TokenBuckets, client_address
from planner_mcp.server.auth.audit_trail import NOBODY, Audit
from planner_mcp.server.auth.oauth_sign_in import SIGN_IN_S, OAuthSignIn, RefusedSignInError
from planner_mcp.server.auth.page_sessions import PageSessions
from planner_mcp.server.auth.request_principal import mark_audited, set_principal
from planner_mcp.server.http.bodies.body_intake import posted_json
from planner_mcp.server.http.responses.http_responses import json_answer
from planner_mcp.server.http.routes.http_endpoint import HttpEndpoint
from planner_mcp.server.http.routes.session_routes import RETURN_PATH, SIGN_IN_PATH, set_session_cookie
from planner_mcp.server.resources.downloads import base_url
from planner_mcp.settings import Settings
from planner_mcp.telemetry import trace_id
from planner_mcp.text import Json

COOKIE: Final = "__Host-planner-sign-in"


class SignInRoutes:
    """The two routes.

    Args:
        settings: Where this server is reached, and how many wrong answers an address may bring.
        sign_in: The rules.
        sessions: Opens sessions.
        audit: Records who came in, and who did not.
    """

    def __init__(self, settings: Settings, sign_in: OAuthSignIn, sessions: PageSessions, audit: Audit) -> None:
        self._settings = settings
        self._sign_in = sign_in
        self._sessions = sessions
        self._audit = audit
        self._failures = TokenBuckets(rate_per_s=settings.auth_failures_per_s, burst=settings.auth_failures_burst)

    def routes(self) -> list[BaseRoute]:
        """Return the routes to mount."""
        return [
            Route(SIGN_IN_PATH, HttpEndpoint(self._begin, "POST")),
            Route(RETURN_PATH, HttpEndpoint(self._finish, "GET")),
        ]

    async def _begin(self, request: Request) -> ASGIApp:
        """Answer `{"issuer", "place"}` with `{"url"}`, to which the page goes."""
        issuer, place = self._asked(request)
        server = base_url(self._settings, request.scope)
        if request.headers["host"].lower() != server.partition("://")[2].partition("/")[0].lower():
            problem = "Signing in leads to another address than this page has."  # its cookie would not be sent there
            raise input_error([Fault("/host", problem, f"the page at {server}/ui")])
        url, cookie = await self._sign_in.begin(issuer, f"{server}{RETURN_PATH}", place)
        answer = json_answer({"url": url})
        answer.set_cookie(COOKIE, cookie, max_age=SIGN_IN_S, path="/", secure=True, httponly=True, samesite="lax")
        return answer

    def _asked(self, request: Request) -> tuple[str, str]:
        body = posted_json(request, '{"issuer": text, "place": text}')
        asked: Json = body if isinstance(body, dict) else {}
        issuer, place = asked.get("issuer"), asked.get("place", "")
        if not isinstance(issuer, str) or issuer not in self._sign_in.issuers:
            raise input_error([Fault("/issuer", "There is no such issuer.", ", ".join(self._sign_in.issuers))])
        if not isinstance(place, str):
            raise input_error([Fault("/place", "It is no text.", "the fragment of the page")])
        return issuer, place

    async def _finish(self, request: Request) -> ASGIApp:
        address = client_address(request.scope)
        if wait_s := self._failures.wait_s(address):
            raise RateLimitedError("Too many sign-ins from this address came to nothing.", retry_after_s=wait_s)
        try:
            answer = _single_values(request)
            principal, place = await self._sign_in.finish(request.cookies.get(COOKIE, ""), answer)
        except (RefusedSignInError, AuthorityUnavailableError) as error:
            self._failures.take(address)
            return await self._refused(request, error)
        set_principal(request.scope, principal)
        back = _redirect(place)
        set_session_cookie(back, *await self._sessions.open(principal))
        return back

    async def _refused(self, request: Request, error: RefusedSignInError | AuthorityUnavailableError) -> ASGIApp:
        """Send the browser to the page with the reason in a word."""
        await self._audit.record(NOBODY, "GET /ui", outcome=error.code, trace_id=trace_id())
        mark_audited(request.scope)
        return _redirect(f"#failed={error.reason if isinstance(error, RefusedSignInError) else 'unavailable'}")


def _single_values(request: Request) -> dict[str, str]:
    """Return the parameters of an answer; one that comes twice is a refusal (RFC 6749 §3.1)."""
    given = request.query_params.multi_items()
    if len(dict(given)) != len(given):
        raise RefusedSignInError("refused", "The answer has a parameter twice.")
    return dict(given)


def _redirect(fragment: str) -> RedirectResponse:
    back = RedirectResponse(f"/ui{fragment}", 303)
    back.set_cookie(COOKIE, "", max_age=0, path="/", secure=True, httponly=True, samesite="lax")
    return back
