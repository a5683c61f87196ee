"""`GET /scale`: how many slots the open jobs want, for KEDA and other autoscalers (SPEC O8).

With `PLANNER_SCALE_TOKEN` this token alone opens it, and opens nothing else. Without it callers need the scope of an
operator where they are authenticated at all.
"""

import hmac
from dataclasses import asdict
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from planner_mcp.errors import PlannerError, UnauthenticatedError
from planner_mcp.jobs.principals import ADMIN
from planner_mcp.server.auth.authenticator import bearer_of
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.responses.http_responses import json_answer, refusal
from planner_mcp.settings import Settings

SCALE_PATH: Final = "/scale"


def scale_routes(settings: Settings) -> list[Route]:
    """Return the route to mount.

    Args:
        settings: The token, if one opens the route.
    """

    async def scale(request: Request) -> Response:
        try:
            if settings.scale_token is None:
                principal_of(request.scope).require(ADMIN)
            else:
                _check(request, settings.scale_token.get_secret_value())
            return json_answer(asdict(await request.app.state.services.job_service.scale()))
        except PlannerError as error:
            return refusal(
                error, headers={"WWW-Authenticate": "Bearer"} if error.code == UnauthenticatedError.code else None
            )

    return [Route(SCALE_PATH, scale)]


def _check(request: Request, token: str) -> None:
    if not hmac.compare_digest(bearer_of(request.scope["headers"]).encode(), token.encode()):
        raise UnauthenticatedError("This is not the token of /scale.")
