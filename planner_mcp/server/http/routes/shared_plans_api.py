"""Share links over HTTP: `GET /shared/{token}`, a page, and `GET /shared/{token}/plan`, what it draws (SPEC O2).

Owns the HTTP half only. The token is the credential (`resources/share_links.py`). Of the job the page learns how it
ended and where its review stands, not the words of a reviewer.
"""

import json
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from planner_mcp.errors import LinkExpiredError, NotFoundError
from planner_mcp.jobs.ids import plan_of
from planner_mcp.server.http.responses.http_responses import json_answer, status_of
from planner_mcp.server.http.routes.dashboard_routes import FILES_FOLDER, PAGE_HEADERS
from planner_mcp.server.http.routes.http_endpoint import READING, HttpEndpoint
from planner_mcp.server.resources.resource_catalogue import read_contents
from planner_mcp.server.resources.resource_definition import ReadContext
from planner_mcp.server.resources.share_links import PREFIX
from planner_mcp.server.tools.tool_caller import ToolCaller
from planner_mcp.text import Json, timestamp

_HEADERS: Final = {**PAGE_HEADERS, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
"""The token is in the address, so no other page may learn it."""
_JOB: Final = ("status", "progress", "cost", "tickets_served", "tickets_total")
"""Fields of the job that are shown."""


def shared_plan_routes() -> list[Route]:
    """Return the routes to mount. The tool caller is `app.state.services.tool_caller` of the running application."""
    return [
        Route(PREFIX + "{token}", HttpEndpoint(_page, READING)),
        Route(PREFIX + "{token}/plan", HttpEndpoint(_plan, READING)),
    ]


async def _page(request: Request) -> ASGIApp:
    status = 200
    try:
        await _caller(request).shares.open(request.path_params["token"])
    except (NotFoundError, LinkExpiredError) as error:
        status = status_of(error)  # the page asks for the plan and shows why there is none
    return FileResponse(FILES_FOLDER / "shared.html", status, headers=_HEADERS)


async def _plan(request: Request) -> ASGIApp:
    shared = await _caller(request).shares.open(request.path_params["token"])
    reading = _caller(request).open_reading(shared.principal)
    job = await _json(reading, f"job://{shared.job_id}")
    shown = {
        "job": {name: job[name] for name in _JOB if name in job},
        "review": job.get("review", {}).get("state"),
        "plan": await _json(reading, f"plan://{plan_of(shared.job_id)}"),
        "scenario": (await _json(reading, f"scenario://{job['scenario_id']}"))["scenario"],
        "ground": await _json(reading, f"plan://{plan_of(shared.job_id)}/roads.json"),
        "expires_at": timestamp(shared.expires_at),
    }
    return json_answer(shown)


def _caller(request: Request) -> ToolCaller:
    caller: ToolCaller = request.app.state.services.tool_caller
    return caller


async def _json(reading: ReadContext, uri: str) -> Json:
    return dict(json.loads((await read_contents(reading, uri)).text or "{}"))
