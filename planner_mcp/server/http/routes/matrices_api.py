"""Upload of large travel matrices: `PUT /matrices`, `GET` and `DELETE /matrices/{matrix}` (SPEC S1, T1).

Owns the HTTP half only; the text is parsed under `routing/scenario` and kept through the rules of jobs. The body
does not pass through a tool call and is not held as a tree of objects: it is read row by row in a process of its own.
"""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.jobs.matrix_service import MatrixService
from planner_mcp.jobs.principals import READ, WRITE
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.bodies.asgi_receive import taken_body
from planner_mcp.server.http.bodies.body_intake import MATRICES_PATH
from planner_mcp.server.http.responses.http_responses import json_answer
from planner_mcp.server.http.routes.http_endpoint import HttpEndpoint, both, check_query

_limiter: Final = FairLimiter(most_waiting=64)
"""Tables read at the same time; each call that waits holds a body of up to `max_matrix_bytes`."""


def matrices_routes() -> list[Route]:
    """Return the routes to mount. The job service is `app.state.services.job_service` of the running application."""
    return [
        *both(MATRICES_PATH, HttpEndpoint(_put, "PUT")),
        *both(MATRICES_PATH + "/{matrix}", HttpEndpoint(_one, "GET, HEAD, DELETE")),
    ]


async def _put(request: Request) -> ASGIApp:
    (principal := principal_of(request.scope)).require(WRITE)
    check_query(request)
    body = taken_body(request.scope)
    async with _limiter.turn(principal.id):
        uploaded = await _matrices(request).keep_upload(principal.id, body)
    return json_answer(_card(uploaded.name, uploaded.locations, uploaded.given), 201)


async def _one(request: Request) -> ASGIApp:
    name, principal = request.path_params["matrix"], principal_of(request.scope)
    check_query(request)
    if request.method == "DELETE":
        principal.require(WRITE)
        await _matrices(request).drop(principal.id, name)
        return Response(status_code=204)
    principal.require(READ)
    return json_answer(_card(name, *await _matrices(request).outline(principal.id, name)))


def _card(name: str, locations: int, given: list[str]) -> dict[str, object]:
    return {"matrix": name, "locations": locations, "given": given}


def _matrices(request: Request) -> MatrixService:
    matrices: MatrixService = request.app.state.services.job_service.matrices
    return matrices
