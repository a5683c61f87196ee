"""Share links over HTTP: `GET /shared/{token}`, a page, and `GET /shared/{token}/plan`, what it draws (SPEC O2).

Owns the HTTP half only. The token is the credential (`resources/share_links.py`). Of the job the page learns how it
ended and where its review stands, not the words of a reviewer.
"""

import json
from collections.abc import Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from planner_mcp.errors import LinkExpiredError, NotFoundError
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.http.responses.http_responses import json_answer, status_of
from planner_mcp.server.http.routes.dashboard_routes import FILES_FOLDER, PAGE_HEADERS
from planner_mcp.server.http.routes.http_endpoint import READING, HttpEndpoint
from planner_mcp.server.resources.resource_catalogue import read_contents
from planner_mcp.server.resources.resource_definition import ReadContext
from planner_mcp.server.resources.share_links import PREFIX, ShareLinks
from planner_mcp.text import Json, timestamp

_HEADERS: Final = {**PAGE_HEADERS, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
"""The token is in the address, so no other page may learn it."""
_JOB: Final = ("status", "progress", "cost", "tickets_served", "tickets_total")
"""Fields of the job that are shown."""


class SharedPlanRoutes:
    """The routes of share links.

    Args:
        shares: Opens the tokens.
        open_reading: Returns what a principal reads resources from.
    """

    def __init__(self, shares: ShareLinks, open_reading: Callable[[Principal], ReadContext]) -> None:
        self._shares = shares
        self._open_reading = open_reading

    def routes(self) -> list[Route]:
        """Return the routes to mount."""
        return [
            Route(PREFIX + "{token}", HttpEndpoint(self._page, READING)),
            Route(PREFIX + "{token}/plan", HttpEndpoint(self._plan, READING)),
        ]

    async def _page(self, request: Request) -> ASGIApp:
        status = 200
        try:
            await self._shares.open(request.path_params["token"])
        except (NotFoundError, LinkExpiredError) as error:
            status = status_of(error)  # the page asks for the plan and shows why there is none
        return FileResponse(FILES_FOLDER / "shared.html", status, headers=_HEADERS)

    async def _plan(self, request: Request) -> ASGIApp:
        shared = await self._shares.open(request.path_params["token"])
        reading = self._open_reading(shared.principal)
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


async def _json(reading: ReadContext, uri: str) -> Json:
    return dict(json.loads((await read_contents(reading, uri)).text or "{}"))
