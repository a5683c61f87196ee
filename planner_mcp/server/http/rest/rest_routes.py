"""The routes under `/v1`: an operation runs the tool function that MCP runs, a document is read as over MCP (SPEC O5).

Owns status, headers and form of the answers: `Location`, `ETag` with `If-None-Match` and `If-Match`, `Prefer: wait`,
`Accept`, and pages by cursor. Checks, scopes, masking and audit are those of the tools and resources.
"""

from collections.abc import Mapping
from functools import partial
from itertools import groupby
from typing import Any, Final

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from planner_mcp.errors import Fault, PreconditionFailedError
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.store.security.repeated_request_store import RepeatedRequestStore
from planner_mcp.server.auth.request_principal import mark_audited, principal_of
from planner_mcp.server.http.bodies.asgi_receive import until_disconnected
from planner_mcp.server.http.responses.media_types import JSON, chosen
from planner_mcp.server.http.responses.public_documents import entity_tag, names_tag, tagged
from planner_mcp.server.http.rest.keyed_requests import answered_once, key_in
from planner_mcp.server.http.rest.rest_arguments import arguments_from_request, named_as_asked, wait_preferred
from planner_mcp.server.http.rest.rest_operations import DOCUMENTS, RestDocument, RestOperation, offered_operations
from planner_mcp.server.http.rest.rest_pages import page_at
from planner_mcp.server.http.routes.dashboard_routes import CONTENT_POLICY
from planner_mcp.server.http.routes.http_endpoint import Handler, HttpEndpoint, check_query
from planner_mcp.server.resources.downloads import base_url
from planner_mcp.server.resources.resource_catalogue import read_contents
from planner_mcp.server.tools.tool_caller import ToolCaller
from planner_mcp.server.tools.tool_definition import ErrorResult, ToolResult
from planner_mcp.settings import Settings
from planner_mcp.text import Json, compact

UNDER_WAY: Final = ("QUEUED", "SOLVING")
REVALIDATED: Final = "private, no-cache"
"""A client may keep what it got, and asks each time whether it still holds."""


class RestRoutes:
    """The routes of tools and resources under `/v1`.

    Args:
        settings: Which tools the deployment allows.
        caller: Calls tools and opens resources.
        repeated: Answers of requests that had a key.
    """

    def __init__(self, settings: Settings, caller: ToolCaller, repeated: RepeatedRequestStore) -> None:
        self._settings = settings
        self._caller = caller
        self._repeated = repeated

    def routes(self) -> list[Route]:
        """Return the routes to mount, one a path; those that end in a variable part come last."""
        handlers: list[tuple[str, str, Handler]] = [
            *((each.path, each.method, partial(self._run, each)) for each in offered_operations(self._settings)),
            *((each.path, "GET", partial(self._show, each)) for each in DOCUMENTS),
        ]
        handlers.sort(key=lambda handler: (handler[0].endswith("}"), handler[0]))
        return [
            _route(path, {method: handle for _path, method, handle in alike})
            for path, alike in groupby(handlers, key=lambda handler: handler[0])
        ]

    async def _run(self, operation: RestOperation, request: Request) -> ASGIApp:
        """Answer with what a tool returns, or returned to the same request before."""
        make = partial(self._answer, operation, request)
        if not operation.keeps_answers or key_in(request) is None:
            return await make()
        return await answered_once(self._repeated, principal_of(request.scope), request, make)

    async def _answer(self, operation: RestOperation, request: Request) -> Response:
        """Return what a tool returns, as an answer."""
        chosen(request, (JSON,))
        arguments = await arguments_from_request(operation, request)
        await self._check_match(operation.path, request)
        with named_as_asked(operation):
            if operation.is_list:
                read_page = partial(self._result, operation, request)
                return _tagged(request, await page_at(operation.tool.name, read_page, arguments))
            result = await self._result(operation, request, arguments)
        headers = _location(operation, result, base_url(self._settings, request.scope))
        if (wait_s := wait_preferred(operation, request)) is not None:
            headers["Preference-Applied"] = f"wait={wait_s}"
        if operation.method == "GET":
            return _tagged(request, result, headers)
        is_pending = operation.pending and result.get("status") in UNDER_WAY
        status = operation.pending if is_pending else operation.status
        return Response(compact(result), status, headers, JSON)

    async def _result(self, operation: RestOperation, request: Request, arguments: Any) -> Json:
        """Return what a tool returns; a call that only reads ends when its client leaves.

        Raises:
            PlannerError: What the tool refused.
        """
        mark_audited(request.scope)  # the tool writes the line
        result: ToolResult | ErrorResult | None = None
        async with anyio.create_task_group() as calling:
            if operation.method == "GET":
                calling.start_soon(until_disconnected, request.receive, calling.cancel_scope)
            result = await self._caller.call(
                principal_of(request.scope), operation.tool, arguments, request_scope=request.scope
            )
            calling.cancel_scope.cancel()
        if isinstance(result, ErrorResult):
            raise result.error
        return result.structured if result is not None else {}  # nobody is left to read it

    async def _show(self, document: RestDocument, request: Request) -> ASGIApp:
        """Answer with a resource in the media type that the request prefers."""
        check_query(request)
        media_type = chosen(request, tuple(document.uris))
        body = await self._contents(document, media_type, request)
        file_name = document.uris[media_type].rpartition("/")[2]
        shown = {} if media_type == JSON else {"Content-Disposition": f'inline; filename="{file_name}"'}
        return _tagged(request, body, {"Content-Security-Policy": CONTENT_POLICY, **shown}, media_type)

    async def _contents(self, document: RestDocument, media_type: str, request: Request) -> bytes:
        names = request.path_params
        uri = document.uris[media_type].format(**names, plan_id=plan_of(names.get("job_id", "")))
        return (await read_contents(self._caller.open_reading(principal_of(request.scope)), uri)).body

    async def _check_match(self, path: str, request: Request) -> None:
        """Check `If-Match` where the path can be read.

        Raises:
            PreconditionFailedError: What it would be read as now has another tag.
        """
        document = next((each for each in DOCUMENTS if each.path == path), None)
        if document is None or (wanted := request.headers.get("if-match")) is None:
            return
        if not names_tag(wanted, entity_tag(await self._contents(document, JSON, request))):
            fault = Fault("/If-Match", "It has another ETag now.", "the ETag of its newest answer, or *")
            raise PreconditionFailedError(errors=[fault])


def _route(path: str, handlers: Mapping[str, Handler]) -> Route:
    """Return the route of a path with every method that it has."""
    methods = [*handlers, *(("HEAD",) if "GET" in handlers else ()), "OPTIONS"]
    allowed = ", ".join(methods)

    async def handle(request: Request) -> ASGIApp:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": allowed})
        return await handlers["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, HttpEndpoint(handle, allowed))


def _location(operation: RestOperation, result: Json, base: str) -> dict[str, str]:
    return {"Location": base + operation.location.format(**result)} if operation.location else {}


def _tagged(
    request: Request, body: Json | bytes, headers: Mapping[str, str] | None = None, media_type: str = JSON
) -> Response:
    """Return what was read with its tag, or 304 where the client has it (RFC 9110, 13.1.2)."""
    content = body if isinstance(body, bytes) else compact(body).encode()
    further = {"ETag": entity_tag(content), "Cache-Control": REVALIDATED, "Vary": "Accept", **(headers or {})}
    return tagged(request, content, further, media_type)
