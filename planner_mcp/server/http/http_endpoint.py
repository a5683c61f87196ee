"""A handler of one of the planner's own HTTP routes as an ASGI application: other methods are refused, errors are
answered in the common form.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from planner_mcp.errors import PlannerError
from planner_mcp.server.http.http_responses import method_refused, refusal
from planner_mcp.telemetry import new_trace_id, trace_context

Handler = Callable[[Request], Awaitable[ASGIApp]]
READING: Final = "GET, HEAD"


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
        except PlannerError as error:
            return refusal(error)
