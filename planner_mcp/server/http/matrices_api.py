"""Upload of large travel matrices: `PUT /matrices`, `GET` and `DELETE /matrices/{matrix}` (SPEC S1, T1).

Owns the HTTP half only; the text is parsed under `routing/scenario` and kept through the rules of jobs. The body
does not pass through a tool call and is not held as a tree of objects: it is read row by row in a thread.
"""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.fair_limiter import FairLimiter
from planner_mcp.jobs.matrix_service import MatrixService
from planner_mcp.jobs.principals import READ, WRITE
from planner_mcp.routing.scenario.matrix_json_reader import read_travel_matrices
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.http_endpoint import HttpEndpoint
from planner_mcp.server.http.http_responses import json_answer
from planner_mcp.settings import Settings

PATH: Final = "/matrices"
_limiter: Final = FairLimiter(most_waiting=64)
"""Tables read at the same time; each call that waits holds a body of up to `max_matrix_bytes`."""


class MatricesApi:
    """The routes under `/matrices`. The job service is `app.state.services.job_service` of the running application.

    Args:
        settings: How many locations tables may have.
    """

    def __init__(self, settings: Settings) -> None:
        self._max_locations = settings.max_matrix_locations

    def routes(self) -> list[Route]:
        """Return the routes to mount."""
        return [
            Route(PATH, HttpEndpoint(self._put, "PUT")),
            Route(PATH + "/{matrix}", HttpEndpoint(self._one, "GET, HEAD, DELETE")),
        ]

    async def _put(self, request: Request) -> ASGIApp:
        (principal := principal_of(request.scope)).require(WRITE)
        travel_matrices = await _limiter.run(principal.id, _read, await request.body(), self._max_locations)
        name = await _matrices(request).keep(principal.id, travel_matrices)
        return json_answer(_card(name, len(travel_matrices.locations), sorted(travel_matrices.given)), 201)

    async def _one(self, request: Request) -> ASGIApp:
        name, principal = request.path_params["matrix"], principal_of(request.scope)
        if request.method == "DELETE":
            principal.require(WRITE)
            await _matrices(request).drop(principal.id, name)
            return Response(status_code=204)
        principal.require(READ)
        return json_answer(_card(name, *await _matrices(request).outline(principal.id, name)))


def _read(body: bytes, max_locations: int) -> TravelMatrices:
    try:
        return read_travel_matrices(body.decode(), max_locations=max_locations)
    except UnicodeDecodeError:
        raise input_error([Fault("", "The body is not UTF-8.", "JSON in UTF-8")]) from None


def _card(name: str, locations: int, given: list[str]) -> dict[str, object]:
    return {"matrix": name, "locations": locations, "given": given}


def _matrices(request: Request) -> MatrixService:
    matrices: MatrixService = request.app.state.services.job_service.matrices
    return matrices
