"""Download URLs: `GET /downloads/{token}/{name}` (SPEC T5).

Owns the HTTP half only. The token is the credential: it says who reads which resource (`resources/downloads.py`). The
name is for people and for the file that a browser saves.
"""

from collections.abc import Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from planner_mcp.jobs.principals import Principal
from planner_mcp.server.auth.access_links import AccessLinks
from planner_mcp.server.http.routes.dashboard_routes import CONTENT_POLICY
from planner_mcp.server.http.routes.http_endpoint import READING, HttpEndpoint
from planner_mcp.server.resources.downloads import PREFIX, file_name
from planner_mcp.server.resources.resource_catalogue import read_contents
from planner_mcp.server.resources.resource_definition import ReadContext

SHOWN: Final = ("text/html", "image/", "application/pdf")
"""What a browser shows; anything else it saves."""


class DownloadRoutes:
    """The route of download URLs.

    Args:
        links: Read the tokens.
        open_reading: Returns what a principal reads resources from.
    """

    def __init__(self, links: AccessLinks, open_reading: Callable[[Principal], ReadContext]) -> None:
        self._links = links
        self._open_reading = open_reading

    def routes(self) -> list[Route]:
        """Return the routes to mount."""
        return [Route(PREFIX + "{token}/{name}", HttpEndpoint(self._get, READING))]

    async def _get(self, request: Request) -> ASGIApp:
        link = self._links.open(request.path_params["token"])
        found = await read_contents(self._open_reading(link.principal), link.grant)
        how = "inline" if found.mime_type.startswith(SHOWN) else "attachment"
        headers = {
            "Content-Disposition": f'{how}; filename="{file_name(request.path_params["name"])}"',
            "Content-Security-Policy": CONTENT_POLICY,
            "Cache-Control": "no-store",
        }
        return Response(found.body, media_type=found.mime_type, headers=headers)
