"""Download URLs: `GET /downloads/{token}/{name}` (SPEC T5).

Owns the HTTP half only. The token is the credential: it says who reads which resource (`resources/downloads.py`). The
name is for people and for the file that a browser saves.
"""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from planner_mcp.server.http.routes.dashboard_routes import CONTENT_POLICY
from planner_mcp.server.http.routes.http_endpoint import READING, HttpEndpoint
from planner_mcp.server.resources.downloads import PREFIX, file_name
from planner_mcp.server.resources.resource_catalogue import read_contents
from planner_mcp.server.tools.tool_caller import ToolCaller

SHOWN: Final = ("text/html", "image/", "application/pdf")
"""What a browser shows; anything else it saves."""


def download_routes() -> list[Route]:
    """Return the route to mount. The tool caller is `app.state.services.tool_caller` of the running application."""
    return [Route(PREFIX + "{token}/{name}", HttpEndpoint(_get, READING))]


async def _get(request: Request) -> ASGIApp:
    caller: ToolCaller = request.app.state.services.tool_caller
    link = caller.downloads.links.open(request.path_params["token"])
    found = await read_contents(caller.open_reading(link.principal), link.grant)
    how = "inline" if found.mime_type.startswith(SHOWN) else "attachment"
    headers = {
        "Content-Disposition": f'{how}; filename="{file_name(request.path_params["name"])}"',
        "Content-Security-Policy": CONTENT_POLICY,
        "Cache-Control": "no-store",
    }
    return Response(found.body, media_type=found.mime_type, headers=headers)
