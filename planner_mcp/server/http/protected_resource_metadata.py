"""`/.well-known/oauth-protected-resource`, at the root and with the resource's path behind it (RFC 9728 §3.1)."""

from functools import partial

from starlette.routing import Route

from planner_mcp.server.auth.bearer_challenge import WELL_KNOWN, metadata_path, resource_metadata
from planner_mcp.server.http.public_documents import document_routes
from planner_mcp.settings import Settings


def metadata_routes(settings: Settings) -> list[Route]:
    """Return the routes to mount; none where no issuer is configured."""
    if (resource := settings.described_resource) is None:
        return []
    paths = tuple(dict.fromkeys((WELL_KNOWN, metadata_path(resource))))
    return document_routes(paths, partial(resource_metadata, resource, settings.token_issuers))
