"""A handler of one of the planner's own HTTP routes as an ASGI application: other methods and unknown parameters are
refused, errors are answered in the form of its path.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from planner_mcp.errors import Fault, NotFoundError, PlannerError, input_error
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.routing.scenario.synonyms import MAX_NAME
from planner_mcp.server.http.responses.http_responses import REST_PREFIX, method_refused, refusal_at
from planner_mcp.server.tools.arguments.lookup_errors import JOB, SCENARIO, AcceptedId
from planner_mcp.telemetry import new_trace_id, trace_context
from planner_mcp.text import plain

Handler = Callable[[Request], Awaitable[ASGIApp]]
READING: Final = "GET, HEAD"
IN_PATHS: Final[dict[str, AcceptedId]] = {
    "job_id": (JOB[0], "GET /v1/jobs lists yours."),
    "scenario_id": (SCENARIO[0], "GET /v1/scenarios lists yours."),
    "matrix": ("a matrix of yours (mat-…)", "PUT /v1/matrices answers with its id."),
}
"""Ids by the parameters of paths that hold them."""
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
"""All that any route has; logs and metrics count others as one."""


def both(path: str, endpoint: "HttpEndpoint") -> list[Route]:
    """Return the routes of what is served at a path and, for REST, under `/v1` too."""
    return [Route(path, endpoint), Route(REST_PREFIX.rstrip("/") + path, endpoint)]


def check_query(request: Request, known: Collection[str] = (), *, of_body: Collection[str] = ()) -> None:
    """Check that the query has parameters of these names alone.

    Args:
        request: The request.
        known: Names that it may have.
        of_body: Names that belong in the body.

    Raises:
        UnknownParameterError: It has others.
    """
    faults = [
        Fault(
            pointer([name]),
            f"The parameter {plain(name, MAX_NAME)} is not known.",
            ", ".join(known),
            "Write it in the body." if name in of_body else "",
            "unknown",
        )
        for name in request.query_params
        if name not in known
    ]
    if faults:
        raise input_error(faults)


class HttpEndpoint:
    """One path.

    Args:
        handler: Raises `PlannerError` for every refusal.
        allowed: The methods it serves.
    """

    def __init__(self, handler: Handler, allowed: str) -> None:
        self._handler = handler
        self._allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope, receive)
        with trace_context(new_trace_id()):
            answer: ASGIApp = method_refused(request, self._allowed) or await self._answer(request)
            await answer(scope, receive, send)

    async def _answer(self, request: Request) -> ASGIApp:
        try:
            return await self._handler(request)
        except NotFoundError as error:
            return refusal_at(request.url.path)(_naming_parameter(request.path_params, error))
        except PlannerError as error:
            return refusal_at(request.url.path)(error)


def _naming_parameter(path_parameters: Mapping[str, str], error: NotFoundError) -> NotFoundError:
    """Return the error of a path at which nothing is found, with the parameter that names it where no fault does."""
    faults = [
        Fault(f"/{name}", error.message, *IN_PATHS[name], kind="absent") for name in path_parameters if name in IN_PATHS
    ]
    return NotFoundError(error.message, errors=error.errors or faults)
