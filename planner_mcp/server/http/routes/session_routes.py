"""`/ui/session`: signs a person in to the dashboard, says who is signed in, and signs out (SPEC O2, A1).

Owns the cookie's name and attributes, and when it counts: only on the paths of the page, and only beside the header
`X-Planner-UI`, which a page of another site cannot send. `server/auth/page_sessions.py` owns what is in it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.requests import Request, cookie_parser
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from planner_mcp.jobs.principals import SCOPES
from planner_mcp.server.auth.audit_trail import NOBODY
from planner_mcp.server.auth.page_sessions import PageSessions
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.responses.http_responses import json_answer
from planner_mcp.server.http.routes.http_endpoint import HttpEndpoint

SESSION_PATH: Final = "/ui/session"
SIGN_IN_PATH: Final = "/ui/sign-in"
RETURN_PATH: Final = "/ui/signed-in"
"""What is registered at the issuer, behind the public URL."""
SIGN_IN_PATHS: Final = frozenset({SIGN_IN_PATH, RETURN_PATH})
COOKIE: Final = "__Host-planner"
UI_HEADER: Final = b"x-planner-ui"
COOKIE_PATHS: Final = ("/ui/", "/jobs/", "/files/")


def cookie_in(scope: Mapping[str, Any]) -> str | None:
    """Return the session cookie of a request that may use it and brings no other credential."""
    is_of_page = scope["path"].startswith(COOKIE_PATHS) or scope["path"] == "/events"
    if not is_of_page or has_credential(scope) or all(name != UI_HEADER for name, _value in scope["headers"]):
        return None
    sent = b"; ".join(value for name, value in scope["headers"] if name == b"cookie").decode("latin-1")
    return cookie_parser(sent).get(COOKIE) or None


def has_credential(scope: Mapping[str, Any]) -> bool:
    """Return whether a request brings a token or a key, of whatever form."""
    return any(name == b"authorization" for name, _value in scope["headers"])


def is_question_of_stranger(scope: Mapping[str, Any]) -> bool:
    """Return whether a page asks who is signed in, and nobody is."""
    is_question = scope["path"] == SESSION_PATH and scope["method"] == "GET"
    return is_question and not has_credential(scope) and cookie_in(scope) is None


def session_routes(sessions: PageSessions | None, issuers: Sequence[str] = (), *, has_reviews: bool) -> list[BaseRoute]:
    """Return the route to mount.

    Args:
        sessions: Opens and ends them; None without authorization.
        issuers: At which one can sign in.
        has_reviews: Whether plans are reviewed.
    """

    async def serve(request: Request) -> ASGIApp:
        principal = principal_of(request.scope)
        about = {
            "has_sign_in": sessions is not None,
            "needs_sign_in": principal is NOBODY,
            "issuers": list(issuers),
            "has_reviews": has_reviews,
            "subject": principal.subject,
            "scopes": sorted(principal.scopes & SCOPES),
        }
        if sessions is None or request.method == "GET":
            return json_answer(about)
        if request.method == "DELETE":
            await sessions.close(principal)
            answer: Response = Response(status_code=204)
            set_session_cookie(answer, "", 0)
            return answer
        answer = json_answer(about)
        set_session_cookie(answer, *await sessions.open(principal))
        return answer

    return [Route(SESSION_PATH, HttpEndpoint(serve, "GET, POST, DELETE"))]


def set_session_cookie(answer: Response, value: str, life_s: int) -> None:
    """Give a browser a session; an empty one with no life takes it away."""
    answer.set_cookie(COOKIE, value, max_age=life_s, path="/", secure=True, httponly=True, samesite="strict")
