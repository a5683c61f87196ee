"""`GET /manifest` and `GET /.well-known/mcp/manifest` (SPEC M1). The document comes from `manifest/`."""

from functools import partial
from typing import Final

from starlette.routing import Route

import manifest
from planner_mcp.jobs.limits.principal_limits import limits_of
from planner_mcp.server.auth.bearer_challenge import metadata_url
from planner_mcp.server.http.responses.public_documents import document_routes
from planner_mcp.server.http.routes.discovery_routes import mcp_url
from planner_mcp.settings import Settings
from planner_mcp.text import Json

PATHS: Final = ("/manifest", "/.well-known/mcp/manifest")


def served(settings: Settings, document: Json | None = None) -> Json:
    """Return the manifest of a deployment: a document, its limits, and addresses under its public URL.

    Args:
        settings: Limits and addresses.
        document: The manifest of its server; the committed one where none is given.

    Where nobody authenticates there is no resource metadata either, so no link leads to it.
    """
    document = {**(document or manifest.load(settings.server)), "limits": limits_of(settings)}
    if not settings.has_auth:
        del document["oauth"]["resource_metadata"]
    elif settings.public_url:
        document["oauth"]["resource_metadata"] = metadata_url(mcp_url(settings))
    return document


def manifest_routes(settings: Settings, document: Json | None = None) -> list[Route]:
    """Return the routes to mount; the arguments are those of `served`."""
    return document_routes(PATHS, partial(served, settings, document))
