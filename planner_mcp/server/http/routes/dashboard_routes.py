"""The dashboard: a page for people at `/ui`, and the two routes that it calls (SPEC O2).

Owns the static files with their headers, the list of fields of columns, `POST /ui/call` and `GET /ui/read`. A call runs
the same tool function as a call over MCP, and a read the same resource, so checks, scopes, masking and audit are the
same. Live events come from `GET /events` (`jobs_api.py`). The files hold nothing of any principal, so they need no
credential; where authorization is configured, `session_routes.py` signs its user in.
"""

from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope
from typing_extensions import override

from planner_mcp.errors import Fault, input_error
from planner_mcp.formats.tables.headers.header_words import OFFERED
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.bodies.body_intake import posted_json
from planner_mcp.server.http.responses.http_responses import json_answer
from planner_mcp.server.http.routes.http_endpoint import READING, HttpEndpoint
from planner_mcp.server.resources.resource_catalogue import read_contents
from planner_mcp.server.tools.open_questions import OpenQuestions, with_answer_in
from planner_mcp.server.tools.tool_caller import ToolCaller
from planner_mcp.server.tools.tool_definition import AskUser, ErrorResult, QuestionPendingError, Tool
from planner_mcp.server.tools.tool_registry import shown_tools
from planner_mcp.settings import Settings
from planner_mcp.text import Json

FILES_FOLDER: Final = Path(__file__).parents[1] / "dashboard"
PAGE_PATH: Final = "/ui"
ASSET_PREFIX: Final = "/ui/assets/"
REST_PAGE: Final = "/docs"
PAGE_PATHS: Final = frozenset({"/", PAGE_PATH, REST_PAGE})
PAGE_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
"""No inline script or style, nothing from another origin. Browsers ask each time whether a file has changed."""
MAX_ANSWERS: Final = 8
CONTENT_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'"
"""Of resources: a report may be shown, but runs no script."""


def is_page(path: str) -> bool:
    """Return whether a path serves a file of the dashboard."""
    return path in PAGE_PATHS or path.startswith(ASSET_PREFIX)


class _PageFiles(StaticFiles):
    """Files with the headers of the page."""

    @override
    async def get_response(self, path: str, scope: Scope) -> Response:
        answer = await super().get_response(path, scope)
        answer.headers.update(PAGE_HEADERS)
        return answer


class DashboardRoutes:
    """The routes of the dashboard.

    Args:
        settings: Which tools the deployment allows.
        caller: Calls tools and opens resources.
    """

    def __init__(self, settings: Settings, caller: ToolCaller) -> None:
        self._tools: dict[str, Tool] = {tool.name: tool for tool in shown_tools(settings, "all")}
        self._caller = caller
        self._questions = OpenQuestions(settings, caller.job_service.imports)
        self._asks = settings.ask_missing
        self._files = _PageFiles(directory=FILES_FOLDER)

    def routes(self) -> list[BaseRoute]:
        """Return the routes to mount."""
        return [
            Route("/", HttpEndpoint(_to_page, READING)),
            Route(PAGE_PATH, self._page),
            Route("/ui/call", HttpEndpoint(self._call, "POST")),
            Route("/ui/read", HttpEndpoint(self._read, "GET")),
            Route(f"{ASSET_PREFIX}column_fields.json", _column_fields),
            Mount(ASSET_PREFIX.rstrip("/"), self._files),
        ]

    async def _page(self, request: Request) -> Response:
        return await self._files.get_response("index.html", request.scope)

    async def _call(self, request: Request) -> ASGIApp:
        """Run a tool: `{"tool": name, "arguments": {…}}` → `{"is_error", "structured", "text"}`.

        With `"answers": […]`, the answers so far, the call may ask a person: `{"asks": {"message", "schema"}}`. It is
        then sent again with one answer more.
        """
        tool, arguments, answers = self._asked(posted_json(request, '{"tool": name, "arguments": object}'))
        principal, scope = principal_of(request.scope), request.scope
        try:
            if answers is not None:
                arguments = await self._answered(principal, tool, arguments, answers)
            ask_user = None if answers is None else _asking(answers)
            result = await self._caller.call(principal, tool, arguments, request_scope=scope, ask_user=ask_user)
        except QuestionPendingError as pending:
            return json_answer({"asks": {"message": pending.message, "schema": pending.schema}})
        structured = result.structured
        if isinstance(result, ErrorResult):  # with what is accepted at each place, beyond a model's budget
            structured = result.error.as_json(str(structured.get("traceId", "")))
        return json_answer({"is_error": result.is_error, "structured": structured, "text": result.text})

    async def _answered(self, principal: Principal, tool: Tool, arguments: Json, answers: list[Json]) -> Json:
        """Return the arguments with what a person has answered before the call.

        Raises:
            QuestionPendingError: A person is to be asked first.
        """
        while (question := await self._questions.find(principal, tool.name, arguments)) is not None:
            if not answers:
                raise QuestionPendingError(question.message, question.schema)
            answer = answers.pop(0)
            arguments = with_answer_in(question, arguments, answer)
            if question.is_last or not answer:
                break
        return arguments

    async def _read(self, request: Request) -> ASGIApp:
        """Return the contents of the resource that `?uri=` names."""
        uri = request.query_params.get("uri", "")
        if not uri:
            raise input_error([Fault("/uri", "The parameter uri is missing.", "the URI of a resource")])
        contents = await read_contents(self._caller.open_reading(principal_of(request.scope)), uri)
        headers = {"Cache-Control": "no-store", "Content-Security-Policy": CONTENT_POLICY}
        return Response(contents.body, media_type=contents.mime_type, headers=headers)

    def _asked(self, asked: Any) -> tuple[Tool, Json, list[Json] | None]:
        named = asked if isinstance(asked, dict) else {}
        name, arguments, answers = named.get("tool"), named.get("arguments", {}), named.get("answers")
        if not isinstance(name, str) or name not in self._tools:
            raise input_error([Fault("/tool", "There is no such tool.", ", ".join(self._tools))])
        if not isinstance(arguments, dict):
            raise input_error([Fault("/arguments", "The arguments are not an object.", "object")])
        is_list = isinstance(answers, list) and len(answers) <= MAX_ANSWERS
        if answers is not None and not (is_list and all(isinstance(each, dict) for each in answers)):
            raise input_error([Fault("/answers", "The answers are not a list of objects.", f"at most {MAX_ANSWERS}")])
        return self._tools[name], arguments, answers if self._asks else None


def _asking(answers: list[Json]) -> AskUser:
    """Return how a tool asks the person at the page: each question takes the next answer."""

    async def ask(message: str, schema: Json) -> Json:
        if not answers:
            raise QuestionPendingError(message, schema)
        return answers.pop(0)

    return ask


async def _column_fields(_request: Request) -> Response:
    """Return what a column of a file may be taken for, by table: the fields that the reader of files knows."""
    return JSONResponse(OFFERED, headers=PAGE_HEADERS)


async def _to_page(_request: Request) -> ASGIApp:
    return RedirectResponse(PAGE_PATH)
