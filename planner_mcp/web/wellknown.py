"""`/.well-known/oauth-protected-resource`, at the root and with the resource's path behind it (RFC 9728 §3.1)."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from planner_mcp.auth.challenge import WELL_KNOWN, metadata_path, resource_metadata
from planner_mcp.settings import Settings

MAX_AGE_S = 300


def metadata_routes(settings: Settings) -> list[Route]:
    """Return the routes to mount; none where no issuer is configured, since there is nobody to point to."""
    if (resource := settings.described_resource) is None:
        return []
    document = resource_metadata(resource, settings.token_issuers)
    headers = {"Cache-Control": f"public, max-age={MAX_AGE_S}", "Access-Control-Allow-Origin": "*"}

    async def answer(_request: Request) -> Response:
        return JSONResponse(document, headers=headers)

    paths = dict.fromkeys((WELL_KNOWN, metadata_path(resource)))
    return [Route(path, answer) for path in paths]
